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

#define TIMER_COOKIE		0x7461696c /* in the signal's value: not one that somebody else sent */
#define TIMER_THREAD		3 /* CLOCK_THREAD_CPUTIME_ID */
#define TIMER_PAGE		4096
#define STANDIN_TIMERS_NS_PER_S UINT64_C(1000000000)
#define STALE_MANY		16 /* timers of ended threads, until they are worth a call each */
#define LOOKS_MASKED		16 /* threads that are looked at each time */
#define LOOKS_OTHER		2
#define LOOK_AFTER_NS		UINT64_C(200000000) /* of silence */

struct timer_page { /* what the calls read and write, in the kernel's layout */
	struct {
		uint64_t value;
		int32_t signal, notify, tid;
		int32_t zero[11];
	} event;
	struct timespec period[2];
	int32_t timer, zero;
};

static bool timer_memory_find(struct standin_calls *c, struct standin_process *process)
{
	const uint64_t map[STANDIN_CALL_ARGUMENTS] = {
		0, TIMER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0};
	long result = -1;
	if (process->page == 0 && standin_call(c, SYS_mmap, map, &result) && (result > 0 || result < -TIMER_PAGE))
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

static bool make_timer(struct standin_calls *c, struct standin_thread *thread, struct standin_process *process,
	struct timer_page *page)
{
	uint64_t at = process->page;
	long result = -1;
	if (!standin_move_memory(thread->tid, at, page, sizeof(*page), true))
		return false;
	const uint64_t create[STANDIN_CALL_ARGUMENTS] = {
		TIMER_THREAD, at + offsetof(struct timer_page, event), at + offsetof(struct timer_page, timer)};
	if (!standin_call(c, SYS_timer_create, create, &result) || result != 0 ||
		!standin_move_memory(thread->tid, at, page, sizeof(*page), false))
		return false;
	const uint64_t settime[STANDIN_CALL_ARGUMENTS] = {
		(uint64_t)page->timer, 0, at + offsetof(struct timer_page, period), 0};
	if (standin_call(c, SYS_timer_settime, settime, &result) && result == 0)
		return true;
	const uint64_t delete[STANDIN_CALL_ARGUMENTS] = {(uint64_t)page->timer};
	(void)standin_call(c, SYS_timer_delete, delete, &result);
	return false;
}

/* Whether a thread may be made to call the kernel, and with which signal. */
static bool may_get_timer(const struct standin *s, struct standin_thread *thread, struct thread_status *status)
{
	if (!thread_status_read(&s->seam, thread->tid, status) || status->is_strict || status->filters > s->own_filters)
		return false;
	bool handles_resizing = status->caught & signal_bit(SIGWINCH);
	thread->timer_signal = handles_resizing && !(status->caught & signal_bit(SIGURG)) ? SIGURG : SIGWINCH;
	return true;
}

/*
 * At a random time of the first period: so threads that start alike, or live for less than a period, have their share of
 * samples. The kernel looks at timers at its ticks, so an expiry comes late by half a tick on average, and by a whole one
 * at most; a thread's last part is lost to that, and taking a tick from the first expiry makes up for it.
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

/* The CPU time that a stopped thread has used, by the clock of its timer; 0: the kernel does not tell. */
static uint64_t thread_cpu_ns(const struct standin *s, const struct standin_thread *thread)
{
	char *text = NULL;
	if (kernel_text(&s->seam, &text, NULL, "/proc/%d/task/%d/schedstat", (int)thread->pid, (int)thread->tid) !=
		TALLY_OK)
		return 0;
	uint64_t ns = strtoull(text, NULL, 10);
	free(text);
	return ns;
}

void standin_timer_start(struct standin *s, struct standin_thread *thread, bool is_exec)
{
	struct standin_process *process = standin_process_find(s, thread->pid);
	struct standin_calls calls;
	struct thread_status status;
	if (!process || thread->target == 0 || thread->has_timer || thread->is_refused || s->period_ns == 0)
		return;
	if (may_get_timer(s, thread, &status)) {
		uint64_t first_ns = first_expiry_ns(s);
		struct timer_page page = {.event = {.value = TIMER_COOKIE,
						  .signal = thread->timer_signal,
						  .notify = SIGEV_THREAD_ID,
						  .tid = status.inner_tid},
			.period = {timespec_of(s->period_ns), timespec_of(first_ns)}};
		if (standin_calls_begin(&calls, s, thread, is_exec) && timer_memory_find(&calls, process)) {
			delete_timers(&calls, process, STALE_MANY);
			thread->has_timer = make_timer(&calls, thread, process, &page);
			thread->timer = page.timer;
			thread->due_ns = thread_cpu_ns(s, thread) + first_ns;
			thread->early = 0;
		}
		standin_calls_end(&calls);
		thread->is_masked = calls.has_mask && (calls.mask & signal_bit(thread->timer_signal));
		thread->looked_at_ns = standin_now(NULL);
	}
	thread->is_refused = !thread->has_timer;
	s->refused_threads += thread->is_refused;
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
	long result;
	if (!process || (!thread->has_timer && process->stale_timers.len == 0 && !(is_last && process->page)))
		return;
	if (standin_calls_begin(&calls, s, thread, false)) {
		const uint64_t delete[STANDIN_CALL_ARGUMENTS] = {(uint64_t)thread->timer};
		const uint64_t unmap[STANDIN_CALL_ARGUMENTS] = {process->page, TIMER_PAGE};
		if (thread->has_timer && standin_call(&calls, SYS_timer_delete, delete, &result))
			thread->has_timer = false;
		delete_timers(&calls, process, 0);
		if (is_last && process->page && standin_call(&calls, SYS_munmap, unmap, &result))
			process->page = 0;
	}
	standin_calls_end(&calls);
}

bool standin_timer_is_expired(
	const struct standin *s, struct standin_thread *thread, const siginfo_t *info, uint64_t *period)
{
	if (!thread->has_timer || info->si_signo != thread->timer_signal || info->si_code != SI_TIMER ||
		info->si_value.sival_int != TIMER_COOKIE)
		return false;
	uint64_t periods = 1 + (uint64_t)MAX(info->si_overrun, 0), told = MIN(periods, thread->early);
	thread->due_ns += periods * s->period_ns;
	thread->early -= told;
	*period = (periods - told) * s->period_ns;
	return true;
}

uint64_t standin_timer_untold(const struct standin *s, struct standin_thread *thread)
{
	uint64_t now = thread->has_timer ? thread_cpu_ns(s, thread) : 0;
	if (now == 0 || now < thread->due_ns)
		return 0;
	uint64_t periods = 1 + (now - thread->due_ns) / s->period_ns;
	uint64_t untold = periods > thread->early ? periods - thread->early : 0;
	thread->early += untold;
	return untold * s->period_ns;
}

/* ---- threads that block the signal ---- */

static void look_at_mask(struct standin *s, struct standin_thread *thread)
{
	struct thread_status status;
	uint64_t bit = signal_bit(thread->timer_signal);
	thread->looked_at_ns = standin_now(NULL);
	if (!thread_status_read(&s->seam, thread->tid, &status))
		return;
	thread->is_masked = status.blocked & bit;
	if (thread->is_masked && (status.pending & bit) && status.state == 'R')
		thread->is_wanted = ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) == 0;
}

void standin_masks_look(struct standin *s)
{
	uint64_t now = standin_now(NULL);
	size_t masked = 0, others = 0;
	for (size_t i = 0; i < s->threads.len && masked < LOOKS_MASKED; i++) {
		struct standin_thread *thread = &s->threads.items[(s->next_look + i) % s->threads.len];
		bool is_due = thread->has_timer && !thread->is_wanted && !thread->is_unmasked;
		if (is_due && thread->is_masked)
			masked++;
		else if (is_due && others < LOOKS_OTHER && now - thread->looked_at_ns >= LOOK_AFTER_NS)
			others++;
		else
			continue;
		look_at_mask(s, thread);
	}
	s->next_look += MAX(masked + others, 1);
}

bool standin_mask_lift(const struct standin *s, struct standin_thread *thread)
{
	struct thread_status status;
	if (!thread->is_wanted)
		return false;
	thread->is_wanted = false;
	uint64_t bit = signal_bit(thread->timer_signal), alone = ~bit;
	void *size = (void *)sizeof(alone);
	/* The program may have taken the signal by sigwait. */
	if (!thread_status_read(&s->seam, thread->tid, &status) || !(status.pending & bit))
		return false;
	thread->is_unmasked = ptrace(PTRACE_GETSIGMASK, thread->tid, size, &thread->mask) == 0 &&
			      (thread->mask & bit) && ptrace(PTRACE_SETSIGMASK, thread->tid, size, &alone) == 0;
	return thread->is_unmasked;
}

void standin_mask_restore(struct standin_thread *thread)
{
	if (thread->is_unmasked)
		(void)ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(thread->mask), &thread->mask);
	thread->is_unmasked = false;
}
