/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_machine.c - reads the sections about the machine: its CPUs, caches, memory and PMUs.
 */
#include "perfdata/feature_read.h"

/* Revision two adds core and socket of each CPU, and revision three the dies; older sections end earlier. */
enum feature_result feature_read_cpu_topology(struct cursor *c, const struct feature_input *in)
{
	struct perfdata_topology topology = {0};
	enum feature_result result = feature_read_list(c, in->arena, &topology.cores);
	if (result == FEATURE_GOOD)
		result = feature_read_list(c, in->arena, &topology.threads);
	if (result != FEATURE_GOOD)
		return result;
	size_t cpus = in->features->cpus_available;
	if (cpus > 0 && cpus <= cursor_left(c) / 8) {
		topology.core_ids = arena_array(in->arena, uint32_t, cpus);
		topology.socket_ids = arena_array(in->arena, uint32_t, cpus);
		if (!topology.core_ids || !topology.socket_ids)
			return FEATURE_NO_MEMORY;
		for (size_t i = 0; i < cpus; i++) {
			topology.core_ids[i] = cursor_u32(c);
			topology.socket_ids[i] = cursor_u32(c);
		}
		topology.cpu_count = cpus;
	}
	if (topology.cpu_count > 0 && cursor_left(c) >= 4) {
		result = feature_read_list(c, in->arena, &topology.dies);
		if (result == FEATURE_NO_MEMORY)
			return result;
		if (result == FEATURE_GOOD && cpus <= cursor_left(c) / 4) {
			topology.die_ids = arena_array(in->arena, uint32_t, cpus);
			if (!topology.die_ids)
				return FEATURE_NO_MEMORY;
			for (size_t i = 0; i < cpus; i++)
				topology.die_ids[i] = cursor_u32(c);
		}
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->topology = topology;
	return FEATURE_GOOD;
}

enum feature_result feature_read_numa(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 24))
		return FEATURE_DAMAGED;
	struct perfdata_numa_node *nodes = arena_array(in->arena, struct perfdata_numa_node, count);
	if (!nodes)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		nodes[i].node = cursor_u32(c);
		nodes[i].mem_total_kb = cursor_u64(c);
		nodes[i].mem_free_kb = cursor_u64(c);
		nodes[i].cpus = feature_read_string(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->numa = nodes;
	in->features->numa_count = count;
	return FEATURE_GOOD;
}

enum feature_result feature_read_pmus(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 8))
		return FEATURE_DAMAGED;
	struct perfdata_pmu_mapping *pmus = arena_array(in->arena, struct perfdata_pmu_mapping, count);
	if (!pmus)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		pmus[i].type = cursor_u32(c);
		pmus[i].name = feature_read_string(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->pmus = pmus;
	in->features->pmu_count = count;
	return FEATURE_GOOD;
}

enum feature_result feature_read_caches(struct cursor *c, const struct feature_input *in)
{
	cursor_skip(c, 4); /* The version, which is 1 so far. */
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 28))
		return FEATURE_DAMAGED;
	struct perfdata_cache *caches = arena_array(in->arena, struct perfdata_cache, count);
	if (!caches)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		caches[i].level = cursor_u32(c);
		caches[i].line_size = cursor_u32(c);
		caches[i].sets = cursor_u32(c);
		caches[i].ways = cursor_u32(c);
		caches[i].type = feature_read_string(c);
		caches[i].size = feature_read_string(c);
		caches[i].map = feature_read_string(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->caches = caches;
	in->features->cache_count = count;
	return FEATURE_GOOD;
}

/* The memory of each node as one bit per block. */
enum feature_result feature_read_memory(struct cursor *c, const struct feature_input *in)
{
	uint64_t version = cursor_u64(c);
	uint64_t block_bytes = cursor_u64(c);
	uint64_t count = cursor_u64(c);
	if (!cursor_count(c, count, 24))
		return FEATURE_DAMAGED;
	struct perfdata_memory_node *nodes = arena_array(in->arena, struct perfdata_memory_node, count);
	if (!nodes)
		return FEATURE_NO_MEMORY;
	for (uint64_t i = 0; i < count; i++) {
		nodes[i].node = cursor_u64(c);
		nodes[i].size = cursor_u64(c);
		nodes[i].bit_count = cursor_u64(c);
		uint64_t words = nodes[i].bit_count / 64 + (nodes[i].bit_count % 64 != 0);
		if (!cursor_count(c, words, 8))
			return FEATURE_DAMAGED;
		nodes[i].bits = arena_array(in->arena, uint64_t, words);
		if (!nodes[i].bits)
			return FEATURE_NO_MEMORY;
		for (uint64_t word = 0; word < words; word++)
			nodes[i].bits[word] = cursor_u64(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->memory_version = version;
	in->features->memory_block_bytes = block_bytes;
	in->features->memory_nodes = nodes;
	in->features->memory_node_count = count;
	return FEATURE_GOOD;
}

enum feature_result feature_read_hybrid(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 8))
		return FEATURE_DAMAGED;
	struct perfdata_pmu_cpus *pmus = arena_array(in->arena, struct perfdata_pmu_cpus, count);
	if (!pmus)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		pmus[i].pmu = feature_read_string(c);
		pmus[i].cpus = feature_read_string(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->hybrid = pmus;
	in->features->hybrid_count = count;
	return FEATURE_GOOD;
}

static enum feature_result feature_machine_read_caps(
	struct cursor *c, struct arena *arena, struct perfdata_pmu_caps *caps)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 8))
		return FEATURE_DAMAGED;
	struct perfdata_capability *items = arena_array(arena, struct perfdata_capability, count);
	if (!items)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		items[i].name = feature_read_string(c);
		items[i].value = feature_read_string(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	*caps = (struct perfdata_pmu_caps){.pmu = STR("cpu"), .items = items, .len = count};
	return FEATURE_GOOD;
}

enum feature_result feature_read_cpu_caps(struct cursor *c, const struct feature_input *in)
{
	return feature_machine_read_caps(c, in->arena, &in->features->cpu_caps);
}

enum feature_result feature_read_pmu_caps(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 8))
		return FEATURE_DAMAGED;
	struct perfdata_pmu_caps *list = arena_array(in->arena, struct perfdata_pmu_caps, count);
	if (!list)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		enum feature_result result = feature_machine_read_caps(c, in->arena, &list[i]);
		if (result != FEATURE_GOOD)
			return result;
		list[i].pmu = feature_read_string(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->pmu_caps = list;
	in->features->pmu_caps_count = count;
	return FEATURE_GOOD;
}

static enum feature_result read_domains(
	struct cursor *c, const struct feature_input *in, bool has_names, struct perfdata_cpu_domains *cpu)
{
	cpu->cpu = cursor_u32(c);
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 12))
		return FEATURE_DAMAGED;
	struct perfdata_sched_domain *items = arena_array(in->arena, struct perfdata_sched_domain, count);
	if (!items)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		items[i].number = cursor_u32(c);
		items[i].name = has_names ? feature_read_string(c) : STR("");
		items[i].mask = feature_read_string(c);
		items[i].cpus = feature_read_string(c);
	}
	cpu->items = items;
	cpu->len = count;
	return feature_read_end(c);
}

/* The section has an entry for each CPU that is available according to NRCPUS. */
enum feature_result feature_read_cpu_domains(struct cursor *c, const struct feature_input *in)
{
	uint32_t version = cursor_u32(c);
	uint32_t max_domains = cursor_u32(c);
	size_t count = in->features->cpus_available;
	if (!cursor_count(c, count, 8))
		return FEATURE_DAMAGED;
	struct perfdata_cpu_domains *cpus = arena_array(in->arena, struct perfdata_cpu_domains, count);
	if (!cpus)
		return FEATURE_NO_MEMORY;
	for (size_t i = 0; i < count; i++) {
		enum feature_result result = read_domains(c, in, version >= SCHEDSTAT_WITH_NAMES, &cpus[i]);
		if (result != FEATURE_GOOD)
			return result;
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->schedstat_version = version;
	in->features->max_sched_domains = max_domains;
	in->features->cpu_domains = cpus;
	in->features->cpu_domain_count = count;
	return FEATURE_GOOD;
}
