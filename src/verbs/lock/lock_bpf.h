/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_bpf.h - fills the rows of a lock_job for `lock contention -b` with waits for locks that a BPF program adds up in
 * the kernel. lock_live.h runs it, and also measures without BPF.
 *
 * The caller owns it; the job stays the caller's. One thread.
 *
 *	lock_bpf_open(&job, of_command, &locks, err);   // UNSUPPORTED, DENIED: BPF is refused, err says why
 *	lock_bpf_watch(locks, &job, child, err);  lock_bpf_start(locks);  ...
 *	lock_bpf_finish(locks, &job, err);   // rows
 *	lock_bpf_close(locks);
 */
#ifndef VERBS_LOCK_LOCK_BPF_H
#define VERBS_LOCK_LOCK_BPF_H

#include <sys/types.h>

#include "verbs/lock/lock_job.h"

struct bpf_lock_contention;

/* of_command: nothing but a command and what it forks. */
TALLY_MUST_CHECK enum tally_status lock_bpf_open(
	const struct lock_job *job, bool of_command, struct bpf_lock_contention **locks, struct tally_error *err);
/* Watches the targets in the settings, else the command's process (0: there is none). */
TALLY_MUST_CHECK enum tally_status lock_bpf_watch(
	struct bpf_lock_contention *locks, const struct lock_job *job, pid_t child, struct tally_error *err);
void lock_bpf_start(struct bpf_lock_contention *locks);
/* Ends the counting; the job's source is open. */
TALLY_MUST_CHECK enum tally_status lock_bpf_finish(
	struct bpf_lock_contention *locks, struct lock_job *job, struct tally_error *err);
void lock_bpf_close(struct bpf_lock_contention *locks);

#endif
