/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_annotate.h - runs annotate from the interactive report: it reads the recording's samples by function and
 * address for the first function, and keeps them.
 *
 * It begins with zeros except cli and plan, which are borrowed; the caller deinits.
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
	bool is_stream; /* which cannot be read twice */
	bool is_read;
	struct annotate_samples samples;
	struct annotate_settings settings; /* as the user left them */
};

TALLY_MUST_CHECK enum tally_status report_annotate_show(
	struct report_annotate *annotate, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err);
void report_annotate_deinit(struct report_annotate *annotate);

/* The arguments of annotate_explore for a symbol, by the options; the caller adds the settings. */
struct annotate_explore report_annotation_explore(
	const struct code_options *code, const struct explore_symbol *symbol, struct annotate_samples *samples);

#endif
