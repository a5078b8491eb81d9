/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_annotate.h - runs annotate from the interactive report. When the first function is shown, it reads the
 * recording's samples by function and address, and keeps them.
 *
 * All members except cli and plan, which are borrowed, start as zeros; the caller frees the rest with
 * report_annotate_deinit.
 *
 *	struct report_annotate annotate = {.cli = cli, .plan = &plan};
 *	status = report_annotate_show(&annotate, &symbol, &leaves, err);
 *	report_annotate_deinit(&annotate);
 */
#ifndef TASKS_REPORTING_REPORT_ANNOTATE_H
#define TASKS_REPORTING_REPORT_ANNOTATE_H

#include "tasks/listing/annotate_explore.h"
#include "tasks/reporting/report_explore.h"
#include "tasks/reporting/report_plan.h"

struct report_annotate {
	const struct cli *cli;
	const struct report_plan *plan;
	bool is_stream; /* Set for a pipe, which cannot be read twice. */
	bool is_read;
	struct annotate_samples samples;
	struct annotate_settings settings; /* Settings of the last screen, with which the next one starts. */
};

TALLY_MUST_CHECK enum tally_status report_annotate_show(
	struct report_annotate *annotate, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err);
void report_annotate_deinit(struct report_annotate *annotate);

/* Returns the request for annotate_explore for a symbol, without settings. */
struct annotate_explore report_annotation_explore(
	const struct code_options *code, const struct explore_symbol *symbol, struct annotate_samples *samples);

#endif
