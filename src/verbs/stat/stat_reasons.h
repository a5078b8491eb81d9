/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_reasons.h - explains why rows of stat show <not supported> or <not counted>, how precise a scaled count is, and
 * what a count excludes: one sentence per reason. It prints nothing itself.
 *
 *	stat_reasons_add(&text, "tally", session);
 */
#ifndef VERBS_STAT_STAT_REASONS_H
#define VERBS_STAT_STAT_REASONS_H

#include "base/text.h"
#include "verbs/stat/stat_run.h"

/* Appends lines "<not counted> EVENT, EVENT: REASON" for the totals of all runs, and the errors of scaled counts. */
void stat_reasons_add(struct text *text, const char *program, const struct stat_session *session);
/* Like stat_reasons_add, but appends only the reasons for missing or incomplete counts. */
void stat_reasons_add_missing(struct text *text, const char *program, const struct stat_session *session);

/* For machine-readable formats, adds warnings if all counts are incomplete because the kernel ended the events or
 * switches were lost. */
void stat_reasons_warn(const struct stat_session *session, struct diag *warnings);
/* Appends the number of losses in words, such as "shared counters missed 3 switches, children or cgroups of all
 * sessions". */
void stat_reasons_add_losses(struct text *text, const struct stat_session *session);

#endif
