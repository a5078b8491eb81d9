/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_counts.h - the counts of a recording, as the page has them: what was counted, and each round of it.
 *
 * [[[name, unit, least share in percent, and where it was counted, if not everywhere], ...], [[end in s (-1: the totals), how long in s, [value or null, ...]], ...],
 * rounds left out]; null where there are no counts. Events without a value that were added to another are left out. Names
 * are hostile: they are strings of JSON. Borrows the counts; failures are the text's.
 *
 *	page_counts(out, view->counts);
 */
#ifndef VIEW_HTML_PAGE_COUNTS_H
#define VIEW_HTML_PAGE_COUNTS_H

#include "view/export/export_view.h"

/* counts NULL: none. */
void page_counts(struct text *out, const struct export_counts *counts);

#endif
