/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_info.h - collects the description of the recording machine: names, CPUs, caches, memory, PMUs.
 *
 * Everything lives in the info's arena (host_info_deinit). Fields that the kernel does not report stay empty; only a
 * lack of memory is a failure. One thread. Source: proc(5), Documentation/admin-guide/cputopology.rst.
 *
 *	struct host_info info;
 *	if (host_info_read(kernel, &info, err) != TALLY_OK) ...
 *	host_info_deinit(&info);
 */
#ifndef KERNEL_SYSTEM_HOST_INFO_H
#define KERNEL_SYSTEM_HOST_INFO_H

#include "base/arena.h"
#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct host_strings {
	struct tally_str *items;
	size_t len;
};
struct host_cpu {
	uint32_t core, die, socket;
};
struct host_node {
	uint32_t node;
	uint64_t mem_total_kb, mem_free_kb; /* In KiB. */
	struct tally_str cpus; /* A list such as "0-3,8". */
};
struct host_capability {
	struct tally_str name, value;
};
struct host_pmu {
	uint32_t type;
	struct tally_str name;
	struct host_capability *caps;
	size_t cap_count;
};
struct host_cache {
	uint32_t level, line_size, sets, ways; /* line_size is in bytes. */
	struct tally_str type, size, map; /* As in sysfs: "Data", "32K", and the list of CPUs that share the cache. */
};
struct host_memory_node { /* A node and its blocks of physical memory, one bit per block. */
	uint64_t node, bit_count;
	uint64_t *bits;
};

struct host_info {
	struct arena arena;
	struct tally_str hostname, osrelease, arch, cpudesc, cpuid; /* Empty if unknown. */
	uint32_t e_machine, e_flags; /* From the ELF header of this program; 0 if unknown. */
	uint32_t cpus_available, cpus_online;
	uint64_t total_mem_kb; /* In KiB. */
	struct host_strings sockets, dies, threads; /* Distinct lists of CPUs that share a socket, a die or a core. */
	struct host_cpu *cpus; /* Indexed by CPU number; NULL if unknown. */
	size_t cpu_count;
	struct host_node *nodes;
	size_t node_count;
	struct host_pmu *pmus;
	size_t pmu_count;
	struct host_cache *caches;
	size_t cache_count;
	uint64_t memory_block_bytes; /* Size of a block of physical memory in sysfs; 0 if unknown. */
	struct host_memory_node *memory_nodes;
	size_t memory_node_count;
};

TALLY_MUST_CHECK enum tally_status host_info_read(
	const struct kernel_seam *kernel, struct host_info *info, struct tally_error *err);
void host_info_deinit(struct host_info *info);

#endif
