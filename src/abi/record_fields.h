/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fields.h - declares the types of a record and of its decoded fields; record.h has the functions for them.
 *
 * All slices point into the record.
 */
#ifndef ABI_RECORD_FIELDS_H
#define ABI_RECORD_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct record {
	uint32_t type;
	uint16_t misc;
	bool swap; /* The byte order of the record is not that of this machine. */
	struct tally_bytes bytes; /* Includes the header. */
	uint64_t offset; /* Offset in the file, stream or ring. */
	uint64_t position; /* Total size of all records that a reader returned before, without payloads. */
};

struct record_build_id {
	uint8_t size; /* 0 if there is none. */
	uint8_t bytes[20];
};

/* The fields of PERF_RECORD_MMAP and PERF_RECORD_MMAP2. */
struct record_mmap {
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	/* A build ID instead of device and inode; only for MMAP2 with MISC_MMAP_BUILD_ID, but not always then. */
	bool has_build_id;
	struct record_build_id build_id;
	uint32_t prot, flags; /* For MMAP, prot is PROT_EXEC unless MISC_MMAP_DATA is set. */
	struct tally_str filename;
};
struct record_comm {
	uint32_t pid, tid;
	bool is_exec;
	struct tally_str comm;
};
/* The fields of PERF_RECORD_FORK and PERF_RECORD_EXIT. */
struct record_task {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};
struct record_lost {
	uint64_t id, lost;
};
struct record_lost_samples {
	uint64_t lost;
};
struct record_throttle {
	uint64_t time, id, stream_id;
};
struct record_switch { /* Only SWITCH_CPU_WIDE has the PID and TID of the next or previous thread. */
	bool is_out, is_preempt, is_cpu_wide;
	uint32_t next_prev_pid, next_prev_tid;
};
struct record_namespace {
	uint64_t dev, inode;
};
struct record_namespaces {
	uint32_t pid, tid;
	uint64_t count;
	struct tally_bytes entries; /* count x {dev, inode}. */
};
struct record_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type, flags;
	struct tally_str name;
};
struct record_bpf {
	uint16_t bpf_type, flags;
	uint32_t id;
	uint8_t tag[8];
};
struct record_cgroup {
	uint64_t id;
	struct tally_str path;
};
struct record_text_poke {
	uint64_t addr;
	uint16_t old_len, new_len;
	struct tally_bytes old_bytes, new_bytes;
};
struct record_aux {
	uint64_t aux_offset, aux_size, flags;
};
struct record_aux_hw_id {
	uint64_t hw_id;
};
struct record_itrace_start {
	uint32_t pid, tid;
};
struct record_read { /* read_values_decode of sample.h decodes the values. */
	uint32_t pid, tid;
	struct tally_bytes values;
};
struct record_callchain_deferred {
	uint64_t cookie, count;
	struct tally_bytes ips;
};
/* User records follow. */
struct record_header_attr {
	struct tally_bytes attr_and_ids; /* An attr for attr_decode; the rest are IDs of 64 bits. */
};
struct record_header_build_id {
	int32_t pid;
	uint8_t size;
	uint8_t bytes[20];
	struct tally_str filename;
};
struct record_tracing_data {
	uint32_t size; /* Size of the data that follows the record in a pipe. */
};
struct record_id_index {
	uint64_t count;
	bool has_machine; /* Entries have 48 instead of 32 bytes, with machine_pid and vcpu. */
	struct tally_bytes entries;
};
struct record_auxtrace_info {
	uint32_t auxtrace_type;
	struct tally_bytes priv;
};
struct record_auxtrace {
	uint64_t size, aux_offset, reference; /* size is that of the payload that follows the record. */
	uint32_t idx, tid, cpu;
};
struct record_auxtrace_error {
	uint32_t error_type, code, cpu, pid, tid;
	uint64_t ip, time; /* time is 0 if unknown. */
	struct tally_str message;
	uint32_t machine_pid, vcpu; /* 0 if not of a guest. */
};
struct record_thread_map {
	uint64_t count;
	struct tally_bytes entries; /* {u64 pid; char comm[16]} */
};
struct record_cpu_map {
	uint16_t encoding;
	struct tally_bytes payload;
};
struct record_time_conv {
	uint64_t shift, mult, zero, cycles, mask;
	bool has_cap_bits, cap_time_zero, cap_time_short;
};
struct record_feature {
	uint64_t feature;
	struct tally_bytes payload;
};
struct record_compressed { /* COMPRESSED and COMPRESSED2; the payload has no padding. */
	struct tally_bytes payload;
};
struct record_event_update {
	uint64_t update_type, id;
	struct tally_bytes payload;
};
struct record_stat {
	uint64_t id;
	uint32_t cpu, thread;
	uint64_t value, enabled, running;
};
struct record_stat_round {
	uint64_t round_type, time;
};
struct record_stat_config {
	uint64_t count;
	struct tally_bytes entries; /* {u64 tag, u64 value} */
};

struct record_fields {
	uint32_t type;
	/* The rest of a kernel record, which contains the sample_id_all trailer. */
	struct tally_bytes trailer_area;
	union {
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_lost lost;
		struct record_lost_samples lost_samples;
		struct record_throttle throttle;
		struct record_switch context_switch;
		struct record_namespaces namespaces;
		struct record_ksymbol ksymbol;
		struct record_bpf bpf;
		struct record_cgroup cgroup;
		struct record_text_poke text_poke;
		struct record_aux aux;
		struct record_aux_hw_id aux_hw_id;
		struct record_itrace_start itrace_start;
		struct record_read read;
		struct record_callchain_deferred callchain_deferred;
		struct record_header_attr attr;
		struct record_header_build_id build_id;
		struct record_tracing_data tracing_data;
		struct record_id_index id_index;
		struct record_auxtrace_info auxtrace_info;
		struct record_auxtrace auxtrace;
		struct record_auxtrace_error auxtrace_error;
		struct record_thread_map thread_map;
		struct record_cpu_map cpu_map;
		struct record_time_conv time_conv;
		struct record_feature feature;
		struct record_compressed compressed;
		struct record_event_update event_update;
		struct record_stat stat;
		struct record_stat_round stat_round;
		struct record_stat_config stat_config;
	};
};

#endif
