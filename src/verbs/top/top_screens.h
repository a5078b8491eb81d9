/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_screens.h - shows the screens of top other than its table: code, call trees and flame graphs, refreshed with the
 * profile.
 *
 *	x.code = top_screens_code(&x);
 *	top_screens_show(&x, EXPLORER_FLAME, err);   // returns when the user goes back, or quits (x.leaves)
 */
#ifndef VERBS_TOP_TOP_SCREENS_H
#define VERBS_TOP_TOP_SCREENS_H

#include "verbs/top/top_state.h"

/* Returns the code view, which must be stored in x->code before the other functions are called. */
struct top_code top_screens_code(struct top_state *x);
TALLY_MUST_CHECK enum tally_status top_screens_show(
	struct top_state *x, enum explorer_action action, struct tally_error *err);
/* Shows the hierarchy of --hierarchy, a level for each sort key. Going back from it leads to the table. */
TALLY_MUST_CHECK enum tally_status top_screens_show_levels(struct top_state *x, struct tally_error *err);
/* Shows the code of the function of --sym-annotate, once it has samples. */
TALLY_MUST_CHECK enum tally_status top_screens_show_asked(struct top_state *x, struct tally_error *err);

#endif
