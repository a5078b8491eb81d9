/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_settings.h - holds the options of a `fleet` command line, and converts them to questions for the store.
 *
 * The settings borrow the command line, and a question borrows the settings.
 *
 *	fleet_settings_question(&settings, "service=\"api\"", now_ns, &question, err);
 */
#ifndef VERBS_FLEET_FLEET_SETTINGS_H
#define VERBS_FLEET_FLEET_SETTINGS_H

#include "cli/cli.h"
#include "tasks/fleet/batch_view.h"
#include "tasks/fleet/fleet_store.h"

struct fleet_settings {
	struct fleet_store_options from;
	const char *since, *until, *event, *by, *output;
	const char *baseline, *baseline_since, *baseline_until;
	struct report_request report;
	bool is_svg, is_folded, counts_samples;
};

/* Makes the question for query. Returns INVALID if a time cannot be parsed or the time span is empty. */
TALLY_MUST_CHECK enum tally_status fleet_settings_question(const struct fleet_settings *settings, const char *query,
	uint64_t now_ns, struct fleet_question *question, struct tally_error *err);
bool fleet_settings_have_baseline(const struct fleet_settings *settings);
/* Makes the question for the baseline. Where the baseline has no query or times of its own, those of the main question
 * apply. */
TALLY_MUST_CHECK enum tally_status fleet_settings_baseline(const struct fleet_settings *settings, const char *query,
	uint64_t now_ns, struct fleet_question *question, struct tally_error *err);
/* Returns the query as a title, such as "service=\"api\"", or "all samples". */
struct tally_str fleet_settings_title(const struct fleet_question *question);

#endif
