/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_run.h - runs a diff request: opens the recordings, joins their rows, prints. It does not parse options;
 * cmd_diff.c does.
 *
 *	enum tally_status status = diff_run(cli, &request, &out, &outcome, err);
 */
#ifndef VERBS_DIFF_DIFF_RUN_H
#define VERBS_DIFF_DIFF_RUN_H

#include "cli/cli.h"
#include "verbs/diff/diff_request.h"

struct diff_outcome { /* of --fail-if */
	size_t failures; /* what it names */
	bool is_undecided; /* there is none, but there are too few recordings to show one */
};

/* Two recordings or more, the first of them the baseline. failures: the rows that --fail-if names, which are
 * reported on standard error. */
TALLY_MUST_CHECK enum tally_status diff_run(const struct cli *cli, const struct diff_request *request, struct text *out,
	struct diff_outcome *outcome, struct tally_error *err);

#endif
