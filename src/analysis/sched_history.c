/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sched_history.h"

#include <math.h>

#include "base/array.h"
#include "base/order.h"

void sched_history_init(struct sched_history *h)
{
	*h = (struct sched_history){.tids.words = 1};
}

void sched_history_deinit(struct sched_history *h)
{
	id_table_deinit(&h->tids);
	vec_free(&h->by_tid);
	vec_free(&h->tasks);
	vec_free(&h->cpus);
	vec_free(&h->losses);
}

static uint32_t sched_history_add_task(struct sched_history *h, int32_t tid)
{
	const struct sched_task task = {.tid = tid, .pid = -1, .parent = -1, .prio = -1};
	if (h->tasks.len >= ID_TABLE_NONE || !vec_push(&h->tasks, task))
		return ID_TABLE_NONE;
	return (uint32_t)(h->tasks.len - 1);
}

uint32_t sched_history_task(struct sched_history *h, int32_t tid)
{
	const uint64_t key = (uint32_t)tid;
	uint32_t id = id_table_find(&h->tids, &key);
	if (id != ID_TABLE_NONE)
		return h->by_tid.items[id];
	if (!vec_reserve(&h->by_tid, h->by_tid.len + 1))
		return ID_TABLE_NONE;
	uint32_t task = sched_history_add_task(h, tid);
	if (task == ID_TABLE_NONE || id_table_add(&h->tids, &key, NULL) == ID_TABLE_NONE)
		return ID_TABLE_NONE;
	h->by_tid.items[h->by_tid.len++] = task;
	return task;
}

bool sched_history_fork(struct sched_history *h, int32_t tid, int32_t pid, int32_t parent)
{
	uint32_t id = sched_history_task(h, tid);
	if (id != ID_TABLE_NONE && h->tasks.items[id].has_exited) {
		const uint64_t key = (uint32_t)tid;
		id = sched_history_add_task(h, tid);
		if (id != ID_TABLE_NONE)
			h->by_tid.items[id_table_find(&h->tids, &key)] = id;
	}
	if (id == ID_TABLE_NONE)
		return false;
	h->tasks.items[id].pid = pid;
	h->tasks.items[id].parent = parent;
	return true;
}

bool sched_history_process(struct sched_history *h, int32_t tid, int32_t pid)
{
	uint32_t id = sched_history_task(h, tid);
	if (id == ID_TABLE_NONE)
		return false;
	if (pid > 0)
		h->tasks.items[id].pid = pid;
	return true;
}

bool sched_history_exit(struct sched_history *h, int32_t tid)
{
	uint32_t id = sched_history_task(h, tid);
	if (id == ID_TABLE_NONE)
		return false;
	h->tasks.items[id].has_exited = true;
	return true;
}

bool sched_history_wake(struct sched_history *h, int32_t tid, uint64_t time_ns)
{
	uint32_t id = sched_history_task(h, tid);
	if (id == ID_TABLE_NONE)
		return false;
	if (h->tasks.items[id].woken_ns == 0)
		h->tasks.items[id].woken_ns = time_ns;
	return true;
}

/* Returns since when a task has been waiting for a CPU; 0 if it is not. */
static uint64_t ready_since(const struct sched_task *task)
{
	uint64_t preempted_ns = task->left == SCHED_LEFT_RUNNABLE ? task->left_ns : 0;
	return MAX(task->woken_ns, preempted_ns);
}

bool sched_history_migrate(struct sched_history *h, int32_t tid, uint64_t time_ns)
{
	uint32_t id = sched_history_task(h, tid);
	if (id == ID_TABLE_NONE)
		return false;
	struct sched_task *task = &h->tasks.items[id];
	task->migrations++;
	if (ready_since(task) != 0)
		task->migrated_ns = time_ns;
	return true;
}

static struct sched_history_cpu *find_cpu(struct sched_history *h, uint32_t cpu)
{
	if (!vec_reserve(&h->cpus, (size_t)cpu + 1))
		return NULL;
	while (h->cpus.len <= cpu)
		h->cpus.items[h->cpus.len++] = (struct sched_history_cpu){.idle = ID_TABLE_NONE, .last = ID_TABLE_NONE};
	struct sched_history_cpu *found = &h->cpus.items[cpu];
	if (found->idle == ID_TABLE_NONE) {
		found->idle = sched_history_add_task(h, 0);
		if (found->idle == ID_TABLE_NONE)
			return NULL;
		h->tasks.items[found->idle].is_idle = true;
	}
	return found;
}

bool sched_history_lost(struct sched_history *h, uint32_t cpu, uint64_t time_ns)
{
	for (uint32_t i = 0; i < h->cpus.len; i++) {
		struct sched_history_cpu *of = &h->cpus.items[i];
		if (i != cpu && cpu != SCHED_ANY_CPU)
			continue;
		of->is_cut = of->is_cut || of->switched_ns != 0;
		of->switched_ns = 0;
		of->last = ID_TABLE_NONE;
	}
	if (time_ns <= h->seen_ns) /* The record of the loss has no time, or comes after newer records. */
		time_ns = h->seen_ns + 1;
	return vec_push(&h->losses, time_ns);
}

/* A period that begins at the time of a loss begins after it, because the kernel reports both with the same time. */
static bool is_loss_between(const struct sched_history *h, uint64_t from_ns, uint64_t to_ns)
{
	size_t low;
	LOWER_BOUND(low, h->losses.len, middle, h->losses.items[middle] <= from_ns);
	return low < h->losses.len && h->losses.items[low] <= to_ns;
}

static void sched_history_measure(
	struct sched_history *h, const struct sched_task *task, uint64_t since_ns, struct sched_times *times)
{
	times->run_ns = times->time_ns > since_ns ? times->time_ns - since_ns : 0;
	bool has_wait = task->left_ns != 0 && task->left_ns <= since_ns;
	if (task->is_idle) {
		/* An idle task belongs to one CPU, so lost events of other CPUs do not affect it. */
		if (has_wait)
			times->wait_ns = since_ns - task->left_ns;
		return;
	}
	/* A time in which any CPU lost events is not counted, because the task may have run there. */
	uint64_t ready_ns = ready_since(task);
	bool has_delay = task->woken_ns != 0 && task->woken_ns <= since_ns;
	bool is_migrated = task->migrated_ns > ready_ns && task->migrated_ns <= since_ns;
	bool is_wait_cut = has_wait && is_loss_between(h, task->left_ns, since_ns);
	bool is_delay_cut = has_delay && is_loss_between(h, task->woken_ns, since_ns);
	h->cut += is_wait_cut || is_delay_cut;
	if (has_delay && !is_delay_cut)
		times->delay_ns = since_ns - task->woken_ns;
	if (has_wait && !is_wait_cut)
		times->wait_ns = since_ns - task->left_ns;
	if (is_migrated && !is_loss_between(h, ready_ns, since_ns))
		times->pre_migration_ns = task->migrated_ns - ready_ns;
}

bool sched_history_switch(struct sched_history *h, const struct sched_out *out, struct sched_times *times)
{
	*times = (struct sched_times){.behind = ID_TABLE_NONE, .time_ns = out->time_ns};
	struct sched_history_cpu *cpu = find_cpu(h, out->cpu);
	if (!cpu)
		return false;
	times->task = out->tid == 0 ? cpu->idle : sched_history_task(h, out->tid);
	if (times->task == ID_TABLE_NONE)
		return false;
	struct sched_task *task = &h->tasks.items[times->task];
	if (out->pid > 0)
		task->pid = out->pid;
	/* The idle time belongs to the task that ran before. There is none if the switch to the idle task was not
	 * recorded. */
	if (task->is_idle)
		times->behind = cpu->last;
	cpu->last = task->is_idle ? ID_TABLE_NONE : times->task;
	uint64_t since_ns = cpu->switched_ns;
	times->is_cut = cpu->is_cut;
	h->cut += cpu->is_cut;
	cpu->is_cut = false;
	cpu->switched_ns = h->seen_ns = out->time_ns;
	times->is_outside = out->time_ns < h->from_ns || (h->to_ns != 0 && since_ns > h->to_ns);
	if (!times->is_outside) {
		if (h->to_ns != 0 && out->time_ns > h->to_ns)
			times->time_ns = h->to_ns;
		if (h->first_ns == 0)
			h->first_ns = times->time_ns;
		h->last_ns = times->time_ns;
		times->left = task->left;
		if (since_ns != 0)
			sched_history_measure(h, task, MAX(since_ns, h->from_ns), times);
	}
	times->prio_before = task->prio;
	task->prio = out->prio;
	task->left_ns = out->time_ns;
	task->left = out->left;
	task->woken_ns = 0;
	task->migrated_ns = 0;
	return true;
}

static void sched_history_add(struct sched_spread *spread, uint64_t ns)
{
	spread->count++;
	spread->total_ns += ns;
	if (spread->count == 1 || ns < spread->min_ns)
		spread->min_ns = ns;
	if (ns > spread->max_ns)
		spread->max_ns = ns;
	double distance = (double)ns - spread->mean;
	spread->mean += distance / (double)spread->count;
	spread->squares += distance * ((double)ns - spread->mean);
}

void sched_history_count(struct sched_history *h, const struct sched_times *times)
{
	struct sched_task *task = &h->tasks.items[times->task];
	if (times->is_cut)
		return;
	sched_history_add(&task->run, times->run_ns);
	task->delayed_ns += times->delay_ns;
	if (times->left == SCHED_LEFT_RUNNABLE)
		task->preempted_ns += times->wait_ns;
	else if (times->left == SCHED_LEFT_BLOCKED)
		task->blocked_ns += times->wait_ns;
	else
		task->slept_ns += times->wait_ns;
	if (times->behind != ID_TABLE_NONE)
		sched_history_add(&h->tasks.items[times->behind].idle, times->run_ns);
}

double sched_spread_percent(const struct sched_spread *spread)
{
	if (spread->count < 2 || spread->mean <= 0)
		return 0;
	double count = (double)spread->count;
	return 100 * sqrt(spread->squares / (count - 1) / count) / spread->mean;
}
