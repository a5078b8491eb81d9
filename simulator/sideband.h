/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sideband.h - writes the records about processes, threads and mappings: COMM, MMAP2, FORK, EXIT.
 */
#ifndef SIMULATOR_SIDEBAND_H
#define SIMULATOR_SIDEBAND_H

#include "core.h"

UInt sim_sideband_pid(void);
/* Returns the TID of a thread. */
UInt sim_sideband_tid(ThreadId thread);

/* Writes the name of a new image. */
void sim_sideband_begin(void);
/* Updates the state in a forked child: its only thread has a new TID. */
void sim_sideband_forked(ThreadId thread);
/* Writes an executable mapping of the program, or a part of one. */
void sim_sideband_mapping(Addr start, SizeT length);
/* Called when the running thread creates a thread, when the new thread is about to run, and when it has ended. */
void sim_sideband_thread_made(ThreadId parent, ThreadId thread);
void sim_sideband_thread_begins(ThreadId thread);
void sim_sideband_thread_ends(ThreadId thread);
/* Called when the running thread has created a process, or has renamed itself. */
void sim_sideband_process_made(ThreadId parent, UInt child);
void sim_sideband_renamed(ThreadId thread, const HChar *name);

#endif
