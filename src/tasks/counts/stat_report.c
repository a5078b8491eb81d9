/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_report.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

#define DOUBT_LEAST_NS	   1000000
#define DOUBT_CYCLES_NS	   20 /* Maximum plausible number of cycles per nanosecond (20 GHz). */
#define DOUBT_CLOCK_FACTOR 1.05 /* Tolerance, because counting ends some time after the clock has been read. */
#define DOUBT_CLOCK_NS	   10e6

bool stat_event_is_clock(const struct event_spec *spec)
{
	return spec->tool == TOOL_NONE && spec->attr.type == EVENT_SOFTWARE &&
	       (spec->attr.config == SW_CPU_CLOCK || spec->attr.config == SW_TASK_CLOCK);
}

bool stat_event_is_source(const struct event_spec *spec)
{
	bool is_hardware = spec->attr.type == EVENT_HARDWARE || spec->attr.type == EVENT_HW_CACHE;
	return stat_event_is_clock(spec) || (spec->tool == TOOL_NONE && is_hardware);
}

struct stat_cell stat_merged_cell(const struct stat_report *report, size_t event, size_t place, bool *is_supported)
{
	struct stat_cell cell = *stat_cell_at(report, event, place);
	*is_supported = report->supported[event];
	for (size_t i = event + 1; report->merges_pmus && i < report->events->len && report->events->specs[i].is_merged;
		i++) {
		const struct stat_cell *more = stat_cell_at(report, i, place);
		*is_supported |= report->supported[i];
		cell.value.mean += more->value.mean;
		cell.value.m2 += more->value.m2;
		cell.running_ns.mean += more->running_ns.mean;
		cell.enabled_ns.mean += more->enabled_ns.mean;
	}
	return cell;
}

static bool stat_report_is_generic(const struct event_spec *spec, uint32_t type, uint64_t config)
{
	return spec->tool == TOOL_NONE && spec->attr.type == type && (spec->attr.config & HW_EVENT_MASK) == config;
}

/* Returns whether the target certainly ran in the modes that the event counts. */
static bool stat_report_must_count(const struct stat_report *report, const struct event_spec *spec, double running_ns)
{
	/* A complete command has executed user code. */
	bool is_whole_command = report->has_usage && report->interval_s < 0;
	bool has_user = !ATTR_HAS(&spec->attr, EXCLUDE_USER), has_kernel = !ATTR_HAS(&spec->attr, EXCLUDE_KERNEL);
	return report->is_of_tasks && running_ns >= DOUBT_LEAST_NS && has_user && (has_kernel || is_whole_command);
}

const char *stat_doubt_of(const struct stat_report *report, size_t event, size_t place)
{
	const struct event_spec *spec = &report->events->specs[event];
	bool is_supported;
	struct stat_cell cell = stat_merged_cell(report, event, place, &is_supported);
	double count = cell.value.mean, running = cell.running_ns.mean, enabled = cell.enabled_ns.mean;
	bool is_cycles = stat_report_is_generic(spec, EVENT_HARDWARE, HW_CPU_CYCLES);
	bool is_instructions = stat_report_is_generic(spec, EVENT_HARDWARE, HW_INSTRUCTIONS);
	if (!is_supported || running <= 0 || report->origin)
		return NULL;
	if ((is_cycles || is_instructions) && count == 0 && stat_report_must_count(report, spec, running))
		return "0 cannot be right, because what is measured ran meanwhile: the PMU's counter stands";
	if (is_cycles && count > DOUBT_CYCLES_NS * fmax(enabled, running))
		return "no CPU has as many cycles in this time: the PMU's counter jumps";
	if (stat_event_is_clock(spec) && report->cpu_limit && report->interval_s < 0 && report->wall_ns.mean > 0 &&
		count > DOUBT_CLOCK_FACTOR * report->cpu_limit * report->wall_ns.mean + DOUBT_CLOCK_NS)
		return "it is more than all CPUs together have in this time: the machine's clock jumps";
	return NULL;
}

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

#define MODE_FLAGS \
	(ATTR_FLAG(ATTR_BIT_EXCLUDE_USER) | ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV))

/* Returns the mean of the event of this type and config for a ratio with the event asks. Both must have the same cgroup
 * and, except for clocks, the same PMU; an event with the same modes is preferred. */
static double stat_report_mean_of(
	const struct stat_report *report, const struct event_spec *asks, uint32_t type, uint64_t config, size_t place)
{
	const struct event_spec *best = NULL;
	double mean = 0;
	size_t count = report->sources ? report->source_count : report->events->len;
	for (size_t k = 0; k < count; k++) {
		size_t i = report->sources ? report->sources[k] : k;
		const struct event_spec *spec = &report->events->specs[i];
		if (!report->supported[i] || !stat_report_is_generic(spec, type, config) ||
			!text_equal(spec->cgroup, asks->cgroup))
			continue;
		bool is_clock = type == EVENT_SOFTWARE;
		if (!is_clock && !text_equal(spec->pmu, asks->pmu))
			continue;
		bool same_modes = (spec->attr.flags & MODE_FLAGS) == (asks->attr.flags & MODE_FLAGS);
		if (best && !same_modes)
			continue;
		best = spec;
		bool is_supported;
		mean = stat_merged_cell(report, i, place, &is_supported).value.mean;
		if (same_modes)
			break;
	}
	return mean;
}

static double clock_of(const struct stat_report *report, const struct event_spec *asks, size_t place)
{
	double task = stat_report_mean_of(report, asks, EVENT_SOFTWARE, SW_TASK_CLOCK, place);
	return task > 0 ? task : stat_report_mean_of(report, asks, EVENT_SOFTWARE, SW_CPU_CLOCK, place);
}

/* An event that is shown as a percentage of another event, the whole: misses of accesses, or stalled cycles of
 * cycles. */
struct stat_report_share {
	uint32_t type;
	uint64_t config;
	uint32_t whole_type;
	uint64_t whole_config;
	const char *unit;
	bool is_of_whole;
};

#define CACHE_MISS(cache) ((cache) | CACHE_RESULT_MISS << 16)
static const struct stat_report_share shares[] = {
	{EVENT_HARDWARE, HW_BRANCH_MISSES, EVENT_HARDWARE, HW_BRANCH_INSTRUCTIONS, "of all branches", true},
	{EVENT_HARDWARE, HW_CACHE_MISSES, EVENT_HARDWARE, HW_CACHE_REFERENCES, "of all cache refs", true},
	{EVENT_HW_CACHE, CACHE_MISS(CACHE_L1D), EVENT_HW_CACHE, CACHE_L1D, "of all L1-dcache accesses", true},
	{EVENT_HW_CACHE, CACHE_MISS(CACHE_L1I), EVENT_HW_CACHE, CACHE_L1I, "of all L1-icache accesses", true},
	{EVENT_HW_CACHE, CACHE_MISS(CACHE_DTLB), EVENT_HW_CACHE, CACHE_DTLB, "of all dTLB cache accesses", true},
	{EVENT_HW_CACHE, CACHE_MISS(CACHE_ITLB), EVENT_HW_CACHE, CACHE_ITLB, "of all iTLB cache accesses", true},
	{EVENT_HW_CACHE, CACHE_MISS(CACHE_LL), EVENT_HW_CACHE, CACHE_LL, "of all LL-cache accesses", true},
	{EVENT_HARDWARE, HW_STALLED_CYCLES_FRONTEND, EVENT_HARDWARE, HW_CPU_CYCLES, "frontend cycles idle", false},
	{EVENT_HARDWARE, HW_STALLED_CYCLES_BACKEND, EVENT_HARDWARE, HW_CPU_CYCLES, "backend cycles idle", false},
};

static struct stat_metric stat_report_ratio(double value, const char *unit, unsigned decimals)
{
	return (struct stat_metric){.value = value, .unit = unit, .decimals = decimals};
}

static struct stat_metric rate_metric(double count, double clock_ns)
{
	static const struct {
		double least, divisor;
		const char *unit;
	} units[] = {{1e9, 1e9, "G/sec"}, {1e6, 1e6, "M/sec"}, {1e3, 1e3, "K/sec"}, {-1, 1, "/sec"}};
	double rate = count * 1e9 / clock_ns;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (rate >= units[i].least)
			return (struct stat_metric){.value = rate / units[i].divisor,
				.unit = units[i].unit,
				.decimals = 3,
				.is_usual = true};
	return (struct stat_metric){0};
}

static struct stat_metric hardware_metric(
	const struct stat_report *report, const struct event_spec *spec, double value, size_t place)
{
	for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
		const struct stat_report_share *s = &shares[i];
		if (!stat_report_is_generic(spec, s->type, s->config))
			continue;
		double whole = stat_report_mean_of(report, spec, s->whole_type, s->whole_config, place);
		if (whole > 0)
			return (struct stat_metric){.value = 100.0 * value / whole,
				.unit = s->unit,
				.decimals = 2,
				.is_percent = true,
				.is_of_whole = s->is_of_whole};
	}
	if (stat_report_is_generic(spec, EVENT_HARDWARE, HW_INSTRUCTIONS)) {
		double cycles = stat_report_mean_of(report, spec, EVENT_HARDWARE, HW_CPU_CYCLES, place);
		if (cycles > 0)
			return stat_report_ratio(value / cycles, " insn per cycle", 2);
	}
	if (stat_report_is_generic(spec, EVENT_HARDWARE, HW_CPU_CYCLES)) {
		double clock = clock_of(report, spec, place);
		if (clock > 0)
			return stat_report_ratio(value / clock, "GHz", 3);
	}
	return (struct stat_metric){0};
}

struct stat_metric stat_metric_of(const struct stat_report *report, size_t event, size_t place)
{
	const struct event_spec *spec = &report->events->specs[event];
	bool is_supported;
	double value = stat_merged_cell(report, event, place, &is_supported).value.mean;
	if (spec->tool != TOOL_NONE || spec->scale != 1)
		return (struct stat_metric){0};
	if (stat_event_is_clock(spec)) {
		double wall = report->wall_ns.mean;
		return (struct stat_metric){
			.value = wall > 0 ? value / wall : 0, .unit = "CPUs utilized", .decimals = 3, .is_usual = true};
	}
	struct stat_metric metric = hardware_metric(report, spec, value, place);
	if (metric.unit)
		return metric;
	double clock = clock_of(report, spec, place);
	return clock > 0 ? rate_metric(value, clock) : metric;
}

struct stat_metric stat_second_metric_of(const struct stat_report *report, size_t event, size_t place)
{
	const struct event_spec *spec = &report->events->specs[event];
	bool is_supported;
	double value = stat_merged_cell(report, event, place, &is_supported).value.mean;
	if (!stat_report_is_generic(spec, EVENT_HARDWARE, HW_INSTRUCTIONS) || value <= 0)
		return (struct stat_metric){0};
	double front = stat_report_mean_of(report, spec, EVENT_HARDWARE, HW_STALLED_CYCLES_FRONTEND, place);
	double back = stat_report_mean_of(report, spec, EVENT_HARDWARE, HW_STALLED_CYCLES_BACKEND, place);
	double stalled = MAX(front, back);
	if (stalled <= 0)
		return (struct stat_metric){0};
	return stat_report_ratio(stalled / value, " stalled cycles per insn", 2);
}
