/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_text.h - prints an annotated function in the layout of `perf annotate --stdio`, or in the compact one of
 * --stdio2.
 *
 * Appends to a text that the caller owns and flushes.
 *
 *	annotate_text(&out, &function, &options);
 */
#ifndef VIEW_TEXT_ANNOTATE_TEXT_H
#define VIEW_TEXT_ANNOTATE_TEXT_H

#include "view/text/annotate_lines.h"

/* Prints the hottest source lines, in descending order. */
void annotate_text_places(
	struct text *out, const struct annotate_function *function, const struct annotate_text_options *options);
void annotate_text(
	struct text *out, const struct annotate_function *function, const struct annotate_text_options *options);

#endif
