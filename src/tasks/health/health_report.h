/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_report.h - prints the health of a recording as a page of text, and as JSON (docs/health-json.md).
 */
#ifndef TASKS_HEALTH_HEALTH_REPORT_H
#define TASKS_HEALTH_HEALTH_REPORT_H

#include "analysis/chain_survey.h"
#include "analysis/health.h"
#include "analysis/stack_ends.h"

#define HEALTH_SCHEMA 1 /* Increased when a field is removed or changes its meaning. */

struct health_source {
	const char *path;
	const struct perfdata_reader *reader; /* NULL if the recording cannot be opened. */
	const struct recording_health *health;
	/* NULL if there are no chains by frame pointers, or if they could not be read. */
	const struct chain_survey *chains;
	const struct stack_ends *ends; /* NULL if there are no stack dumps, or if they could not be read. */
	const char *refusal; /* Reason why perf 6.1 rejects the recording, or NULL if it does not. */
	const struct tally_error *unusable; /* Reason why there is no reader; not used if there is one. */
};

/* Returns "good", "lossy", "damaged", "unfinished", "cut" or "unusable". */
const char *health_word(const struct health_source *source);
void health_text(struct text *out, const struct health_source *source);
void health_json(struct text *out, const struct health_source *source);

#endif
