/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "kernel/standin/standin_state.h"
#include "kernel/standin/standin_timers.h"

struct standin_thread *standin_thread_find(struct standin *s, pid_t tid)
{
	for (size_t i = 0; i < s->threads.len; i++)
		if (s->threads.items[i].tid == tid)
			return &s->threads.items[i];
	return NULL;
}

struct standin_process *standin_process_find(struct standin *s, pid_t pid)
{
	for (size_t i = 0; i < s->processes.len; i++)
		if (s->processes.items[i].pid == pid)
			return &s->processes.items[i];
	return NULL;
}

void standin_process_copy(struct standin *s, pid_t pid, pid_t parent)
{
	struct standin_process *to = standin_process_find(s, pid);
	const struct standin_process *from = standin_process_find(s, parent);
	if (!to || !from || to == from)
		return;
	to->vdso = from->vdso;
	to->page = from->page;
	to->signal = from->signal;
	to->ignores_signal = from->ignores_signal;
}

struct standin_thread *standin_thread_add(struct standin *s, pid_t tid, pid_t target)
{
	struct thread_status status = {.pid = tid};
	(void)thread_status_read(&s->seam, tid, &status);
	struct standin_thread thread = {.tid = tid,
		.pid = status.pid,
		.target = target,
		.looked_at_ns = standin_now(NULL),
		.is_ours = status.pid == tid && status.parent == getpid()};
	const struct standin_process process = {.pid = status.pid};
	if (!standin_process_find(s, status.pid) && !vec_push(&s->processes, process))
		return NULL;
	return vec_push(&s->threads, thread) ? &s->threads.items[s->threads.len - 1] : NULL;
}

static void hang_up(struct standin *s, pid_t target)
{
	for (size_t i = 0; i < s->threads.len; i++)
		if (s->threads.items[i].target == target)
			return;
	for (size_t i = 0; i < s->events.len; i++)
		s->events.items[i].has_hung_up |= s->events.items[i].target == target;
}

static void end_process_if_last(struct standin *s, pid_t pid)
{
	for (size_t i = 0; i < s->threads.len; i++)
		if (s->threads.items[i].pid == pid)
			return;
	struct standin_process *process = standin_process_find(s, pid);
	if (!process)
		return;
	vec_free(&process->stale_timers);
	*process = s->processes.items[--s->processes.len];
	standin_forget_mappings(s, pid);
}

void standin_thread_end(struct standin *s, struct standin_thread *thread)
{
	if (thread->is_refused && thread->target)
		standin_lose(s, thread, standin_timer_untold(s, thread) / s->period_ns);
	const struct standin_thread ended = *thread;
	struct standin_process *process = standin_process_find(s, ended.pid);
	if (ended.target)
		standin_put_task(s, thread, thread, true);
	/* If memory runs out, the timer is not deleted; it cannot expire any more. */
	if (process && ended.has_timer)
		(void)vec_push(&process->stale_timers, ended.timer);
	*thread = s->threads.items[--s->threads.len];
	end_process_if_last(s, ended.pid);
	if (ended.target)
		hang_up(s, ended.target);
}
