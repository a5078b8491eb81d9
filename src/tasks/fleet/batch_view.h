/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_view.h - shows a batch from a store or a server in the same ways as a recording: a table as text or JSON, a
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
	const struct fleet_batch *base; /* Batch to compare with, or NULL. */
	struct tally_str title, base_title; /* The queries. */
	/* The only event to show; if empty, all events, or, for flame graphs, the first one that has samples. */
	struct tally_str event;
	struct tally_str group; /* The label by which batch_labels_group has grouped; empty if it was not used. */
	const char *program; /* Name of the program that shows the batch. */
	/* For comparisons: receives notes about names that were matched with other names. May be NULL. */
	struct diag *notes;
	bool counts_samples; /* Flame graphs count samples instead of adding up values. */
};

enum batch_flame_form { BATCH_FLAME_PAGE, BATCH_FLAME_SVG, BATCH_FLAME_FOLDED };

/* Returns NOT_FOUND if there are no samples, or no such event. */
TALLY_MUST_CHECK enum tally_status batch_view_flame(
	const struct batch_view *view, enum batch_flame_form form, struct text *out, struct tally_error *err);
/* Appends a sentence about what batch_view_flame omits: samples of other events than the one that it shows. Appends
 * nothing if it shows everything. */
void batch_view_left_out(const struct batch_view *view, struct text *out);
/* Prints the requested tables as report does: text, or JSON (docs/schema/report.json). */
TALLY_MUST_CHECK enum tally_status batch_view_report(
	const struct batch_view *view, const struct report_request *request, struct text *out, struct tally_error *err);
/* Writes pprof, compressed by gzip, to a file; name is for messages. */
TALLY_MUST_CHECK enum tally_status batch_view_pprof(
	const struct batch_view *view, int fd, const char *name, struct tally_error *err);

/* Appends one line such as "12,345 samples, 12 lost, 98.1% with symbols; agents dropped 3 batches with 40 samples". */
void batch_view_quality(const struct fleet_batch *batch, struct text *out);
/* Appends text such as "2026-11-28 07:00:00 UTC to ...". */
void batch_view_span(const struct fleet_batch *batch, struct text *out);

#endif
