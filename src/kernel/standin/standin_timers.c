/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin_timers.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "kernel/standin/standin.h"
#include "kernel/standin/standin_calls.h"
#include "kernel/system/kernel_files.h"

#define TIMER_COOKIE		0x7461696c /* Signal value that identifies these timers. */
#define TIMER_THREAD		3 /* CLOCK_THREAD_CPUTIME_ID */
#define TIMER_PAGE		4096
#define STANDIN_TIMERS_NS_PER_S UINT64_C(1000000000)
#define STALE_MANY		16 /* Number of stale timers from which on deleting them is worth the system calls. */
#define LOOKS_CLOSE		16 /* Maximum number of threads without usable timer per standin_clocks_look. */
#define LOOKS_OTHER		2 /* Maximum number of other threads per standin_clocks_look. */
/* Time without sample or inspection after which any other thread is inspected. */
#define LOOK_AFTER_NS UINT64_C(200000000)

/* Range of the timers' signals: the kernel queues them one by one, so no signal of the program is merged with a
 * timer's, and programs rarely use them. */
#define SIGNAL_LAST  63
#define SIGNAL_FIRST 40

#define REQUEST_DISPATCH 0x4211 /* PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, since Linux 6.4 */

/* Arguments of the injected calls, in the kernel's layout. */
struct timer_page {
	struct {
		uint64_t value;
		int32_t signal, notify, tid;
		int32_t zero[11];
	} event;
	struct {
		uint64_t handler, flags, restorer, mask;
	} action;
	struct timespec period[2];
	int32_t timer, zero;
};

/* Whether a call that the thread made for the tracer succeeded; the first denied call is recorded. */
static bool is_answered(struct standin *s, const char *call, long result)
{
	if (result < 0 && result >= -TIMER_PAGE && !s->losses.denied_call) {
		s->losses.denied_call = call;
		s->losses.denied_errnum = (int)-result;
	}
	return result >= 0 || result < -TIMER_PAGE;
}

static bool timer_memory_find(struct standin *s, struct standin_calls *c, struct standin_process *process)
{
	const uint64_t map[STANDIN_CALL_ARGUMENTS] = {
		0, TIMER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0};
	long result = -1;
	if (process->page == 0 && standin_call(c, SYS_mmap, map, &result) && is_answered(s, "mmap", result))
		process->page = (uint64_t)result;
	return process->page != 0;
}

static void delete_timers(struct standin_calls *c, struct standin_process *process, size_t kept)
{
	long result;
	while (process->stale_timers.len > kept) {
		const uint64_t delete[STANDIN_CALL_ARGUMENTS] = {
			(uint64_t)process->stale_timers.items[process->stale_timers.len - 1]};
		if (!standin_call(c, SYS_timer_delete, delete, &result))
			return;
		process->stale_timers.len--;
	}
}

static bool make_timer(struct standin *s, struct standin_calls *c, struct standin_thread *thread,
	struct standin_process *process, struct timer_page *page)
{
	uint64_t at = process->page;
	long result = -1;
	if (!standin_move_memory(thread->tid, at, page, sizeof(*page), true))
		return false;
	const uint64_t create[STANDIN_CALL_ARGUMENTS] = {
		TIMER_THREAD, at + offsetof(struct timer_page, event), at + offsetof(struct timer_page, timer)};
	if (!standin_call(c, SYS_timer_create, create, &result) || !is_answered(s, "timer_create", result) ||
		!standin_move_memory(thread->tid, at, page, sizeof(*page), false))
		return false;
	const uint64_t settime[STANDIN_CALL_ARGUMENTS] = {
		(uint64_t)page->timer, 0, at + offsetof(struct timer_page, period), 0};
	if (standin_call(c, SYS_timer_settime, settime, &result) && is_answered(s, "timer_settime", result)) {
		thread->timer = page->timer;
		return true;
	}
	const uint64_t delete[STANDIN_CALL_ARGUMENTS] = {(uint64_t)page->timer};
	(void)standin_call(c, SYS_timer_delete, delete, &result);
	return false;
}

/* The highest signal that the program does not use, else the highest that it does not catch, else the last (Go programs
 * catch all). */
static int choose_signal(const struct thread_status *status)
{
	uint64_t used = status->caught | status->blocked | status->ignored;
	for (int pass = 0; pass < 2; pass++, used = status->caught)
		for (int number = SIGNAL_LAST; number >= SIGNAL_FIRST; number--)
			if (!(used & signal_bit(number)))
				return number;
	return SIGNAL_LAST;
}

/*
 * The timers' signal would end a program that neither catches nor ignores it if the tracer were killed, so the program
 * is made to ignore it before it gets a timer. A traced program also stops for ignored signals.
 */
static bool ignore_signal(struct standin *s, struct standin_calls *c, struct standin_process *process,
	const struct thread_status *status, bool is_ignored)
{
	uint64_t bit = signal_bit(process->signal);
	struct timer_page page = {.action.handler = (uint64_t)(uintptr_t)(is_ignored ? SIG_IGN : SIG_DFL)};
	long result = -1;
	if ((status->caught & bit) || is_ignored == ((status->ignored & bit) != 0))
		return true;
	const uint64_t set[STANDIN_CALL_ARGUMENTS] = {(uint64_t)process->signal,
		process->page + offsetof(struct timer_page, action), 0, sizeof(page.action.mask)};
	bool is_set = standin_move_memory(c->tid, process->page, &page, sizeof(page), true) &&
		      standin_call(c, SYS_rt_sigaction, set, &result) && is_answered(s, "rt_sigaction", result);
	if (is_set)
		process->ignores_signal = is_ignored;
	return is_set;
}

/* A program that intercepts its own system calls (as Wine does) would intercept the injected ones. */
static bool dispatches_calls(pid_t tid)
{
	struct {
		uint64_t mode, selector, offset, length;
	} config = {0};
	return ptrace(REQUEST_DISPATCH, tid, (void *)sizeof(config), &config) == 0 && config.mode != 0;
}

/* Whether the thread may be made to execute system calls. */
static bool may_get_timer(
	const struct standin *s, const struct standin_thread *thread, const struct thread_status *status)
{
	return !status->is_strict && status->filters <= s->own_filters && !dispatches_calls(thread->tid);
}

/*
 * The first expiry is at a random time of the first period, so that threads that start together, or that live for less
 * than a period, have their share of samples. The kernel checks timers at its ticks: an expiry is late by half a tick
 * on average and by one tick at most, and samples near a thread's end are lost. Subtracting a tick from the first
 * expiry compensates for that.
 */
static uint64_t first_expiry_ns(struct standin *s)
{
	uint64_t tick = STANDIN_TIMERS_NS_PER_S / standin_max_hz();
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	uint64_t ns = s->random % s->period_ns;
	return ns > tick ? ns - tick : 1;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / STANDIN_TIMERS_NS_PER_S), (long)(ns % STANDIN_TIMERS_NS_PER_S)};
}

/* The CPU time of the thread on the clock of its timer; false if the kernel does not report it. */
static bool read_cpu_ns(const struct standin *s, const struct standin_thread *thread, uint64_t *ns)
{
	char *text = NULL;
	if (kernel_text(&s->seam, &text, NULL, "/proc/%d/task/%d/schedstat", (int)thread->pid, (int)thread->tid) !=
		TALLY_OK)
		return false;
	*ns = strtoull(text, NULL, 10);
	free(text);
	return true;
}

/* The thread's CPU time in nanoseconds; 0 if the kernel does not report it. */
static uint64_t thread_cpu_ns(const struct standin *s, const struct standin_thread *thread)
{
	uint64_t ns = 0;
	return read_cpu_ns(s, thread, &ns) ? ns : 0;
}

static void note_stale_timer(struct standin_process *process, int timer)
{
	for (size_t i = 0; process && i < process->stale_timers.len; i++)
		if (process->stale_timers.items[i] == timer)
			return;
	if (process)
		(void)vec_push(&process->stale_timers, timer); /* If memory runs out, the timer remains. */
}

/* Finds the timers of an earlier tracer that was killed. They do not expire while the program ignores their signal. */
static void note_timers_of_others(const struct standin *s, struct standin_process *process)
{
	char *text = NULL;
	struct tally_str rest, line, word;
	uint64_t timer = 0, value;
	if (kernel_text(&s->seam, &text, NULL, "/proc/%d/timers", (int)process->pid) != TALLY_OK)
		return; /* This kernel does not list timers. */
	rest = str_from(text);
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		if (!str_next(&line, ':', &word))
			continue;
		line = str_trim(line);
		if (str_equal(word, STR("ID")) && !str_to_u64(line, 10, &timer))
			timer = UINT64_MAX;
		if (str_equal(word, STR("signal")) && str_next(&line, '/', &word) && str_to_u64(line, 16, &value) &&
			value == TIMER_COOKIE && timer <= INT32_MAX)
			note_stale_timer(process, (int)timer);
	}
	free(text);
}

static bool make_timer_of(struct standin *s, struct standin_thread *thread, struct standin_process *process,
	const struct thread_status *status, bool is_exec)
{
	uint64_t first_ns = first_expiry_ns(s);
	struct standin_calls calls;
	if (process->signal == 0)
		process->signal = choose_signal(status);
	if (process->page == 0 && !is_exec)
		note_timers_of_others(s, process);
	struct timer_page page = {.event = {.value = TIMER_COOKIE,
					  .signal = process->signal,
					  .notify = SIGEV_THREAD_ID,
					  .tid = status->inner_tid},
		.period = {timespec_of(s->period_ns), timespec_of(first_ns)}};
	if (standin_calls_begin(&calls, s, thread, is_exec) && timer_memory_find(s, &calls, process) &&
		ignore_signal(s, &calls, process, status, true)) {
		delete_timers(&calls, process, STALE_MANY);
		thread->has_timer = make_timer(s, &calls, thread, process, &page);
		thread->due_ns = thread_cpu_ns(s, thread) + first_ns;
		thread->early = 0;
	}
	standin_calls_end(&calls);
	thread->is_masked = calls.has_mask && (calls.mask & signal_bit(process->signal));
	return thread->has_timer;
}

/* A thread without a timer is interrupted from time to time for its samples, if its CPU clock can be read. */
static void watch_thread(struct standin *s, struct standin_thread *thread)
{
	uint64_t now = 0;
	thread->is_refused = !read_cpu_ns(s, thread, &now) || !standin_has_registers(thread->tid);
	thread->is_watched = !thread->is_refused;
	thread->due_ns = now + first_expiry_ns(s);
	thread->early = 0;
	s->losses.refused += thread->is_refused;
	s->losses.watched += thread->is_watched;
}

bool standin_timer_is_settled(const struct standin_thread *thread)
{
	return thread->has_timer || thread->is_watched || thread->is_refused;
}

void standin_timer_start(struct standin *s, struct standin_thread *thread, bool is_exec)
{
	struct standin_process *process = standin_process_find(s, thread->pid);
	struct thread_status status;
	if (!process || thread->target == 0 || standin_timer_is_settled(thread) || s->period_ns == 0)
		return;
	bool is_known = thread_status_read(&s->seam, thread->tid, &status);
	if (!is_known || !may_get_timer(s, thread, &status) || !make_timer_of(s, thread, process, &status, is_exec))
		watch_thread(s, thread);
	thread->looked_at_ns = standin_now(NULL);
}

void standin_timers_clean(struct standin *s, struct standin_thread *thread)
{
	struct standin_process *process = standin_process_find(s, thread->pid);
	struct standin_calls calls;
	if (!process || process->stale_timers.len <= STALE_MANY)
		return;
	if (standin_calls_begin(&calls, s, thread, false))
		delete_timers(&calls, process, 0);
	standin_calls_end(&calls);
}

void standin_timer_stop(struct standin *s, struct standin_thread *thread, bool is_last)
{
	struct standin_process *process = standin_process_find(s, thread->pid);
	struct standin_calls calls;
	struct thread_status status;
	long result;
	if (!process || (!thread->has_timer && process->stale_timers.len == 0 && !(is_last && process->page)) ||
		!thread_status_read(&s->seam, thread->tid, &status) || !may_get_timer(s, thread, &status))
		return;
	if (standin_calls_begin(&calls, s, thread, false)) {
		const uint64_t delete[STANDIN_CALL_ARGUMENTS] = {(uint64_t)thread->timer};
		const uint64_t unmap[STANDIN_CALL_ARGUMENTS] = {process->page, TIMER_PAGE};
		if (thread->has_timer && standin_call(&calls, SYS_timer_delete, delete, &result))
			thread->has_timer = false;
		delete_timers(&calls, process, 0);
		if (is_last && process->page && process->ignores_signal)
			(void)ignore_signal(s, &calls, process, &status, false);
		if (is_last && process->page && standin_call(&calls, SYS_munmap, unmap, &result))
			process->page = 0;
	}
	standin_calls_end(&calls);
}

bool standin_timer_is_expired(struct standin *s, struct standin_thread *thread, const siginfo_t *info, uint64_t *period)
{
	if (info->si_code != SI_TIMER || info->si_value.sival_int != TIMER_COOKIE)
		return false;
	*period = 0;
	if (!thread->has_timer || info->si_timerid != thread->timer) {
		note_stale_timer(standin_process_find(s, thread->pid), info->si_timerid);
		return true;
	}
	uint64_t periods = 1 + (uint64_t)MAX(info->si_overrun, 0), told = MIN(periods, thread->early);
	thread->due_ns += periods * s->period_ns;
	thread->early -= told;
	*period = (periods - told) * s->period_ns;
	return true;
}

/* Number of periods on the thread's CPU clock for which no sample was recorded yet. */
static uint64_t untold_periods(const struct standin *s, const struct standin_thread *thread)
{
	uint64_t now = standin_timer_is_settled(thread) ? thread_cpu_ns(s, thread) : 0;
	if (now == 0 || now < thread->due_ns)
		return 0;
	uint64_t periods = 1 + (now - thread->due_ns) / s->period_ns;
	return periods > thread->early ? periods - thread->early : 0;
}

uint64_t standin_timer_untold(const struct standin *s, struct standin_thread *thread)
{
	uint64_t untold = untold_periods(s, thread);
	if (thread->has_timer)
		thread->early += untold;
	else
		thread->due_ns += untold * s->period_ns;
	return untold * s->period_ns;
}

/* ---- threads that block the signal, or have no timer ---- */

static void look_at_clock(struct standin *s, struct standin_thread *thread)
{
	struct thread_status status;
	const struct standin_process *process = standin_process_find(s, thread->pid);
	thread->looked_at_ns = standin_now(NULL);
	if (!process || !thread_status_read(&s->seam, thread->tid, &status))
		return;
	thread->is_masked = thread->has_timer && (status.blocked & signal_bit(process->signal));
	if (thread->is_refused)
		standin_lose(s, thread, standin_timer_untold(s, thread) / s->period_ns);
	else if ((thread->is_masked || thread->is_watched) && status.state == 'R' && untold_periods(s, thread))
		thread->is_wanted = ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) == 0;
}

void standin_clocks_look(struct standin *s)
{
	uint64_t now = standin_now(NULL);
	size_t closely = 0, others = 0;
	for (size_t i = 0; i < s->threads.len && closely < LOOKS_CLOSE; i++) {
		struct standin_thread *thread = &s->threads.items[(s->next_look + i) % s->threads.len];
		bool is_due = standin_timer_is_settled(thread) && !thread->is_wanted;
		if (is_due && (thread->is_masked || thread->is_watched))
			closely++;
		else if (is_due && others < LOOKS_OTHER && now - thread->looked_at_ns >= LOOK_AFTER_NS)
			others++;
		else
			continue;
		look_at_clock(s, thread);
	}
	s->next_look += MAX(closely + others, 1);
}
