/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_bpf.h - fills the rows of a lock_job for `lock contention -b` with sums of waits that a BPF program computes.
 * lock_live.h uses it, and also measures without BPF.
 *
 * The caller owns the object and the job. Used by one thread.
 *
 *	lock_bpf_open(&job, of_command, &locks, err);   // UNSUPPORTED, DENIED: BPF is not available
 *	lock_bpf_watch(locks, &job, child, err);  lock_bpf_start(locks);  ...
 *	lock_bpf_finish(locks, &job, err);   // adds the rows
 *	lock_bpf_close(locks);
 */
#ifndef VERBS_LOCK_LOCK_BPF_H
#define VERBS_LOCK_LOCK_BPF_H

#include <sys/types.h>

#include "verbs/lock/lock_job.h"

struct bpf_lock_contention;

/* of_command restricts the measurement to a command and its descendants. */
TALLY_MUST_CHECK enum tally_status lock_bpf_open(
	const struct lock_job *job, bool of_command, struct bpf_lock_contention **locks, struct tally_error *err);
/*
 * Selects the targets in the settings or, if there are none, the process child of the command; child is 0 without a
 * command.
 */
TALLY_MUST_CHECK enum tally_status lock_bpf_watch(
	struct bpf_lock_contention *locks, const struct lock_job *job, pid_t child, struct tally_error *err);
void lock_bpf_start(struct bpf_lock_contention *locks);
/* Stops the program and adds the rows. The job's source must be open. */
TALLY_MUST_CHECK enum tally_status lock_bpf_finish(
	struct bpf_lock_contention *locks, struct lock_job *job, struct tally_error *err);
void lock_bpf_close(struct bpf_lock_contention *locks);

#endif
