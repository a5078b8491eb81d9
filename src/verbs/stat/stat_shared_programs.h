/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_shared_programs.h - counts the events of a counter_set only while certain BPF programs run (--bpf-prog).
 *
 * The caller owns it; the counts are stored in the set, which must outlive it. One thread. A part of stat_shared.h.
 */
#ifndef VERBS_STAT_STAT_SHARED_PROGRAMS_H
#define VERBS_STAT_STAT_SHARED_PROGRAMS_H

#include "kernel/counting/counter.h"

struct stat_shared_programs;

/* Whether text is a list of programs' IDs, as "17,18". */
bool stat_shared_programs_are_valid(const char *text);
/* ids: such a list. The events that are marked as shared are counted; an event that the set counts by itself, on whole CPUs,
 * is refused. */
TALLY_MUST_CHECK enum tally_status stat_shared_programs_open(
	struct counter_set *set, const char *ids, struct stat_shared_programs **programs, struct tally_error *err);
void stat_shared_programs_count(struct stat_shared_programs *programs, bool is_on);
TALLY_MUST_CHECK enum tally_status stat_shared_programs_read(
	struct stat_shared_programs *programs, struct tally_error *err);
/* Runs of the programs that were not counted, or not whole. */
uint64_t stat_shared_programs_losses(const struct stat_shared_programs *programs);
void stat_shared_programs_close(struct stat_shared_programs *programs);

#endif
