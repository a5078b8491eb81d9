/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_text.h - writes text into XML and SVG, in elements and attributes: never markup, always well-formed.
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
/* At most so many characters, the last one an ellipsis where some are left out. */
void xml_text_cut(struct text *out, struct tally_str s, size_t max_characters);

#endif
