/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes_text.h - prints what several recordings of each side say about each row: shares, change, interval, p, noise.
 *
 *	changes_text_rows(&out, &diff, &changes, &options, err);
 */
#ifndef VIEW_TEXT_CHANGES_TEXT_H
#define VIEW_TEXT_CHANGES_TEXT_H

#include "profile/diff/diff_changes.h"
#include "view/text/diff_text.h"

/* "+3.02%", "new" or "gone". */
void changes_text_change(struct text *out, const struct diff_change *change);
/* "[+2.71%, +3.33%]", or nothing. */
void changes_text_interval(struct text *out, const struct diff_change *change);
/* "0.0012", "<0.0001". */
void changes_text_p(struct text *out, double p);
/* "more", "less", or nothing. */
const char *changes_text_verdict(enum diff_verdict verdict);
TALLY_MUST_CHECK enum tally_status changes_text_rows(struct text *out, const struct diff_table *diff,
	const struct diff_changes *changes, const struct diff_text_options *options, struct tally_error *err);

#endif
