/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/header/header_info_json.h"

#include "perfdata/bpf_functions.h"
#include "perfdata/feature_table.h"
#include "tasks/header/header_parts.h"

static bool header_info_json_has(const struct perfdata_features *f, unsigned bit)
{
	return feature_is_present(f, bit) && !feature_is_damaged(f, bit);
}

static void put_strings(struct json *j, const char *key, const struct perfdata_string_list *list)
{
	json_array(j, key);
	for (size_t i = 0; i < list->len; i++)
		json_string(j, NULL, list->items[i]);
	json_array_end(j);
}

static void header_info_json_put_topology(struct json *j, const struct perfdata_topology *topology)
{
	json_object(j, "cpu_topology");
	put_strings(j, "cores", &topology->cores);
	put_strings(j, "dies", &topology->dies);
	put_strings(j, "threads", &topology->threads);
	json_array(j, "cpus");
	for (size_t i = 0; topology->core_ids && topology->socket_ids && i < topology->cpu_count; i++) {
		json_object(j, NULL);
		json_u64(j, "core", topology->core_ids[i]);
		if (topology->die_ids)
			json_u64(j, "die", topology->die_ids[i]);
		json_u64(j, "socket", topology->socket_ids[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void header_info_json_put_numa(struct json *j, const struct perfdata_features *f)
{
	json_array(j, "numa_nodes");
	for (size_t i = 0; i < f->numa_count; i++) {
		const struct perfdata_numa_node *node = &f->numa[i];
		json_object(j, NULL);
		json_u64(j, "node", node->node);
		json_u64(j, "total_kb", node->mem_total_kb);
		json_u64(j, "free_kb", node->mem_free_kb);
		json_string(j, "cpus", node->cpus);
		json_object_end(j);
	}
	json_array_end(j);
}

static void header_info_json_put_caches(struct json *j, const struct perfdata_features *f)
{
	json_array(j, "caches");
	for (size_t i = 0; i < f->cache_count; i++) {
		const struct perfdata_cache *cache = &f->caches[i];
		json_object(j, NULL);
		json_u64(j, "level", cache->level);
		json_string(j, "type", cache->type);
		json_string(j, "size", cache->size);
		json_u64(j, "line_bytes", cache->line_size);
		json_u64(j, "sets", cache->sets);
		json_u64(j, "ways", cache->ways);
		json_string(j, "cpus", cache->map);
		json_object_end(j);
	}
	json_array_end(j);
}

static void header_info_json_put_memory(struct json *j, const struct perfdata_features *f)
{
	json_object(j, "memory");
	json_u64(j, "block_bytes", f->memory_block_bytes);
	json_array(j, "nodes");
	for (size_t i = 0; i < f->memory_node_count; i++) {
		struct text ranges = {0};
		uint64_t blocks = header_memory_blocks(&ranges, &f->memory_nodes[i]);
		json_object(j, NULL);
		json_u64(j, "node", f->memory_nodes[i].node);
		json_u64(j, "bytes", blocks * f->memory_block_bytes);
		json_string(j, "blocks", (struct tally_str){ranges.data, ranges.len});
		json_object_end(j);
		text_deinit(&ranges);
	}
	json_array_end(j);
	json_object_end(j);
}

static void header_info_json_put_pmus(struct json *j, const struct perfdata_features *f)
{
	json_array(j, "pmus");
	for (size_t i = 0; i < f->pmu_count; i++) {
		json_object(j, NULL);
		json_string(j, "name", f->pmus[i].name);
		json_u64(j, "type", f->pmus[i].type);
		json_object_end(j);
	}
	json_array_end(j);
}

static void header_info_json_put_caps(struct json *j, struct tally_str pmu, const struct perfdata_pmu_caps *caps)
{
	json_object(j, NULL);
	json_string(j, "pmu", pmu);
	json_array(j, "capabilities");
	for (size_t i = 0; i < caps->len; i++) {
		json_object(j, NULL);
		json_string(j, "name", caps->items[i].name);
		json_string(j, "value", caps->items[i].value);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void put_all_caps(struct json *j, const struct perfdata_features *f)
{
	bool has_cpu = header_info_json_has(f, FEATURE_CPU_PMU_CAPS),
	     has_others = header_info_json_has(f, FEATURE_PMU_CAPS);
	if (!has_cpu && !has_others)
		return;
	json_array(j, "pmu_capabilities");
	if (has_cpu)
		header_info_json_put_caps(j, STR("cpu"), &f->cpu_caps);
	for (size_t i = 0; has_others && i < f->pmu_caps_count; i++)
		header_info_json_put_caps(j, f->pmu_caps[i].pmu, &f->pmu_caps[i]);
	json_array_end(j);
}

static void header_info_json_put_hybrid(struct json *j, const struct perfdata_features *f)
{
	json_array(j, "hybrid_cpus");
	for (size_t i = 0; i < f->hybrid_count; i++) {
		json_object(j, NULL);
		json_string(j, "pmu", f->hybrid[i].pmu);
		json_string(j, "cpus", f->hybrid[i].cpus);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_domains(struct json *j, const struct perfdata_features *f)
{
	json_object(j, "sched_domains");
	json_u64(j, "schedstat_version", f->schedstat_version);
	json_u64(j, "max", f->max_sched_domains);
	json_array(j, "cpus");
	for (size_t i = 0; i < f->cpu_domain_count; i++) {
		const struct perfdata_cpu_domains *cpu = &f->cpu_domains[i];
		json_object(j, NULL);
		json_u64(j, "cpu", cpu->cpu);
		json_array(j, "domains");
		for (size_t k = 0; k < cpu->len; k++) {
			const struct perfdata_sched_domain *domain = &cpu->items[k];
			json_object(j, NULL);
			json_u64(j, "number", domain->number);
			if (domain->name.len > 0)
				json_string(j, "name", domain->name);
			json_string(j, "mask", domain->mask);
			json_string(j, "cpus", domain->cpus);
			json_object_end(j);
		}
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void put_bpf_function(struct json *j, const struct bpf_function *function)
{
	struct text tag = {0};
	for (size_t i = 0; i < BPF_TAG_BYTES; i++)
		text_hex(&tag, function->tag[i], 2);
	json_object(j, NULL);
	json_string(j, "name", function->name);
	json_string(j, "tag", (struct tally_str){tag.data, tag.len});
	json_hex(j, "address", function->address);
	json_u64(j, "size", function->size);
	json_object_end(j);
	text_deinit(&tag);
}

static void header_info_json_put_bpf_programs(struct json *j, const struct perfdata_features *f, bool swap)
{
	struct bpf_functions *functions;
	if (bpf_functions_create(f, swap, &functions, NULL) != TALLY_OK)
		return;
	json_array(j, "bpf_programs");
	for (size_t i = 0; i < f->bpf_program_count; i++) {
		const struct perfdata_bpf_program *program = &f->bpf_programs[i];
		struct bpf_function function;
		json_object(j, NULL);
		json_u64(j, "id", bpf_program_id(functions, program));
		json_array(j, "functions");
		for (size_t k = 0; bpf_function_at(functions, program, k, &function); k++)
			put_bpf_function(j, &function);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
	bpf_functions_destroy(functions);
}

static void header_info_json_put_file(struct json *j, const struct perfdata_features *f)
{
	if (header_info_json_has(f, FEATURE_E_MACHINE)) {
		json_u64(j, "elf_machine", f->e_machine);
		json_u64(j, "elf_flags", f->e_flags);
	}
	if (header_info_json_has(f, FEATURE_CLN_SIZE))
		json_u64(j, "cache_line_bytes", f->cache_line_bytes);
	if (header_info_json_has(f, FEATURE_CLOCKID))
		json_u64(j, "clock_resolution_ns", f->clockid_resolution_ns);
	if (header_info_json_has(f, FEATURE_DIR_FORMAT))
		json_u64(j, "directory_version", f->dir_version);
	if (!header_info_json_has(f, FEATURE_COMPRESSED))
		return;
	json_object(j, "compression");
	json_u64(j, "type", f->compress_type);
	json_u64(j, "level", f->compress_level);
	json_u64(j, "ratio", f->compress_ratio);
	json_object_end(j);
}

static void put_damaged(struct json *j, const struct perfdata_features *f)
{
	json_array(j, "damaged");
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		if (feature_is_present(f, bit) && feature_is_damaged(f, bit) && feature_name(bit))
			json_string(j, NULL, str_from(feature_name(bit)));
	json_array_end(j);
}

void header_info_json(struct json *j, const struct perfdata_reader *reader)
{
	const struct perfdata_features *f = perfdata_reader_features(reader);
	json_object(j, "info");
	if (header_info_json_has(f, FEATURE_CPU_TOPOLOGY))
		header_info_json_put_topology(j, &f->topology);
	if (header_info_json_has(f, FEATURE_NUMA_TOPOLOGY))
		header_info_json_put_numa(j, f);
	if (header_info_json_has(f, FEATURE_CACHE))
		header_info_json_put_caches(j, f);
	if (header_info_json_has(f, FEATURE_MEM_TOPOLOGY))
		header_info_json_put_memory(j, f);
	if (header_info_json_has(f, FEATURE_PMU_MAPPINGS))
		header_info_json_put_pmus(j, f);
	put_all_caps(j, f);
	if (header_info_json_has(f, FEATURE_HYBRID_TOPOLOGY))
		header_info_json_put_hybrid(j, f);
	if (header_info_json_has(f, FEATURE_CPU_DOMAIN_INFO))
		put_domains(j, f);
	if (header_info_json_has(f, FEATURE_BPF_PROG_INFO))
		header_info_json_put_bpf_programs(j, f, perfdata_reader_is_swapped(reader));
	header_info_json_put_file(j, f);
	put_damaged(j, f);
	json_object_end(j);
}
