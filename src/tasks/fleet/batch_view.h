/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_view.h - shows a batch, as a store or a server gives it, by the views of recordings: a table as text or JSON, a
 * flame graph, folded stacks, pprof. Used by serve and fleet.
 *
 * Borrows its arguments. Names and labels are not trusted; the views escape them.
 *
 *	const struct batch_view view = {.batch = batch, .title = STR("service=\"api\""), .program = "tally"};
 *	batch_view_flame(&view, BATCH_FLAME_PAGE, &text, err);
 */
#ifndef TASKS_FLEET_BATCH_VIEW_H
#define TASKS_FLEET_BATCH_VIEW_H

#include "base/diag.h"
#include "fleet/batch.h"
#include "tasks/reporting/report_request.h"

struct batch_view {
	const struct fleet_batch *batch;
	const struct fleet_batch *base; /* to compare with; NULL: none */
	struct tally_str title, base_title; /* what was asked for */
	struct tally_str event; /* the only one to show; empty: all, or, for flame graphs, the first that has samples */
	struct tally_str group; /* the label that batch_labels_group grouped by; empty: none */
	const char *program; /* that shows it */
	struct diag *notes; /* of a comparison: what was matched by another name. NULL: they are not wanted */
	bool counts_samples; /* in flame graphs, rather than adding up values */
};

enum batch_flame_form { BATCH_FLAME_PAGE, BATCH_FLAME_SVG, BATCH_FLAME_FOLDED };

/* NOT_FOUND: there are no samples, or no such event. */
TALLY_MUST_CHECK enum tally_status batch_view_flame(
	const struct batch_view *view, enum batch_flame_form form, struct text *out, struct tally_error *err);
/* What batch_view_flame leaves out, as a sentence: samples of other events than the one that it shows. Empty: nothing. */
void batch_view_left_out(const struct batch_view *view, struct text *out);
/* The tables that the request asks for, as report shows them: text, or JSON (docs/schema/report.json). */
TALLY_MUST_CHECK enum tally_status batch_view_report(
	const struct batch_view *view, const struct report_request *request, struct text *out, struct tally_error *err);
/* To a file, packed by gzip; name is for messages. */
TALLY_MUST_CHECK enum tally_status batch_view_pprof(
	const struct batch_view *view, int fd, const char *name, struct tally_error *err);

/* One line, "12,345 samples, 12 lost, 98.1% with symbols; 3 batches with 40 samples were dropped". */
void batch_view_quality(const struct fleet_batch *batch, struct text *out);
/* "2026-11-28 07:00:00 UTC to ..." */
void batch_view_span(const struct fleet_batch *batch, struct text *out);

#endif
