/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sched_latency.h"

void sched_latency_init(struct sched_latency *l)
{
	*l = (struct sched_latency){.tids.words = 1};
}

void sched_latency_deinit(struct sched_latency *l)
{
	id_table_deinit(&l->tids);
	vec_free(&l->tasks);
	vec_free(&l->running);
}

static void sched_latency_leave(struct sched_latency_task *task, bool is_runnable, uint64_t time_ns)
{
	task->phase = is_runnable ? SCHED_READY : SCHED_ASLEEP;
	task->left_ns = time_ns;
	task->ready_ns = time_ns;
}

/* Returns NULL if out of memory. A new task is assumed to have left its CPU at time_ns. */
static struct sched_latency_task *sched_latency_find(
	struct sched_latency *l, int32_t tid, bool is_runnable, uint64_t time_ns)
{
	const uint64_t key = (uint32_t)tid;
	bool is_new;
	if (!vec_reserve(&l->tasks, l->tasks.len + 1))
		return NULL;
	uint32_t id = id_table_add(&l->tids, &key, &is_new);
	if (id == ID_TABLE_NONE)
		return NULL;
	if (is_new) {
		l->tasks.items[l->tasks.len++] = (struct sched_latency_task){.tid = tid};
		sched_latency_leave(&l->tasks.items[id], is_runnable, time_ns);
	}
	return &l->tasks.items[id];
}

static void sched_latency_enter(struct sched_latency *l, struct sched_latency_task *task, const struct sched_switch *s)
{
	if (task->phase != SCHED_READY || s->time_ns < task->ready_ns)
		return;
	task->phase = SCHED_ON_CPU;
	if (!s->is_counted)
		return;
	if (task->ready_ns < l->lost_ns) { /* The task may have run in between. */
		l->cut++;
		return;
	}
	uint64_t waited_ns = s->time_ns - task->ready_ns;
	if (task->tid != 0) {
		uint64_t us = waited_ns / 1000;
		size_t power = us ? 64 - (size_t)__builtin_clzll(us) : 0;
		uint64_t step = us / SCHED_LATENCY_STEP_US;
		l->log_waits[power < SCHED_LATENCY_LOG ? power : SCHED_LATENCY_LOG - 1]++;
		l->linear_waits[step < SCHED_LATENCY_LINEAR ? step : SCHED_LATENCY_LINEAR - 1]++;
	}
	task->waits++;
	task->wait_ns += waited_ns;
	if (waited_ns > task->max_ns) {
		task->max_ns = waited_ns;
		task->max_from_ns = task->ready_ns;
		task->max_to_ns = s->time_ns;
	}
}

bool sched_latency_switch(struct sched_latency *l, const struct sched_switch *s)
{
	if (!vec_reserve(&l->running, (size_t)s->cpu + 1))
		return false;
	while (l->running.len <= s->cpu)
		l->running.items[l->running.len++] = -1;
	int32_t *running = &l->running.items[s->cpu];
	l->seen_ns = s->time_ns;
	l->wrong_switches += *running >= 0 && *running != s->prev;
	*running = s->next;
	struct sched_latency_task *task = sched_latency_find(l, s->prev, s->prev_is_runnable, s->time_ns);
	if (!task)
		return false;
	sched_latency_leave(task, s->prev_is_runnable, s->time_ns);
	task = sched_latency_find(l, s->next, true, s->time_ns);
	if (!task)
		return false;
	sched_latency_enter(l, task, s);
	return true;
}

bool sched_latency_wake(struct sched_latency *l, int32_t tid, uint64_t time_ns)
{
	struct sched_latency_task *task = sched_latency_find(l, tid, false, time_ns);
	if (!task)
		return false;
	if (task->phase == SCHED_READY && task->ready_ns < l->lost_ns) {
		/* The task has run and slept since, so the end of its earlier delay is unknown. */
		l->cut++;
		task->phase = SCHED_ASLEEP;
	}
	if (task->phase != SCHED_ASLEEP)
		return true;
	l->wakes++;
	if (time_ns < task->left_ns)
		return true;
	task->phase = SCHED_READY;
	task->ready_ns = time_ns;
	return true;
}

void sched_latency_lost(struct sched_latency *l, uint32_t cpu, uint64_t time_ns)
{
	for (uint32_t i = 0; i < l->running.len; i++)
		if (i == cpu || cpu == SCHED_LATENCY_ANY_CPU)
			l->running.items[i] = -1;
	/* A loss without a time of its own comes after the last switch. */
	l->lost_ns = time_ns > l->seen_ns ? time_ns : l->seen_ns + 1;
}

bool sched_latency_run(struct sched_latency *l, int32_t tid, uint64_t time_ns, uint64_t ran_ns)
{
	struct sched_latency_task *task = sched_latency_find(l, tid, true, time_ns);
	if (!task)
		return false;
	task->runtime_ns += ran_ns;
	return true;
}
