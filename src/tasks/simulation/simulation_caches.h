/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_caches.h - determines the caches of this machine from the CPU and the C library, if /sys does not show
 * them, as in many virtual machines and in sandboxes.
 *
 * On x86, CPUID lists them: leaf 4 of Intel's manual (volume 2, CPUID) and leaf 8000001DH of AMD's (volume 3, appendix
 * E), which have the same format. Caches that it does not list are taken from sysconf, which knows further leaves; on
 * other machines sysconf is the only source. Values.
 *
 *	struct simulation_caches caches;
 *	simulation_caches_read(&caches);
 *	for (size_t i = 0; i < caches.count; i++) ... caches.items[i].level ...
 */
#ifndef TASKS_SIMULATION_SIMULATION_CACHES_H
#define TASKS_SIMULATION_SIMULATION_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMULATION_CACHES_MOST 16

/* Values of CPUID. */
enum simulation_cache_type { SIMULATION_CACHE_DATA = 1, SIMULATION_CACHE_CODE, SIMULATION_CACHE_UNIFIED };

struct simulation_cache {
	unsigned level;
	enum simulation_cache_type type;
	uint64_t size, ways, line; /* size and line are in bytes; ways is 0 if unknown. */
};

struct simulation_caches {
	struct simulation_cache items[SIMULATION_CACHES_MOST];
	size_t count;
};

void simulation_caches_read(struct simulation_caches *caches);
/* Decodes EAX to EDX of a subleaf. Returns false if it describes no cache. */
bool simulation_caches_decode(const uint32_t registers[4], struct simulation_cache *cache);
/* Adds a cache unless there is already one of its level and type. */
void simulation_caches_add(struct simulation_caches *caches, const struct simulation_cache *cache);

#endif
