/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_load.h - reads the samples of a recording for annotate on a terminal while code is on the screen: the screen
 * shows first the progress, then the code with the samples of the recording's beginning, of more of it, and of all.
 *
 * A thread reads; the screen is the caller's thread's. Parts are made whole by the one and taken by the other.
 * Recordings of which no beginning can be had by itself (from pipes, compressed, limited to spans of time) show how far
 * it is.
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
	struct annotate_explore explore; /* how it looks */
	void *data;
	/* What shows first of samples; NOT_FOUND: they are not enough. */
	enum tally_status (*begin)(void *data, struct annotate_samples *samples, struct annotate_explore *request,
		const struct annotate_target **target, struct tally_error *err);
};

/* Returns when the user leaves; the samples are then all of the recording's, or as far as it is not damaged, which is told
 * by the status as well. Who leaves before all is read ends the program here. */
TALLY_MUST_CHECK enum tally_status annotate_load_show(
	const struct annotate_load *load, struct annotate_samples *samples, struct tally_error *err);

#endif
