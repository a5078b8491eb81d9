/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_topology.h - parses lists of CPUs ("0-3,8"), and reads which CPUs are online and to which core, die, socket and
 * node each belongs.
 *
 * Lists belong to the caller, who frees the arrays. No table is sized by a compile-time CPU count. Source: the kernel's
 * Documentation/admin-guide/cputopology.rst, sysfs-devices-system-cpu.
 *
 *	int *cpus; size_t count;
 *	if (cpu_list_online(kernel, &cpus, &count, err) == TALLY_OK) ...
 */
#ifndef KERNEL_SYSTEM_CPU_TOPOLOGY_H
#define KERNEL_SYSTEM_CPU_TOPOLOGY_H

#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct cpu_place { /* Unknown fields are -1. */
	int cpu, core, die, socket, node;
	int cluster, cache; /* Set by cpu_places_caches; a cache is identified by the first CPU that uses it. */
};

/* Parses a list into sorted, distinct numbers; an empty text is an empty list. TALLY_INVALID if it is malformed. */
TALLY_MUST_CHECK enum tally_status cpu_list_parse(
	struct tally_str text, int **cpus, size_t *count, struct tally_error *err);
/* Reads /sys/devices/system/cpu/online; without sysfs, it uses sysconf(3). */
TALLY_MUST_CHECK enum tally_status cpu_list_online(
	const struct kernel_seam *kernel, int **cpus, size_t *count, struct tally_error *err);
/* Returns whether the sorted list contains cpu. */
bool cpu_list_has(const int *cpus, size_t count, int cpu);
/* Returns the places of cpus in an array that the caller frees. */
TALLY_MUST_CHECK enum tally_status cpu_places(const struct kernel_seam *kernel, const int *cpus, size_t count,
	struct cpu_place **places, struct tally_error *err);
/* Sets the cluster of each place, and the cache of this level (0: the last one) that its CPU uses. Returns the level,
 * or 0 if the kernel reports no cache. */
unsigned cpu_places_caches(const struct kernel_seam *kernel, struct cpu_place *places, size_t count, unsigned level);

#endif
