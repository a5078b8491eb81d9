/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_trace.h - traces or counts system calls by a BPF program: arguments, result and duration, and the memory that
 * arguments point to, as a plan specifies. Traced calls are written as samples of perf events that the caller has
 * opened.
 *
 * The events are software events of type bpf-output (PERF_COUNT_SW_BPF_OUTPUT, with PERF_SAMPLE_RAW), one for each CPU;
 * the raw data of their samples is a struct syscall_record. A call is reported when it returns, so its beginning is the
 * sample's time minus its duration. The caller owns the trace; its programs leave the kernel when it is destroyed or
 * the process ends. Times are those of CLOCK_MONOTONIC. Used by one thread.
 *
 *	syscall_trace_create(&config, &trace, err);
 *	syscall_trace_set_output(trace, cpu, fd, err);            // for each CPU
 *	syscall_trace_add_thread(trace, pid, tid, err);           // unless all_threads is set
 *	syscall_trace_start(trace); ... syscall_trace_stop(trace);
 *	syscall_trace_each_pending(trace, take, context, err);    // calls that have not returned
 *	syscall_trace_each_sum(trace, take, context, err);        // with config.sums
 *	syscall_trace_destroy(trace);
 */
#ifndef BPF_SYSCALL_TRACE_H
#define BPF_SYSCALL_TRACE_H

#include "abi/syscall_record.h"
#include "base/bytes.h"
#include "base/wide.h"
#include "kernel/system/kernel_seam.h"

struct syscall_trace;

struct syscall_trace_config {
	const struct kernel_seam *kernel;
	const char *what; /* Verb or option that requires this module, for error messages. */
	const struct syscall_plan *plan; /* SYSCALL_PLANS elements, filled by syscall_capture_plan; copied. */
	bool no_records; /* Counts calls without tracing them. */
	bool with_entries; /* Writes a record at the beginning of a call, too. */
	enum syscall_sum_by sums; /* SYSCALL_SUM_NONE if calls are not counted. */
	bool with_error_counts; /* Counts calls by errno, too. */
	bool all_threads; /* Traces all threads; false: only added threads. */
	bool no_inherit; /* Excludes threads and processes that added threads create. */
	bool from_exec; /* Traces added threads only from their next successful exec on, including that call. */
	bool with_lives; /* Writes records of signals and of ends of threads. */
	bool only_failed; /* Writes only records of calls that failed. */
	uint64_t least_ns; /* Minimum duration of calls for which records are written. */
	bool of_user; /* Traces only threads with the user ID user. */
	uint32_t user;
	const int *cpus; /* CPUs; only calls that end on one of them are traced. */
	size_t cpu_count; /* 0 includes all CPUs. */
	const char *const *cgroups; /* Directories of cgroups; only threads in them and their descendants are traced. */
	size_t cgroup_count; /* 0 includes all cgroups. */
	size_t thread_count; /* Expected number of threads; 0 if it is not known. */
};

struct syscall_trace_losses {
	uint64_t records; /* Number of records for which a ring buffer had no room. */
	uint64_t threads; /* Number of calls of threads for which there was no room. */
	uint64_t sums; /* Number of calls with a sum for which there was no room. */
	uint64_t children; /* Number of new threads that could not be followed. */
	/* Number of events for which the kernel skipped the program to prevent recursion; 0 before Linux 5.12. */
	uint64_t missed;
};

struct syscall_trace_sum {
	struct syscall_sum_key key;
	uint64_t untimed; /* Part of count: calls without a known duration. */
	/* If key.error is not 0, only count is valid. min_ns is UINT64_MAX if no call has a known duration. */
	uint64_t count, errors, total_ns, min_ns, max_ns;
	wide_u128 squares; /* Sum of the squares of durations in nanoseconds. */
};

TALLY_MUST_CHECK enum tally_status syscall_trace_create(
	const struct syscall_trace_config *config, struct syscall_trace **trace, struct tally_error *err);
void syscall_trace_destroy(struct syscall_trace *trace);
/* Writes records of calls on this CPU to fd, an open perf event. The kernel holds a reference to it. */
TALLY_MUST_CHECK enum tally_status syscall_trace_set_output(
	struct syscall_trace *trace, int cpu, int fd, struct tally_error *err);
/* Traces a thread, and the threads that it creates unless no_inherit is set. */
TALLY_MUST_CHECK enum tally_status syscall_trace_add_thread(
	struct syscall_trace *trace, uint32_t pid, uint32_t tid, struct tally_error *err);
/* Excludes the calls of a process, if all_threads is set. Call it before syscall_trace_start. */
TALLY_MUST_CHECK enum tally_status syscall_trace_exclude_process(
	struct syscall_trace *trace, uint32_t pid, struct tally_error *err);
void syscall_trace_start(struct syscall_trace *trace);
void syscall_trace_stop(struct syscall_trace *trace);
/*
 * Reports calls that have begun and not returned, oldest first. record is a struct syscall_record of the kind
 * SYSCALL_RECORD_ENTRY with its parts, valid during the call of take; begin_ns is the time at which the system call
 * began. Ends with the first status other than TALLY_OK that take returns.
 */
TALLY_MUST_CHECK enum tally_status syscall_trace_each_pending(struct syscall_trace *trace,
	enum tally_status (*take)(void *context, uint32_t pid, uint32_t tid, uint64_t begin_ns,
		struct tally_bytes record, struct tally_error *err),
	void *context, struct tally_error *err);
/* Reports the current sums over all CPUs. Ends with the first status other than TALLY_OK that take returns. */
TALLY_MUST_CHECK enum tally_status syscall_trace_each_sum(struct syscall_trace *trace,
	enum tally_status (*take)(void *context, const struct syscall_trace_sum *sum, struct tally_error *err),
	void *context, struct tally_error *err);
struct syscall_trace_losses syscall_trace_losses(const struct syscall_trace *trace);

#endif
