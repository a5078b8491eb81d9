/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_caches.h"

#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/array.h"

#define SIMULATION_CACHES_INTEL_LEAF 4u
#define SIMULATION_CACHES_AMD_LEAF   0x8000001du

bool simulation_caches_decode(const uint32_t registers[4], struct simulation_cache *cache)
{
	uint32_t type = registers[0] & 0x1f, level = registers[0] >> 5 & 7;
	uint64_t line = (registers[1] & 0xfff) + 1, parts = (registers[1] >> 12 & 0x3ff) + 1,
		 ways = (uint64_t)(registers[1] >> 22) + 1, sets = (uint64_t)registers[2] + 1;
	bool is_fully_associative = registers[0] & 0x200;
	if (type < SIMULATION_CACHE_DATA || type > SIMULATION_CACHE_UNIFIED || level == 0)
		return false;
	*cache = (struct simulation_cache){.level = level,
		.type = (enum simulation_cache_type)type,
		.size = line * parts * ways * sets,
		.ways = is_fully_associative ? 0 : ways,
		.line = line};
	return true;
}

void simulation_caches_add(struct simulation_caches *caches, const struct simulation_cache *cache)
{
	for (size_t i = 0; i < caches->count; i++)
		if (caches->items[i].level == cache->level && caches->items[i].type == cache->type)
			return;
	if (caches->count < SIMULATION_CACHES_MOST && cache->size > 0)
		caches->items[caches->count++] = *cache;
}

#if defined(__x86_64__) || defined(__i386__)
static void simulation_caches_ask_cpu(struct simulation_caches *caches, uint32_t leaf)
{
	for (uint32_t subleaf = 0; subleaf < SIMULATION_CACHES_MOST; subleaf++) {
		uint32_t registers[4] = {0};
		struct simulation_cache cache;
		if (!__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2], &registers[3]) ||
			!simulation_caches_decode(registers, &cache))
			return;
		simulation_caches_add(caches, &cache);
	}
}
#endif

/* musl does not define these names. */
#ifdef _SC_LEVEL1_DCACHE_SIZE
static uint64_t simulation_caches_sysconf(int name)
{
	long value = sysconf(name);
	return value > 0 ? (uint64_t)value : 0;
}

static void simulation_caches_ask_library(struct simulation_caches *caches)
{
	static const struct {
		unsigned level;
		enum simulation_cache_type type;
		int size, ways, line;
	} names[] = {
		{1, SIMULATION_CACHE_DATA, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE},
		{1, SIMULATION_CACHE_CODE, _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_ASSOC, _SC_LEVEL1_ICACHE_LINESIZE},
		{2, SIMULATION_CACHE_UNIFIED, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE},
		{3, SIMULATION_CACHE_UNIFIED, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE},
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		simulation_caches_add(caches, &(struct simulation_cache){.level = names[i].level,
						      .type = names[i].type,
						      .size = simulation_caches_sysconf(names[i].size),
						      .ways = simulation_caches_sysconf(names[i].ways),
						      .line = simulation_caches_sysconf(names[i].line)});
}
#endif

void simulation_caches_read(struct simulation_caches *caches)
{
	*caches = (struct simulation_caches){0};
#if defined(__x86_64__) || defined(__i386__)
	simulation_caches_ask_cpu(caches, SIMULATION_CACHES_INTEL_LEAF);
	simulation_caches_ask_cpu(caches, SIMULATION_CACHES_AMD_LEAF);
#endif
#ifdef _SC_LEVEL1_DCACHE_SIZE
	simulation_caches_ask_library(caches);
#endif
}
