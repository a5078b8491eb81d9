/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_stops.h - decides what a stop of a traced thread means: a sample, a new thread, an exec, or a signal or group
 * stop of the program, which is passed on. For the engine's thread alone; the lock is held.
 *
 *	standin_stop_handle(s, tid, info.si_status);
 */
#ifndef KERNEL_STANDIN_STANDIN_STOPS_H
#define KERNEL_STANDIN_STANDIN_STOPS_H

#include "kernel/standin/standin_state.h"

/* What a stopped thread does next. */
enum standin_next {
	NEXT_GOES_ON,
	NEXT_LISTENS, /* its program is stopped until it is continued: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU */
	NEXT_WAITS, /* for the stop of the thread that started it */
	NEXT_IS_LET_GO, /* no event measures it */
};

/* Of a stop whose status waitid gives (signal, event << 8), until the thread goes on, with *signal_number. */
enum standin_next standin_stop_take(struct standin *s, pid_t tid, int status, int *signal_number);
/* The same, and it goes on. */
void standin_stop_handle(struct standin *s, pid_t tid, int status);

#endif
