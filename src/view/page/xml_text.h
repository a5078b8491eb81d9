/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_text.h - writes text into elements and attributes of XML and SVG; it is never markup and always well-formed.
 *
 * Invalid UTF-8, characters that XML 1.0 forbids, and characters that change the direction of the following text become
 * U+FFFD. The caller owns the text, which keeps failures.
 *
 *	text_str(&t, "<title>"); xml_text(&t, STR("a<b")); text_str(&t, "</title>");
 */
#ifndef VIEW_PAGE_XML_TEXT_H
#define VIEW_PAGE_XML_TEXT_H

#include "base/text.h"

void xml_text(struct text *out, struct tally_str s);
/* Writes at most max_characters, the last one of which is an ellipsis if some are left out. */
void xml_text_cut(struct text *out, struct tally_str s, size_t max_characters);

#endif
