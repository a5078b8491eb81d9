/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_load.h - reads the samples of a recording for the interactive annotate while code is on the screen: first
 * the screen shows the progress, then the code with the samples of increasing parts of the recording, finally of all.
 *
 * A worker thread reads and the caller's thread draws the screen; the worker passes on complete parts. If the beginning
 * of a recording cannot be read by itself (from a pipe, compressed, or with --time), only the progress is shown.
 *
 *	struct annotate_load load = {.cli = cli, .request = request, .data = mine, .begin = begin};
 *	status = annotate_load_show(&load, &samples, err);
 *	annotate_samples_deinit(&samples);
 */
#ifndef VERBS_ANNOTATE_ANNOTATE_LOAD_H
#define VERBS_ANNOTATE_ANNOTATE_LOAD_H

#include "tasks/listing/annotate_explore.h"

struct annotate_load {
	const struct cli *cli;
	struct annotate_request request;
	struct annotate_explore explore; /* Initial settings of the screen. */
	void *data;
	/* Selects the function to display first, or returns NOT_FOUND if there are not enough samples yet. */
	enum tally_status (*begin)(void *data, struct annotate_samples *samples, struct annotate_explore *request,
		const struct annotate_target **target, struct tally_error *err);
};

/* Returns when the user quits, with the samples of the whole recording, or of its intact part if the status is an
 * error. If the user quits before everything has been read, the process exits. */
TALLY_MUST_CHECK enum tally_status annotate_load_show(
	const struct annotate_load *load, struct annotate_samples *samples, struct tally_error *err);

#endif
