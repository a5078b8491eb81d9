/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/error.h"
#include "perfdata/feature_read.h"

struct tally_str feature_read_string(struct cursor *c)
{
	uint32_t len = cursor_u32(c);
	if (!cursor_count(c, len, 1))
		return (struct tally_str){"", 0};
	return cursor_text(c, len);
}

enum feature_result feature_read_list(struct cursor *c, struct arena *arena, struct perfdata_string_list *list)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 4))
		return FEATURE_DAMAGED;
	struct tally_str *items = arena_array(arena, struct tally_str, count);
	if (!items)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		items[i] = feature_read_string(c);
	if (c->failed)
		return FEATURE_DAMAGED;
	*list = (struct perfdata_string_list){items, count};
	return FEATURE_GOOD;
}

#define STRING_FEATURE(field)                                                                     \
	static enum feature_result read_##field(struct cursor *c, const struct feature_input *in) \
	{                                                                                         \
		struct tally_str text = feature_read_string(c);                                   \
		if (!c->failed)                                                                   \
			in->features->field = text;                                               \
		return feature_read_end(c);                                                       \
	}
STRING_FEATURE(hostname)
STRING_FEATURE(osrelease)
STRING_FEATURE(version)
STRING_FEATURE(arch)
STRING_FEATURE(cpudesc)
STRING_FEATURE(cpuid)

static enum feature_result read_nrcpus(struct cursor *c, const struct feature_input *in)
{
	in->features->cpus_available = cursor_u32(c);
	in->features->cpus_online = cursor_u32(c);
	return feature_read_end(c);
}

static enum feature_result read_total_mem(struct cursor *c, const struct feature_input *in)
{
	in->features->total_mem_kb = cursor_u64(c);
	return feature_read_end(c);
}

static enum feature_result read_cmdline(struct cursor *c, const struct feature_input *in)
{
	return feature_read_list(c, in->arena, &in->features->cmdline);
}

static enum feature_result read_sample_time(struct cursor *c, const struct feature_input *in)
{
	in->features->first_sample_time_ns = cursor_u64(c);
	in->features->last_sample_time_ns = cursor_u64(c);
	return feature_read_end(c);
}

static enum feature_result read_clockid(struct cursor *c, const struct feature_input *in)
{
	in->features->clockid_resolution_ns = cursor_u64(c);
	return feature_read_end(c);
}

static enum feature_result read_clock_data(struct cursor *c, const struct feature_input *in)
{
	in->features->clock_data_version = cursor_u32(c);
	in->features->clock_data_clockid = cursor_u32(c);
	in->features->wall_clock_ns = cursor_u64(c);
	in->features->clockid_time_ns = cursor_u64(c);
	return feature_read_end(c);
}

static enum feature_result read_compressed(struct cursor *c, const struct feature_input *in)
{
	in->features->compress_version = cursor_u32(c);
	in->features->compress_type = cursor_u32(c);
	in->features->compress_level = cursor_u32(c);
	in->features->compress_ratio = cursor_u32(c);
	in->features->compress_mmap_len = cursor_u32(c);
	return feature_read_end(c);
}

static enum feature_result read_e_machine(struct cursor *c, const struct feature_input *in)
{
	in->features->e_machine = cursor_u32(c);
	in->features->e_flags = cursor_u32(c);
	return feature_read_end(c);
}

static enum feature_result read_cache_line(struct cursor *c, const struct feature_input *in)
{
	in->features->cache_line_bytes = cursor_u32(c);
	return feature_read_end(c);
}

static enum feature_result read_dir_format(struct cursor *c, const struct feature_input *in)
{
	in->features->dir_version = cursor_u64(c);
	return feature_read_end(c);
}

static enum feature_result read_tracing_data(struct cursor *c, const struct feature_input *in)
{
	in->features->tracing_data = in->section;
	return FEATURE_GOOD;
}

struct feature_row {
	unsigned bit;
	const char *name;
	enum feature_result (*read)(
		struct cursor *c, const struct feature_input *in); /* NULL for a flag without contents. */
};

static const struct feature_row rows[] = {
	{FEATURE_TRACING_DATA, "TRACING_DATA", read_tracing_data},
	{FEATURE_BUILD_ID, "BUILD_ID", feature_read_build_ids},
	{FEATURE_HOSTNAME, "HOSTNAME", read_hostname},
	{FEATURE_OSRELEASE, "OSRELEASE", read_osrelease},
	{FEATURE_VERSION, "VERSION", read_version},
	{FEATURE_ARCH, "ARCH", read_arch},
	{FEATURE_NRCPUS, "NRCPUS", read_nrcpus},
	{FEATURE_CPUDESC, "CPUDESC", read_cpudesc},
	{FEATURE_CPUID, "CPUID", read_cpuid},
	{FEATURE_TOTAL_MEM, "TOTAL_MEM", read_total_mem},
	{FEATURE_CMDLINE, "CMDLINE", read_cmdline},
	{FEATURE_EVENT_DESC, "EVENT_DESC", feature_read_event_desc},
	{FEATURE_CPU_TOPOLOGY, "CPU_TOPOLOGY", feature_read_cpu_topology},
	{FEATURE_NUMA_TOPOLOGY, "NUMA_TOPOLOGY", feature_read_numa},
	{FEATURE_BRANCH_STACK, "BRANCH_STACK", NULL},
	{FEATURE_PMU_MAPPINGS, "PMU_MAPPINGS", feature_read_pmus},
	{FEATURE_GROUP_DESC, "GROUP_DESC", feature_read_groups},
	{FEATURE_AUXTRACE, "AUXTRACE", feature_read_auxtrace},
	{FEATURE_STAT, "STAT", NULL},
	{FEATURE_CACHE, "CACHE", feature_read_caches},
	{FEATURE_SAMPLE_TIME, "SAMPLE_TIME", read_sample_time},
	{FEATURE_MEM_TOPOLOGY, "MEM_TOPOLOGY", feature_read_memory},
	{FEATURE_CLOCKID, "CLOCKID", read_clockid},
	{FEATURE_DIR_FORMAT, "DIR_FORMAT", read_dir_format},
	{FEATURE_BPF_PROG_INFO, "BPF_PROG_INFO", feature_read_bpf_programs},
	{FEATURE_BPF_BTF, "BPF_BTF", feature_read_btfs},
	{FEATURE_COMPRESSED, "COMPRESSED", read_compressed},
	{FEATURE_CPU_PMU_CAPS, "CPU_PMU_CAPS", feature_read_cpu_caps},
	{FEATURE_CLOCK_DATA, "CLOCK_DATA", read_clock_data},
	{FEATURE_HYBRID_TOPOLOGY, "HYBRID_TOPOLOGY", feature_read_hybrid},
	{FEATURE_PMU_CAPS, "PMU_CAPS", feature_read_pmu_caps},
	{FEATURE_CPU_DOMAIN_INFO, "CPU_DOMAIN_INFO", feature_read_cpu_domains},
	{FEATURE_E_MACHINE, "E_MACHINE", read_e_machine},
	{FEATURE_CLN_SIZE, "CLN_SIZE", read_cache_line},
};

_Static_assert(ARRAY_LEN(rows) == FEATURE_COUNT - 1, "a row per feature, in order");

static const struct feature_row origin_row = {FEATURE_ORIGIN, "ORIGIN", feature_read_origin};

static const struct feature_row *row_of(unsigned bit)
{
	if (bit == FEATURE_ORIGIN)
		return &origin_row;
	return bit >= 1 && bit < FEATURE_COUNT ? &rows[bit - 1] : NULL;
}

const char *feature_name(unsigned bit)
{
	const struct feature_row *row = row_of(bit);
	if (bit == FEATURE_PACK)
		return "PACK";
	return row ? row->name : NULL;
}

bool feature_is_flag(unsigned bit)
{
	const struct feature_row *row = row_of(bit);
	return row && !row->read;
}

struct tally_str feature_group_name(const struct perfdata_features *features, uint32_t leader_index)
{
	for (size_t i = 0; i < features->group_count; i++) {
		const struct perfdata_group *group = &features->groups[i];
		bool is_named = group->name.len > 0 && !str_equal(group->name, STR("{anon_group}"));
		if (group->leader_index == leader_index && is_named)
			return group->name;
	}
	return STR("anon group");
}

enum tally_status feature_decode(unsigned bit, const struct feature_input *input, struct tally_error *err)
{
	if (bit >= FEATURE_BITS)
		return TALLY_OK;
	input->features->raw[bit] = input->section;
	const struct feature_row *row = row_of(bit);
	if (!row || !row->read)
		return TALLY_OK;
	struct cursor c = cursor_make(input->section, input->swap);
	const struct perfdata_features before = *input->features;
	switch (row->read(&c, input)) {
	case FEATURE_GOOD:
		break;
	case FEATURE_DAMAGED: /* A part of a number is no number. */
		*input->features = before;
		input->features->damaged++;
		input->features->damaged_bits[bit / 64] |= UINT64_C(1) << bit % 64;
		break;
	case FEATURE_NO_MEMORY:
		return error_nomem(err);
	}
	return TALLY_OK;
}
