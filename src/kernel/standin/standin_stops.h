/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_stops.h - handles stops of traced threads: samples, new threads, execs, and signals and group stops of the
 * program, which are passed on. Only the engine calls it, with the lock held.
 *
 *	standin_stop_handle(s, tid, info.si_status);
 */
#ifndef KERNEL_STANDIN_STANDIN_STOPS_H
#define KERNEL_STANDIN_STANDIN_STOPS_H

#include "kernel/standin/standin_state.h"

/* Handles a stop and continues the thread, unless the program is stopped. status is that of waitid(2): the signal, and
 * the ptrace event << 8. */
void standin_stop_handle(struct standin *s, pid_t tid, int status);

#endif
