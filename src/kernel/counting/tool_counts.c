/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/tool_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "kernel/events/tool_events.h"
#include "kernel/system/kernel_files.h"

#define NS_PER_S	1000000000u
#define TICKS_USUAL	100
#define DESCENDANTS_MAX 4096 /* of a command that are looked at in one reading */
#define FIELD_UTIME	11 /* proc(5), /proc/PID/stat: fields behind the one that follows the name */
#define FIELD_TIMES	4 /* utime, stime, cutime, cstime */

enum tool_source { SOURCE_NONE, SOURCE_COMMAND, SOURCE_PROCESS, SOURCE_THREAD, SOURCE_CPU };

struct tool_times {
	uint64_t user, system;
};

struct tool_cell { /* of a CPU or a thread */
	enum tool_source source;
	struct tool_times last; /* as it was told; never goes back */
	struct tool_times begin; /* of what is enabled now */
	struct tool_times sum; /* of what was enabled before */
};

struct tool_counts {
	struct counter_set *set;
	struct tool_cell *cells;
	size_t cell_count;
	bool has_times; /* some event needs the cells */
	bool is_enabled, is_command, has_ended;
	uint64_t begin_ns, sum_ns;
	struct tool_times end;
	uint64_t constants[TOOL_EVENTS];
	uint64_t tick_ns;
};

/* The numbers behind the name, which may hold anything. */
static bool task_times_parse(const char *text, uint64_t times[FIELD_TIMES])
{
	const char *at = strrchr(text, ')');
	struct tally_str rest = str_from(at ? at + 1 : ""), word;
	rest = str_trim(rest);
	for (unsigned field = 0; str_next(&rest, ' ', &word); field++) {
		if (field <= FIELD_UTIME - 1)
			continue;
		unsigned n = field - FIELD_UTIME;
		if (!str_to_u64(word, 10, &times[n]))
			return false;
		if (n == FIELD_TIMES - 1)
			return true;
	}
	return false;
}

static bool task_times(const struct kernel_seam *kernel, pid_t process, pid_t thread, uint64_t times[FIELD_TIMES])
{
	char *text;
	enum tally_status status =
		thread ? kernel_text(kernel, &text, NULL, "/proc/%d/task/%d/stat", (int)process, (int)thread)
		       : kernel_text(kernel, &text, NULL, "/proc/%d/stat", (int)process);
	if (status != TALLY_OK)
		return false;
	bool is_known = task_times_parse(text, times);
	free(text);
	return is_known;
}

struct pid_list {
	VEC(pid_t) pids;
};

/* The children of all threads of the process, as the kernel lists them (CONFIG_PROC_CHILDREN). */
static void children_add(const struct kernel_seam *kernel, pid_t process, struct pid_list *list)
{
	struct name_list threads = {0};
	if (kernel_names(kernel, &threads, NULL, "/proc/%d/task", (int)process) != TALLY_OK)
		return;
	for (size_t i = 0; i < threads.len; i++) {
		char *text;
		uint64_t pid;
		if (kernel_text(kernel, &text, NULL, "/proc/%d/task/%s/children", (int)process, threads.items[i]) !=
			TALLY_OK)
			continue;
		struct tally_str rest = str_from(text), word;
		while (str_next(&rest, ' ', &word))
			if (list->pids.len < DESCENDANTS_MAX && str_to_u64(word, 10, &pid) && pid <= INT32_MAX)
				(void)vec_push(&list->pids, (pid_t)pid);
		free(text);
	}
	name_list_deinit(&threads);
}

/* With the descendants that run, and those that were waited for. */
static bool command_times(const struct kernel_seam *kernel, pid_t command, uint64_t ticks[2])
{
	struct pid_list list = {0};
	bool is_known = false;
	ticks[0] = ticks[1] = 0;
	(void)vec_push(&list.pids, command);
	for (size_t i = 0; i < list.pids.len; i++) {
		uint64_t times[FIELD_TIMES];
		/* Children first: one that ends meanwhile is then in its parent's sum, or waits there still. */
		children_add(kernel, list.pids.items[i], &list);
		if (!task_times(kernel, list.pids.items[i], 0, times))
			continue;
		is_known |= i == 0;
		ticks[0] += times[0] + times[2];
		ticks[1] += times[1] + times[3];
	}
	vec_free(&list.pids);
	return is_known;
}

static struct tool_times ticks_scale(const struct tool_counts *t, uint64_t user, uint64_t system)
{
	struct tool_times times;
	if (__builtin_mul_overflow(user, t->tick_ns, &times.user))
		times.user = 0;
	if (__builtin_mul_overflow(system, t->tick_ns, &times.system))
		times.system = 0;
	return times;
}

/* Time does not go back: a process that ended between two looks is known as it was. */
static void cell_take(struct tool_cell *cell, struct tool_times now)
{
	if (now.user > cell->last.user)
		cell->last.user = now.user;
	if (now.system > cell->last.system)
		cell->last.system = now.system;
}

static void task_look(struct tool_counts *t, struct tool_cell *cell, pid_t thread)
{
	const struct kernel_seam *kernel = t->set->kernel;
	uint64_t times[FIELD_TIMES];
	bool is_known = false;
	if (cell->source == SOURCE_COMMAND && t->has_ended) {
		cell_take(cell, t->end);
		return;
	}
	if (cell->source == SOURCE_COMMAND)
		is_known = command_times(kernel, thread, times);
	else if (cell->source == SOURCE_PROCESS)
		is_known = task_times(kernel, thread, 0, times);
	else if (cell->source == SOURCE_THREAD)
		is_known = task_times(kernel, thread, thread, times);
	if (is_known)
		cell_take(cell, ticks_scale(t, times[0], times[1]));
}

/* A line "cpuN user nice system ..." of /proc/stat. */
static void cpu_line_take(struct tool_counts *t, struct tally_str line)
{
	struct tally_str word;
	uint64_t cpu, numbers[3];
	if (!str_next(&line, ' ', &word) || word.len < 4 || memcmp(word.data, "cpu", 3) != 0 ||
		!str_to_u64((struct tally_str){word.data + 3, word.len - 3}, 10, &cpu))
		return;
	for (size_t i = 0; i < 3; i++)
		if (!str_next(&line, ' ', &word) || !str_to_u64(word, 10, &numbers[i]))
			return;
	for (size_t i = 0; i < t->set->cpu_count && i < t->cell_count; i++)
		if (t->set->cpus[i] >= 0 && (uint64_t)t->set->cpus[i] == cpu)
			cell_take(&t->cells[i], ticks_scale(t, numbers[0] + numbers[1], numbers[2]));
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
	if (!t->has_times || t->cell_count == 0)
		return;
	if (t->cells[0].source == SOURCE_CPU) {
		(void)cpus_look(t);
		return;
	}
	for (size_t i = 0; i < t->cell_count; i++)
		if (t->cells[i].source != SOURCE_NONE)
			task_look(t, &t->cells[i], t->set->threads[i]);
}

/* The process that the thread is of; 0: it is gone. */
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

/* The first thread stands for all, for those too that have not been started yet. */
static enum tool_source process_source(const struct kernel_seam *kernel, pid_t thread)
{
	pid_t process = tool_counts_process_of(kernel, thread);
	return process == thread ? SOURCE_PROCESS : process != 0 ? SOURCE_NONE : SOURCE_THREAD;
}

static void sources_choose(struct tool_counts *t, const struct tool_counts_options *options)
{
	const struct counter_set *set = t->set;
	for (size_t i = 0; i < t->cell_count; i++) {
		struct tool_cell *cell = &t->cells[i];
		if (set->threads[0] == -1)
			cell->source = SOURCE_CPU;
		else if (options->is_command)
			cell->source = SOURCE_COMMAND;
		else if (!options->is_whole_process)
			cell->source = SOURCE_THREAD;
		else
			cell->source = process_source(set->kernel, set->threads[i]);
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
			"the kernel reports the times of a process for all CPUs together, not "
			"for each CPU",
			err);
	if (is_wide && !kernel_has(set->kernel, "/proc/stat"))
		return tool_refuse(counter, "/proc/stat is not available", err);
	t->has_times = true;
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
	t->tick_ns = NS_PER_S / (uint64_t)(ticks > 0 ? ticks : TICKS_USUAL);
	t->cell_count = set->threads[0] == -1 ? set->cpu_count : set->thread_count;
	t->cells = calloc(t->cell_count ? t->cell_count : 1, sizeof(*t->cells));
	enum tally_status status = t->cells ? TALLY_OK : error_nomem(err);
	for (size_t i = 0; status == TALLY_OK && i < set->len; i++)
		if (set->counters[i].spec->tool != TOOL_NONE)
			status = tool_check(t, &set->counters[i], err);
	if (status != TALLY_OK) {
		tool_counts_destroy(t);
		return status;
	}
	if (t->has_times)
		sources_choose(t, options);
	*counts = t;
	return TALLY_OK;
}

void tool_counts_destroy(struct tool_counts *t)
{
	if (!t)
		return;
	free(t->cells);
	free(t);
}

void tool_counts_enable(struct tool_counts *t, uint64_t now_ns)
{
	if (t->is_enabled)
		return;
	cells_look(t);
	for (size_t i = 0; i < t->cell_count; i++)
		t->cells[i].begin = t->cells[i].last;
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
		cell->sum.user += cell->last.user - cell->begin.user;
		cell->sum.system += cell->last.system - cell->begin.system;
	}
	t->sum_ns += now_ns - t->begin_ns;
	t->is_enabled = false;
}

void tool_counts_end(struct tool_counts *t, uint64_t user_ns, uint64_t system_ns)
{
	t->has_ended = t->is_command;
	t->end = (struct tool_times){user_ns, system_ns};
}

static uint64_t cell_value(const struct tool_counts *t, const struct tool_cell *cell, enum tool_event tool)
{
	bool is_user = tool == TOOL_USER_TIME;
	uint64_t sum = is_user ? cell->sum.user : cell->sum.system;
	uint64_t last = is_user ? cell->last.user : cell->last.system;
	uint64_t begin = is_user ? cell->begin.user : cell->begin.system;
	return sum + (t->is_enabled && last > begin ? last - begin : 0);
}

void tool_counts_read(struct tool_counts *t, uint64_t now_ns)
{
	uint64_t enabled = t->sum_ns + (t->is_enabled ? now_ns - t->begin_ns : 0);
	if (t->is_enabled)
		cells_look(t);
	for (size_t i = 0; i < t->set->len; i++) {
		struct counter *counter = &t->set->counters[i];
		enum tool_event tool = counter->spec->tool;
		size_t count = counter->cpu_count * counter->thread_count;
		if (tool == TOOL_NONE || !counter_is_supported(counter))
			continue;
		for (size_t k = 0; k < count; k++) {
			bool is_time = !tool_event_is_shared(tool);
			if (is_time && (k >= t->cell_count || t->cells[k].source == SOURCE_NONE))
				continue;
			uint64_t value = is_time		      ? cell_value(t, &t->cells[k], tool)
					 : tool == TOOL_DURATION_TIME ? enabled
								      : t->constants[tool];
			counter->counts[k] = (struct count){value, enabled, enabled};
		}
	}
}

bool tool_counts_fades(const struct tool_counts *t)
{
	return t->has_times && !t->is_command && t->set->threads[0] != -1;
}
