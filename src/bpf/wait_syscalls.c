/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/wait_syscalls.h"

#include <sys/syscall.h>

static enum wait_state wait_syscalls_of(int32_t call)
{
	switch (call) {
	case SYS_futex:
#ifdef SYS_futex_waitv
	case SYS_futex_waitv:
#endif
#ifdef SYS_futex_wait
	case SYS_futex_wait:
#endif
	case SYS_semtimedop:
	case SYS_flock:
		return WAIT_FUTEX;
#ifdef SYS_poll
	case SYS_poll:
	case SYS_select:
	case SYS_epoll_wait:
#endif
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
#ifdef SYS_io_uring_enter
	case SYS_io_uring_enter: /* Waits for whichever request completes first. */
#endif
	case SYS_io_getevents:
#ifdef SYS_io_pgetevents
	case SYS_io_pgetevents:
#endif
		return WAIT_POLL;
	case SYS_read:
	case SYS_write:
	case SYS_readv:
	case SYS_writev:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
		return WAIT_IO;
	default:
		return WAIT_SLEEPING;
	}
}

enum wait_state wait_syscall_state(enum wait_state state, int32_t call)
{
	return state == WAIT_SLEEPING && call >= 0 ? wait_syscalls_of(call) : state;
}
