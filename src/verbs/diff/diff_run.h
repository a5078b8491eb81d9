/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_run.h - runs a diff request: opens the recordings, joins their rows and prints them. cmd_diff.c parses the
 * options.
 *
 *	enum tally_status status = diff_run(cli, &request, &out, &outcome, err);
 */
#ifndef VERBS_DIFF_DIFF_RUN_H
#define VERBS_DIFF_DIFF_RUN_H

#include "cli/cli.h"
#include "verbs/diff/diff_request.h"

struct diff_outcome { /* The result of --fail-if. */
	size_t failures; /* Number of failing rows and totals. */
	bool is_undecided; /* There are too few recordings or samples to detect a failure. */
};

/* Compares two or more recordings; the first is the baseline. Appends the tables to out, and reports rows that fail
 * --fail-if on standard error. */
TALLY_MUST_CHECK enum tally_status diff_run(const struct cli *cli, const struct diff_request *request, struct text *out,
	struct diff_outcome *outcome, struct tally_error *err);

#endif
