/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_load.h - reads the samples of a recording for annotate on a terminal while code is on the screen: the screen
 * shows first the progress, then the code with the samples of the recording's beginning, of more of it, and of all.
 *
 * A thread reads, and the caller's thread draws: the first puts complete parts, and the second takes them. Recordings
 * whose beginning cannot be read by itself (from pipes, compressed, limited to spans of time) show only the progress.
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
	/* Chooses what to show first; NOT_FOUND: there are not enough samples yet. */
	enum tally_status (*begin)(void *data, struct annotate_samples *samples, struct annotate_explore *request,
		const struct annotate_target **target, struct tally_error *err);
};

/* Returns when the user leaves; the samples are then those of the whole recording, or of its intact part, which the
 * status says. If the user leaves before everything is read, the program ends here. */
TALLY_MUST_CHECK enum tally_status annotate_load_show(
	const struct annotate_load *load, struct annotate_samples *samples, struct tally_error *err);

#endif
