/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_counts.h - writes the counts of a recording for the page: the counted events, and each round.
 *
 * [[[name, unit, least share in percent, and, if not counted everywhere, the place], ...], [[end in s (-1 for the
 * totals), duration in s, [value or null, ...]], ...], rounds left out]; null if there are no counts. Events without a
 * value that were added to another are left out. Names are not trusted: they are written as JSON strings. It borrows
 * the counts; the text keeps failures.
 *
 *	page_counts(out, view->counts);
 */
#ifndef VIEW_HTML_PAGE_COUNTS_H
#define VIEW_HTML_PAGE_COUNTS_H

#include "view/export/export_view.h"

/* counts is NULL if there are none. */
void page_counts(struct text *out, const struct export_counts *counts);

#endif
