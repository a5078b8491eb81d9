/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_text.h - prints top as text: the header and rows of perf top --stdio, once for each refresh. The screen is
 * cleared only on a terminal.
 *
 *	top_text_print(&view, is_terminal, &out, err);
 */
#ifndef VERBS_TOP_TOP_TEXT_H
#define VERBS_TOP_TOP_TEXT_H

#include "verbs/top/top_view.h"

TALLY_MUST_CHECK enum tally_status top_text_print(
	struct top_view *view, bool is_terminal, struct text *out, struct tally_error *err);

#endif
