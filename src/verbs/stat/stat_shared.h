/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_shared.h - counts those events of a counter_set that use counters shared between sessions (--bpf-counters, the
 * modifier b), or that are counted while BPF programs run (--bpf-prog).
 *
 * The caller owns it; the counts are stored in the set, which must outlive it. One thread.
 *
 *	stat_shared_choose(kernel, &events, takes_all);   // before the set is opened
 *	stat_shared_open(set, &place, &shared, err);   // NULL: no event is shared
 *	stat_shared_enable(shared, err); ... stat_shared_read(shared, err); ... stat_shared_close(shared);
 */
#ifndef VERBS_STAT_STAT_SHARED_H
#define VERBS_STAT_STAT_SHARED_H

#include "kernel/counting/counter.h"

#define STAT_SHARED_PATH "/sys/fs/bpf/tally_attr_map"

struct stat_shared;

struct stat_shared_place {
	const char *path; /* of the pinned map; NULL: STAT_SHARED_PATH */
	const char *programs; /* IDs of BPF programs: shared events are counted only while these run; NULL: always */
};

/* Chooses the events that can be shared: those of tasks and CPUs that the machine has. takes_all: not only those
 * with :b. */
void stat_shared_choose(const struct kernel_seam *kernel, struct event_list *events, bool takes_all);
TALLY_MUST_CHECK enum tally_status stat_shared_open(struct counter_set *set, const struct stat_shared_place *place,
	struct stat_shared **shared, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_enable(struct stat_shared *shared, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_disable(struct stat_shared *shared, struct tally_error *err);
/* Into the set's counts: one for each CPU, or all of the threads in the first. */
TALLY_MUST_CHECK enum tally_status stat_shared_read(struct stat_shared *shared, struct tally_error *err);
/* The events that were not counted, in all sessions. */
uint64_t stat_shared_losses(const struct stat_shared *shared);
void stat_shared_close(struct stat_shared *shared);

#endif
