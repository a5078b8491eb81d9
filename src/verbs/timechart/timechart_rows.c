/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/timechart/timechart_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

/* Tasks that ran this long are drawn, up to most_tasks; others are drawn only if there are few. */
#define ENOUGH_NS 10000000

bool timechart_task_is(const struct tracks *tracks, const struct track *task, const char *word)
{
	const struct tally_str wanted = str_from(word);
	uint64_t number;
	if (str_to_u64(wanted, 10, &number) && (number == (uint64_t)task->id || number == (uint64_t)task->pid))
		return true;
	for (size_t i = 0; i < task->names.len; i++)
		if (str_equal(intern_get(&tracks->strings, task->names.items[i].name), wanted))
			return true;
	return false;
}

static bool timechart_rows_is_wanted(
	const struct tracks *tracks, const struct timechart_choice *choice, const struct track *task)
{
	for (size_t i = 0; i < choice->process_count; i++)
		if (timechart_task_is(tracks, task, choice->processes[i]))
			return true;
	return choice->process_count == 0;
}

/* Returns the weight of a task: the time that it ran or performed I/O. */
static uint64_t timechart_rows_time_of(const struct track *task)
{
	uint64_t ns = task->sums[SPAN_RUNNING].ns;
	for (size_t kind = SPAN_IO_FIRST; kind < SPAN_POLL; kind++)
		ns += task->sums[kind].ns;
	return ns;
}

static bool did_anything(const struct track *task)
{
	for (size_t kind = 0; kind < SPAN_KINDS; kind++)
		if (task->sums[kind].count > 0)
			return true;
	return false;
}

static int timechart_rows_compare_times(const void *left, const void *right, void *context)
{
	const struct track *tracks = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t of_a = timechart_rows_time_of(&tracks[a]), of_b = timechart_rows_time_of(&tracks[b]);
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return COMPARE(a, b);
}

struct process_order {
	const struct track *tracks;
	/* The time when its process was first seen, indexed by track; set only for tracks that are drawn. */
	uint64_t *first_ns;
};

static int compare_processes(const void *left, const void *right, void *context)
{
	const struct process_order *order = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct track *of_a = &order->tracks[a], *of_b = &order->tracks[b];
	if (order->first_ns[a] != order->first_ns[b])
		return order->first_ns[a] < order->first_ns[b] ? -1 : 1;
	if (of_a->pid != of_b->pid)
		return of_a->pid < of_b->pid ? -1 : 1;
	if ((of_a->id == of_a->pid) != (of_b->id == of_b->pid))
		return of_a->id == of_a->pid ? -1 : 1; /* The main thread precedes the other threads of the process. */
	return COMPARE(a, b);
}

static int compare_pids(const void *left, const void *right, void *context)
{
	const struct track *tracks = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	if (tracks[a].pid != tracks[b].pid)
		return tracks[a].pid < tracks[b].pid ? -1 : 1;
	return COMPARE(a, b);
}

static bool sort_by_process(const struct tracks *tracks, uint32_t *rows, size_t count)
{
	struct process_order order = {.tracks = tracks->tracks.items};
	order.first_ns = calloc(tracks->tracks.len + 1, sizeof(*order.first_ns));
	if (!order.first_ns)
		return false;
	qsort_r(rows, count, sizeof(*rows), compare_pids, tracks->tracks.items);
	for (size_t i = 0, end; i < count; i = end) {
		uint64_t first_ns = UINT64_MAX;
		int32_t pid = tracks->tracks.items[rows[i]].pid;
		for (end = i; end < count && tracks->tracks.items[rows[end]].pid == pid; end++)
			first_ns = MIN(first_ns, tracks->tracks.items[rows[end]].first_ns);
		for (size_t j = i; j < end; j++)
			order.first_ns[rows[j]] = first_ns;
	}
	qsort_r(rows, count, sizeof(*rows), compare_processes, &order);
	free(order.first_ns);
	return true;
}

static bool choose_tasks(
	const struct tracks *tracks, const struct timechart_choice *choice, struct timechart_rows *rows)
{
	size_t start = rows->rows.len;
	for (uint32_t i = 0; i < tracks->tracks.len; i++) {
		const struct track *task = &tracks->tracks.items[i];
		if (task->kind == TRACK_TASK && did_anything(task) && timechart_rows_is_wanted(tracks, choice, task) &&
			!vec_push(&rows->rows, i))
			return false;
	}
	size_t found = rows->rows.len - start, kept = 0;
	if (found == 0)
		return true;
	uint32_t *tasks = rows->rows.items + start;
	qsort_r(tasks, found, sizeof(*tasks), timechart_rows_compare_times, tracks->tracks.items);
	/* Tasks that the user named are drawn even if they ran for a short time. */
	while (kept < found && (choice->process_count > 0 || kept < choice->least_tasks ||
				       timechart_rows_time_of(&tracks->tracks.items[tasks[kept]]) >= ENOUGH_NS))
		kept++;
	if (choice->most_tasks > choice->least_tasks && kept > choice->most_tasks)
		kept = choice->most_tasks;
	rows->hidden_tasks = found - kept;
	rows->rows.len = start + kept;
	rows->tasks = kept;
	return sort_by_process(tracks, tasks, kept);
}

static uint32_t topology_of(const uint32_t *ids, const struct perfdata_topology *topology, int32_t cpu)
{
	return ids && (size_t)cpu < topology->cpu_count ? ids[cpu] : UINT32_MAX;
}

struct cpu_order {
	const struct track *tracks;
	const struct perfdata_topology *topology;
};

static int compare_cpus(const void *left, const void *right, void *context)
{
	const struct cpu_order *order = context;
	int32_t a = order->tracks[*(const uint32_t *)left].id, b = order->tracks[*(const uint32_t *)right].id;
	const struct perfdata_topology *topology = order->topology;
	const uint32_t *const ids[] = {topology ? topology->socket_ids : NULL, topology ? topology->die_ids : NULL,
		topology ? topology->core_ids : NULL};
	for (size_t i = 0; topology && i < ARRAY_LEN(ids); i++) {
		uint32_t of_a = topology_of(ids[i], topology, a), of_b = topology_of(ids[i], topology, b);
		if (of_a != of_b)
			return of_a < of_b ? -1 : 1;
	}
	return COMPARE(a, b);
}

bool timechart_rows_choose(
	const struct tracks *tracks, const struct timechart_choice *choice, struct timechart_rows *rows)
{
	struct cpu_order order = {tracks->tracks.items, choice->topology};
	*rows = (struct timechart_rows){0};
	for (uint32_t i = 0; i < tracks->tracks.len; i++)
		if (tracks->tracks.items[i].kind == TRACK_CPU && !vec_push(&rows->rows, i))
			return false;
	if (rows->rows.len > 0)
		qsort_r(rows->rows.items, rows->rows.len, sizeof(*rows->rows.items), compare_cpus, &order);
	return choice->without_tasks || choose_tasks(tracks, choice, rows);
}

void timechart_rows_deinit(struct timechart_rows *rows)
{
	vec_free(&rows->rows);
}
