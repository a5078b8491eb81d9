/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/thread_waits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "kernel/system/kernel_files.h"

#define KERNEL_THREAD		 UINT64_C(0x00200000) /* PF_KTHREAD in the field "flags". */
#define THREAD_WAITS_FLAGS_FIELD 9 /* Counted from 1, as in proc(5). */

/* Parses "1 (a name) S 0 ...", where the name may contain any character. */
static bool thread_waits_read_stat(const struct kernel_seam *kernel, pid_t tid, struct thread_wait *wait)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/task/%d/stat", (int)tid, (int)tid) != TALLY_OK)
		return false;
	const char *end = strrchr(text, ')');
	struct tally_str rest = str_from(end && end[1] ? end + 2 : ""), word;
	uint64_t flags = 0;
	for (unsigned field = 3; field <= THREAD_WAITS_FLAGS_FIELD && str_next(&rest, ' ', &word); field++) {
		if (field == 3 && word.len == 1)
			wait->state = word.data[0];
		if (field == THREAD_WAITS_FLAGS_FIELD && !str_to_u64(word, 10, &flags))
			flags = 0;
	}
	free(text);
	wait->is_kernel = (flags & KERNEL_THREAD) != 0;
	wait->is_waiting = wait->state != 0 && strchr("SDTt", wait->state) != NULL;
	return wait->state != 0;
}

static void thread_waits_read_status(const struct kernel_seam *kernel, pid_t tid, struct thread_wait *wait)
{
	char *text;
	uint64_t value, switches = 0;
	unsigned counts = 0;
	wait->switches = UINT64_MAX;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/status", (int)tid) != TALLY_OK)
		return;
	struct tally_str rest = str_from(text), line, key;
	while (str_next(&rest, '\n', &line)) {
		if (!str_next(&line, ':', &key) || !str_to_u64(str_trim(line), 10, &value))
			continue;
		if (str_equal(key, STR("Tgid")))
			wait->pid = (uint32_t)value;
		if (str_equal(key, STR("voluntary_ctxt_switches")) ||
			str_equal(key, STR("nonvoluntary_ctxt_switches"))) {
			switches += value;
			counts++;
		}
	}
	if (counts == 2)
		wait->switches = switches;
	free(text);
}

uint64_t thread_waits_switches(const struct kernel_seam *kernel, pid_t tid)
{
	struct thread_wait wait = {0};
	thread_waits_read_status(kernel, tid, &wait);
	return wait.switches;
}

/* A thread that was stopped in certain system calls continues in restart_syscall. The kernel function in which it
 * waits, possibly with a suffix of the compiler, shows which call that was. */
static int32_t thread_waits_restarted(const struct kernel_seam *kernel, pid_t tid)
{
#ifdef SYS_poll
	enum { POLL = SYS_poll };
#else
	enum { POLL = SYS_ppoll };
#endif
	static const struct {
		const char *prefix;
		int32_t syscall;
	} functions[] = {{"poll_", POLL}, {"do_poll", POLL}, {"do_sys_poll", POLL}, {"do_restart_poll", POLL},
		{"futex_", SYS_futex}, {"do_nanosleep", SYS_clock_nanosleep},
		{"hrtimer_nanosleep", SYS_clock_nanosleep}, {"alarmtimer_do_nsleep", SYS_clock_nanosleep}};
	int32_t found = SYS_restart_syscall;
	char *text;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/wchan", (int)tid) != TALLY_OK)
		return found;
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (strncmp(text, functions[i].prefix, strlen(functions[i].prefix)) == 0)
			found = functions[i].syscall;
	free(text);
	return found;
}

/* The file contains "202 0x7f.. ... SP PC", "-1 SP PC" or "running". */
static void thread_waits_read_call(const struct kernel_seam *kernel, pid_t tid, struct thread_wait *wait)
{
	char *text;
	uint64_t number;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/syscall", (int)tid) != TALLY_OK)
		return;
	struct tally_str rest = str_from(text), word, last = {0}, before = {0};
	if (str_next(&rest, ' ', &word) && str_to_u64(word, 10, &number) && number <= INT32_MAX)
		wait->syscall = number == SYS_restart_syscall ? thread_waits_restarted(kernel, tid) : (int32_t)number;
	while (str_next(&rest, ' ', &word)) {
		before = last;
		last = word;
	}
	if (!str_starts_with(last, STR("0x")) || !str_to_u64(last, 0, &wait->ip))
		wait->ip = 0;
	if (!str_starts_with(before, STR("0x")) || !str_to_u64(before, 0, &wait->sp))
		wait->sp = 0;
	free(text);
}

struct thread_wait thread_waits_read(const struct kernel_seam *kernel, pid_t tid)
{
	struct thread_wait wait = {.syscall = -1, .switches = UINT64_MAX};
	wait.exists = thread_waits_read_stat(kernel, tid, &wait);
	if (!wait.exists || wait.is_kernel)
		return wait;
	thread_waits_read_status(kernel, tid, &wait);
	if (wait.is_waiting)
		thread_waits_read_call(kernel, tid, &wait);
	return wait;
}
