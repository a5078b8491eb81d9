/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_shared_cgroups.h - counts those events of a counter_set that are limited to cgroups and use shared counters
 * (--bpf-counters with --for-each-cgroup or -G): one counter of each CPU for an event of all its cgroups.
 *
 * The caller owns it; the counts are stored in the set, which must outlive it. One thread. A part of stat_shared.h.
 */
#ifndef VERBS_STAT_STAT_SHARED_CGROUPS_H
#define VERBS_STAT_STAT_SHARED_CGROUPS_H

#include "kernel/counting/counter.h"

struct stat_shared_cgroups;

/* NULL: the set has no such events. */
TALLY_MUST_CHECK enum tally_status stat_shared_cgroups_open(
	struct counter_set *set, struct stat_shared_cgroups **cgroups, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_cgroups_enable(
	struct stat_shared_cgroups *cgroups, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_cgroups_disable(
	struct stat_shared_cgroups *cgroups, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status stat_shared_cgroups_read(
	struct stat_shared_cgroups *cgroups, struct tally_error *err);
/* Times that something was not counted. */
uint64_t stat_shared_cgroups_losses(const struct stat_shared_cgroups *cgroups);
void stat_shared_cgroups_close(struct stat_shared_cgroups *cgroups);

#endif
