/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/wait_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/order.h"

#define NOT_A_CALL INT32_MIN

/* System calls that threads wait in, by the names of their functions without the prefix __x64_sys_ or __arm64_sys_. */
static const struct wait_calls_name {
	const char *name;
	int32_t number;
} wait_calls_names[] = {
#ifdef SYS_poll
	{"poll", SYS_poll},
	{"select", SYS_select},
	{"epoll_wait", SYS_epoll_wait},
	{"pause", SYS_pause},
#endif
#ifdef SYS_epoll_pwait2
	{"epoll_pwait2", SYS_epoll_pwait2},
#endif
#ifdef SYS_futex_waitv
	{"futex_waitv", SYS_futex_waitv},
#endif
#ifdef SYS_io_uring_enter
	{"io_uring_enter", SYS_io_uring_enter},
#endif
	{"io_getevents", SYS_io_getevents},
#ifdef SYS_io_pgetevents
	{"io_pgetevents", SYS_io_pgetevents},
#endif
	{"futex", SYS_futex},
	{"semtimedop", SYS_semtimedop},
	{"flock", SYS_flock},
	{"ppoll", SYS_ppoll},
	{"pselect6", SYS_pselect6},
	{"epoll_pwait", SYS_epoll_pwait},
	{"read", SYS_read},
	{"write", SYS_write},
	{"readv", SYS_readv},
	{"writev", SYS_writev},
	{"pread64", SYS_pread64},
	{"pwrite64", SYS_pwrite64},
	{"fsync", SYS_fsync},
	{"fdatasync", SYS_fdatasync},
	{"recvfrom", SYS_recvfrom},
	{"recvmsg", SYS_recvmsg},
	{"recvmmsg", SYS_recvmmsg},
	{"sendto", SYS_sendto},
	{"sendmsg", SYS_sendmsg},
	{"sendmmsg", SYS_sendmmsg},
	{"splice", SYS_splice},
	{"accept", SYS_accept},
	{"accept4", SYS_accept4},
	{"connect", SYS_connect},
	{"nanosleep", SYS_nanosleep},
	{"clock_nanosleep", SYS_clock_nanosleep},
	{"wait4", SYS_wait4},
	{"waitid", SYS_waitid},
	{"rt_sigtimedwait", SYS_rt_sigtimedwait},
	{"rt_sigsuspend", SYS_rt_sigsuspend},
};

/* Functions that restart_syscall calls to continue what a stop or a signal has interrupted. */
static const struct wait_calls_name wait_calls_restarts[] = {
#ifdef SYS_poll
	{"do_restart_poll", SYS_poll},
#else
	{"do_restart_poll", SYS_ppoll},
#endif
	{"futex_wait_restart", SYS_futex},
	/* Set by futex_wait_restart before it waits, and by no other function that waits. */
	{"do_no_restart_syscall", SYS_futex},
	{"hrtimer_nanosleep_restart", SYS_clock_nanosleep},
	{"alarm_timer_nsleep_restart", SYS_clock_nanosleep},
	{"posix_cpu_nsleep_restart", SYS_clock_nanosleep},
};

/* Functions that do the work of a system call. If the compiler of the kernel has turned the call of such a function into
 * a jump, the function of the system call itself has no frame in the stack. */
static const struct wait_calls_name wait_calls_workers[] = {
#ifdef SYS_poll
	{"do_sys_poll", SYS_poll},
	{"kern_select", SYS_select},
	{"do_epoll_wait", SYS_epoll_wait},
#else
	{"do_sys_poll", SYS_ppoll},
	{"do_epoll_wait", SYS_epoll_pwait},
#endif
	{"core_sys_select", SYS_pselect6},
	{"do_futex", SYS_futex},
	{"ksys_semtimedop", SYS_semtimedop},
	{"ksys_read", SYS_read},
	{"ksys_write", SYS_write},
	{"ksys_pread64", SYS_pread64},
	{"ksys_pwrite64", SYS_pwrite64},
	{"do_readv", SYS_readv},
	{"do_writev", SYS_writev},
	{"do_fsync", SYS_fsync},
	{"do_splice", SYS_splice},
	{"__sys_recvfrom", SYS_recvfrom},
	{"__sys_recvmsg", SYS_recvmsg},
	{"__sys_recvmmsg", SYS_recvmmsg},
	{"__sys_sendto", SYS_sendto},
	{"__sys_sendmsg", SYS_sendmsg},
	{"__sys_sendmmsg", SYS_sendmmsg},
	{"__sys_accept4", SYS_accept4},
	{"__sys_connect", SYS_connect},
	{"kernel_wait4", SYS_wait4},
	{"kernel_waitid", SYS_waitid},
	{"hrtimer_nanosleep", SYS_clock_nanosleep},
};

static int32_t wait_calls_number_in(const struct wait_calls_name *names, size_t count, struct tally_str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(name, str_from(names[i].name)))
			return names[i].number;
	return NOT_A_CALL;
}

static int32_t wait_calls_restart_number(struct tally_str name)
{
	return wait_calls_number_in(wait_calls_restarts, ARRAY_LEN(wait_calls_restarts), name);
}

size_t wait_calls_read_restarts(struct tally_str kallsyms, struct wait_calls_restart *restarts, size_t most)
{
	struct tally_str rest = kallsyms, line, word, kind;
	size_t count = 0;
	while (count < most && str_next(&rest, '\n', &line)) {
		struct wait_calls_restart found = {0};
		if (!memmem(line.data, line.len, "restart", strlen("restart")) || !str_next(&line, ' ', &word) ||
			!str_to_u64(word, 16, &found.function) || found.function == 0 || !str_next(&line, ' ', &kind) ||
			!str_next(&line, '\t', &word))
			continue;
		found.syscall = wait_calls_restart_number(word);
		if (found.syscall != NOT_A_CALL)
			restarts[count++] = found;
	}
	return count;
}

static int32_t wait_calls_number(struct tally_str name)
{
	static const char *const prefixes[] = {"__x64_sys_", "__arm64_sys_"};
	if (str_equal(name, STR("io_schedule")) || str_equal(name, STR("io_schedule_timeout")))
		return -1;
	for (size_t p = 0; p < ARRAY_LEN(prefixes); p++) {
		size_t len = strlen(prefixes[p]);
		if (str_starts_with(name, str_from(prefixes[p])))
			return wait_calls_number_in(wait_calls_names, ARRAY_LEN(wait_calls_names),
				(struct tally_str){name.data + len, name.len - len});
	}
	int32_t number = wait_calls_number_in(wait_calls_workers, ARRAY_LEN(wait_calls_workers), name);
	return number != NOT_A_CALL ? number : wait_calls_restart_number(name);
}

static int wait_calls_compare(const void *a, const void *b)
{
	const struct wait_calls_range *left = a, *right = b;
	return COMPARE(left->begin, right->begin);
}

void wait_calls_read(struct wait_calls *calls, struct tally_str kallsyms)
{
	struct tally_str rest = kallsyms, line, word, kind;
	bool is_open = false;
	uint64_t address;
	while (str_next(&rest, '\n', &line)) {
		if (!str_next(&line, ' ', &word) || !str_to_u64(word, 16, &address) || address == 0 ||
			!str_next(&line, ' ', &kind) || !str_next(&line, '\t', &word))
			continue;
		/* A function ends where the next symbol begins. Addresses ascend, except in modules. */
		if (is_open && address > calls->ranges.items[calls->ranges.len - 1].begin) {
			calls->ranges.items[calls->ranges.len - 1].end = address;
			is_open = false;
		}
		int32_t number = wait_calls_number(word);
		struct wait_calls_range range = {address, address + 1, number};
		if (!is_open && number != NOT_A_CALL && (str_equal(kind, STR("t")) || str_equal(kind, STR("T"))))
			is_open = vec_push(&calls->ranges, range);
	}
	if (calls->ranges.len)
		qsort(calls->ranges.items, calls->ranges.len, sizeof(*calls->ranges.items), wait_calls_compare);
}

void wait_calls_deinit(struct wait_calls *calls)
{
	vec_free(&calls->ranges);
}

static const struct wait_calls_range *wait_calls_at(const struct wait_calls *calls, uint64_t ip)
{
	size_t at;
	LOWER_BOUND(at, calls->ranges.len, i, calls->ranges.items[i].begin <= ip);
	return at && ip < calls->ranges.items[at - 1].end ? &calls->ranges.items[at - 1] : NULL;
}

int32_t wait_calls_find(const struct wait_calls *calls, const uint64_t *ips, size_t count, bool *is_disk)
{
	int32_t number = -1;
	*is_disk = false;
	for (size_t i = 0; i < count; i++) {
		const struct wait_calls_range *range = wait_calls_at(calls, ips[i]);
		if (range && range->syscall < 0)
			*is_disk = true;
		else if (range)
			number = range->syscall;
	}
	return number;
}
