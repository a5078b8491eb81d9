/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_shared.h - counts the events of a counter_set that use counters shared between sessions (--bpf-counters, the
 * modifier b), or that are counted while BPF programs run (--bpf-prog).
 *
 * The caller owns a stat_shared; the counts are stored in the set, which must outlive it. Not thread-safe.
 *
 *	stat_shared_choose(kernel, &events, takes_all);   // before the set is opened
 *	stat_shared_open(set, &place, &shared, err);   // shared is NULL if no event is shared
 *	stat_shared_enable(shared, err); ... stat_shared_read(shared, err); ... stat_shared_close(shared);
 */
#ifndef VERBS_STAT_STAT_SHARED_H
#define VERBS_STAT_STAT_SHARED_H

#include "kernel/counting/counter.h"

#define STAT_SHARED_PATH "/sys/fs/bpf/tally_attr_map"

struct stat_shared;

struct stat_shared_place {
	const char *path; /* Path of the pinned map; NULL for STAT_SHARED_PATH. */
	const char *programs; /* IDs of the BPF programs to which counting is limited; NULL for no limit. */
};

/* Marks the events that can be shared: events of core PMUs and software events that the machine has. Considers only
 * events with the modifier b, or all events if takes_all is set. */
void stat_shared_choose(const struct kernel_seam *kernel, struct event_list *events, bool takes_all);
/* Sets *shared to NULL if no event is marked as shared; the other functions then have no effect. */
TALLY_MUST_CHECK enum tally_status stat_shared_open(struct counter_set *set, const struct stat_shared_place *place,
	struct stat_shared **shared, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_enable(struct stat_shared *shared, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_disable(struct stat_shared *shared, struct tally_error *err);
/* Stores the counts in the set: one for each CPU, or the sum of all threads in the first. */
TALLY_MUST_CHECK enum tally_status stat_shared_read(struct stat_shared *shared, struct tally_error *err);
/* Returns the number of losses in all sessions: tasks that were not counted, failed readings of counters, cgroups that
 * are nested too deeply, and incompletely counted runs of BPF programs. shared may be NULL. */
uint64_t stat_shared_losses(const struct stat_shared *shared);
void stat_shared_close(struct stat_shared *shared);

#endif
