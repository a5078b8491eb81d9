/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_explore.h - runs top on the screen: report's interactive explorer, with a profile that is refreshed periodically.
 *
 * The selected row and the expanded rows are preserved by refreshes, even if they move.
 *
 *	status = top_explore(&view, &notes, signal_fd, err);	// returns when the user quits, or signal_fd is readable
 */
#ifndef VERBS_TOP_TOP_EXPLORE_H
#define VERBS_TOP_TOP_EXPLORE_H

#include "base/diag.h"
#include "verbs/top/top_view.h"

TALLY_MUST_CHECK enum tally_status top_explore(
	struct top_view *view, struct diag *notes, int signal_fd, struct tally_error *err);

#endif
