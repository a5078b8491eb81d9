/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes_text.h - prints a diff with several recordings of each side: for each row its shares, the change with
 * confidence interval and p value, and the noise.
 *
 *	changes_text_rows(&out, &diff, &changes, &options, err);
 */
#ifndef VIEW_TEXT_CHANGES_TEXT_H
#define VIEW_TEXT_CHANGES_TEXT_H

#include "profile/diff/diff_changes.h"
#include "view/text/diff_text.h"

/* Prints a change: "+3.02%", "new" or "gone". */
void changes_text_change(struct text *out, const struct diff_change *change);
/* Prints an interval such as "[+2.71%, +3.33%]", or nothing if there is none. */
void changes_text_interval(struct text *out, const struct diff_change *change);
/* Prints a p value: "0.0012", "<0.0001". */
void changes_text_p(struct text *out, double p);
/* Returns "more", "less", "undecided" or an empty string. */
const char *changes_text_verdict(enum diff_verdict verdict);
TALLY_MUST_CHECK enum tally_status changes_text_rows(struct text *out, const struct diff_table *diff,
	const struct diff_changes *changes, const struct diff_text_options *options, struct tally_error *err);

#endif
