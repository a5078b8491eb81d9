/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/wait_tracker.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

#define SUMS_MOST 65536
/* Two wake-ups of a thread within this time are the same one: reported by an event of the waker, and by an event of its
 * CPU. */
#define SAME_WAKE_NS 100000
/* Marks a thread that has ended in the map of threads: its later events are ignored until its ID belongs to a new
 * thread. */
#define ENDED UINT64_C(1)

void wait_tracker_deinit(struct wait_tracker *t)
{
	size_t position = 0;
	uint64_t tid, value;
	while (map_u64_next(&t->threads, &position, &tid, &value))
		if (value > ENDED)
			free((void *)(uintptr_t)value);
	map_u64_deinit(&t->threads);
	map_u64_deinit(&t->sum_index);
	vec_free(&t->sums);
}

/* ---- Sums ---- */

static enum tally_status wait_tracker_tell(struct wait_tracker *t, const struct wait_tracker_sum *sum, unsigned flags,
	const struct off_cpu_sink *sink, struct tally_error *err)
{
	struct wait_parts parts = sum->parts;
	parts.waker_comm = sum->waker_comm;
	parts.flags |= (uint8_t)flags;
	return wait_parts_tell(t->config.stacks, &parts, sink, &t->lost_stacks, err);
}

static uint64_t wait_tracker_hash(const struct wait_parts *p)
{
	const uint64_t words[] = {p->stack, p->waker_stack, (uint64_t)p->tid << 32 | p->waker_tid,
		(uint64_t)(uint32_t)p->syscall << 32 | (uint64_t)p->state << 8 | p->flags};
	return bytes_hash(words, sizeof(words));
}

static bool wait_tracker_is_same(const struct wait_parts *a, const struct wait_parts *b)
{
	return a->stack == b->stack && a->waker_stack == b->waker_stack && a->tid == b->tid && a->pid == b->pid &&
	       a->waker_tid == b->waker_tid && a->syscall == b->syscall && a->state == b->state && a->flags == b->flags;
}

enum tally_status wait_tracker_give_sums(
	struct wait_tracker *t, const struct off_cpu_sink *sink, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < t->sums.len; i++)
		status = wait_tracker_tell(
			t, &t->sums.items[i], t->sums.items[i].parts.count > 1 ? WAIT_FLAG_SUM : 0, sink, err);
	t->sums.len = 0;
	map_u64_deinit(&t->sum_index);
	t->sum_index = (struct map_u64){0};
	return status;
}

static enum tally_status wait_tracker_add(
	struct wait_tracker *t, struct wait_tracker_sum *wait, const struct off_cpu_sink *sink, struct tally_error *err)
{
	bool is_new;
	uint64_t *at = map_u64_at(&t->sum_index, wait_tracker_hash(&wait->parts), &is_new);
	if (!at)
		return error_nomem(err);
	if (is_new) {
		*at = t->sums.len;
		wait->parts.is_summed = true;
		if (!vec_push(&t->sums, *wait))
			return error_nomem(err);
		return t->sums.len < SUMS_MOST ? TALLY_OK : wait_tracker_give_sums(t, sink, err);
	}
	struct wait_tracker_sum *sum = &t->sums.items[*at];
	if (!wait_tracker_is_same(&sum->parts, &wait->parts))
		return wait_tracker_tell(t, wait, 0, sink, err);
	sum->parts.count += wait->parts.count;
	sum->parts.blocked_ns += wait->parts.blocked_ns;
	sum->parts.runnable_ns += wait->parts.runnable_ns;
	sum->parts.woken_ns = sum->parts.end_ns = wait->parts.end_ns;
	sum->parts.cpu = wait->parts.cpu;
	return TALLY_OK;
}

/* ---- Threads ---- */

struct wait_thread *wait_tracker_find(const struct wait_tracker *t, uint32_t tid)
{
	uint64_t value;
	return map_u64_find(&t->threads, tid, &value) && value > ENDED ? (void *)(uintptr_t)value : NULL;
}

/* Finds or creates the thread of an event. Returns NULL if the thread has ended, or if memory runs out (*status). */
static struct wait_thread *wait_tracker_thread(
	struct wait_tracker *t, const struct wait_event *event, enum tally_status *status, struct tally_error *err)
{
	bool is_new;
	uint64_t *at = map_u64_at(&t->threads, event->tid, &is_new);
	*status = TALLY_OK;
	if (at && !is_new && *at == ENDED && event->kind != WAIT_EVENT_NEW && event->kind != WAIT_EVENT_EXEC)
		return NULL;
	struct wait_thread *thread = at && !is_new && *at > ENDED ? (void *)(uintptr_t)*at
				     : at			  ? calloc(1, sizeof(*thread))
								  : NULL;
	if (!thread) {
		*status = error_nomem(err);
		if (at)
			*at = ENDED;
		return NULL;
	}
	*at = (uint64_t)(uintptr_t)thread;
	thread->tid = event->tid;
	if (event->pid)
		thread->pid = event->pid;
	return thread;
}

static void wait_tracker_end(struct wait_tracker *t, uint32_t tid)
{
	struct wait_thread *thread = wait_tracker_find(t, tid);
	bool is_new;
	uint64_t *at = thread ? map_u64_at(&t->threads, tid, &is_new) : NULL;
	if (at)
		*at = ENDED;
	free(thread);
}

/* Ends the wait of a thread, which began with thread->out: reports it, or adds it to the sums if it is short. */
static enum tally_status wait_tracker_end_wait(struct wait_tracker *t, const struct wait_thread *thread,
	const struct wait_event *end, unsigned flags, const struct off_cpu_sink *sink, struct tally_error *err)
{
	const struct wait_event *out = &thread->out, *wake = &thread->wake;
	bool is_blocked = out->state != WAIT_RUNNABLE, is_woken = is_blocked && thread->is_woken;
	const struct wait_event *look = thread->look.time_ns ? &thread->look : NULL;
	uint64_t begin = out->time_ns, until = MAX(end->time_ns, begin);
	uint64_t woken = is_woken ? MIN(MAX(wake->time_ns, begin), until) : is_blocked ? until : begin;
	struct wait_tracker_sum wait = {.parts = {.stack = out->stack ? out->stack
							   : look     ? look->stack
								      : 0,
						.pid = thread->pid,
						.tid = thread->tid,
						.cpu = end->cpu,
						.syscall = look ? look->syscall : out->syscall,
						.state = (enum wait_state)(look ? look->state : out->state),
						.flags = (uint8_t)(out->flags | flags),
						.count = 1,
						.blocked_ns = woken - begin,
						.runnable_ns = until - woken,
						.woken_ns = woken,
						.end_ns = until}};
	if (is_woken) {
		wait.parts.flags |= wake->flags;
		wait.parts.waker_stack = wake->stack;
		wait.parts.waker_pid = wake->waker_pid;
		wait.parts.waker_tid = wake->waker_tid;
		memcpy(wait.waker_comm, wake->waker_comm, sizeof(wait.waker_comm));
	}
	return until - begin >= t->config.threshold_ns || flags ? wait_tracker_tell(t, &wait, 0, sink, err)
								: wait_tracker_add(t, &wait, sink, err);
}

static void wait_tracker_leave(struct wait_tracker *t, struct wait_thread *thread, const struct wait_event *event)
{
	const struct wait_event *stack = &thread->stack;
	thread->out = *event;
	if (stack->time_ns && event->stack == 0) {
		bool is_blocked = event->state != WAIT_RUNNABLE;
		thread->out.stack = stack->stack;
		thread->out.syscall = stack->syscall;
		thread->out.state = is_blocked ? stack->state : event->state;
	}
	thread->stack = (struct wait_event){0};
	thread->is_woken = thread->is_looked_at = thread->is_doubtful = false;
	thread->switches = event->switches;
	thread->look = (struct wait_event){.syscall = -1};
	thread->is_off = event->state != WAIT_RUNNABLE || t->config.wants_preempted;
}

static void wait_tracker_wake(struct wait_thread *thread, const struct wait_event *event)
{
	bool is_better = event->kind == WAIT_EVENT_WAKE && thread->wake.kind == WAIT_EVENT_OTHERS_WAKE &&
			 event->waker_tid == thread->wake.waker_tid &&
			 event->time_ns - thread->wake.time_ns < SAME_WAKE_NS;
	if (!thread->is_off || thread->out.state == WAIT_RUNNABLE || (thread->is_woken && !is_better))
		return;
	thread->wake = *event;
	thread->is_woken = true;
}

/* Uses the state from /proc if it was read during this wait. */
static void wait_tracker_look(struct wait_thread *thread, const struct wait_event *event)
{
	bool is_other = thread->switches && thread->switches != event->switches;
	if (!thread->is_off || thread->out.state == WAIT_RUNNABLE)
		return;
	if (thread->is_doubtful)
		thread->is_off = !is_other;
	thread->is_doubtful = false;
	if (is_other)
		return;
	thread->look = *event;
	thread->switches = event->switches;
}

/* Called after events were lost. A wait ends here unless the thread's number of context switches can show later that
 * it continues. */
static void wait_tracker_doubt(struct wait_tracker *t)
{
	size_t position = 0;
	struct wait_thread *thread;
	while ((thread = wait_tracker_next_off(t, &position))) {
		thread->is_doubtful = true;
		thread->is_off = thread->switches != 0 && t->config.has_stayed;
	}
}

enum tally_status wait_tracker_apply(struct wait_tracker *t, const struct wait_event *event,
	const struct off_cpu_sink *sink, struct tally_error *err)
{
	enum tally_status status;
	if (event->kind == WAIT_EVENT_EXIT) {
		wait_tracker_end(t, event->tid);
		return TALLY_OK;
	}
	if (event->kind == WAIT_EVENT_LOST) {
		wait_tracker_doubt(t);
		return TALLY_OK;
	}
	bool makes_none = event->kind == WAIT_EVENT_WAKE || event->kind == WAIT_EVENT_OTHERS_WAKE ||
			  event->kind == WAIT_EVENT_IN || event->kind == WAIT_EVENT_LOOK ||
			  event->kind == WAIT_EVENT_LOOK_STACK;
	struct wait_thread *thread =
		makes_none ? wait_tracker_find(t, event->tid) : wait_tracker_thread(t, event, &status, err);
	if (!thread)
		return makes_none ? TALLY_OK : status;
	switch ((enum wait_event_kind)event->kind) {
	case WAIT_EVENT_OUT:
	case WAIT_EVENT_NEW:
		wait_tracker_leave(t, thread, event);
		return TALLY_OK;
	case WAIT_EVENT_STACK:
		thread->stack = *event;
		return TALLY_OK;
	case WAIT_EVENT_WAKE:
	case WAIT_EVENT_OTHERS_WAKE:
		wait_tracker_wake(thread, event);
		return TALLY_OK;
	case WAIT_EVENT_LOOK:
		wait_tracker_look(thread, event);
		return TALLY_OK;
	case WAIT_EVENT_LOOK_STACK:
		if (thread->is_off && thread->look.time_ns == event->time_ns)
			thread->look.stack = event->stack;
		return TALLY_OK;
	case WAIT_EVENT_IN:
		if (!thread->is_off)
			return TALLY_OK;
		thread->is_off = false;
		return thread->is_doubtful ? TALLY_OK : wait_tracker_end_wait(t, thread, event, 0, sink, err);
	case WAIT_EVENT_EXEC:
		thread->is_off = false;
		return TALLY_OK;
	case WAIT_EVENT_EXIT:
	case WAIT_EVENT_LOST:
		return TALLY_OK;
	}
	return TALLY_OK;
}

struct wait_thread *wait_tracker_next_off(const struct wait_tracker *t, size_t *position)
{
	uint64_t tid, value;
	while (map_u64_next(&t->threads, position, &tid, &value)) {
		struct wait_thread *thread = value > ENDED ? (void *)(uintptr_t)value : NULL;
		if (thread && thread->is_off)
			return thread;
	}
	return NULL;
}

void wait_tracker_forget(struct wait_tracker *t)
{
	size_t position = 0;
	struct wait_thread *thread;
	while ((thread = wait_tracker_next_off(t, &position)))
		thread->is_off = false;
}

enum tally_status wait_tracker_finish(
	struct wait_tracker *t, uint64_t now_ns, const struct off_cpu_sink *sink, struct tally_error *err)
{
	size_t position = 0;
	struct wait_thread *thread;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && (thread = wait_tracker_next_off(t, &position))) {
		const struct wait_event end = {.time_ns = now_ns, .cpu = thread->out.cpu};
		thread->is_off = false;
		bool is_known =
			!thread->is_doubtful || t->config.has_stayed(t->config.context, thread->tid, thread->switches);
		if (is_known && now_ns > thread->out.time_ns)
			status = wait_tracker_end_wait(t, thread, &end, WAIT_FLAG_UNFINISHED, sink, err);
	}
	return status == TALLY_OK ? wait_tracker_give_sums(t, sink, err) : status;
}
