/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_trace.h - traces or counts system calls in the kernel by a BPF program: arguments, result and duration, with
 * the bytes that arguments point to as a plan says, in samples of perf events that the caller has opened.
 *
 * The samples are of software events of the kind bpf-output (PERF_COUNT_SW_BPF_OUTPUT, with PERF_SAMPLE_RAW), one for
 * each CPU; their raw data is a struct syscall_record. A call is reported when it returns, so its beginning is the sample's
 * time less its duration. The caller owns the trace; its programs leave the kernel with it, or with the process.
 * CLOCK_MONOTONIC. One thread.
 *
 *	syscall_trace_create(&config, &trace, err);
 *	syscall_trace_set_output(trace, cpu, fd, err);            // for each CPU
 *	syscall_trace_add_thread(trace, pid, tid, err);           // unless all threads are wanted
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
	const char *what; /* the verb or option that needs it, for refusals */
	const struct syscall_plan *plan; /* SYSCALL_PLANS of them, of syscall_capture_plan; copied */
	bool no_records; /* sums only */
	bool with_entries; /* a record at entry, too */
	enum syscall_sum_by sums; /* SYSCALL_SUM_NONE: none */
	bool with_error_counts; /* sums of each errno */
	bool all_threads; /* else those that are added */
	bool no_inherit; /* without threads and processes that added threads create */
	bool from_exec; /* of added threads: their next exec that succeeds is the first call that is wanted */
	bool with_lives; /* records of signals and of ends of threads */
	bool only_failed; /* records of calls that failed */
	uint64_t least_ns; /* records of calls that took as long */
	bool of_user; /* only threads of this user */
	uint32_t user;
	const int *cpus; /* only calls that end there */
	size_t cpu_count; /* 0: anywhere */
	const char *const *cgroups; /* directories: only threads in them and below */
	size_t cgroup_count; /* 0: any */
	size_t thread_count; /* expected number of threads; 0: not known */
};

struct syscall_trace_losses {
	uint64_t records; /* that a ring had no room for */
	uint64_t threads; /* calls of threads that there was no room for */
	uint64_t sums; /* calls whose sum had no room */
	uint64_t children; /* threads that are not followed */
	uint64_t missed; /* events, in contexts where no program may run */
};

struct syscall_trace_sum {
	struct syscall_sum_key key;
	uint64_t untimed; /* of count: calls without a duration */
	uint64_t count, errors, total_ns, min_ns, max_ns; /* with key.error: the count only */
	wide_u128 squares; /* of ns, summed */
};

TALLY_MUST_CHECK enum tally_status syscall_trace_create(
	const struct syscall_trace_config *config, struct syscall_trace **trace, struct tally_error *err);
void syscall_trace_destroy(struct syscall_trace *trace);
/* fd is an open perf event of the CPU; the kernel keeps it. */
TALLY_MUST_CHECK enum tally_status syscall_trace_set_output(
	struct syscall_trace *trace, int cpu, int fd, struct tally_error *err);
/* A thread whose calls are wanted, and those of threads that it creates. */
TALLY_MUST_CHECK enum tally_status syscall_trace_add_thread(
	struct syscall_trace *trace, uint32_t pid, uint32_t tid, struct tally_error *err);
/* A process whose calls are not wanted. */
TALLY_MUST_CHECK enum tally_status syscall_trace_exclude_process(
	struct syscall_trace *trace, uint32_t pid, struct tally_error *err);
void syscall_trace_start(struct syscall_trace *trace);
void syscall_trace_stop(struct syscall_trace *trace);
/* Calls that have begun and not returned, as a record of kind ENTRY, oldest first: its thread, and when it began. */
TALLY_MUST_CHECK enum tally_status syscall_trace_each_pending(struct syscall_trace *trace,
	enum tally_status (*take)(void *context, uint32_t pid, uint32_t tid, uint64_t begin_ns,
		struct tally_bytes record, struct tally_error *err),
	void *context, struct tally_error *err);
/* The sums so far, of all CPUs. */
TALLY_MUST_CHECK enum tally_status syscall_trace_each_sum(struct syscall_trace *trace,
	enum tally_status (*take)(void *context, const struct syscall_trace_sum *sum, struct tally_error *err),
	void *context, struct tally_error *err);
struct syscall_trace_losses syscall_trace_losses(const struct syscall_trace *trace);

#endif
