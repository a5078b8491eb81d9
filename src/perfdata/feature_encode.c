/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/feature_encode.h"

#include "abi/encode.h"
#include "base/array.h"
#include "perfdata/origin.h"

#define STRING_ALIGNMENT 64 /* perf pads header strings to a multiple of this. */

static void feature_encode_put_string(struct writer *w, struct tally_str text)
{
	size_t padded = (text.len + 1 + STRING_ALIGNMENT - 1) / STRING_ALIGNMENT * STRING_ALIGNMENT;
	writer_u32(w, (uint32_t)padded);
	writer_bytes(w, text.data, text.len);
	writer_zeros(w, padded - text.len);
}

static void put_list(struct writer *w, const struct perfdata_string_list *list)
{
	writer_u32(w, (uint32_t)list->len);
	for (size_t i = 0; i < list->len; i++)
		feature_encode_put_string(w, list->items[i]);
}

static void put_build_ids(struct writer *w, const struct perfdata_features *f)
{
	for (size_t i = 0; i < f->build_id_count; i++) {
		const struct perfdata_build_id *id = &f->build_ids[i];
		size_t start = w->len;
		size_t padded = (id->filename.len + 1 + STRING_ALIGNMENT - 1) / STRING_ALIGNMENT * STRING_ALIGNMENT;
		if (padded > UINT16_MAX - 64)
			continue; /* No path is that long, and no record could hold it. */
		writer_u32(w, 0);
		writer_u16(w, id->misc | MISC_BUILD_ID_SIZE);
		writer_u16(w, 0);
		writer_u32(w, (uint32_t)id->pid);
		writer_bytes(w, id->bytes, sizeof(id->bytes));
		writer_u8(w, id->size);
		writer_zeros(w, 3);
		writer_bytes(w, id->filename.data, id->filename.len);
		writer_zeros(w, padded - id->filename.len);
		writer_patch_u16(w, start + 6, (uint16_t)(w->len - start));
	}
}

/* All attrs of the section have the size of the largest one. */
static void put_event_desc(struct writer *w, const struct perfdata_features *f)
{
	uint32_t attr_size = ATTR_SIZE_VER0;
	for (size_t i = 0; i < f->event_count; i++)
		attr_size = MAX(attr_size, f->events[i].attr->size);
	writer_u32(w, (uint32_t)f->event_count);
	writer_u32(w, attr_size);
	for (size_t i = 0; i < f->event_count; i++) {
		const struct perfdata_event_desc *event = &f->events[i];
		size_t end = w->len + attr_size;
		attr_encode(w, event->attr);
		if (w->len < end)
			writer_zeros(w, end - w->len);
		writer_u32(w, (uint32_t)event->id_count);
		feature_encode_put_string(w, event->name);
		for (size_t k = 0; k < event->id_count; k++)
			writer_u64(w, event->ids[k]);
	}
}

static void feature_encode_put_topology(struct writer *w, const struct perfdata_topology *t)
{
	put_list(w, &t->cores);
	put_list(w, &t->threads);
	for (size_t i = 0; i < t->cpu_count; i++) {
		writer_u32(w, t->core_ids[i]);
		writer_u32(w, t->socket_ids[i]);
	}
	if (!t->die_ids)
		return;
	put_list(w, &t->dies);
	for (size_t i = 0; i < t->cpu_count; i++)
		writer_u32(w, t->die_ids[i]);
}

static void feature_encode_put_numa(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, (uint32_t)f->numa_count);
	for (size_t i = 0; i < f->numa_count; i++) {
		writer_u32(w, f->numa[i].node);
		writer_u64(w, f->numa[i].mem_total_kb);
		writer_u64(w, f->numa[i].mem_free_kb);
		feature_encode_put_string(w, f->numa[i].cpus);
	}
}

static void feature_encode_put_pmus(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, (uint32_t)f->pmu_count);
	for (size_t i = 0; i < f->pmu_count; i++) {
		writer_u32(w, f->pmus[i].type);
		feature_encode_put_string(w, f->pmus[i].name);
	}
}

static void feature_encode_put_groups(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, (uint32_t)f->group_count);
	for (size_t i = 0; i < f->group_count; i++) {
		feature_encode_put_string(w, f->groups[i].name);
		writer_u32(w, f->groups[i].leader_index);
		writer_u32(w, f->groups[i].member_count);
	}
}

static void feature_encode_put_caches(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, 1);
	writer_u32(w, (uint32_t)f->cache_count);
	for (size_t i = 0; i < f->cache_count; i++) {
		const struct perfdata_cache *cache = &f->caches[i];
		writer_u32(w, cache->level);
		writer_u32(w, cache->line_size);
		writer_u32(w, cache->sets);
		writer_u32(w, cache->ways);
		feature_encode_put_string(w, cache->type);
		feature_encode_put_string(w, cache->size);
		feature_encode_put_string(w, cache->map);
	}
}

static void feature_encode_put_memory(struct writer *w, const struct perfdata_features *f)
{
	writer_u64(w, f->memory_version);
	writer_u64(w, f->memory_block_bytes);
	writer_u64(w, f->memory_node_count);
	for (size_t i = 0; i < f->memory_node_count; i++) {
		const struct perfdata_memory_node *node = &f->memory_nodes[i];
		writer_u64(w, node->node);
		writer_u64(w, node->size);
		writer_u64(w, node->bit_count);
		for (uint64_t word = 0; word < node->bit_count / 64 + (node->bit_count % 64 != 0); word++)
			writer_u64(w, node->bits[word]);
	}
}

static void put_auxtrace(struct writer *w, const struct perfdata_features *f)
{
	if (!f->auxtrace_is_bare)
		writer_u64(w, f->auxtrace_count);
	for (size_t i = 0; i < f->auxtrace_count; i++) {
		writer_u64(w, f->auxtrace[i].offset);
		writer_u64(w, f->auxtrace[i].size);
	}
}

static void feature_encode_put_hybrid(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, (uint32_t)f->hybrid_count);
	for (size_t i = 0; i < f->hybrid_count; i++) {
		feature_encode_put_string(w, f->hybrid[i].pmu);
		feature_encode_put_string(w, f->hybrid[i].cpus);
	}
}

static void feature_encode_put_caps(struct writer *w, const struct perfdata_pmu_caps *caps)
{
	writer_u32(w, (uint32_t)caps->len);
	for (size_t i = 0; i < caps->len; i++) {
		feature_encode_put_string(w, caps->items[i].name);
		feature_encode_put_string(w, caps->items[i].value);
	}
}

static void put_pmu_caps(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, (uint32_t)f->pmu_caps_count);
	for (size_t i = 0; i < f->pmu_caps_count; i++) {
		feature_encode_put_caps(w, &f->pmu_caps[i]);
		feature_encode_put_string(w, f->pmu_caps[i].pmu);
	}
}

static void put_cpu_domains(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, f->schedstat_version);
	writer_u32(w, f->max_sched_domains);
	for (size_t i = 0; i < f->cpu_domain_count; i++) {
		const struct perfdata_cpu_domains *cpu = &f->cpu_domains[i];
		writer_u32(w, cpu->cpu);
		writer_u32(w, (uint32_t)cpu->len);
		for (size_t k = 0; k < cpu->len; k++) {
			writer_u32(w, cpu->items[k].number);
			if (f->schedstat_version >= SCHEDSTAT_WITH_NAMES)
				feature_encode_put_string(w, cpu->items[k].name);
			feature_encode_put_string(w, cpu->items[k].mask);
			feature_encode_put_string(w, cpu->items[k].cpus);
		}
	}
}

static void feature_encode_put_bpf_programs(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, (uint32_t)f->bpf_program_count);
	for (size_t i = 0; i < f->bpf_program_count; i++) {
		const struct perfdata_bpf_program *program = &f->bpf_programs[i];
		writer_u32(w, (uint32_t)program->info.len);
		writer_u32(w, (uint32_t)program->data.len);
		writer_u64(w, program->arrays);
		writer_bytes(w, program->info.data, program->info.len);
		writer_bytes(w, program->data.data, program->data.len);
	}
}

static void put_btfs(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, (uint32_t)f->btf_count);
	for (size_t i = 0; i < f->btf_count; i++) {
		writer_u32(w, f->btfs[i].id);
		writer_u32(w, (uint32_t)f->btfs[i].data.len);
		writer_bytes(w, f->btfs[i].data.data, f->btfs[i].data.len);
	}
}

static void put_compressed(struct writer *w, const struct perfdata_features *f)
{
	writer_u32(w, f->compress_version);
	writer_u32(w, f->compress_type);
	writer_u32(w, f->compress_level);
	writer_u32(w, f->compress_ratio);
	writer_u32(w, f->compress_mmap_len);
}

/* Writes a feature that consists of numbers; false for other features. */
static bool put_numbers(struct writer *w, unsigned bit, const struct perfdata_features *f)
{
	switch (bit) {
	case FEATURE_NRCPUS:
		writer_u32(w, f->cpus_available);
		writer_u32(w, f->cpus_online);
		return true;
	case FEATURE_TOTAL_MEM:
		writer_u64(w, f->total_mem_kb);
		return true;
	case FEATURE_SAMPLE_TIME:
		writer_u64(w, f->first_sample_time_ns);
		writer_u64(w, f->last_sample_time_ns);
		return true;
	case FEATURE_CLOCKID:
		writer_u64(w, f->clockid_resolution_ns);
		return true;
	case FEATURE_CLOCK_DATA:
		writer_u32(w, f->clock_data_version);
		writer_u32(w, f->clock_data_clockid);
		writer_u64(w, f->wall_clock_ns);
		writer_u64(w, f->clockid_time_ns);
		return true;
	case FEATURE_COMPRESSED:
		put_compressed(w, f);
		return true;
	case FEATURE_E_MACHINE:
		writer_u32(w, f->e_machine);
		writer_u32(w, f->e_flags);
		return true;
	case FEATURE_DIR_FORMAT:
		writer_u64(w, f->dir_version);
		return true;
	case FEATURE_CLN_SIZE:
		writer_u32(w, f->cache_line_bytes);
		return true;
	default:
		return false;
	}
}

static bool feature_encode_put_text(struct writer *w, unsigned bit, const struct perfdata_features *f)
{
	switch (bit) {
	case FEATURE_HOSTNAME:
		feature_encode_put_string(w, f->hostname);
		return true;
	case FEATURE_OSRELEASE:
		feature_encode_put_string(w, f->osrelease);
		return true;
	case FEATURE_VERSION:
		feature_encode_put_string(w, f->version);
		return true;
	case FEATURE_ARCH:
		feature_encode_put_string(w, f->arch);
		return true;
	case FEATURE_CPUDESC:
		feature_encode_put_string(w, f->cpudesc);
		return true;
	case FEATURE_CPUID:
		feature_encode_put_string(w, f->cpuid);
		return true;
	case FEATURE_CMDLINE:
		put_list(w, &f->cmdline);
		return true;
	default:
		return false;
	}
}

/* Writes a feature that describes the machine by a list; false for other features. */
static bool feature_encode_put_machine(struct writer *w, unsigned bit, const struct perfdata_features *f)
{
	switch (bit) {
	case FEATURE_CPU_TOPOLOGY:
		feature_encode_put_topology(w, &f->topology);
		return true;
	case FEATURE_NUMA_TOPOLOGY:
		feature_encode_put_numa(w, f);
		return true;
	case FEATURE_PMU_MAPPINGS:
		feature_encode_put_pmus(w, f);
		return true;
	case FEATURE_CACHE:
		feature_encode_put_caches(w, f);
		return true;
	case FEATURE_MEM_TOPOLOGY:
		feature_encode_put_memory(w, f);
		return true;
	case FEATURE_HYBRID_TOPOLOGY:
		feature_encode_put_hybrid(w, f);
		return true;
	case FEATURE_CPU_PMU_CAPS:
		feature_encode_put_caps(w, &f->cpu_caps);
		return true;
	case FEATURE_PMU_CAPS:
		put_pmu_caps(w, f);
		return true;
	case FEATURE_CPU_DOMAIN_INFO:
		put_cpu_domains(w, f);
		return true;
	default:
		return false;
	}
}

void feature_encode(struct writer *w, unsigned bit, const struct perfdata_features *f)
{
	if (feature_encode_put_text(w, bit, f) || put_numbers(w, bit, f) || feature_encode_put_machine(w, bit, f))
		return;
	switch (bit) {
	case FEATURE_BUILD_ID:
		put_build_ids(w, f);
		break;
	case FEATURE_EVENT_DESC:
		put_event_desc(w, f);
		break;
	case FEATURE_GROUP_DESC:
		feature_encode_put_groups(w, f);
		break;
	case FEATURE_AUXTRACE:
		put_auxtrace(w, f);
		break;
	case FEATURE_ORIGIN:
		origin_encode(w, f);
		break;
	case FEATURE_BPF_PROG_INFO:
		feature_encode_put_bpf_programs(w, f);
		break;
	case FEATURE_BPF_BTF:
		put_btfs(w, f);
		break;
	default: /* Tracing data, flags and unknown features are copied. */
		if (bit < FEATURE_BITS)
			writer_bytes(w, f->raw[bit].data, f->raw[bit].len);
		break;
	}
}
