/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "perfdata/bpf_functions.h"
#include "tasks/header/header_parts.h"

void header_str(struct text *out, const char *before, struct tally_str value)
{
	text_str(out, before);
	text_visible(out, value);
	text_char(out, '\n');
}

void header_topology(struct text *out, const struct header_source *source)
{
	const struct perfdata_topology *topology = &source->features->topology;
	for (size_t i = 0; i < topology->cores.len; i++)
		header_str(out, "# sibling sockets : ", topology->cores.items[i]);
	for (size_t i = 0; i < topology->dies.len; i++)
		header_str(out, "# sibling dies    : ", topology->dies.items[i]);
	for (size_t i = 0; i < topology->threads.len; i++)
		header_str(out, "# sibling threads : ", topology->threads.items[i]);
	bool has_ids = topology->core_ids && topology->socket_ids && topology->cpu_count > 0;
	if (!has_ids)
		text_str(out, "# Core ID and Socket ID information is not available\n");
	for (size_t i = 0; has_ids && i < topology->cpu_count; i++) {
		text_printf(out, "# CPU %zu: Core ID %" PRIu32, i, topology->core_ids[i]);
		if (topology->die_ids)
			text_printf(out, ", Die ID %" PRIu32, topology->die_ids[i]);
		text_printf(out, ", Socket ID %" PRIu32 "\n", topology->socket_ids[i]);
	}
}

void header_numa(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	for (size_t i = 0; i < f->numa_count; i++) {
		const struct perfdata_numa_node *n = &f->numa[i];
		text_printf(out, "# node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n",
			n->node, n->mem_total_kb, n->mem_free_kb);
		text_printf(out, "# node%" PRIu32 " cpu list : ", n->node);
		header_str(out, "", n->cpus);
	}
}

void header_pmus(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	for (size_t i = 0; i < f->pmu_count; i++) {
		text_str(out, i ? ", " : "# pmu mappings: ");
		text_visible(out, f->pmus[i].name);
		text_printf(out, " = %" PRIu32, f->pmus[i].type);
	}
	text_str(out, f->pmu_count ? "\n" : "# pmu mappings: not available\n");
}

void header_caches(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	text_str(out, "# CPU cache info:\n");
	for (size_t i = 0; i < f->cache_count; i++) {
		const struct perfdata_cache *c = &f->caches[i];
		text_printf(out, "#  L%" PRIu32 " %-15.*s %8.*s [%.*s]\n", c->level, (int)c->type.len, c->type.data,
			(int)c->size.len, c->size.data, (int)c->map.len, c->map.data);
	}
}

static bool bit_is_set(const struct perfdata_memory_node *node, uint64_t bit)
{
	return node->bits[bit / 64] >> (bit % 64) & 1;
}

uint64_t header_memory_blocks(struct text *out, const struct perfdata_memory_node *node)
{
	uint64_t words = node->bit_count / 64 + (node->bit_count % 64 != 0);
	uint64_t count = 0;
	for (uint64_t first = 0; first < words * 64; first++) {
		if (!bit_is_set(node, first))
			continue;
		uint64_t last = first;
		while (last + 1 < words * 64 && bit_is_set(node, last + 1))
			last++;
		text_printf(out, "%s%" PRIu64, count ? "," : "", first);
		if (last > first)
			text_printf(out, "-%" PRIu64, last);
		count += last - first + 1;
		first = last;
	}
	return count;
}

static void print_size(struct text *out, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	size_t unit = 0;
	for (; bytes >= 1024 && unit + 2 < sizeof(units); unit++)
		bytes /= 1024;
	text_printf(out, "%" PRIu64 "%c", bytes, units[unit]);
}

void header_memory(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	text_printf(out, "# memory nodes (nr %zu, block size 0x%" PRIx64 "):\n", f->memory_node_count,
		f->memory_block_bytes);
	for (size_t i = 0; i < f->memory_node_count; i++) {
		struct text ranges = {0};
		uint64_t blocks = header_memory_blocks(&ranges, &f->memory_nodes[i]);
		text_printf(out, "#  %3" PRIu64 " [", f->memory_nodes[i].node);
		print_size(out, blocks * f->memory_block_bytes);
		text_str(out, "]: ");
		text_bytes(out, ranges.data, ranges.len);
		text_char(out, '\n');
		text_deinit(&ranges);
	}
}

void header_hybrid(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	text_str(out, "# hybrid cpu system:\n");
	for (size_t i = 0; i < f->hybrid_count; i++) {
		text_str(out, "# ");
		text_visible(out, f->hybrid[i].pmu);
		header_str(out, " cpu list : ", f->hybrid[i].cpus);
	}
}

static void print_caps(struct text *out, const struct perfdata_pmu_caps *caps)
{
	text_str(out, "# ");
	text_visible(out, caps->pmu);
	text_str(out, " pmu capabilities: ");
	for (size_t i = 0; i < caps->len; i++) {
		text_str(out, i ? ", " : "");
		text_visible(out, caps->items[i].name);
		text_char(out, '=');
		text_visible(out, caps->items[i].value);
	}
	text_str(out, caps->len ? "\n" : "not available\n");
}

void header_cpu_caps(struct text *out, const struct header_source *source)
{
	struct perfdata_pmu_caps caps = source->features->cpu_caps;
	caps.pmu = STR("cpu");
	print_caps(out, &caps);
}

void header_pmu_caps(struct text *out, const struct header_source *source)
{
	for (size_t i = 0; i < source->features->pmu_caps_count; i++)
		print_caps(out, &source->features->pmu_caps[i]);
}

void header_cpu_domains(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	text_printf(out, "# schedstat version\t: %" PRIu32 "\n# Maximum sched domains\t: %" PRIu32 "\n",
		f->schedstat_version, f->max_sched_domains);
	for (size_t i = 0; i < f->cpu_domain_count; i++) {
		const struct perfdata_cpu_domains *cpu = &f->cpu_domains[i];
		text_printf(out, "# cpu\t\t: %" PRIu32 "\n# nr_domains\t: %zu\n", cpu->cpu, cpu->len);
		for (size_t k = 0; k < cpu->len; k++) {
			text_printf(out, "# Domain\t\t: %" PRIu32 "\n", cpu->items[k].number);
			if (cpu->items[k].name.len > 0)
				header_str(out, "# Domain name      : ", cpu->items[k].name);
			header_str(out, "# Domain cpu map   : ", cpu->items[k].mask);
			header_str(out, "# Domain cpu list  : ", cpu->items[k].cpus);
		}
	}
}

void header_bpf_programs(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	struct bpf_functions *functions;
	if (bpf_functions_create(f, source->swap, &functions, NULL) != TALLY_OK)
		return;
	for (size_t i = 0; i < f->bpf_program_count; i++) {
		const struct perfdata_bpf_program *program = &f->bpf_programs[i];
		struct bpf_function function;
		bool is_one = bpf_function_count(functions, program) == 1;
		text_printf(
			out, "# bpf_prog_info %" PRIu32 ":%s", bpf_program_id(functions, program), is_one ? " " : "\n");
		for (size_t k = 0; bpf_function_at(functions, program, k, &function); k++) {
			if (!is_one)
				text_printf(out, "# \tsub_prog %zu: ", k);
			text_str(out, "bpf_prog_");
			for (size_t byte = 0; byte < BPF_TAG_BYTES; byte++)
				text_hex(out, function.tag[byte], 2);
			text_char(out, '_');
			text_visible(out, function.name);
			text_printf(out, " addr 0x%" PRIx64 " size %" PRIu32 "\n", function.address, function.size);
		}
	}
	bpf_functions_destroy(functions);
}

void header_btfs(struct text *out, const struct header_source *source)
{
	for (size_t i = 0; i < source->features->btf_count; i++)
		text_printf(out, "# btf info of id %" PRIu32 "\n", source->features->btfs[i].id);
}
