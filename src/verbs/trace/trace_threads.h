/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_threads.h - stores the state of each traced thread: its name, the call that it is in, and its counts; and the
 * files of the descriptors of each process.
 *
 * trace_threads_apply handles records of names, forks and exits in order of time. A thread that has ended is removed,
 * unless counts are retained for a summary (keeps_ended). The caller owns the table; pointers to threads are valid
 * until the threads are removed. Used by one thread.
 *
 *	trace_threads_init(&threads, keeps_ended);
 *	struct trace_thread *thread = trace_threads_get(&threads, tid, pid);   // NULL: out of memory
 *	trace_threads_apply(&threads, &record, &fields);   // COMM, FORK, EXIT
 */
#ifndef VERBS_TRACE_TRACE_THREADS_H
#define VERBS_TRACE_TRACE_THREADS_H

#include "abi/record.h"
#include "base/map_u64.h"
#include "base/text.h"
#include "base/vec.h"
#include "syscalls/syscall_call.h"

#define TRACE_COMM_BYTES 16 /* TASK_COMM_LEN of the kernel. */

struct trace_thread {
	int32_t tid, pid;
	bool has_ended;
	uint8_t comm_len;
	char comm[TRACE_COMM_BYTES];
	bool is_in_call; /* True if a call has begun and not returned, as far as records show. */
	/*
	 * True if files already contains the descriptors that remain open after the next exec of the thread, so that
	 * the exec does not clear files.
	 */
	bool keeps_files;
	/* True if the call began before the trace; began_ns is then the time at which it was first seen. */
	bool is_before;
	bool is_told; /* True if a line with "..." was printed for the call. */
	uint64_t began_ns;
	uint32_t cpu; /* CPU on which the call began. */
	uint32_t number;
	uint64_t args[SYSCALL_ARGS];
	struct text call; /* Text of the call without its ")": "openat(dfd: CWD, ...". */
	uint64_t events; /* Number of beginnings and ends of calls, and page faults. */
	uint64_t major_faults, minor_faults, runtime_ns;
	/* Paths of a process by descriptor, stored with its first thread and owned; NULL if not known. */
	VEC(char *) files;
};

struct trace_threads {
	VEC(struct trace_thread *) items; /* In the order of their first records. */
	struct map_u64 by_tid; /* Maps thread IDs to indices in items. */
	VEC(uint32_t) unused; /* Unused indices in items. */
	bool keeps_ended;
};

void trace_threads_init(struct trace_threads *threads, bool keeps_ended);
void trace_threads_deinit(struct trace_threads *threads);
struct trace_thread *trace_threads_get(struct trace_threads *threads, int32_t tid, int32_t pid);
/* Returns the last thread with this ID, which may have ended; NULL if none is known. */
struct trace_thread *trace_threads_known(const struct trace_threads *threads, int32_t tid);
/* Returns the running thread with this ID; NULL if it is not known, or has ended. */
struct trace_thread *trace_threads_find(const struct trace_threads *threads, int32_t tid);
/* Applies a COMM, FORK or EXIT record, and ignores others. Returns false if out of memory. */
bool trace_threads_apply(
	struct trace_threads *threads, const struct record *record, const struct record_fields *fields);
/*
 * Sets the path of the file to which a descriptor of a process refers. path is copied; if its data is NULL, the file
 * becomes unknown. Descriptors above a limit are ignored. Returns false if out of memory.
 */
bool trace_threads_set_file(struct trace_threads *threads, int32_t pid, int fd, struct tally_str path);
/* Returns the path of the file of a descriptor, valid until the descriptor changes; NULL if it is not known. */
const char *trace_threads_file(const struct trace_threads *threads, int32_t pid, int fd);
/*
 * Forgets the files of the descriptors from first to last, because these have been closed or may refer to other files.
 */
void trace_threads_forget_files(struct trace_threads *threads, int32_t pid, uint64_t first, uint64_t last);
/* Sets a name that is used if no record contains another. */
void trace_thread_learn_name(struct trace_thread *thread, const char *name);
/* Returns the name of the thread, or ":TID", formatted in room, if it has none. */
struct tally_str trace_thread_name(const struct trace_thread *thread, char room[TRACE_COMM_BYTES]);

#endif
