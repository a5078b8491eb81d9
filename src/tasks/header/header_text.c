/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/header/header_text.h"

#include <inttypes.h>
#include <time.h>

#include "analysis/wait_events.h"
#include "base/array.h"
#include "perfdata/feature_table.h"
#include "perfdata/origin.h"
#include "perfdata/other_writers.h"
#include "tasks/header/header_parts.h"

/* Missing features are listed up to this one, the last that perf 6.1 knows. */
#define LAST_LISTED_FEATURE	 FEATURE_PMU_CAPS
#define HEADER_TEXT_NSEC_PER_SEC UINT64_C(1000000000)

static void print_hostname(struct text *out, const struct header_source *source)
{
	header_str(out, "# hostname : ", source->features->hostname);
}

static void print_osrelease(struct text *out, const struct header_source *source)
{
	header_str(out, "# os release : ", source->features->osrelease);
}

static void print_version(struct text *out, const struct header_source *source)
{
	header_str(out, "# perf version : ", source->features->version);
}

static void print_arch(struct text *out, const struct header_source *source)
{
	header_str(out, "# arch : ", source->features->arch);
}

static void print_cpudesc(struct text *out, const struct header_source *source)
{
	header_str(out, "# cpudesc : ", source->features->cpudesc);
}

static void print_cpuid(struct text *out, const struct header_source *source)
{
	header_str(out, "# cpuid : ", source->features->cpuid);
}

static void print_cmdline(struct text *out, const struct header_source *source)
{
	const struct perfdata_string_list *list = &source->features->cmdline;
	text_str(out, "# cmdline : ");
	size_t start = out->len;
	for (size_t i = 0; i < list->len; i++) {
		for (size_t k = 0; k < list->items[i].len; k++) {
			if (list->items[i].data[k] == '\'')
				text_char(out, '\\');
			text_char(out, list->items[i].data[k]);
		}
		text_char(out, ' ');
	}
	text_visible_from(out, start);
	text_char(out, '\n');
}

static void print_nrcpus(struct text *out, const struct header_source *source)
{
	text_printf(out, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n", source->features->cpus_online,
		source->features->cpus_available);
}

static void print_total_mem(struct text *out, const struct header_source *source)
{
	text_printf(out, "# total memory : %" PRIu64 " kB\n", source->features->total_mem_kb);
}

static void header_text_print_events(struct text *out, const struct header_source *source)
{
	for (size_t i = 0; i < source->features->event_count; i++) {
		const struct perfdata_event_desc *event = &source->features->events[i];
		text_str(out, "# event : name = ");
		text_visible(out, event->name);
		text_str(out, ", ");
		for (size_t k = 0; k < event->id_count; k++)
			text_printf(out, "%s%" PRIu64, k ? ", " : ", id = { ", event->ids[k]);
		text_str(out, event->id_count ? " }, " : ", ");
		attr_print_header(out, event->attr);
		text_char(out, '\n');
	}
	for (size_t i = 0; i < source->event_count; i++) {
		uint64_t waits =
			wait_event_is(&source->events[i]) ? source->events[i].attr.config1 : WAIT_SOURCE_UNKNOWN;
		const char *limits = wait_source_limits(waits);
		if (limits)
			text_printf(out, "# waits : %s\n", limits);
		else if (waits == WAIT_SOURCE_BPF)
			text_str(out, "# waits : from a BPF program\n");
	}
}

static void print_groups(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	const struct perfdata_event *events = source->events;
	size_t event_count = source->event_count;
	for (size_t i = 0; i < f->group_count; i++) {
		const struct perfdata_group *g = &f->groups[i];
		text_str(out, "# group: ");
		if (!str_equal(g->name, STR("{anon_group}")))
			text_visible(out, g->name);
		for (uint32_t m = 0; m < g->member_count && (size_t)g->leader_index + m < event_count; m++) {
			text_char(out, m ? ',' : '{');
			text_visible(out, events[g->leader_index + m].name);
		}
		text_str(out, "}\n");
	}
}

static void print_branch_stack(struct text *out, const struct header_source *source)
{
	text_str(out, "# contains samples with branch stack\n");
}

static void header_text_print_auxtrace(struct text *out, const struct header_source *source)
{
	text_str(out, "# contains AUX area data (e.g. instruction trace)\n");
}

static void header_text_print_stat(struct text *out, const struct header_source *source)
{
	text_str(out, "# contains stat data\n");
}

static void print_dir_format(struct text *out, const struct header_source *source)
{
	text_printf(out, "# directory data version : %" PRIu64 "\n", source->features->dir_version);
}

static void header_text_print_time(struct text *out, const char *before, uint64_t ns)
{
	text_printf(out, "%s%" PRIu64 ".%06" PRIu64 "\n", before, ns / HEADER_TEXT_NSEC_PER_SEC,
		ns % HEADER_TEXT_NSEC_PER_SEC / 1000);
}

static void print_sample_time(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	uint64_t span = f->last_sample_time_ns - f->first_sample_time_ns;
	header_text_print_time(out, "# time of first sample : ", f->first_sample_time_ns);
	header_text_print_time(out, "# time of last sample : ", f->last_sample_time_ns);
	text_printf(out, "# sample duration : %10.3f ms\n", (double)span / 1e6);
}

const char *header_clock_name(uint32_t id)
{
	static const char *const names[] = {"realtime", "monotonic", "process_cputime_id", "thread_cputime_id",
		"monotonic_raw", "realtime_coarse", "monotonic_coarse", "boottime", "realtime_alarm", "boottime_alarm",
		NULL, "tai"};
	const char *name = id < ARRAY_LEN(names) ? names[id] : NULL;
	return name ? name : "unknown";
}

static void print_clock(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	char day[64] = "";
	time_t seconds = (time_t)(f->wall_clock_ns / HEADER_TEXT_NSEC_PER_SEC);
	struct tm tm;
	if (localtime_r(&seconds, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	text_printf(
		out, "# clockid: %s (%" PRIu32 ")\n", header_clock_name(f->clock_data_clockid), f->clock_data_clockid);
	text_printf(out,
		"# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64 ".%09" PRIu64
		" (%s)\n",
		day, f->wall_clock_ns % HEADER_TEXT_NSEC_PER_SEC / 1000, f->wall_clock_ns / HEADER_TEXT_NSEC_PER_SEC,
		f->wall_clock_ns % HEADER_TEXT_NSEC_PER_SEC / 1000, f->clockid_time_ns / HEADER_TEXT_NSEC_PER_SEC,
		f->clockid_time_ns % HEADER_TEXT_NSEC_PER_SEC, header_clock_name(f->clock_data_clockid));
}

static void print_clockid(struct text *out, const struct header_source *source)
{
	uint64_t resolution_ns = source->features->clockid_resolution_ns;
	text_printf(out, "# clockid frequency: %" PRIu64 " MHz\n",
		resolution_ns ? HEADER_TEXT_NSEC_PER_SEC / resolution_ns / 1000000 : 0);
}

static void print_compressed(struct text *out, const struct header_source *source)
{
	const struct perfdata_features *f = source->features;
	text_printf(out, "# compressed : %s, level = %" PRIu32 ", ratio = %" PRIu32 "\n",
		f->compress_type == 1 ? "Zstd" : "Unknown", f->compress_level, f->compress_ratio);
}

static void print_e_machine(struct text *out, const struct header_source *source)
{
	text_printf(out, "# e_machine : %" PRIu32 "\n#   e_flags : %" PRIu32 "\n", source->features->e_machine,
		source->features->e_flags);
}

static void print_cache_line(struct text *out, const struct header_source *source)
{
	text_printf(out, "# cacheline size: %" PRIu32 "\n", source->features->cache_line_bytes);
}

/* Print functions of the features; those without one have no line (build IDs, tracing data). */
static const struct {
	void (*print)(struct text *out, const struct header_source *source);
	bool is_extended; /* Set if the feature is only printed with -I, and otherwise only named. */
} parts[FEATURE_COUNT] = {
	[FEATURE_HOSTNAME] = {print_hostname, false},
	[FEATURE_OSRELEASE] = {print_osrelease, false},
	[FEATURE_VERSION] = {print_version, false},
	[FEATURE_ARCH] = {print_arch, false},
	[FEATURE_NRCPUS] = {print_nrcpus, false},
	[FEATURE_CPUDESC] = {print_cpudesc, false},
	[FEATURE_CPUID] = {print_cpuid, false},
	[FEATURE_TOTAL_MEM] = {print_total_mem, false},
	[FEATURE_CMDLINE] = {print_cmdline, false},
	[FEATURE_EVENT_DESC] = {header_text_print_events, false},
	[FEATURE_CPU_TOPOLOGY] = {header_topology, true},
	[FEATURE_NUMA_TOPOLOGY] = {header_numa, true},
	[FEATURE_BRANCH_STACK] = {print_branch_stack, false},
	[FEATURE_PMU_MAPPINGS] = {header_pmus, false},
	[FEATURE_GROUP_DESC] = {print_groups, false},
	[FEATURE_AUXTRACE] = {header_text_print_auxtrace, false},
	[FEATURE_STAT] = {header_text_print_stat, false},
	[FEATURE_CACHE] = {header_caches, true},
	[FEATURE_SAMPLE_TIME] = {print_sample_time, false},
	[FEATURE_MEM_TOPOLOGY] = {header_memory, true},
	[FEATURE_CLOCKID] = {print_clockid, false},
	[FEATURE_DIR_FORMAT] = {print_dir_format, false},
	[FEATURE_BPF_PROG_INFO] = {header_bpf_programs, false},
	[FEATURE_BPF_BTF] = {header_btfs, false},
	[FEATURE_COMPRESSED] = {print_compressed, false},
	[FEATURE_CPU_PMU_CAPS] = {header_cpu_caps, false},
	[FEATURE_CLOCK_DATA] = {print_clock, false},
	[FEATURE_HYBRID_TOPOLOGY] = {header_hybrid, true},
	[FEATURE_PMU_CAPS] = {header_pmu_caps, false},
	[FEATURE_CPU_DOMAIN_INFO] = {header_cpu_domains, true},
	[FEATURE_E_MACHINE] = {print_e_machine, false},
	[FEATURE_CLN_SIZE] = {print_cache_line, false},
};

static void print_origin(struct text *out, const struct perfdata_features *features)
{
	struct perfdata_origin origin = origin_of(features);
	text_str(out, "# origin : ");
	origin_text(out, &origin);
	text_char(out, '\n');
}

static void print_feature(struct text *out, const struct header_source *source, unsigned bit, bool full)
{
	if (bit == FEATURE_PACK)
		text_printf(out, "# tally feature PACK: %zu bytes\n", source->features->raw[bit].len);
	else if (bit == FEATURE_ORIGIN)
		print_origin(out, source->features);
	else if (other_writer_feature(bit))
		text_printf(out, "# %s: %zu bytes\n", other_writer_feature(bit), source->features->raw[bit].len);
	else if (!feature_name(bit))
		text_printf(out, "# feature bit %u: unknown, %zu bytes\n", bit, source->features->raw[bit].len);
	else if (feature_is_damaged(source->features, bit))
		text_printf(
			out, "# feature %s: damaged, %zu bytes\n", feature_name(bit), source->features->raw[bit].len);
	else if (parts[bit].is_extended && !full)
		text_printf(out, "# %s info available, use -I to display\n", feature_name(bit));
	else if (parts[bit].print)
		parts[bit].print(out, source);
}

void header_text_feature(struct text *out, const struct perfdata_reader *reader, unsigned bit)
{
	struct header_source source = {
		.features = perfdata_reader_features(reader), .swap = perfdata_reader_is_swapped(reader)};
	source.events = perfdata_reader_events(reader, &source.event_count);
	if (bit < FEATURE_BITS && feature_is_present(source.features, bit))
		print_feature(out, &source, bit, true);
}

static void print_file(struct text *out, const struct perfdata_layout *layout)
{
	char when[64] = "";
	time_t seconds = (time_t)(layout->mtime_ns / HEADER_TEXT_NSEC_PER_SEC);
	struct tm tm;
	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", &tm);
	text_printf(out, "# captured on    : %s\n# header version : %d\n", when, layout->is_v1 ? 0 : 1);
	text_printf(out, "# data offset    : %" PRIu64 "\n# data size      : %" PRIu64 "\n", layout->data_offset,
		layout->data_size);
	text_printf(out, "# feat offset    : %" PRIu64 "\n", layout->feature_offset);
}

void header_text(struct text *out, const struct perfdata_reader *reader, bool full)
{
	static const char frame[] = "# ========\n";
	struct perfdata_layout layout = perfdata_reader_layout(reader);
	bool is_pipe = perfdata_reader_is_pipe(reader);
	struct header_source source = {
		.features = perfdata_reader_features(reader), .swap = perfdata_reader_is_swapped(reader)};
	source.events = perfdata_reader_events(reader, &source.event_count);
	text_str(out, frame);
	print_file(out, &layout);
	if (is_pipe) /* perf prints the features of a pipe as they arrive, after the frame. */
		text_printf(out, "%s#\n", frame);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		if (feature_is_present(source.features, bit))
			print_feature(out, &source, bit, full);
	}
	if (is_pipe)
		return;
	text_str(out, "# missing features: ");
	for (unsigned bit = 1; bit <= LAST_LISTED_FEATURE; bit++) {
		if (!feature_is_present(source.features, bit))
			text_printf(out, "%s ", feature_name(bit));
	}
	text_printf(out, "\n%s#\n", frame);
}
