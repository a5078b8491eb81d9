/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_sums.h - sums the durations and errors of system calls by owner (a thread, a cgroup, or all) and call.
 *
 * The caller owns the sums. Used by one thread. Functions that return bool return false if out of memory.
 *
 *	struct trace_sums sums = {0};
 *	trace_sums_init(&sums);
 *	trace_sums_add(&sums, &(struct trace_sum_key){tid, SYSCALLS_X86_64, 0}, ns, errno_or_0);
 *	trace_sums_deinit(&sums);
 */
#ifndef VERBS_TRACE_TRACE_SUMS_H
#define VERBS_TRACE_TRACE_SUMS_H

#include "base/id_table.h"
#include "base/vec.h"
#include "base/wide.h"
#include "syscalls/syscall_names.h"

#define TRACE_SUMS_UNTIMED UINT64_MAX /* The duration of a call is not known. */

struct trace_sum_key {
	uint64_t owner; /* Identifies a thread or a cgroup (trace_job_owner). */
	enum syscall_abi abi;
	uint32_t number;
};

struct trace_sum {
	struct trace_sum_key key;
	uint64_t calls, errors;
	uint64_t untimed; /* Number of calls without a duration, which are included in calls, but not in the times. */
	uint64_t total_ns, least_ns, most_ns;
	wide_u128 squares; /* Exact sum of the squared durations. */
};

struct trace_sum_error {
	uint64_t calls;
	uint32_t sum; /* Index in trace_sums.sums. */
	uint32_t error; /* The error number. */
};

struct trace_sums {
	struct id_table keys;
	VEC(struct trace_sum) sums; /* Indexed by the ID in keys. */
	struct id_table error_keys;
	VEC(struct trace_sum_error) errors;
};

void trace_sums_init(struct trace_sums *sums);
void trace_sums_deinit(struct trace_sums *sums);
/*
 * Returns the row of a key, which is created if it is new; NULL if out of memory. Valid until the next row is created.
 */
struct trace_sum *trace_sums_at(struct trace_sums *sums, const struct trace_sum_key *key);
/*
 * Adds one call. ns is its duration, or TRACE_SUMS_UNTIMED if that is not known, and error is its error number, or 0 if
 * it succeeded.
 */
bool trace_sums_add(struct trace_sums *sums, const struct trace_sum_key *key, uint64_t ns, unsigned error);
/*
 * Adds to the number of calls of the key that failed with this error number. Does not change calls and errors of the
 * row of the key.
 */
bool trace_sums_add_errors(struct trace_sums *sums, const struct trace_sum_key *key, unsigned error, uint64_t calls);
/* Returns the standard error of the mean in percent of the mean. */
double trace_sum_deviation(const struct trace_sum *sum);

#endif
