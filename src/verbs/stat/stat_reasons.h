/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_reasons.h - explains why rows of stat show <not supported> or <not counted>, how precise a scaled count is, and
 * what a count leaves out: one sentence per reason. It prints nothing itself.
 *
 *	stat_reasons_add(&text, "tally", session);
 */
#ifndef VERBS_STAT_STAT_REASONS_H
#define VERBS_STAT_STAT_REASONS_H

#include "base/text.h"
#include "verbs/stat/stat_run.h"

/* For the totals over all runs: lines "<not counted> EVENT, EVENT: REASON", and the possible error of scaled
 * counts. */
void stat_reasons_add(struct text *text, const char *program, const struct stat_session *session);
/* Only the lines that say why a count is missing or incomplete. */
void stat_reasons_add_missing(struct text *text, const char *program, const struct stat_session *session);

/* What all counts lack, for the formats that scripts read: events that the kernel ended, switches that were not seen. */
void stat_reasons_warn(const struct stat_session *session, struct diag *warnings);
/* "shared counters missed 3 switches, children or cgroups of all sessions" */
void stat_reasons_add_losses(struct text *text, const struct stat_session *session);

#endif
