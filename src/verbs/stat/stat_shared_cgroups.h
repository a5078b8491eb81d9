/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_shared_cgroups.h - counts the events of a counter_set that are limited to cgroups and use shared counters
 * (--bpf-counters with --for-each-cgroup or -G): an event needs one counter per CPU for all cgroups.
 *
 * Part of stat_shared.h. The caller owns the structure; the counts are stored in the set, which must outlive it. Not
 * thread-safe.
 */
#ifndef VERBS_STAT_STAT_SHARED_CGROUPS_H
#define VERBS_STAT_STAT_SHARED_CGROUPS_H

#include "kernel/counting/counter.h"

struct stat_shared_cgroups;

/* Sets *cgroups to NULL if the set has no such events. */
TALLY_MUST_CHECK enum tally_status stat_shared_cgroups_open(
	struct counter_set *set, struct stat_shared_cgroups **cgroups, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_cgroups_enable(
	struct stat_shared_cgroups *cgroups, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_cgroups_disable(
	struct stat_shared_cgroups *cgroups, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_cgroups_read(
	struct stat_shared_cgroups *cgroups, struct tally_error *err);
/* Returns how often a counter could not be read or a cgroup was nested too deeply; 0 if cgroups is NULL. */
uint64_t stat_shared_cgroups_losses(const struct stat_shared_cgroups *cgroups);
void stat_shared_cgroups_close(struct stat_shared_cgroups *cgroups);

#endif
