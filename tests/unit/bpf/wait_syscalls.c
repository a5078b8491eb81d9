/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/wait_syscalls.h"

#include <sys/syscall.h>

#include "unit_test.h"

static void calls_tell_what_is_waited_for(void **state)
{
	assert_int_equal(wait_syscall_state(WAIT_SLEEPING, SYS_futex), WAIT_FUTEX);
	assert_int_equal(wait_syscall_state(WAIT_SLEEPING, SYS_epoll_pwait), WAIT_POLL);
	assert_int_equal(wait_syscall_state(WAIT_SLEEPING, SYS_io_getevents), WAIT_POLL);
	assert_int_equal(wait_syscall_state(WAIT_SLEEPING, SYS_read), WAIT_IO);
	assert_int_equal(wait_syscall_state(WAIT_SLEEPING, SYS_accept4), WAIT_IO);
	assert_int_equal(wait_syscall_state(WAIT_SLEEPING, SYS_nanosleep), WAIT_SLEEPING);
	assert_int_equal(wait_syscall_state(WAIT_SLEEPING, SYS_wait4), WAIT_SLEEPING);
	assert_int_equal(wait_syscall_state(WAIT_SLEEPING, -1), WAIT_SLEEPING);
}

/* A read that waits for a disk is in the disk state, not in one of the system call. */
static void other_states_stay(void **state)
{
	for (unsigned i = WAIT_RUNNABLE; i < WAIT_STATES; i++)
		if (i != WAIT_SLEEPING)
			assert_int_equal(wait_syscall_state((enum wait_state)i, SYS_read), i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_tell_what_is_waited_for),
		cmocka_unit_test(other_states_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
