/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/tool_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/order.h"
#include "kernel/counting/task_usage.h"
#include "kernel/events/event_gates.h"
#include "kernel/events/tool_events.h"
#include "kernel/system/kernel_files.h"

#define TOOL_COUNTS_NS_PER_S	1000000000u
#define TOOL_COUNTS_TICKS_USUAL 100

enum tool_source { SOURCE_NONE, SOURCE_TASK, SOURCE_CPU };

/* Counts of a CPU or a thread. */
struct tool_cell {
	enum tool_source source;
	struct usage_watch watch; /* Used with SOURCE_TASK only. */
	bool was_seen; /* Whether the cell was read at least once. */
	/* Bits of the kinds that could not be followed to the end; their last reading remains valid. */
	unsigned unknown;
	uint64_t last[USAGE_KINDS]; /* Values of the last reading; they never decrease. */
	uint64_t begin[USAGE_KINDS]; /* Values at the beginning of the present enabled period. */
	uint64_t sum[USAGE_KINDS]; /* Sum over the earlier enabled periods. */
};

struct tool_counts {
	struct counter_set *set;
	struct tool_cell *cells;
	size_t cell_count;
	unsigned wanted; /* Bits of the kinds that the events need. */
	bool is_enabled, is_command, has_ended, was_looked_at_end, replaces_events;
	uint64_t begin_ns, sum_ns;
	struct task_usage end;
	uint64_t constants[TOOL_EVENTS];
	uint64_t tick_ns;
};

/* Bits of the kinds that add up to the event's count; 0 if the event cannot be counted here. */
static unsigned usage_of_event(const struct event_spec *spec)
{
	if (spec->tool == TOOL_USER_TIME)
		return USAGE_BIT(USAGE_USER);
	if (spec->tool == TOOL_SYSTEM_TIME)
		return USAGE_BIT(USAGE_SYSTEM);
	if (spec->tool != TOOL_NONE || spec->attr.type != EVENT_SOFTWARE)
		return 0;
	switch (spec->attr.config) {
	case SW_CPU_CLOCK:
	case SW_TASK_CLOCK:
		return USAGE_BIT(USAGE_CPU);
	case SW_PAGE_FAULTS:
		return USAGE_BIT(USAGE_MINOR_FAULTS) | USAGE_BIT(USAGE_MAJOR_FAULTS);
	case SW_PAGE_FAULTS_MIN:
		return USAGE_BIT(USAGE_MINOR_FAULTS);
	case SW_PAGE_FAULTS_MAJ:
		return USAGE_BIT(USAGE_MAJOR_FAULTS);
	case SW_CONTEXT_SWITCHES:
		return USAGE_BIT(USAGE_SWITCHES);
	case SW_CPU_MIGRATIONS:
		return USAGE_BIT(USAGE_MIGRATIONS);
	default:
		return 0;
	}
}

/* Counts never decrease: a process that ended between two readings keeps its last count. */
static void cell_take(struct tool_cell *cell, const struct task_usage *now)
{
	for (unsigned kind = 0; kind < USAGE_KINDS; kind++)
		cell->last[kind] = MAX(cell->last[kind], now->values[kind]);
}

static void task_look(struct tool_counts *t, struct tool_cell *cell)
{
	struct task_usage usage;
	if (cell->watch.scope == USAGE_OF_COMMAND && t->has_ended) {
		cell_take(cell, &t->end);
		return;
	}
	if (!usage_watch_look(&cell->watch, &usage)) {
		if (!cell->was_seen)
			cell->unknown = ~0u;
		return;
	}
	cell->was_seen = true;
	cell->unknown = ~usage.known;
	cell_take(cell, &usage);
}

/* The line has the form "cpuN user nice system ..." of /proc/stat. */
static void cpu_line_take(struct tool_counts *t, struct tally_str line)
{
	struct tally_str word;
	struct task_usage usage = {0};
	uint64_t cpu, numbers[3];
	if (!str_next(&line, ' ', &word) || word.len < 4 || memcmp(word.data, "cpu", 3) != 0 ||
		!str_to_u64((struct tally_str){word.data + 3, word.len - 3}, 10, &cpu))
		return;
	for (size_t i = 0; i < 3; i++)
		if (!str_next(&line, ' ', &word) || !str_to_u64(word, 10, &numbers[i]))
			return;
	if (__builtin_mul_overflow(numbers[0] + numbers[1], t->tick_ns, &usage.values[USAGE_USER]) ||
		__builtin_mul_overflow(numbers[2], t->tick_ns, &usage.values[USAGE_SYSTEM]))
		return;
	for (size_t i = 0; i < t->set->cpu_count && i < t->cell_count; i++)
		if (t->set->cpus[i] >= 0 && (uint64_t)t->set->cpus[i] == cpu)
			cell_take(&t->cells[i], &usage);
}

static bool cpus_look(struct tool_counts *t)
{
	char *text;
	if (kernel_text(t->set->kernel, &text, NULL, "/proc/stat") != TALLY_OK)
		return false;
	struct tally_str rest = str_from(text), line;
	while (str_next(&rest, '\n', &line))
		cpu_line_take(t, line);
	free(text);
	return true;
}

static void cells_look(struct tool_counts *t)
{
	if (!t->wanted || t->cell_count == 0)
		return;
	if (t->cells[0].source == SOURCE_CPU) {
		(void)cpus_look(t);
		return;
	}
	for (size_t i = 0; i < t->cell_count; i++)
		if (t->cells[i].source == SOURCE_TASK)
			task_look(t, &t->cells[i]);
}

/* The process of the thread; 0 if the thread has ended. */
static pid_t tool_counts_process_of(const struct kernel_seam *kernel, pid_t thread)
{
	char *text;
	uint64_t process = 0;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/status", (int)thread) != TALLY_OK)
		return 0;
	const char *line = strstr(text, "\nTgid:");
	struct tally_str rest = str_from(line ? line + strlen("\nTgid:") : ""), word;
	if (!str_next(&rest, '\n', &word) || !str_to_u64(str_trim(word), 10, &process) || process > INT32_MAX)
		process = 0;
	free(text);
	return (pid_t)process;
}

static struct usage_watch usage_watch_make(const struct tool_counts *t, enum usage_scope scope, pid_t task)
{
	return (struct usage_watch){.kernel = t->set->kernel, .scope = scope, .task = task, .wanted = t->wanted};
}

static void sources_choose(struct tool_counts *t, const struct tool_counts_options *options)
{
	const struct counter_set *set = t->set;
	for (size_t i = 0; i < t->cell_count; i++) {
		struct tool_cell *cell = &t->cells[i];
		cell->source = set->threads[0] == -1 ? SOURCE_CPU : SOURCE_TASK;
		if (cell->source == SOURCE_TASK)
			cell->watch = usage_watch_make(
				t, options->is_command ? USAGE_OF_COMMAND : USAGE_OF_THREAD, set->threads[i]);
		if (cell->source == SOURCE_TASK && !options->is_command && options->is_whole_process) {
			cell->source = SOURCE_NONE;
			/* The cell of a process's first thread counts all its threads, including later ones. */
			pid_t process = tool_counts_process_of(t->set->kernel, set->threads[i]);
			if (process == set->threads[i] || process == 0) {
				cell->source = SOURCE_TASK;
				cell->watch = usage_watch_make(
					t, process ? USAGE_OF_PROCESS : USAGE_OF_THREAD, set->threads[i]);
			}
		}
	}
}

static enum tally_status tool_refuse(struct counter *counter, const char *reason, struct tally_error *err)
{
	free(counter->reason);
	counter->reason = strdup(reason);
	counter->refused_errnum = EOPNOTSUPP;
	return counter->reason ? TALLY_OK : error_nomem(err);
}

static enum tally_status tool_check(struct tool_counts *t, struct counter *counter, struct tally_error *err)
{
	const struct event_spec *spec = counter->spec;
	const struct counter_set *set = t->set;
	bool is_wide = set->threads[0] == -1;
	if (spec->tool == TOOL_DURATION_TIME)
		return TALLY_OK;
	if (tool_event_is_constant(spec->tool))
		return tool_event_constant(set->kernel, spec->tool, is_wide, &t->constants[spec->tool])
			       ? TALLY_OK
			       : tool_refuse(counter, "the machine does not report this value", err);
	if (spec->cgroup)
		return tool_refuse(
			counter, "the kernel reports times for CPUs and for processes, not for a cgroup", err);
	if (!is_wide && set->cpus[0] >= 0)
		return tool_refuse(counter,
			"the kernel reports the times of a process for all CPUs together, not for each CPU", err);
	if (is_wide && !kernel_has(set->kernel, "/proc/stat"))
		return tool_refuse(counter, "/proc/stat is not available", err);
	t->wanted |= usage_of_event(spec);
	return TALLY_OK;
}

/* Whether usage, which covers all modes, is what the event would count: all modes, or a clock, which never stops. */
static bool usage_tells_mode(const struct event_spec *spec)
{
	bool has_mode = ATTR_HAS(&spec->attr, EXCLUDE_USER) || ATTR_HAS(&spec->attr, EXCLUDE_KERNEL);
	return !has_mode || usage_of_event(spec) == USAGE_BIT(USAGE_CPU);
}

bool tool_counts_replace(const struct event_spec *spec)
{
	return usage_of_event(spec) != 0 && usage_tells_mode(spec);
}

/* Every process has page faults, so a kernel that reports none does not count them (as gVisor). */
static bool kernel_counts_faults(void)
{
	struct rusage own;
	return getrusage(RUSAGE_SELF, &own) == 0 && own.ru_minflt + own.ru_majflt > 0;
}

/* Checks whether the count of a kernel event that was not opened is available from getrusage or /proc. */
static enum tally_status usage_check(struct tool_counts *t, struct counter *counter, struct tally_error *err)
{
	const struct event_spec *spec = counter->spec;
	unsigned kinds = usage_of_event(spec);
	if (kinds == 0)
		return tool_refuse(counter,
			event_is_hardware(spec)
				? "only perf events count what the CPU does; --simulate counts it in a model of a CPU"
				: "only perf events count it, and they are not used here",
			err);
	if (!usage_tells_mode(spec))
		return tool_refuse(
			counter, "getrusage and /proc do not tell user mode from kernel mode: omit the modifier", err);
	if (kinds != USAGE_BIT(USAGE_CPU) && !kernel_counts_faults())
		return tool_refuse(counter, "this kernel keeps no count of it for its processes", err);
	if (kinds == USAGE_BIT(USAGE_MIGRATIONS) &&
		!kernel_file_has(t->set->kernel, "/proc/self/sched", "se.nr_migrations"))
		return tool_refuse(counter, "this kernel has no /proc/PID/sched (CONFIG_SCHED_DEBUG)", err);
	t->wanted |= kinds;
	return TALLY_OK;
}

enum tally_status tool_counts_create(struct counter_set *set, const struct tool_counts_options *options,
	struct tool_counts **counts, struct tally_error *err)
{
	struct tool_counts *t = calloc(1, sizeof(*t));
	if (!t)
		return error_nomem(err);
	long ticks = sysconf(_SC_CLK_TCK);
	t->set = set;
	t->is_command = options->is_command;
	t->replaces_events = options->replaces_events;
	t->tick_ns = TOOL_COUNTS_NS_PER_S / (uint64_t)(ticks > 0 ? ticks : TOOL_COUNTS_TICKS_USUAL);
	t->cell_count = set->threads[0] == -1 ? set->cpu_count : set->thread_count;
	t->cells = calloc(t->cell_count ? t->cell_count : 1, sizeof(*t->cells));
	enum tally_status status = t->cells ? TALLY_OK : error_nomem(err);
	for (size_t i = 0; status == TALLY_OK && i < set->len; i++)
		if (set->counters[i].spec->tool != TOOL_NONE)
			status = tool_check(t, &set->counters[i], err);
		else if (options->replaces_events)
			status = usage_check(t, &set->counters[i], err);
	if (status != TALLY_OK) {
		tool_counts_destroy(t);
		return status;
	}
	if (t->wanted)
		sources_choose(t, options);
	*counts = t;
	return TALLY_OK;
}

void tool_counts_destroy(struct tool_counts *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->cells && i < t->cell_count; i++)
		usage_watch_deinit(&t->cells[i].watch);
	free(t->cells);
	free(t);
}

void tool_counts_enable(struct tool_counts *t, uint64_t now_ns)
{
	if (t->is_enabled)
		return;
	cells_look(t);
	for (size_t i = 0; i < t->cell_count; i++)
		memcpy(t->cells[i].begin, t->cells[i].last, sizeof(t->cells[i].begin));
	t->begin_ns = now_ns;
	t->is_enabled = true;
}

void tool_counts_disable(struct tool_counts *t, uint64_t now_ns)
{
	if (!t->is_enabled)
		return;
	cells_look(t);
	for (size_t i = 0; i < t->cell_count; i++) {
		struct tool_cell *cell = &t->cells[i];
		for (unsigned kind = 0; kind < USAGE_KINDS; kind++)
			cell->sum[kind] += cell->last[kind] - cell->begin[kind];
	}
	t->sum_ns += now_ns - t->begin_ns;
	t->is_enabled = false;
}

void tool_counts_end(struct tool_counts *t, const struct rusage *usage)
{
	t->has_ended = t->is_command;
	t->end = task_usage_of_end(usage);
	if (!t->is_command || t->cell_count == 0)
		return;
	t->cells[0].unknown &= ~t->end.known;
	if (t->is_enabled && !t->was_looked_at_end)
		t->cells[0].unknown |= ~t->end.known;
}

void tool_counts_look_last(struct tool_counts *t)
{
	t->was_looked_at_end = t->is_enabled && t->wanted & USAGE_BIT(USAGE_MIGRATIONS);
	if (t->was_looked_at_end)
		cells_look(t);
}

static uint64_t cell_value(const struct tool_counts *t, const struct tool_cell *cell, unsigned kinds)
{
	uint64_t value = 0;
	for (unsigned kind = 0; kind < USAGE_KINDS; kind++)
		if (kinds & USAGE_BIT(kind))
			value += cell->sum[kind] + (t->is_enabled ? cell->last[kind] - cell->begin[kind] : 0);
	return value;
}

static void counter_fill(struct tool_counts *t, struct counter *counter, uint64_t enabled)
{
	enum tool_event tool = counter->spec->tool;
	unsigned kinds = usage_of_event(counter->spec);
	for (size_t k = 0; k < counter->cpu_count * counter->thread_count; k++) {
		if (!kinds) {
			uint64_t value = tool == TOOL_DURATION_TIME ? enabled : t->constants[tool];
			counter->counts[k] = (struct count){value, enabled, enabled};
		} else if (k < t->cell_count && t->cells[k].source != SOURCE_NONE && !(t->cells[k].unknown & kinds)) {
			counter->counts[k] = (struct count){cell_value(t, &t->cells[k], kinds), enabled, enabled};
		}
	}
}

void tool_counts_read(struct tool_counts *t, uint64_t now_ns)
{
	uint64_t enabled = t->sum_ns + (t->is_enabled ? now_ns - t->begin_ns : 0);
	if (t->is_enabled)
		cells_look(t);
	for (size_t i = 0; i < t->set->len; i++) {
		struct counter *counter = &t->set->counters[i];
		bool is_ours = counter->spec->tool != TOOL_NONE || t->replaces_events;
		if (is_ours && counter_is_supported(counter))
			counter_fill(t, counter, enabled);
	}
}

bool tool_counts_fades(const struct tool_counts *t)
{
	return t->wanted && !t->is_command && t->set->threads[0] != -1;
}
