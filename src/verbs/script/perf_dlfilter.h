/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_dlfilter.h - defines the interface between a sample filter in a shared object and the program that loads it,
 * with the names and layouts of perf-dlfilter(1), so that filters built for perf work. Filters can be built against
 * this header too.
 *
 * The manual page describes the result of each function and its lifetime. al_cleanup and priv exist since perf 6.6.
 */
#ifndef VERBS_SCRIPT_PERF_DLFILTER_H
#define VERBS_SCRIPT_PERF_DLFILTER_H

#include <linux/types.h>

struct perf_branch_entry;
struct perf_event_attr;

struct perf_dlfilter_sample {
	__u32 size; /* Size of this structure in bytes. */
	__u16 ins_lat;
	__u16 p_stage_cyc;
	__u64 ip;
	__s32 pid;
	__s32 tid;
	__u64 time; /* Nanoseconds. */
	__u64 addr;
	__u64 id;
	__u64 stream_id;
	__u64 period;
	__u64 weight;
	__u64 transaction;
	__u64 insn_cnt;
	__u64 cyc_cnt;
	__s32 cpu;
	__u32 flags;
	__u64 data_src;
	__u64 phys_addr;
	__u64 data_page_size;
	__u64 code_page_size;
	__u64 cgroup;
	__u8 cpumode;
	__u8 addr_correlates_sym; /* Set if resolve_addr can resolve addr. */
	__u16 misc;
	__u32 raw_size;
	const void *raw_data;
	__u64 brstack_nr;
	const struct perf_branch_entry *brstack;
	__u64 raw_callchain_nr;
	const __u64 *raw_callchain;
	const char *event;
	__s32 machine_pid;
	__s32 vcpu;
};

struct perf_dlfilter_al {
	__u32 size; /* Size of this structure in bytes. */
	__u32 symoff;
	const char *sym;
	__u64 addr; /* Address in the file. */
	__u64 sym_start;
	__u64 sym_end;
	const char *dso;
	__u8 sym_binding; /* One of STB_* (elf.h). */
	__u8 is_64_bit;
	__u8 is_kernel_ip;
	__u32 buildid_size;
	__u8 *buildid;
	/* The following members are set by resolve_ip only. */
	__u8 filtered;
	const char *comm;
	void *priv;
};

struct perf_dlfilter_fns {
	const struct perf_dlfilter_al *(*resolve_ip)(void *ctx);
	const struct perf_dlfilter_al *(*resolve_addr)(void *ctx);
	char **(*args)(void *ctx, int *dlargc);
	__s32 (*resolve_address)(void *ctx, __u64 address, struct perf_dlfilter_al *al);
	const __u8 *(*insn)(void *ctx, __u32 *length);
	const char *(*srcline)(void *ctx, __u32 *line_number);
	struct perf_event_attr *(*attr)(void *ctx);
	__s32 (*object_code)(void *ctx, __u64 ip, void *buf, __u32 len);
	void (*al_cleanup)(void *ctx, struct perf_dlfilter_al *al);
	void *(*reserved[119])(void *);
};

#endif
