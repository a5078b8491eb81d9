/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_threads.h - keeps what trace knows of each thread: its name, the call that it is in, its counts; and the files
 * behind the descriptors of each process.
 *
 * Fed with records of names, forks and exits in order of time. A thread that has ended is forgotten, unless counts are
 * kept for a summary. The caller owns it; pointers to threads are valid until they are forgotten. One thread.
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

#define TRACE_COMM_BYTES 16 /* TASK_COMM_LEN */

struct trace_thread {
	int32_t tid, pid;
	bool has_ended;
	uint8_t comm_len;
	char comm[TRACE_COMM_BYTES];
	bool is_in_call; /* it has begun a call, as far as records tell */
	bool keeps_files; /* descriptors are those behind its next exec */
	bool is_before; /* that call began before the trace, and was seen at began_ns */
	bool is_told; /* a line with "..." was printed of it */
	uint64_t began_ns;
	uint32_t cpu; /* where it began */
	uint32_t number;
	uint64_t args[SYSCALL_ARGS];
	struct text call; /* "openat(dfd: CWD, ..." without its ")" */
	uint64_t events; /* beginnings and ends of calls, and page faults */
	uint64_t major_faults, minor_faults, runtime_ns;
	VEC(char *) files; /* of a process, with its first thread: paths by descriptor; owned; NULL: not known */
};

struct trace_threads {
	VEC(struct trace_thread *) items; /* in the order in which they were seen */
	struct map_u64 by_tid; /* index in items */
	VEC(uint32_t) unused; /* places in items */
	bool keeps_ended;
};

void trace_threads_init(struct trace_threads *threads, bool keeps_ended);
void trace_threads_deinit(struct trace_threads *threads);
struct trace_thread *trace_threads_get(struct trace_threads *threads, int32_t tid, int32_t pid);
/* NULL: no thread of this number is known; the last one of it may have ended. */
struct trace_thread *trace_threads_known(const struct trace_threads *threads, int32_t tid);
/* The same for threads that go on; NULL: it is not known, or has ended. */
struct trace_thread *trace_threads_find(const struct trace_threads *threads, int32_t tid);
/* Other records are ignored. False: out of memory. */
bool trace_threads_apply(
	struct trace_threads *threads, const struct record *record, const struct record_fields *fields);
/* Which file a descriptor of a process stands for; path is copied; without data: it is not known any more. Descriptors
 * beyond a bound are not kept. False: out of memory. */
bool trace_threads_set_file(struct trace_threads *threads, int32_t pid, int fd, struct tally_str path);
/* NULL: it is not known. */
const char *trace_threads_file(const struct trace_threads *threads, int32_t pid, int fd);
/* Descriptors from first to last stand for other files now, or none. */
void trace_threads_forget_files(struct trace_threads *threads, int32_t pid, uint64_t first, uint64_t last);
/* A name that is used where no record has told another. */
void trace_thread_learn_name(struct trace_thread *thread, const char *name);
/* The thread's name; ":TID" without one, in room. */
struct tally_str trace_thread_name(const struct trace_thread *thread, char room[TRACE_COMM_BYTES]);

#endif
