/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push_recording.h - converts a recording to a batch: its samples added up, with the labels of the machine on which it
 * was recorded.
 *
 * The batch's ID is a hash of the recording's bytes and the labels, so that a recording counts once even if it is
 * pushed repeatedly. The window is the time from the first sample to the last, converted by the recording's clock data.
 * Without clock data, the window ends when the file was last written, and a note is printed.
 *
 *	push_recording_batch(cli, &request, &batch, err);   fleet_batch_destroy(batch);
 */
#ifndef VERBS_PUSH_PUSH_RECORDING_H
#define VERBS_PUSH_PUSH_RECORDING_H

#include "cli/cli.h"
#include "fleet/batch.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/symbol_options.h"

struct push_request {
	const char *path;
	bool force;
	const struct symbol_options *symbols;
	const struct fleet_label *labels; /* Labels given by the user. */
	size_t label_count;
};

/* Returns NOT_FOUND if the recording has no samples. */
TALLY_MUST_CHECK enum tally_status push_recording_batch(
	const struct cli *cli, const struct push_request *request, struct fleet_batch **batch, struct tally_error *err);

#endif
