/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sideband.h - writes the records that say what ran and what was mapped: COMM, MMAP2, FORK, EXIT.
 */
#ifndef SIMULATOR_SIDEBAND_H
#define SIMULATOR_SIDEBAND_H

#include "core.h"

UInt sim_sideband_pid(void);
/* The kernel's number of a thread. */
UInt sim_sideband_tid(ThreadId thread);

/* The image begins: its name. */
void sim_sideband_begin(void);
/* A forked child begins: its only thread has a new number. */
void sim_sideband_forked(ThreadId thread);
/* An executable mapping of the program, or a part of one. */
void sim_sideband_mapping(Addr start, SizeT length);
/* The running thread makes this one; it is about to run; it ended. */
void sim_sideband_thread_made(ThreadId parent, ThreadId thread);
void sim_sideband_thread_begins(ThreadId thread);
void sim_sideband_thread_ends(ThreadId thread);
/* The running thread made a process, or gave itself a name. */
void sim_sideband_process_made(ThreadId parent, UInt child);
void sim_sideband_renamed(ThreadId thread, const HChar *name);

#endif
