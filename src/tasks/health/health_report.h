/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_report.h - prints the health of a recording as a page of text, and as JSON (docs/health-json.md).
 */
#ifndef TASKS_HEALTH_HEALTH_REPORT_H
#define TASKS_HEALTH_HEALTH_REPORT_H

#include "analysis/chain_survey.h"
#include "analysis/health.h"
#include "analysis/stack_ends.h"

#define HEALTH_SCHEMA 1 /* increases when a field is removed or changes its meaning */

struct health_source {
	const char *path;
	const struct perfdata_reader *reader; /* NULL: it cannot be opened */
	const struct recording_health *health;
	const struct chain_survey *chains; /* NULL: no chains by frame pointers, or they could not be read */
	const struct stack_ends *ends; /* NULL: no stack dumps, or they could not be read */
	const char *refusal; /* of perf 6.1; NULL: it reads the recording */
	const struct tally_error *unusable; /* why there is no reader */
};

/* "good", "lossy", "damaged", "cut" or "unusable" */
const char *health_word(const struct health_source *source);
void health_text(struct text *out, const struct health_source *source);
void health_json(struct text *out, const struct health_source *source);

#endif
