/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_shared_programs.h - counts the events of a counter_set only while certain BPF programs run (--bpf-prog).
 *
 * Part of stat_shared.h. The caller owns the structure; the counts are stored in the set, which must outlive it. Not
 * thread-safe.
 */
#ifndef VERBS_STAT_STAT_SHARED_PROGRAMS_H
#define VERBS_STAT_STAT_SHARED_PROGRAMS_H

#include "kernel/counting/counter.h"

struct stat_shared_programs;

/* Returns whether text is a list of program IDs, such as "17,18". */
bool stat_shared_programs_are_valid(const char *text);
/* Opens counters for the events that are marked as shared. ids is a list of program IDs. Returns an error if the set
 * has an event that it counts itself on whole CPUs. */
TALLY_MUST_CHECK enum tally_status stat_shared_programs_open(
	struct counter_set *set, const char *ids, struct stat_shared_programs **programs, struct tally_error *err);
void stat_shared_programs_count(struct stat_shared_programs *programs, bool is_on);
TALLY_MUST_CHECK enum tally_status stat_shared_programs_read(
	struct stat_shared_programs *programs, struct tally_error *err);
/* Returns how many runs of the programs were not counted completely. */
uint64_t stat_shared_programs_losses(const struct stat_shared_programs *programs);
void stat_shared_programs_close(struct stat_shared_programs *programs);

#endif
