/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_compact.h - prints an annotated function in the layout of `perf annotate --stdio2`: names instead of
 * addresses, arrows at jumps, calls and returns, and offsets at the targets of jumps.
 *
 *	annotate_compact(&out, &function, &options);
 */
#ifndef VIEW_TEXT_ANNOTATE_COMPACT_H
#define VIEW_TEXT_ANNOTATE_COMPACT_H

#include "view/text/annotate_lines.h"

void annotate_compact(
	struct text *out, const struct annotate_function *function, const struct annotate_text_options *options);

#endif
