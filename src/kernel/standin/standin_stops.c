/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin_stops.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "kernel/standin/standin_calls.h"
#include "kernel/standin/standin_rights.h"
#include "kernel/standin/standin_timers.h"

/* Next action for a stopped thread. */
enum standin_next {
	NEXT_GOES_ON,
	NEXT_LISTENS, /* The program remains stopped until SIGCONT (SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU). */
	NEXT_WAITS, /* The thread waits until its creator's stop is handled. */
	NEXT_IS_LET_GO, /* The thread is detached, because no event measures it. */
};

static void enable_at_exec(struct standin *s, const struct standin_thread *thread)
{
	for (size_t i = 0; i < s->events.len; i++) {
		struct standin_event *event = &s->events.items[i];
		if (event->target != thread->target || !ATTR_HAS(&event->attr, ENABLE_ON_EXEC) || event->is_enabled)
			continue;
		event->is_enabled = true;
		event->enabled_at_ns = standin_now(NULL);
	}
}

static void note_rights(struct standin *s, pid_t pid)
{
	char path[STANDIN_PATH_MAX];
	if (!program_lacks_rights(&s->seam, pid, path, sizeof(path)))
		return;
	if (s->losses.privileged++ == 0)
		memcpy(s->losses.privileged_path, path, sizeof(path));
}

/* An exec ends all other threads of the process; the calling thread continues under the process's ID. */
static void handle_exec(struct standin *s, pid_t tid)
{
	unsigned long caller_tid = (unsigned long)tid;
	(void)ptrace(PTRACE_GETEVENTMSG, tid, NULL, &caller_tid);
	const struct standin_thread *caller = standin_thread_find(s, (pid_t)caller_tid);
	struct standin_thread *thread = standin_thread_find(s, tid);
	if (caller && caller->target && thread && thread->target == 0)
		thread->target = caller->target;
	for (size_t i = s->threads.len; i-- > 0;)
		if (s->threads.items[i].pid == tid && s->threads.items[i].tid != tid)
			standin_thread_end(s, &s->threads.items[i]);
	struct standin_process *process = standin_process_find(s, tid);
	thread = standin_thread_find(s, tid);
	if (!thread || !process)
		return;
	vec_free(&process->stale_timers);
	process->vdso = process->page = process->mapped_pages = 0;
	thread->has_timer = thread->is_refused = thread->is_masked = false; /* exec deletes timers; filters remain. */
	thread->is_watched = thread->is_wanted = false;
	note_rights(s, tid);
	enable_at_exec(s, thread);
	standin_forget_mappings(s, tid);
	standin_put_comm(s, thread, true);
	standin_put_mappings(s, thread);
	standin_timer_start(s, thread, true);
}

static bool is_measured(struct standin *s, const struct standin_thread *thread)
{
	for (size_t i = 0; i < s->events.len; i++) {
		const struct standin_event *event = &s->events.items[i];
		if (event->target == thread->target && !event->is_closed &&
			(thread->tid == thread->target || ATTR_HAS(&event->attr, INHERIT)))
			return true;
	}
	return false;
}

/* Handles the first stop of a new thread after its target has become known. */
static enum standin_next handle_first_stop(struct standin *s, struct standin_thread *thread)
{
	if (!is_measured(s, thread))
		return NEXT_IS_LET_GO;
	standin_timer_start(s, thread, false);
	return NEXT_GOES_ON;
}

static void let_go_on(struct standin *s, pid_t tid, enum standin_next next, int signal_number)
{
	void *number = (void *)(uintptr_t)signal_number;
	if (next == NEXT_LISTENS)
		(void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else if (next == NEXT_GOES_ON)
		(void)ptrace(PTRACE_CONT, tid, NULL, number);
	else if (next == NEXT_IS_LET_GO && ptrace(PTRACE_DETACH, tid, NULL, number) == 0 && standin_thread_find(s, tid))
		standin_thread_end(s, standin_thread_find(s, tid));
}

/* A thread has started another one, which may have stopped first. */
static void handle_new(struct standin *s, pid_t parent_tid)
{
	unsigned long tid = 0;
	if (ptrace(PTRACE_GETEVENTMSG, parent_tid, NULL, &tid) != 0)
		return;
	struct standin_thread *child = standin_thread_find(s, (pid_t)tid);
	const struct standin_thread *parent = standin_thread_find(s, parent_tid);
	bool is_waiting = child != NULL;
	pid_t target = parent ? parent->target : 0;
	if (!child)
		child = standin_thread_add(s, (pid_t)tid, target);
	parent = standin_thread_find(s, parent_tid);
	if (!child || !parent)
		return;
	if (child->target == 0)
		child->target = target;
	standin_process_copy(s, child->pid, parent->pid);
	standin_put_task(s, child, parent, false);
	if (is_waiting)
		let_go_on(s, (pid_t)tid, handle_first_stop(s, child), 0);
}

static bool is_group_stop(int signal_number)
{
	return signal_number == SIGSTOP || signal_number == SIGTSTP || signal_number == SIGTTIN ||
	       signal_number == SIGTTOU;
}

static enum standin_next handle_event_stop(struct standin *s, struct standin_thread *thread, int signal_number)
{
	if (is_group_stop(signal_number))
		return NEXT_LISTENS;
	if (thread->target == 0)
		return NEXT_WAITS;
	if (thread->is_wanted) {
		uint64_t period = standin_timer_untold(s, thread);
		thread->is_wanted = false;
		if (period)
			standin_sample(s, thread, period);
		return NEXT_GOES_ON;
	}
	/* This is the first stop of the thread or a requested one. */
	return handle_first_stop(s, thread);
}

/* Returns the signal to deliver: 0 if the thread's timer sent it. */
static int handle_signal(struct standin *s, struct standin_thread *thread, int signal_number)
{
	siginfo_t info = {0};
	uint64_t period = 0;
	bool is_known = ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) == 0;
	bool is_timer = is_known && standin_timer_is_expired(s, thread, &info, &period);
	if (!is_timer)
		period = standin_timer_untold(s, thread);
	if (period)
		standin_sample(s, thread, period);
	if (is_timer)
		standin_timers_clean(s, thread);
	return is_timer ? 0 : signal_number;
}

/* Handles a stop; *signal_number is the signal to deliver when the thread continues. */
static enum standin_next take_stop(struct standin *s, pid_t tid, int status, int *signal_number)
{
	struct standin_thread *thread = standin_thread_find(s, tid);
	int event = status >> 8, number = status & 0x7f;
	*signal_number = 0;
	if (!thread) /* The creator of this thread has not reported it yet. */
		thread = standin_thread_add(s, tid, 0);
	if (!thread)
		return NEXT_GOES_ON;
	switch (event) {
	case PTRACE_EVENT_EXEC:
		handle_exec(s, tid);
		return NEXT_GOES_ON;
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		handle_new(s, tid);
		return NEXT_GOES_ON;
	case PTRACE_EVENT_STOP:
		return handle_event_stop(s, thread, number);
	default:
		if (status & STANDIN_CALL_STOP)
			return NEXT_GOES_ON;
		*signal_number = handle_signal(s, thread, number);
		return NEXT_GOES_ON;
	}
}

void standin_stop_handle(struct standin *s, pid_t tid, int status)
{
	int signal_number;
	enum standin_next next = take_stop(s, tid, status, &signal_number);
	let_go_on(s, tid, next, signal_number);
}
