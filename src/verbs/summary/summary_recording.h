/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_recording.h - reads a recording for a summary: its profile, the summarised event, and its functions as rows.
 *
 *	struct summary_recording recording;
 *	status = summary_recording_open(cli, &input, event, &recording, err);
 *	summary_recording_close(&recording);
 */
#ifndef VERBS_SUMMARY_SUMMARY_RECORDING_H
#define VERBS_SUMMARY_SUMMARY_RECORDING_H

#include "analysis/health.h"
#include "analysis/replay/replay.h"
#include "profile/flat/flat_table.h"
#include "tasks/session/data_source.h"

#define SUMMARY_KEYS 2

struct summary_recording {
	struct data_source source;
	struct replay_result result;
	uint32_t event;
	struct flat_table functions; /* Grouped by symbol and DSO, sorted by self period. */
	bool has_functions;
	struct recording_health health;
	bool has_health;
	bool is_empty; /* Set if opening it failed because no event has samples; the health is known nevertheless. */
	bool is_damaged; /* Only a part could be read. */
	struct tally_error damage; /* Describes the damage if is_damaged is set. */
};

extern const enum profile_key summary_keys[SUMMARY_KEYS];

/* Reads the recording. If event is NULL, the first event with samples is selected. Returns NOT_FOUND if there are no
 * samples of the event. Of a damaged recording, the intact part is read. The caller closes the recording, also after a
 * failure. */
TALLY_MUST_CHECK enum tally_status summary_recording_open(const struct cli *cli, const struct data_input *input,
	const char *event, struct summary_recording *recording, struct tally_error *err);
void summary_recording_close(struct summary_recording *recording);

#endif
