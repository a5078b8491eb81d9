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

/* Of a stop whose status waitid gives (signal, event << 8): the thread goes on, unless its program is stopped. */
void standin_stop_handle(struct standin *s, pid_t tid, int status);

#endif
