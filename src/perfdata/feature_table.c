#include "perfdata/feature_table.h"

#include "base/error.h"
#include "base/limits.h"

enum result { GOOD, DAMAGED, NO_MEMORY };

/* A length and that many bytes, NUL-terminated and padded inside them. */
static struct tally_str read_string(struct cursor *c)
{
	uint32_t len = cursor_u32(c);
	if (!cursor_count(c, len, 1))
		return (struct tally_str){"", 0};
	return cursor_text(c, len);
}

static enum result read_list_of(
	struct cursor *c, struct arena *arena, uint32_t count, struct perfdata_string_list *list)
{
	if (!cursor_count(c, count, 4))
		return DAMAGED;
	struct tally_str *items = arena_array(arena, struct tally_str, count);
	if (!items)
		return NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		items[i] = read_string(c);
	if (c->failed)
		return DAMAGED;
	*list = (struct perfdata_string_list){items, count};
	return GOOD;
}

static enum result read_list(struct cursor *c, struct arena *arena, struct perfdata_string_list *list)
{
	return read_list_of(c, arena, cursor_u32(c), list);
}

static enum result end(const struct cursor *c)
{
	return c->failed ? DAMAGED : GOOD;
}

#define STRING_FEATURE(field)                                                             \
	static enum result read_##field(struct cursor *c, const struct feature_input *in) \
	{                                                                                 \
		struct tally_str text = read_string(c);                                   \
		if (!c->failed)                                                           \
			in->features->field = text;                                       \
		return end(c);                                                            \
	}
STRING_FEATURE(hostname)
STRING_FEATURE(osrelease)
STRING_FEATURE(version)
STRING_FEATURE(arch)
STRING_FEATURE(cpudesc)
STRING_FEATURE(cpuid)

static enum result read_nrcpus(struct cursor *c, const struct feature_input *in)
{
	in->features->cpus_available = cursor_u32(c);
	in->features->cpus_online = cursor_u32(c);
	return end(c);
}

static enum result read_total_mem(struct cursor *c, const struct feature_input *in)
{
	in->features->total_mem_kb = cursor_u64(c);
	return end(c);
}

static enum result read_cmdline(struct cursor *c, const struct feature_input *in)
{
	return read_list(c, in->arena, &in->features->cmdline);
}

static enum result read_build_ids(struct cursor *c, const struct feature_input *in)
{
	size_t cap = in->section.len / 36 + 1;
	struct perfdata_build_id *ids = arena_array(in->arena, struct perfdata_build_id, cap);
	if (!ids)
		return NO_MEMORY;
	size_t count = 0;
	size_t position = 0;
	enum result result = GOOD;
	while (position < in->section.len && count < cap) {
		struct record record;
		struct record_fields fields;
		struct tally_bytes section = in->section;
		if (record_at(section, in->swap, position, &record, NULL) != TALLY_OK) {
			result = DAMAGED;
			break;
		}
		/* Here the type is 0 or whatever the writer left: the section says what it is. */
		record.type = RECORD_HEADER_BUILD_ID;
		if (record_decode(&record, &fields, NULL) != TALLY_OK) {
			result = DAMAGED;
			break;
		}
		struct perfdata_build_id *id = &ids[count++];
		*id = (struct perfdata_build_id){
			.pid = fields.build_id.pid,
			.misc = record.misc,
			.size = fields.build_id.size,
			.filename = fields.build_id.filename,
		};
		memcpy(id->bytes, fields.build_id.bytes, sizeof(id->bytes));
		position += record.bytes.len;
	}
	in->features->build_ids = ids;
	in->features->build_id_count = count;
	return result;
}

static enum result read_event(
	struct cursor *c, const struct feature_input *in, uint32_t attr_size, struct perfdata_event_desc *event)
{
	struct perf_attr *attr = arena_new(in->arena, struct perf_attr);
	if (!attr)
		return NO_MEMORY;
	if (attr_decode_sized(c, attr_size, attr, NULL) != TALLY_OK)
		return DAMAGED;
	uint32_t id_count = cursor_u32(c);
	event->name = read_string(c);
	if (!cursor_count(c, id_count, 8))
		return DAMAGED;
	uint64_t *ids = arena_array(in->arena, uint64_t, id_count);
	if (!ids)
		return NO_MEMORY;
	for (uint32_t i = 0; i < id_count; i++)
		ids[i] = cursor_u64(c);
	event->attr = attr;
	event->ids = ids;
	event->id_count = id_count;
	return GOOD;
}

static enum result read_event_desc(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	uint32_t attr_size = cursor_u32(c);
	if (attr_size < ATTR_SIZE_VER0 || !cursor_count(c, count, (size_t)attr_size + 8))
		return DAMAGED;
	struct perfdata_event_desc *events = arena_array(in->arena, struct perfdata_event_desc, count);
	if (!events)
		return NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		enum result result = read_event(c, in, attr_size, &events[i]);
		if (result != GOOD)
			return result;
	}
	in->features->events = events;
	in->features->event_count = count;
	return end(c);
}

/* Revision two adds core and socket per CPU, revision three the dies; a shorter section simply ends. */
static enum result read_cpu_topology(struct cursor *c, const struct feature_input *in)
{
	struct perfdata_topology topology = {0};
	enum result result = read_list(c, in->arena, &topology.cores);
	if (result == GOOD)
		result = read_list(c, in->arena, &topology.threads);
	if (result != GOOD)
		return result;
	size_t cpus = in->features->cpus_available;
	if (cpus > 0 && cpus <= cursor_left(c) / 8) {
		topology.core_ids = arena_array(in->arena, uint32_t, cpus);
		topology.socket_ids = arena_array(in->arena, uint32_t, cpus);
		if (!topology.core_ids || !topology.socket_ids)
			return NO_MEMORY;
		for (size_t i = 0; i < cpus; i++) {
			topology.core_ids[i] = cursor_u32(c);
			topology.socket_ids[i] = cursor_u32(c);
		}
		topology.cpu_count = cpus;
	}
	if (topology.cpu_count > 0 && cursor_left(c) >= 4) {
		result = read_list(c, in->arena, &topology.dies);
		if (result == NO_MEMORY)
			return result;
		if (result == GOOD && cpus <= cursor_left(c) / 4) {
			topology.die_ids = arena_array(in->arena, uint32_t, cpus);
			if (!topology.die_ids)
				return NO_MEMORY;
			for (size_t i = 0; i < cpus; i++)
				topology.die_ids[i] = cursor_u32(c);
		}
	}
	in->features->topology = topology;
	return end(c);
}

static enum result read_numa(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 24))
		return DAMAGED;
	struct perfdata_numa_node *nodes = arena_array(in->arena, struct perfdata_numa_node, count);
	if (!nodes)
		return NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		nodes[i].node = cursor_u32(c);
		nodes[i].mem_total_kb = cursor_u64(c);
		nodes[i].mem_free_kb = cursor_u64(c);
		nodes[i].cpus = read_string(c);
	}
	if (c->failed)
		return DAMAGED;
	in->features->numa = nodes;
	in->features->numa_count = count;
	return GOOD;
}

static enum result read_pmus(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 8))
		return DAMAGED;
	struct perfdata_pmu_mapping *pmus = arena_array(in->arena, struct perfdata_pmu_mapping, count);
	if (!pmus)
		return NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		pmus[i].type = cursor_u32(c);
		pmus[i].name = read_string(c);
	}
	if (c->failed)
		return DAMAGED;
	in->features->pmus = pmus;
	in->features->pmu_count = count;
	return GOOD;
}

static enum result read_groups(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 12))
		return DAMAGED;
	struct perfdata_group *groups = arena_array(in->arena, struct perfdata_group, count);
	if (!groups)
		return NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		groups[i].name = read_string(c);
		groups[i].leader_index = cursor_u32(c);
		groups[i].member_count = cursor_u32(c);
	}
	if (c->failed)
		return DAMAGED;
	in->features->groups = groups;
	in->features->group_count = count;
	return GOOD;
}

static enum result read_caches(struct cursor *c, const struct feature_input *in)
{
	cursor_skip(c, 4); /* version: 1 so far */
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 28))
		return DAMAGED;
	struct perfdata_cache *caches = arena_array(in->arena, struct perfdata_cache, count);
	if (!caches)
		return NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		caches[i].level = cursor_u32(c);
		caches[i].line_size = cursor_u32(c);
		caches[i].sets = cursor_u32(c);
		caches[i].ways = cursor_u32(c);
		caches[i].type = read_string(c);
		caches[i].size = read_string(c);
		caches[i].map = read_string(c);
	}
	if (c->failed)
		return DAMAGED;
	in->features->caches = caches;
	in->features->cache_count = count;
	return GOOD;
}

static enum result read_sample_time(struct cursor *c, const struct feature_input *in)
{
	in->features->first_sample_time_ns = cursor_u64(c);
	in->features->last_sample_time_ns = cursor_u64(c);
	return end(c);
}

static enum result read_clockid(struct cursor *c, const struct feature_input *in)
{
	in->features->clockid_resolution_ns = cursor_u64(c);
	return end(c);
}

static enum result read_clock_data(struct cursor *c, const struct feature_input *in)
{
	in->features->clock_data_version = cursor_u32(c);
	in->features->clock_data_clockid = cursor_u32(c);
	in->features->wall_clock_ns = cursor_u64(c);
	in->features->clockid_time_ns = cursor_u64(c);
	return end(c);
}

static enum result read_compressed(struct cursor *c, const struct feature_input *in)
{
	in->features->compress_version = cursor_u32(c);
	in->features->compress_type = cursor_u32(c);
	in->features->compress_level = cursor_u32(c);
	in->features->compress_ratio = cursor_u32(c);
	in->features->compress_mmap_len = cursor_u32(c);
	return end(c);
}

static enum result read_e_machine(struct cursor *c, const struct feature_input *in)
{
	in->features->e_machine = cursor_u32(c);
	in->features->e_flags = cursor_u32(c);
	return end(c);
}

static enum result read_cache_line(struct cursor *c, const struct feature_input *in)
{
	in->features->cache_line_bytes = cursor_u32(c);
	return end(c);
}

static enum result read_tracing_data(struct cursor *c, const struct feature_input *in)
{
	in->features->tracing_data = in->section;
	return GOOD;
}

struct feature_row {
	unsigned bit;
	const char *name;
	enum result (*read)(struct cursor *c, const struct feature_input *in); /* NULL: kept raw */
};

static const struct feature_row rows[] = {
	{FEATURE_TRACING_DATA, "TRACING_DATA", read_tracing_data},
	{FEATURE_BUILD_ID, "BUILD_ID", read_build_ids},
	{FEATURE_HOSTNAME, "HOSTNAME", read_hostname},
	{FEATURE_OSRELEASE, "OSRELEASE", read_osrelease},
	{FEATURE_VERSION, "VERSION", read_version},
	{FEATURE_ARCH, "ARCH", read_arch},
	{FEATURE_NRCPUS, "NRCPUS", read_nrcpus},
	{FEATURE_CPUDESC, "CPUDESC", read_cpudesc},
	{FEATURE_CPUID, "CPUID", read_cpuid},
	{FEATURE_TOTAL_MEM, "TOTAL_MEM", read_total_mem},
	{FEATURE_CMDLINE, "CMDLINE", read_cmdline},
	{FEATURE_EVENT_DESC, "EVENT_DESC", read_event_desc},
	{FEATURE_CPU_TOPOLOGY, "CPU_TOPOLOGY", read_cpu_topology},
	{FEATURE_NUMA_TOPOLOGY, "NUMA_TOPOLOGY", read_numa},
	{FEATURE_BRANCH_STACK, "BRANCH_STACK", NULL},
	{FEATURE_PMU_MAPPINGS, "PMU_MAPPINGS", read_pmus},
	{FEATURE_GROUP_DESC, "GROUP_DESC", read_groups},
	{FEATURE_AUXTRACE, "AUXTRACE", NULL},
	{FEATURE_STAT, "STAT", NULL},
	{FEATURE_CACHE, "CACHE", read_caches},
	{FEATURE_SAMPLE_TIME, "SAMPLE_TIME", read_sample_time},
	{FEATURE_MEM_TOPOLOGY, "MEM_TOPOLOGY", NULL},
	{FEATURE_CLOCKID, "CLOCKID", read_clockid},
	{FEATURE_DIR_FORMAT, "DIR_FORMAT", NULL},
	{FEATURE_BPF_PROG_INFO, "BPF_PROG_INFO", NULL},
	{FEATURE_BPF_BTF, "BPF_BTF", NULL},
	{FEATURE_COMPRESSED, "COMPRESSED", read_compressed},
	{FEATURE_CPU_PMU_CAPS, "CPU_PMU_CAPS", NULL},
	{FEATURE_CLOCK_DATA, "CLOCK_DATA", read_clock_data},
	{FEATURE_HYBRID_TOPOLOGY, "HYBRID_TOPOLOGY", NULL},
	{FEATURE_PMU_CAPS, "PMU_CAPS", NULL},
	{FEATURE_CPU_DOMAIN_INFO, "CPU_DOMAIN_INFO", NULL},
	{FEATURE_E_MACHINE, "E_MACHINE", read_e_machine},
	{FEATURE_CLN_SIZE, "CLN_SIZE", read_cache_line},
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == FEATURE_COUNT - 1, "a row per feature, in order");

const char *feature_name(unsigned bit)
{
	return bit >= 1 && bit < FEATURE_COUNT ? rows[bit - 1].name : NULL;
}

enum tally_status feature_decode(unsigned bit, const struct feature_input *input, struct tally_error *err)
{
	if (bit >= FEATURE_BITS)
		return TALLY_OK;
	input->features->raw[bit] = input->section;
	if (!feature_name(bit))
		return TALLY_OK;
	const struct feature_row *row = &rows[bit - 1];
	if (!row->read)
		return TALLY_OK;
	struct cursor c = cursor_make(input->section, input->swap);
	switch (row->read(&c, input)) {
	case GOOD:
		break;
	case DAMAGED:
		input->features->damaged++;
		break;
	case NO_MEMORY:
		return error_nomem(err);
	}
	return TALLY_OK;
}
