/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_settings.h - holds what a `fleet` command line asks for, and asks the store for it.
 *
 * A value that borrows the command line; the question borrows the settings.
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

/* Of the query, or of the baseline. INVALID: a time is none, or the span is empty. */
TALLY_MUST_CHECK enum tally_status fleet_settings_question(const struct fleet_settings *settings, const char *query,
	uint64_t now_ns, struct fleet_question *question, struct tally_error *err);
bool fleet_settings_have_baseline(const struct fleet_settings *settings);
TALLY_MUST_CHECK enum tally_status fleet_settings_baseline(const struct fleet_settings *settings, const char *query,
	uint64_t now_ns, struct fleet_question *question, struct tally_error *err);
/* What the question is about, for titles: "service=\"api\"" or "all samples". */
struct tally_str fleet_settings_title(const struct fleet_question *question);

#endif
