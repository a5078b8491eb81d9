/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_counts.h - writes the counts of a recording for the page: the counted events, and each round.
 *
 * [[[name, unit, least share in percent, and where it was counted, if not everywhere], ...], [[end in s (-1: the
 * totals), how long in s, [value or null, ...]], ...], rounds left out]; null if there are no counts. Events without a
 * value that were added to another are left out. Names are not trusted: they are written as JSON strings. It borrows
 * the counts; the text keeps failures.
 *
 *	page_counts(out, view->counts);
 */
#ifndef VIEW_HTML_PAGE_COUNTS_H
#define VIEW_HTML_PAGE_COUNTS_H

#include "view/export/export_view.h"

/* counts NULL: none. */
void page_counts(struct text *out, const struct export_counts *counts);

#endif
