/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/standin/standin_stops.h"
#include "kernel/standin/standin_timers.h"

#ifndef sigev_notify_thread_id /* musl defines this name, glibc does not. */
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define ENGINE_OPTIONS \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)
#define LOOK_NS 20000000
/* Time that threads have to stop, so that their timers are deleted, before they are released with their timers. */
#define RELEASE_NS UINT64_C(1000000000)
/* Maximum number of interrupted waits between two periodic checks; a sandbox may answer each wait with EINTR. */
#define INTERRUPTS_A_LOOK  2000
#define TIMERLESS_PAUSE_NS 1000000 /* Pause between two polls for stops if a filter denies timers. */
#define ORPHAN_NS	   UINT64_C(1000000000)
#define RELEASE_PAUSE_NS   200000
#define ANY_NEWS	   (WSTOPPED | WEXITED | __WALL | __WNOTHREAD)

/* ---- requests ---- */

static int engine_trace(struct standin *s, pid_t tid)
{
	struct standin_thread *thread = standin_thread_find(s, tid);
	if (thread) {
		thread->target = tid;
		return 0;
	}
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)ENGINE_OPTIONS) != 0)
		return errno;
	if (standin_thread_add(s, tid, tid))
		return 0;
	return ENOMEM; /* The thread is detached when the engine ends. */
}

/* Interrupts running threads, which get their timers when they stop; a command gets its timer at exec. */
static int engine_start_timers(struct standin *s)
{
	for (size_t i = 0; i < s->threads.len; i++) {
		const struct standin_thread *thread = &s->threads.items[i];
		if (thread->target && !standin_timer_is_settled(thread) && !thread->is_ours)
			(void)ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	}
	return 0;
}

int standin_ask(struct standin *s, enum standin_request request, pid_t tid)
{
	if (s->is_broken || s->is_ending)
		return ECHILD;
	s->request = request;
	s->request_tid = tid;
	pthread_cond_signal(&s->asked);
	(void)pthread_kill(s->engine, STANDIN_SIGNAL);
	while (s->request != REQUEST_NONE)
		pthread_cond_wait(&s->answered, &s->lock);
	return s->answer;
}

/* ---- ends of threads ---- */

static bool has_ended(const siginfo_t *info)
{
	return info->si_code == CLD_EXITED || info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED;
}

/* The tracer has to reap all threads but the command, or their processes do not end and their parents are not notified.
 * The command is reaped by the thread that started it. */
static void engine_take_end(struct standin *s, pid_t tid)
{
	struct standin_thread *thread = standin_thread_find(s, tid);
	siginfo_t info;
	if (thread && thread->is_ours)
		s->command_is_over = true;
	else
		(void)waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | __WALL);
	if (thread)
		standin_thread_end(s, thread);
}

/* Each thread is checked alone, because a wait for any thread would report an unreaped command again and again. */
static void engine_look_for_ends(struct standin *s)
{
	for (size_t i = s->threads.len; i-- > 0;) {
		siginfo_t info = {0};
		pid_t tid = s->threads.items[i].tid;
		if (waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) {
			if (errno == ECHILD)
				standin_thread_end(s, &s->threads.items[i]);
		} else if (info.si_pid != 0 && has_ended(&info)) {
			engine_take_end(s, tid);
		}
	}
}

/* ---- detaching ---- */

static bool is_last_thread(const struct standin *s, const struct standin_thread *thread)
{
	size_t count = 0;
	for (size_t i = 0; i < s->threads.len; i++)
		count += s->threads.items[i].pid == thread->pid;
	return count == 1;
}

/* Whether the thread has stopped; *is_over is set if it has ended or has not stopped in time. */
static bool engine_await_stop(pid_t tid, uint64_t until_ns, siginfo_t *info, bool *is_over)
{
	const struct timespec pause = {0, RELEASE_PAUSE_NS};
	*is_over = false;
	do {
		*info = (siginfo_t){0};
		int failed = waitid(P_PID, (id_t)tid, info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL);
		*is_over = (failed && errno != EINTR) || (!failed && info->si_pid && has_ended(info));
		if (*is_over)
			return false;
		if (!failed && info->si_pid)
			return waitid(P_PID, (id_t)tid, info, WSTOPPED | WNOHANG | __WALL) == 0 && info->si_pid;
		nanosleep(&pause, NULL);
	} while (standin_now(NULL) < until_ns);
	*is_over = true;
	return false;
}

/* Only a stopped thread can be detached; its other stops are handled as usual. */
static void engine_release(struct standin *s, pid_t tid, uint64_t until_ns)
{
	siginfo_t info;
	bool is_over = false;
	while (!is_over) {
		if (!engine_await_stop(tid, until_ns, &info, &is_over))
			continue;
		struct standin_thread *thread = standin_thread_find(s, tid);
		if (!thread)
			return;
		if (info.si_status >> 8 != PTRACE_EVENT_STOP) {
			standin_stop_handle(s, tid, info.si_status);
			continue;
		}
		standin_timer_stop(s, thread, is_last_thread(s, thread));
		(void)ptrace(PTRACE_DETACH, tid, NULL, NULL);
		is_over = true;
	}
}

static int engine_release_all(struct standin *s)
{
	uint64_t until_ns = standin_now(NULL) + RELEASE_NS;
	for (size_t i = 0; i < s->threads.len; i++)
		(void)ptrace(PTRACE_INTERRUPT, s->threads.items[i].tid, NULL, NULL);
	while (s->threads.len > 0) {
		pid_t tid = s->threads.items[s->threads.len - 1].tid;
		engine_release(s, tid, until_ns);
		struct standin_thread *thread = standin_thread_find(s, tid);
		if (thread)
			standin_thread_end(s, thread);
	}
	return 0;
}

/* ---- the loop ---- */

/* A timer interrupts the wait for stops periodically, for checks and for requests that arrive just before the wait. */
static bool engine_prepare(timer_t *timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = STANDIN_SIGNAL};
	const struct timespec period = {0, LOOK_NS};
	const struct itimerspec looks = {period, period};
	sigset_t mask;
	sigfillset(&mask);
	sigdelset(&mask, STANDIN_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0)
		return false;
	(void)timer_settime(*timer, 0, &looks, NULL);
	return true;
}

static void engine_answer(struct standin *s)
{
	s->answer = s->is_broken		   ? EAGAIN
		    : s->request == REQUEST_TRACE  ? engine_trace(s, s->request_tid)
		    : s->request == REQUEST_TIMERS ? engine_start_timers(s)
						   : engine_release_all(s);
	/* The end of the tracer also detaches threads that could not stop in time, such as a parent in vfork. */
	s->is_ending |= s->request == REQUEST_RELEASE;
	s->request = REQUEST_NONE;
	pthread_cond_broadcast(&s->answered);
}

/* Handles one stop or end, or an interruption of the wait for it. */
static void engine_turn(struct standin *s)
{
	const struct timespec pause = {0, TIMERLESS_PAUSE_NS};
	siginfo_t info = {0};
	int news = s->command_is_over ? WSTOPPED | __WALL | __WNOTHREAD : ANY_NEWS;
	pthread_mutex_unlock(&s->lock);
	int failed = waitid(P_ALL, 0, &info, news | WNOWAIT | (s->has_timer ? 0 : WNOHANG));
	int errnum = errno;
	if (!s->has_timer && !failed && info.si_pid == 0)
		(void)nanosleep(&pause, NULL);
	pthread_mutex_lock(&s->lock);
	s->interrupts += failed && errnum == EINTR;
	s->is_broken = failed && errnum != ECHILD && (errnum != EINTR || s->interrupts > INTERRUPTS_A_LOOK);
	if ((failed && errnum == ECHILD) || s->is_broken) /* No thread is left to trace. */
		while (s->threads.len > 0)
			standin_thread_end(s, &s->threads.items[s->threads.len - 1]);
	if (failed || info.si_pid == 0)
		return;
	if (has_ended(&info))
		engine_take_end(s, info.si_pid);
	else if (waitid(P_PID, (id_t)info.si_pid, &info, WSTOPPED | WNOHANG | __WALL) == 0 && info.si_pid)
		standin_stop_handle(s, info.si_pid, info.si_status);
}

/* Detaches children that no parent has reported, because the parent was killed. */
static void engine_look_for_orphans(struct standin *s, uint64_t now)
{
	for (size_t i = s->threads.len; i-- > 0;) {
		struct standin_thread *thread = &s->threads.items[i];
		if (thread->target == 0 && now - thread->looked_at_ns >= ORPHAN_NS &&
			ptrace(PTRACE_DETACH, thread->tid, NULL, NULL) == 0)
			standin_thread_end(s, thread);
	}
}

static void engine_look(struct standin *s, uint64_t *due_ns)
{
	uint64_t now = standin_now(NULL);
	if (now < *due_ns)
		return;
	*due_ns = now + LOOK_NS / 2;
	s->interrupts = 0;
	if (s->command_is_over)
		engine_look_for_ends(s);
	engine_look_for_orphans(s, now);
	standin_clocks_look(s);
}

void *standin_engine_run(void *context)
{
	struct standin *s = context;
	timer_t timer;
	uint64_t due_ns = 0;
	s->has_timer = engine_prepare(&timer);
	pthread_mutex_lock(&s->lock);
	while (!s->is_ending && !s->is_broken) {
		if (s->request != REQUEST_NONE) {
			engine_answer(s);
		} else if (s->threads.len == 0) {
			pthread_cond_wait(&s->asked, &s->lock);
		} else {
			engine_turn(s);
			engine_look(s, &due_ns);
		}
	}
	/* If even waiting is forbidden, the end of this thread detaches all programs. */
	if (s->is_broken && s->request != REQUEST_NONE)
		engine_answer(s);
	(void)engine_release_all(s);
	pthread_mutex_unlock(&s->lock);
	if (s->has_timer)
		timer_delete(timer);
	return NULL;
}
