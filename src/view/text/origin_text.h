/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin_text.h - prints the columns that verbose reports have before a symbol, as in perf: its address, and a letter
 * for the origin of the DSO's symbols.
 *
 * Internal to view/text, for cells of symbols.
 */
#ifndef VIEW_TEXT_ORIGIN_TEXT_H
#define VIEW_TEXT_ORIGIN_TEXT_H

#include "view/text/report_layout.h"

/* Prints nothing unless the report is verbose. binary is PROFILE_NONE if there is none. */
void report_origin(const struct report_layout *l, struct text *out, uint32_t binary, uint64_t address);
size_t report_origin_width(const struct report_layout *l);

#endif
