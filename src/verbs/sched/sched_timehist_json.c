/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/trace_fields.h"
#include "verbs/sched/sched_timehist.h"

#define SCHED_TIMEHIST_JSON_SCHEMA 1
#define PERCENT_DIGITS		   4

static void timehist_json_task(struct timehist *t, const struct sched_task *task, uint64_t clock)
{
	char room[16];
	json_string(
		&t->json, "comm", task->is_idle ? STR("<idle>") : sched_comm(&t->job->source, task->tid, clock, room));
	json_i64(&t->json, "tid", task->tid);
	if (task->tid != 0 && task->pid >= 0)
		json_i64(&t->json, "pid", task->pid);
}

static void timehist_json_frame(struct timehist *t, const char *symbol)
{
	json_string(&t->json, NULL, str_from(symbol));
}

void sched_timehist_json_begin(struct timehist *t)
{
	t->json = (struct json){.out = t->out};
	json_object(&t->json, NULL);
	json_u64(&t->json, "schema", SCHED_TIMEHIST_JSON_SCHEMA);
	json_string(&t->json, "path", str_from(recording_name(t->settings->input.path)));
	json_array(&t->json, "rows");
}

static void timehist_json_begin_row(struct timehist *t, const char *kind, uint64_t time_ns, uint32_t cpu)
{
	json_object(&t->json, NULL);
	json_string(&t->json, "kind", str_from(kind));
	json_u64(&t->json, "time_ns", time_ns);
	json_u64(&t->json, "cpu", cpu);
}

enum tally_status sched_timehist_json_switch(
	struct timehist *t, const struct sched_event *event, const struct sched_times *times, struct tally_error *err)
{
	struct json *j = &t->json;
	const struct sched_task *task = &t->history.tasks.items[times->task];
	const char state[] = {sched_timehist_state(event->state, task->is_idle), 0};
	struct text next = {0};
	timehist_json_begin_row(t, "switch", times->time_ns, event->cpu);
	timehist_json_task(t, task, event->sample.clock);
	/* With --idle-hist, a task without times shows which task preceded the idle time. */
	if (!t->settings->only_idle || task->is_idle) {
		json_u64(j, "wait_ns", times->wait_ns);
		json_u64(j, "delay_ns", times->delay_ns);
		json_u64(j, "run_ns", times->run_ns);
		if (t->settings->with_pre_migrations)
			json_u64(j, "pre_migration_ns", times->pre_migration_ns);
	}
	json_string(j, "state", str_from(state));
	json_i64(j, "prio", event->prio);
	if (times->prio_before >= 0)
		json_i64(j, "prio_before", times->prio_before);
	json_object(j, "next");
	if (trace_text_of(t->job->source.tracepoints, event->sample.sample.raw, STR("next_comm"), &next))
		json_string(j, "comm", text_view(&next));
	json_i64(j, "tid", event->next);
	json_object_end(j);
	t->out->failed |= next.failed;
	text_deinit(&next);
	bool is_done = true;
	if (t->with_chains && !task->is_idle) {
		json_array(j, "chain");
		is_done = sched_timehist_chain(t, &event->sample, timehist_json_frame, err);
		json_array_end(j);
	}
	json_object_end(j);
	return is_done ? TALLY_OK : TALLY_NOMEM;
}

void sched_timehist_json_other(struct timehist *t, const struct sched_event *event, const struct sched_task *doer,
	const struct sched_task *other)
{
	struct json *j = &t->json;
	bool is_migration = event->kind == SCHED_MIGRATE;
	timehist_json_begin_row(t, is_migration ? "migration" : "wakeup", event->time_ns, event->cpu);
	timehist_json_task(t, doer, event->sample.clock);
	json_object(j, is_migration ? "migrated" : "awakened");
	timehist_json_task(t, other, event->sample.clock);
	json_object_end(j);
	if (is_migration) {
		json_i64(j, "from_cpu", event->from_cpu);
		json_i64(j, "to_cpu", event->to_cpu);
	}
	json_object_end(j);
}

static void timehist_json_sums(struct timehist *t, const struct sched_task *task)
{
	struct json *j = &t->json;
	const struct sched_spread *spread = sched_timehist_spread(t, task);
	json_object(j, NULL);
	timehist_json_task(t, task, UINT64_MAX);
	if (task->parent >= 0)
		json_i64(j, "parent", task->parent);
	json_bool(j, "has_exited", task->has_exited);
	json_u64(j, "count", spread->count);
	json_u64(j, "total_ns", spread->total_ns);
	json_u64(j, "min_ns", spread->min_ns);
	json_u64(j, "avg_ns", spread->total_ns / spread->count);
	json_u64(j, "max_ns", spread->max_ns);
	json_fixed(j, "error_percent", sched_spread_percent(spread), PERCENT_DIGITS);
	json_u64(j, "sleep_ns", task->slept_ns);
	json_u64(j, "iowait_ns", task->blocked_ns);
	json_u64(j, "preempt_ns", task->preempted_ns);
	json_u64(j, "delay_ns", task->delayed_ns);
	json_u64(j, "migrations", task->migrations);
	json_object_end(j);
}

static void timehist_json_cpus(struct timehist *t, const struct timehist_sums *sums)
{
	struct json *j = &t->json;
	json_array(j, "cpus");
	for (uint32_t cpu = 0; cpu < t->history.cpus.len; cpu++) {
		const struct sched_spread *idle = sched_timehist_idle(t, cpu);
		if (!idle)
			continue;
		json_object(j, NULL);
		json_u64(j, "cpu", cpu);
		json_u64(j, "idle_count", idle->count);
		json_u64(j, "idle_ns", idle->total_ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_u64(j, "unique_tasks", sums->rows);
	json_u64(j, "switches", sums->switches);
	json_u64(j, "run_ns", sums->run_ns);
	json_u64(j, "span_ns", t->history.last_ns - t->history.first_ns);
	json_u64(j, "cpu_count", sums->cpus);
}

void sched_timehist_json_summary(struct timehist *t, const struct timehist_sums *sums)
{
	struct json *j = &t->json;
	json_object(j, "summary");
	json_array(j, "tasks");
	for (uint64_t i = 0; i < sums->rows; i++)
		timehist_json_sums(t, &t->history.tasks.items[sums->order[i]]);
	json_array_end(j);
	if (sums->has_cpus)
		timehist_json_cpus(t, sums);
	json_object_end(j);
}

void sched_timehist_json_end(struct timehist *t)
{
	struct json *j = &t->json;
	json_u64(j, "lost_events", t->job->source.pass.sideband.health.lost_events);
	json_u64(j, "cut_times", t->history.cut);
	json_object_end(j);
}
