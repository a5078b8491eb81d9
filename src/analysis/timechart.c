/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timechart.h"

void timechart_init(struct timechart *c, size_t max_items)
{
	*c = (struct timechart){0};
	tracks_init(&c->tracks, max_items);
	sched_history_init(&c->history);
}

void timechart_deinit(struct timechart *c)
{
	tracks_deinit(&c->tracks);
	sched_history_deinit(&c->history);
	vec_free(&c->tasks);
	vec_free(&c->cpus);
}

/* The pointer is valid until another task is added. */
static struct timechart_task *task_of(struct timechart *c, uint32_t id)
{
	const struct sched_task *task = &c->history.tasks.items[id];
	while (c->tasks.len <= id)
		if (!vec_push(&c->tasks, ((struct timechart_task){.track = TRACK_NONE,
						 .left_text = INTERN_NONE,
						 .woken_text = INTERN_NONE,
						 .woken_by = TRACK_NONE})))
			return NULL;
	struct timechart_task *found = &c->tasks.items[id];
	if (found->track == TRACK_NONE && !task->is_idle && task->tid != 0) {
		found->track = tracks_add(&c->tracks, TRACK_TASK, task->tid, task->pid);
		if (found->track == TRACK_NONE)
			return NULL;
	}
	if (found->track != TRACK_NONE)
		c->tracks.tracks.items[found->track].pid = task->pid;
	return found;
}

static struct timechart_cpu *cpu_of(struct timechart *c, uint32_t cpu)
{
	while (c->cpus.len <= cpu)
		if (!vec_push(&c->cpus, ((struct timechart_cpu){.track = TRACK_NONE, .depth = TIMECHART_BUSY})))
			return NULL;
	struct timechart_cpu *found = &c->cpus.items[cpu];
	if (found->track == TRACK_NONE)
		found->track = tracks_add(&c->tracks, TRACK_CPU, (int32_t)cpu, 0);
	return found->track == TRACK_NONE ? NULL : found;
}

uint32_t timechart_track(struct timechart *c, int32_t tid, int32_t pid)
{
	uint32_t id = tid > 0 ? sched_history_task(&c->history, tid) : ID_TABLE_NONE;
	if (id != ID_TABLE_NONE && pid > 0)
		c->history.tasks.items[id].pid = pid;
	const struct timechart_task *task = id != ID_TABLE_NONE ? task_of(c, id) : NULL;
	return task ? task->track : TRACK_NONE;
}

bool timechart_name(struct timechart *c, int32_t tid, uint64_t time_ns, struct tally_str name)
{
	if (tid <= 0)
		return true;
	uint32_t track = timechart_track(c, tid, 0);
	return track != TRACK_NONE && tracks_name(&c->tracks, track, time_ns, name);
}

bool timechart_fork(struct timechart *c, int32_t tid, int32_t pid, int32_t parent)
{
	return sched_history_fork(&c->history, tid, pid, parent);
}

bool timechart_goes_on_as(struct timechart *c, int32_t tid, int32_t pid)
{
	uint32_t id = tid > 0 ? sched_history_task(&c->history, tid) : ID_TABLE_NONE;
	return tid <= 0 || (id != ID_TABLE_NONE && (!c->history.tasks.items[id].has_exited ||
							   sched_history_fork(&c->history, tid, pid, -1)));
}

static bool timechart_add_run(
	struct timechart *c, uint32_t task_track, uint32_t cpu_track, const struct track_span *run)
{
	struct track_span on_cpu = *run, of_task = *run;
	of_task.detail = (uint32_t)c->tracks.tracks.items[cpu_track].id;
	on_cpu.detail = task_track;
	return tracks_span(&c->tracks, task_track, &of_task) && tracks_span(&c->tracks, cpu_track, &on_cpu);
}

static bool timechart_end_run(struct timechart *c, uint32_t id, uint64_t until_ns)
{
	struct timechart_task *task = &c->tasks.items[id];
	const struct track_span run = {
		.start_ns = task->on_since_ns, .end_ns = until_ns, .text = INTERN_NONE, .kind = SPAN_RUNNING};
	if (task->on_since_ns == 0 || until_ns <= task->on_since_ns)
		return true;
	task->on_since_ns = until_ns;
	const struct timechart_cpu *cpu = cpu_of(c, task->on_cpu);
	return cpu && timechart_add_run(c, c->tasks.items[id].track, cpu->track, &run);
}

/* Returns NULL if out of memory. */
static struct timechart_task *timechart_task_of(struct timechart *c, int32_t tid, int32_t pid, uint32_t *id)
{
	if (timechart_track(c, tid, pid) == TRACK_NONE)
		return NULL;
	*id = sched_history_task(&c->history, tid);
	return *id == ID_TABLE_NONE ? NULL : task_of(c, *id);
}

static bool timechart_has_ended(struct timechart *c, int32_t tid)
{
	uint32_t id = sched_history_task(&c->history, tid);
	return id != ID_TABLE_NONE && c->history.tasks.items[id].has_exited;
}

/* Returns whether a run continues at a later time on its CPU. Consecutive samples have gaps, because clocks are not
 * exact. */
static bool timechart_goes_on(
	const struct timechart *c, const struct timechart_task *task, const struct timechart_on *on, uint64_t since_ns)
{
	const struct timechart_cpu *cpu = &c->cpus.items[on->cpu];
	uint64_t gap_ns = (on->time_ns - on->since_ns) / 4;
	if (task->on_since_ns == 0 || task->on_cpu != on->cpu)
		return false;
	return c->has_all_waits || (cpu->on_tid == on->tid && since_ns <= task->on_last_ns + gap_ns);
}

bool timechart_on(struct timechart *c, const struct timechart_on *on)
{
	uint32_t id;
	struct timechart_task *task = timechart_task_of(c, on->tid, on->pid, &id);
	struct timechart_cpu *cpu = task ? cpu_of(c, on->cpu) : NULL;
	if (!cpu)
		return false;
	if (timechart_has_ended(c, on->tid))
		return true;
	tracks_see(&c->tracks, task->track, on->time_ns);
	uint64_t since_ns = on->since_ns > task->off_ns ? on->since_ns : task->off_ns;
	if (cpu->on_tid != on->tid && cpu->on_last_ns > since_ns)
		since_ns = cpu->on_last_ns;
	if (!timechart_goes_on(c, task, on, since_ns)) {
		if (task->on_since_ns && !timechart_end_run(c, id, task->on_last_ns))
			return false;
		task = &c->tasks.items[id];
		if (!c->has_all_waits || task->on_since_ns == 0)
			task->on_since_ns = since_ns;
	}
	cpu = &c->cpus.items[on->cpu];
	cpu->on_tid = on->tid;
	cpu->on_last_ns = on->time_ns;
	task->on_cpu = on->cpu;
	task->on_last_ns = on->time_ns;
	return true;
}

bool timechart_off(struct timechart *c, const struct timechart_off *off)
{
	uint32_t id, by = TRACK_NONE;
	struct timechart_task *task = timechart_task_of(c, off->tid, off->pid, &id);
	if (!task)
		return false;
	if (timechart_has_ended(c, off->tid)) {
		c->left_out++;
		return true;
	}
	bool is_known = c->has_all_waits || task->on_last_ns > off->start_ns;
	if (!timechart_end_run(c, id, is_known ? off->start_ns : task->on_last_ns))
		return false;
	if (off->by > 0 && (by = timechart_track(c, off->by, 0)) == TRACK_NONE)
		return false;
	task = &c->tasks.items[id];
	task->on_since_ns = c->has_all_waits ? off->end_ns : 0;
	task->on_last_ns = task->off_ns = off->end_ns;
	task->on_cpu = off->cpu;
	tracks_see(&c->tracks, task->track, off->start_ns);
	tracks_see(&c->tracks, task->track, off->end_ns);
	const struct track_span span = {.start_ns = off->start_ns,
		.end_ns = off->end_ns,
		.detail = off->kind == SPAN_WAITING ? by : TRACK_MIXED,
		.text = off->text,
		.kind = (uint8_t)off->kind};
	const struct track_arrow arrow = {off->end_ns, by, task->track, off->text};
	uint32_t track = task->track;
	return tracks_span(&c->tracks, track, &span) &&
	       (off->by == 0 || off->kind == SPAN_WAITING || by == track || tracks_arrow(&c->tracks, &arrow));
}

bool timechart_exit(struct timechart *c, int32_t tid)
{
	uint32_t id = sched_history_task(&c->history, tid);
	if (id != ID_TABLE_NONE && id < c->tasks.len) {
		if (!timechart_end_run(c, id, c->tasks.items[id].on_last_ns))
			return false;
		c->tasks.items[id].on_since_ns = 0;
	}
	return sched_history_exit(&c->history, tid);
}

/* A period between leaving a CPU and running again. It is unknown if events were lost meanwhile. */
struct away {
	/* back_ns: when it ended; wait_ns: since it left a CPU; delay_ns: since it was woken. */
	uint64_t back_ns, wait_ns, delay_ns;
	enum sched_left left;
	bool is_cut; /* The task has not returned to a CPU yet. */
};

static bool add_away(struct timechart *c, const struct timechart_task *task, const struct away *away)
{
	bool is_runnable = away->left == SCHED_LEFT_RUNNABLE && away->wait_ns > 0;
	uint64_t waited_ns = is_runnable ? away->wait_ns : away->delay_ns;
	if (away->back_ns - away->wait_ns < c->lost_ns || away->back_ns - waited_ns < c->lost_ns)
		return true;
	const struct track_span blocked = {.start_ns = away->back_ns - away->wait_ns,
		.end_ns = away->back_ns - away->delay_ns,
		.detail = TRACK_MIXED,
		.text = task->left_text,
		.kind = SPAN_BLOCKED,
		.is_cut = away->is_cut && away->delay_ns == 0};
	const struct track_span waiting = {.start_ns = away->back_ns - waited_ns,
		.end_ns = away->back_ns,
		.detail = is_runnable ? TRACK_NONE : task->woken_by,
		.text = is_runnable ? task->left_text : task->woken_text,
		.kind = SPAN_WAITING,
		.is_cut = away->is_cut};
	if (away->left == SCHED_LEFT_BLOCKED && away->wait_ns > away->delay_ns &&
		!tracks_span(&c->tracks, task->track, &blocked))
		return false;
	return waited_ns == 0 || tracks_span(&c->tracks, task->track, &waiting);
}

/* Adds the wait that ended when a task came onto a CPU. */
static bool timechart_arrive(struct timechart *c, uint32_t id, uint64_t since_ns)
{
	struct timechart_task *task = task_of(c, id);
	if (!task)
		return false;
	struct sched_task *running = &c->history.tasks.items[id];
	bool was_away = running->left_ns != 0 && running->left_ns <= since_ns;
	bool was_woken = running->woken_ns != 0 && running->woken_ns <= since_ns;
	const struct away away = {.back_ns = since_ns,
		.wait_ns = was_away ? since_ns - running->left_ns : 0,
		.delay_ns = was_woken ? since_ns - running->woken_ns : 0,
		.left = running->left};
	running->left_ns = was_away ? 0 : running->left_ns;
	running->woken_ns = was_woken ? 0 : running->woken_ns;
	return task->track == TRACK_NONE || add_away(c, task, &away);
}

/* Ends the wait of a task that came onto a CPU, if no event says when it left again. */
static bool arrive_unseen(struct timechart *c, uint32_t number)
{
	int32_t now = c->cpus.items[number].now;
	if (now <= 0 || number >= c->history.cpus.len)
		return true;
	uint64_t since_ns = c->history.cpus.items[number].switched_ns;
	uint32_t id = sched_history_task(&c->history, now);
	if (id == ID_TABLE_NONE)
		return false;
	return c->history.tasks.items[id].left_ns > since_ns || timechart_arrive(c, id, since_ns);
}

bool timechart_lost(struct timechart *c, uint32_t cpu, uint64_t time_ns)
{
	for (uint32_t i = 0; i < c->cpus.len; i++) {
		if (cpu != TIMECHART_ANY_CPU && i != cpu)
			continue;
		if (!arrive_unseen(c, i))
			return false;
		c->cpus.items[i].now = TIMECHART_LOST;
	}
	c->lost_ns = time_ns;
	return true;
}

/* If nothing was seen on a CPU before, the task that leaves it has run there since before the recording, or since its
 * last known time. */
static void measure_first(const struct timechart *c, const struct timechart_task *task, struct track_span *run)
{
	const struct track *track = &c->tracks.tracks.items[task->track];
	run->start_ns = c->tracks.start_ns;
	if (track->last_ns > run->start_ns)
		run->start_ns = track->last_ns;
	run->is_cut = true;
}

/* Returns the start to show for a run whose start was not recorded: when the task was woken, because it did not run
 * before; if that is not known, the run's end. */
static uint64_t latest_start(struct timechart *c, const struct sched_out *out)
{
	uint32_t id = out->tid > 0 ? sched_history_task(&c->history, out->tid) : ID_TABLE_NONE;
	uint64_t woken_ns = id == ID_TABLE_NONE ? 0 : c->history.tasks.items[id].woken_ns;
	uint64_t since_ns = c->history.cpus.items[out->cpu].switched_ns;
	return woken_ns > since_ns && woken_ns >= c->lost_ns && woken_ns <= out->time_ns ? woken_ns : out->time_ns;
}

bool timechart_switch(struct timechart *c, const struct sched_out *out, int32_t next, uint32_t text)
{
	struct sched_times times;
	struct timechart_cpu *cpu = cpu_of(c, out->cpu);
	bool is_first = c->history.cpus.len <= out->cpu || c->history.cpus.items[out->cpu].switched_ns == 0;
	if (!cpu)
		return false;
	/* A switch on this CPU was not recorded: the task that leaves is not the one that came last. */
	bool is_broken = !is_first && cpu->now != out->tid;
	uint64_t start_ns = is_broken ? latest_start(c, out) : 0;
	if ((is_broken && !arrive_unseen(c, out->cpu)) || !sched_history_switch(&c->history, out, &times))
		return false;
	cpu = &c->cpus.items[out->cpu];
	struct timechart_task *task = task_of(c, times.task);
	if (!task)
		return false;
	cpu->now = next;
	tracks_see(&c->tracks, cpu->track, out->time_ns);
	if (task->track == TRACK_NONE)
		return true;
	struct track_span run = {
		.start_ns = times.time_ns - times.run_ns, .end_ns = times.time_ns, .text = text, .kind = SPAN_RUNNING};
	if (is_first)
		measure_first(c, task, &run);
	const struct away away = {run.start_ns, times.wait_ns, times.delay_ns, times.left, false};
	if (!is_first && !is_broken && !add_away(c, task, &away))
		return false;
	if (is_broken) {
		run.start_ns = start_ns;
		run.is_cut = true;
	}
	if (!timechart_add_run(c, task->track, cpu->track, &run))
		return false;
	tracks_see(&c->tracks, task->track, out->time_ns);
	task->left_text = text;
	task->woken_text = INTERN_NONE;
	task->woken_by = TRACK_NONE;
	return true;
}

bool timechart_wake(struct timechart *c, const struct timechart_wake *wake)
{
	uint32_t by = wake->by > 0 ? timechart_track(c, wake->by, 0) : TRACK_NONE;
	uint32_t id = sched_history_task(&c->history, wake->tid);
	if (wake->tid <= 0)
		return true;
	if ((wake->by > 0 && by == TRACK_NONE) || id == ID_TABLE_NONE)
		return false;
	struct timechart_task *task = task_of(c, id);
	if (!task)
		return false;
	if (c->history.tasks.items[id].woken_ns == 0) {
		task->woken_text = wake->text;
		task->woken_by = by;
	}
	tracks_see(&c->tracks, task->track, wake->time_ns);
	const struct track_arrow arrow = {wake->time_ns, by, task->track, wake->text};
	return sched_history_wake(&c->history, wake->tid, wake->time_ns) &&
	       (by == task->track || tracks_arrow(&c->tracks, &arrow));
}

static bool end_idle(struct timechart *c, const struct timechart_cpu *cpu, uint64_t time_ns, bool is_cut)
{
	const struct track_span idle = {.start_ns = cpu->idle_since_ns,
		.end_ns = time_ns,
		.detail = cpu->depth,
		.text = INTERN_NONE,
		.kind = SPAN_IDLE,
		.is_cut = is_cut};
	return cpu->depth == TIMECHART_BUSY || tracks_span(&c->tracks, cpu->track, &idle);
}

bool timechart_idle(struct timechart *c, uint32_t cpu, uint64_t time_ns, uint32_t depth)
{
	struct timechart_cpu *idle = cpu_of(c, cpu);
	if (!idle || !end_idle(c, idle, time_ns, false))
		return false;
	tracks_see(&c->tracks, idle->track, time_ns);
	idle->depth = depth;
	idle->idle_since_ns = time_ns;
	return true;
}

bool timechart_frequency(struct timechart *c, uint32_t cpu, uint64_t time_ns, uint64_t khz)
{
	const struct timechart_cpu *of = cpu_of(c, cpu);
	return of && tracks_level(&c->tracks, of->track, time_ns, khz);
}

static bool finish_cpu(struct timechart *c, uint32_t number)
{
	const struct timechart_cpu *cpu = &c->cpus.items[number];
	uint64_t end_ns = c->tracks.end_ns;
	if (cpu->track == TRACK_NONE)
		return true;
	if (!end_idle(c, cpu, end_ns, true))
		return false;
	if (cpu->now <= 0 || number >= c->history.cpus.len)
		return true;
	uint64_t since_ns = c->history.cpus.items[number].switched_ns;
	uint32_t id = sched_history_task(&c->history, cpu->now), cpu_track = cpu->track;
	if (id == ID_TABLE_NONE)
		return false;
	const struct track_span run = {
		.start_ns = since_ns, .end_ns = end_ns, .text = INTERN_NONE, .kind = SPAN_RUNNING, .is_cut = true};
	if (c->history.tasks.items[id].left_ns > since_ns)
		return true; /* It has left already: the switch to another task was lost. */
	if (!timechart_arrive(c, id, since_ns))
		return false;
	c->history.tasks.items[id].woken_ns = 0; /* It is on the CPU, not waiting. */
	const struct timechart_task *task = task_of(c, id);
	return task && timechart_add_run(c, task->track, cpu_track, &run);
}

static bool finish_task(struct timechart *c, uint32_t id)
{
	const struct sched_task *gone = &c->history.tasks.items[id];
	struct away away = {.back_ns = c->tracks.end_ns, .left = gone->left, .is_cut = true};
	if (gone->has_exited || gone->is_idle || gone->tid == 0 || (gone->left_ns == 0 && gone->woken_ns == 0))
		return true;
	const struct timechart_task *task = task_of(c, id);
	if (!task)
		return false;
	if (gone->left_ns != 0 && gone->left_ns <= away.back_ns)
		away.wait_ns = away.back_ns - gone->left_ns;
	if (gone->woken_ns != 0 && gone->woken_ns <= away.back_ns)
		away.delay_ns = away.back_ns - gone->woken_ns;
	return add_away(c, task, &away);
}

bool timechart_finish(struct timechart *c)
{
	for (uint32_t i = 0; i < c->cpus.len; i++)
		if (!finish_cpu(c, i))
			return false;
	for (uint32_t i = 0; i < c->tasks.len; i++)
		if (!timechart_end_run(c, i, c->tasks.items[i].on_last_ns))
			return false;
	for (uint32_t i = 0; i < c->history.tasks.len; i++)
		if (!finish_task(c, i))
			return false;
	return tracks_finish(&c->tracks);
}
