#include "cli/header_text.h"

#include <inttypes.h>
#include <time.h>

#include "perfdata/feature_table.h"

#define LAST_LISTED_FEATURE FEATURE_HYBRID_TOPOLOGY
#define NSEC_PER_SEC	    UINT64_C(1000000000)

static void print_str(struct text *out, const char *before, struct tally_str value)
{
	text_str(out, before);
	text_bytes(out, value.data, value.len);
	text_char(out, '\n');
}

static void print_cmdline(struct text *out, const struct perfdata_string_list *list)
{
	text_str(out, "# cmdline : ");
	for (size_t i = 0; i < list->len; i++) {
		for (size_t k = 0; k < list->items[i].len; k++) {
			if (list->items[i].data[k] == '\'')
				text_char(out, '\\');
			text_char(out, list->items[i].data[k]);
		}
		text_char(out, ' ');
	}
	text_char(out, '\n');
}

static void print_event(struct text *out, const struct perfdata_event_desc *event)
{
	text_str(out, "# event : name = ");
	text_bytes(out, event->name.data, event->name.len);
	text_str(out, ", ");
	for (size_t i = 0; i < event->id_count; i++)
		text_printf(out, "%s%" PRIu64, i ? ", " : ", id = { ", event->ids[i]);
	text_str(out, event->id_count ? " }, " : ", ");
	attr_print_header(out, event->attr);
	text_char(out, '\n');
}

static void print_topology(struct text *out, const struct perfdata_topology *topology)
{
	for (size_t i = 0; i < topology->cores.len; i++)
		print_str(out, "# sibling sockets : ", topology->cores.items[i]);
	for (size_t i = 0; i < topology->dies.len; i++)
		print_str(out, "# sibling dies    : ", topology->dies.items[i]);
	for (size_t i = 0; i < topology->threads.len; i++)
		print_str(out, "# sibling threads : ", topology->threads.items[i]);
	if (!topology->core_ids || !topology->socket_ids)
		text_str(out, "# Core ID and Socket ID information is not available\n");
	for (size_t i = 0; topology->core_ids && topology->socket_ids && i < topology->cpu_count; i++) {
		text_printf(out, "# CPU %zu: Core ID %" PRIu32, i, topology->core_ids[i]);
		if (topology->die_ids)
			text_printf(out, ", Die ID %" PRIu32, topology->die_ids[i]);
		text_printf(out, ", Socket ID %" PRIu32 "\n", topology->socket_ids[i]);
	}
}

static void print_numa(struct text *out, const struct perfdata_features *f)
{
	for (size_t i = 0; i < f->numa_count; i++) {
		const struct perfdata_numa_node *n = &f->numa[i];
		text_printf(out, "# node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n",
			n->node, n->mem_total_kb, n->mem_free_kb);
		text_printf(out, "# node%" PRIu32 " cpu list : ", n->node);
		print_str(out, "", n->cpus);
	}
}

static void print_pmus(struct text *out, const struct perfdata_features *f)
{
	for (size_t i = 0; i < f->pmu_count; i++) {
		text_str(out, i ? ", " : "# pmu mappings: ");
		text_bytes(out, f->pmus[i].name.data, f->pmus[i].name.len);
		text_printf(out, " = %" PRIu32, f->pmus[i].type);
	}
	text_str(out, f->pmu_count ? "\n" : "# pmu mappings: not available\n");
}

static void print_groups(
	struct text *out, const struct perfdata_features *f, const struct perfdata_event *events, size_t event_count)
{
	for (size_t i = 0; i < f->group_count; i++) {
		const struct perfdata_group *g = &f->groups[i];
		text_str(out, "# group: ");
		if (!str_equal(g->name, STR("{anon_group}")))
			text_bytes(out, g->name.data, g->name.len);
		for (uint32_t m = 0; m < g->member_count && (size_t)g->leader_index + m < event_count; m++) {
			text_char(out, m ? ',' : '{');
			text_bytes(out, events[g->leader_index + m].name.data, events[g->leader_index + m].name.len);
		}
		text_str(out, "}\n");
	}
}

static void print_caches(struct text *out, const struct perfdata_features *f)
{
	text_str(out, "# CPU cache info:\n");
	for (size_t i = 0; i < f->cache_count; i++) {
		const struct perfdata_cache *c = &f->caches[i];
		text_printf(out, "#  L%" PRIu32 " %-15.*s %8.*s [%.*s]\n", c->level, (int)c->type.len, c->type.data,
			(int)c->size.len, c->size.data, (int)c->map.len, c->map.data);
	}
}

static void print_time(struct text *out, const char *before, uint64_t ns)
{
	text_printf(out, "%s%" PRIu64 ".%06" PRIu64 "\n", before, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000);
}

static void print_sample_time(struct text *out, const struct perfdata_features *f)
{
	uint64_t span = f->last_sample_time_ns - f->first_sample_time_ns;
	print_time(out, "# time of first sample : ", f->first_sample_time_ns);
	print_time(out, "# time of last sample : ", f->last_sample_time_ns);
	text_printf(out, "# sample duration : %10.3f ms\n", (double)span / 1e6);
}

static uint64_t count_bits(struct cursor bitmap)
{
	uint64_t count = 0;
	while (cursor_left(&bitmap) >= 8)
		count += (uint64_t)__builtin_popcountll(cursor_u64(&bitmap));
	return count;
}

static bool bit_is_set(const struct cursor *bitmap, uint64_t bit)
{
	struct cursor c = *bitmap;
	cursor_skip(&c, bit / 64 * 8);
	return cursor_u64(&c) >> (bit % 64) & 1;
}

/* The set bits as ranges: "0-23,32-199". */
static void print_bits(struct text *out, const struct cursor *bitmap)
{
	uint64_t count = (uint64_t)cursor_left(bitmap) * 8;
	const char *comma = "";
	for (uint64_t first = 0; first < count; first++) {
		if (!bit_is_set(bitmap, first))
			continue;
		uint64_t last = first;
		while (last + 1 < count && bit_is_set(bitmap, last + 1))
			last++;
		text_printf(out, "%s%" PRIu64, comma, first);
		if (last > first)
			text_printf(out, "-%" PRIu64, last);
		comma = ",";
		first = last;
	}
}

static void print_size(struct text *out, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	size_t unit = 0;
	for (; bytes >= 1024 && unit + 2 < sizeof(units); unit++)
		bytes /= 1024;
	text_printf(out, "%" PRIu64 "%c", bytes, units[unit]);
}

/* Section: u64 version, block size, nodes; a node is u64 id, blocks, bits and a bitmap of its blocks. */
static void print_memory(struct text *out, struct tally_bytes section, bool swap)
{
	struct cursor c = cursor_make(section, swap);
	cursor_skip(&c, 8);
	uint64_t block = cursor_u64(&c), nodes = cursor_u64(&c);
	if (!cursor_count(&c, nodes, 24))
		return;
	text_printf(out, "# memory nodes (nr %" PRIu64 ", block size 0x%" PRIx64 "):\n", nodes, block);
	for (uint64_t i = 0; i < nodes && !c.failed; i++) {
		uint64_t node = cursor_u64(&c);
		cursor_skip(&c, 8); /* blocks, which the bitmap says again */
		uint64_t bits = cursor_u64(&c);
		if (!cursor_count(&c, bits / 64 + (bits % 64 != 0), 8))
			return;
		struct cursor bitmap = cursor_sub(&c, (size_t)(bits / 64 + (bits % 64 != 0)) * 8);
		text_printf(out, "#  %3" PRIu64 " [", node);
		print_size(out, count_bits(bitmap) * block);
		text_str(out, "]: ");
		print_bits(out, &bitmap);
		text_char(out, '\n');
	}
}

static const char *clock_name(uint32_t id)
{
	static const char *const names[] = {"realtime", "monotonic", "process_cputime_id", "thread_cputime_id",
		"monotonic_raw", "realtime_coarse", "monotonic_coarse", "boottime", "realtime_alarm", "boottime_alarm",
		NULL, "tai"};
	const char *name = id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
	return name ? name : "unknown";
}

static void print_clock(struct text *out, const struct perfdata_features *f)
{
	char day[64] = "";
	time_t seconds = (time_t)(f->wall_clock_ns / NSEC_PER_SEC);
	struct tm tm;
	if (localtime_r(&seconds, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	text_printf(out, "# clockid: %s (%" PRIu32 ")\n", clock_name(f->clock_data_clockid), f->clock_data_clockid);
	text_printf(out,
		"# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64 ".%09" PRIu64
		" (%s)\n",
		day, f->wall_clock_ns % NSEC_PER_SEC / 1000, f->wall_clock_ns / NSEC_PER_SEC,
		f->wall_clock_ns % NSEC_PER_SEC / 1000, f->clockid_time_ns / NSEC_PER_SEC,
		f->clockid_time_ns % NSEC_PER_SEC, clock_name(f->clock_data_clockid));
}

struct header_source {
	const struct perfdata_features *features;
	const struct perfdata_event *events;
	size_t event_count;
	bool swap, full;
};

/* What only -I shows. */
static void print_extended(struct text *out, const struct header_source *source, unsigned bit)
{
	const struct perfdata_features *f = source->features;
	if (!source->full) {
		text_printf(out, "# %s info available, use -I to display\n", feature_name(bit));
		return;
	}
	switch (bit) {
	case FEATURE_CPU_TOPOLOGY:
		print_topology(out, &f->topology);
		break;
	case FEATURE_NUMA_TOPOLOGY:
		print_numa(out, f);
		break;
	case FEATURE_CACHE:
		print_caches(out, f);
		break;
	case FEATURE_MEM_TOPOLOGY:
		print_memory(out, f->raw[FEATURE_MEM_TOPOLOGY], source->swap);
		break;
	default:
		break;
	}
}

static void print_event_features(struct text *out, const struct header_source *source, unsigned bit)
{
	const struct perfdata_features *f = source->features;
	switch (bit) {
	case FEATURE_EVENT_DESC:
		for (size_t i = 0; i < f->event_count; i++)
			print_event(out, &f->events[i]);
		break;
	case FEATURE_PMU_MAPPINGS:
		print_pmus(out, f);
		break;
	case FEATURE_GROUP_DESC:
		print_groups(out, f, source->events, source->event_count);
		break;
	case FEATURE_BRANCH_STACK:
		text_str(out, "# contains samples with branch stack\n");
		break;
	case FEATURE_AUXTRACE:
		text_str(out, "# contains AUX area data (e.g. instruction trace)\n");
		break;
	case FEATURE_STAT:
		text_str(out, "# contains stat data\n");
		break;
	case FEATURE_SAMPLE_TIME:
		print_sample_time(out, f);
		break;
	case FEATURE_CLOCKID:
		text_printf(out, "# clockid frequency: %" PRIu64 " MHz\n",
			f->clockid_resolution_ns ? NSEC_PER_SEC / f->clockid_resolution_ns / 1000000 : 0);
		break;
	case FEATURE_CLOCK_DATA:
		print_clock(out, f);
		break;
	case FEATURE_COMPRESSED:
		text_printf(out, "# compressed : %s, level = %" PRIu32 ", ratio = %" PRIu32 "\n",
			f->compress_type == 1 ? "Zstd" : "Unknown", f->compress_level, f->compress_ratio);
		break;
	default:
		break;
	}
}

static void print_feature(struct text *out, const struct header_source *source, unsigned bit)
{
	const struct perfdata_features *f = source->features;
	switch (bit) {
	case FEATURE_HOSTNAME:
		print_str(out, "# hostname : ", f->hostname);
		break;
	case FEATURE_OSRELEASE:
		print_str(out, "# os release : ", f->osrelease);
		break;
	case FEATURE_VERSION:
		print_str(out, "# perf version : ", f->version);
		break;
	case FEATURE_ARCH:
		print_str(out, "# arch : ", f->arch);
		break;
	case FEATURE_NRCPUS:
		text_printf(out, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n", f->cpus_online,
			f->cpus_available);
		break;
	case FEATURE_CPUDESC:
		print_str(out, "# cpudesc : ", f->cpudesc);
		break;
	case FEATURE_CPUID:
		print_str(out, "# cpuid : ", f->cpuid);
		break;
	case FEATURE_TOTAL_MEM:
		text_printf(out, "# total memory : %" PRIu64 " kB\n", f->total_mem_kb);
		break;
	case FEATURE_CMDLINE:
		print_cmdline(out, &f->cmdline);
		break;
	case FEATURE_CPU_TOPOLOGY:
	case FEATURE_NUMA_TOPOLOGY:
	case FEATURE_CACHE:
	case FEATURE_MEM_TOPOLOGY:
		print_extended(out, source, bit);
		break;
	default:
		print_event_features(out, source, bit);
		break;
	}
}

static void print_file(struct text *out, const struct perfdata_layout *layout)
{
	char when[64] = "";
	time_t seconds = (time_t)(layout->mtime_ns / NSEC_PER_SEC);
	struct tm tm;
	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", &tm);
	text_printf(out, "# captured on    : %s\n# header version : 1\n", when);
	text_printf(out, "# data offset    : %" PRIu64 "\n# data size      : %" PRIu64 "\n", layout->data_offset,
		layout->data_size);
	text_printf(out, "# feat offset    : %" PRIu64 "\n", layout->feature_offset);
}

void header_text(struct text *out, const struct perfdata_reader *reader, bool full)
{
	struct perfdata_layout layout = perfdata_reader_layout(reader);
	struct header_source source = {.features = perfdata_reader_features(reader), .full = full};
	source.events = perfdata_reader_events(reader, &source.event_count);
	source.swap = perfdata_reader_is_swapped(reader);
	text_str(out, "# ========\n");
	print_file(out, &layout);
	for (unsigned bit = 1; bit < FEATURE_COUNT; bit++) {
		if (feature_is_present(source.features, bit))
			print_feature(out, &source, bit);
	}
	if (!perfdata_reader_is_pipe(reader)) {
		text_str(out, "# missing features: ");
		for (unsigned bit = 1; bit <= LAST_LISTED_FEATURE; bit++) {
			if (!feature_is_present(source.features, bit))
				text_printf(out, "%s ", feature_name(bit));
		}
		text_char(out, '\n');
	}
	text_str(out, "# ========\n#\n");
}
