/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h - holds the decoded feature sections of a recording, which describe the machine and the run.
 *
 * A struct perfdata_features lives in the arena of its reader, or is filled by a recorder that owns the strings. A
 * section that is damaged is counted and skipped. raw[] always has the bytes of the section, so that tools can copy
 * sections that they do not know.
 */
#ifndef PERFDATA_FEATURES_H
#define PERFDATA_FEATURES_H

#include "abi/attr.h"
#include "abi/record.h"
#include "perfdata/format.h"

#define FEATURE_BITS 256 /* Size of the bit set in the header, including unknown features. */

struct perfdata_string_list {
	struct tally_str *items;
	size_t len;
};
struct perfdata_build_id {
	int32_t pid;
	uint16_t misc; /* The cpumode bits. */
	uint8_t size;
	uint8_t bytes[20];
	struct tally_str filename;
};
struct perfdata_event_desc {
	struct perf_attr *attr;
	struct tally_str name;
	uint64_t *ids;
	size_t id_count;
};
struct perfdata_pmu_mapping {
	uint32_t type;
	struct tally_str name;
};
struct perfdata_group {
	struct tally_str name;
	uint32_t leader_index, member_count;
};
struct perfdata_topology {
	struct perfdata_string_list cores, threads, dies;
	uint32_t *core_ids, *socket_ids, *die_ids; /* One per CPU; NULL if the file has none. */
	size_t cpu_count;
};
struct perfdata_numa_node {
	uint32_t node;
	uint64_t mem_total_kb, mem_free_kb;
	struct tally_str cpus; /* List such as "0-3,8". */
};
struct perfdata_cache {
	uint32_t level, line_size, sets, ways; /* line_size is in bytes. */
	struct tally_str type, size, map; /* Such as "Data", "32K" and "0-1" (CPUs), as in sysfs. */
};

struct perfdata_memory_node {
	uint64_t node;
	uint64_t size; /* Number of bits that the node states; normally the same as bit_count. */
	uint64_t bit_count; /* Number of bits that are stored. */
	uint64_t *bits; /* One bit per block of memory, set if it belongs to the node. */
};
struct perfdata_auxtrace_entry { /* Position of an AUXTRACE record in the file. */
	uint64_t offset, size;
};
struct perfdata_pmu_cpus {
	struct tally_str pmu, cpus;
};
struct perfdata_capability {
	struct tally_str name, value;
};
struct perfdata_pmu_caps {
	struct tally_str pmu;
	struct perfdata_capability *items;
	size_t len;
};
struct perfdata_sched_domain {
	uint32_t number;
	struct tally_str name; /* Only since version 17 of schedstat. */
	struct tally_str mask, cpus;
};
struct perfdata_cpu_domains {
	uint32_t cpu;
	struct perfdata_sched_domain *items;
	size_t len;
};
struct perfdata_bpf_program {
	uint64_t arrays; /* Bit set of the arrays in data. */
	/* A struct bpf_prog_info of the size of the recording kernel's, with offsets in data for pointers. */
	struct tally_bytes info;
	struct tally_bytes data;
};
struct perfdata_btf {
	uint32_t id;
	struct tally_bytes data;
};

enum perfdata_origin_kind { ORIGIN_EVENTS, ORIGIN_TIMER, ORIGIN_SIMULATED, ORIGIN_RUSAGE, ORIGIN_UNKNOWN };
struct perfdata_origin { /* Described in origin.h. */
	enum perfdata_origin_kind kind;
	struct tally_str by, not_seen, changed; /* The lines of the section after the kind; empty if unknown. */
};

struct perfdata_features {
	uint64_t present[FEATURE_BITS / 64]; /* Bit set of the header, by FEATURE_ numbers. */
	struct tally_str hostname, osrelease, version, arch, cpudesc, cpuid;
	uint32_t cpus_available, cpus_online;
	uint64_t total_mem_kb;
	struct perfdata_string_list cmdline;
	struct perfdata_build_id *build_ids;
	size_t build_id_count;
	struct perfdata_event_desc *events;
	size_t event_count;
	struct perfdata_topology topology;
	struct perfdata_numa_node *numa;
	size_t numa_count;
	struct perfdata_pmu_mapping *pmus;
	size_t pmu_count;
	struct perfdata_group *groups;
	size_t group_count;
	struct perfdata_cache *caches;
	size_t cache_count;
	uint64_t first_sample_time_ns, last_sample_time_ns;
	uint64_t clockid_resolution_ns;
	uint32_t clock_data_version, clock_data_clockid;
	uint64_t wall_clock_ns, clockid_time_ns;
	uint32_t compress_version, compress_type, compress_level, compress_ratio, compress_mmap_len;
	uint32_t e_machine, e_flags; /* ELF header fields of native programs of the machine. */
	uint32_t cache_line_bytes;
	uint64_t memory_version, memory_block_bytes;
	struct perfdata_memory_node *memory_nodes;
	size_t memory_node_count;
	struct perfdata_auxtrace_entry *auxtrace;
	size_t auxtrace_count;
	bool auxtrace_is_bare; /* The section has no number of entries, as in files of simpleperf. */
	uint64_t dir_version;
	struct perfdata_bpf_program *bpf_programs;
	size_t bpf_program_count;
	struct perfdata_btf *btfs;
	size_t btf_count;
	struct perfdata_pmu_cpus *hybrid;
	size_t hybrid_count;
	struct perfdata_pmu_caps cpu_caps; /* Capabilities of the PMU named cpu. */
	struct perfdata_pmu_caps *pmu_caps;
	size_t pmu_caps_count;
	uint32_t schedstat_version, max_sched_domains;
	struct perfdata_cpu_domains *cpu_domains;
	size_t cpu_domain_count;
	struct tally_bytes tracing_data;
	struct perfdata_origin origin; /* Read it with origin_of, which handles a damaged section. */
	struct tally_bytes raw[FEATURE_BITS];
	uint64_t damaged; /* Number of sections that could not be decoded. */
	uint64_t damaged_bits[FEATURE_BITS / 64]; /* Bit set of these sections. */
};

static inline bool feature_is_damaged(const struct perfdata_features *f, unsigned bit)
{
	return (f->damaged_bits[bit / 64] >> (bit % 64)) & 1;
}

static inline bool feature_is_present(const struct perfdata_features *f, unsigned bit)
{
	return (f->present[bit / 64] >> (bit % 64)) & 1;
}

/* Marks a feature as absent. Its decoded contents remain but are not used. */
static inline void feature_leave_out(struct perfdata_features *f, unsigned bit)
{
	f->present[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

#endif
