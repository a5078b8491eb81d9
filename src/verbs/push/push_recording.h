/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push_recording.h - makes a batch of a recording: its samples added up, with the labels of the machine that it was
 * recorded on.
 *
 * The batch's ID is a hash of the recording's bytes and of the labels, so that a recording counts once however often it
 * is pushed. The window is the time from the first sample to the last, by the recording's clock data; without these it
 * ends when the file was last written, and a note says so.
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
	const struct fleet_label *labels; /* of the user */
	size_t label_count;
};

/* NOT_FOUND: the recording has no samples. */
TALLY_MUST_CHECK enum tally_status push_recording_batch(
	const struct cli *cli, const struct push_request *request, struct fleet_batch **batch, struct tally_error *err);

#endif
