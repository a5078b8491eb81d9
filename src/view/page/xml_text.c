/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page/xml_text.h"

#include "base/array.h"

#define XML_TEXT_REPLACEMENT "\xef\xbf\xbd"

static const char *xml_text_entity(uint8_t c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return c == 0x7f || (c < 0x20 && c != '\n' && c != '\t') ? XML_TEXT_REPLACEMENT : NULL;
	}
}

/* Returns whether the character is U+FFFE, U+FFFF, a C1 control, or a bidirectional control: U+200E, U+200F, U+202A to
 * U+202E, U+2066 to U+2069. */
static bool is_refused(const uint8_t *s, size_t len)
{
	if (len == 2)
		return s[0] == 0xc2 && s[1] < 0xa0;
	if (len != 3)
		return false;
	if (s[0] == 0xef && s[1] == 0xbf)
		return s[2] >= 0xbe;
	if (s[0] != 0xe2)
		return false;
	return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xaa && s[2] <= 0xae))) ||
	       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/* Appends one character and returns how many bytes it has in s. */
static size_t xml_text_add_character(struct text *out, const uint8_t *s, size_t left)
{
	size_t len = s[0] < 0x80 ? 1 : utf8_bytes(s, left);
	if (len == 0 || is_refused(s, len)) {
		text_str(out, XML_TEXT_REPLACEMENT);
		return len ? len : 1;
	}
	const char *instead = len == 1 ? xml_text_entity(s[0]) : NULL;
	if (instead)
		text_str(out, instead);
	else
		text_bytes(out, (const char *)s, len);
	return len;
}

void xml_text(struct text *out, struct tally_str s)
{
	xml_text_cut(out, s, SIZE_MAX);
}

void xml_text_cut(struct text *out, struct tally_str s, size_t max_characters)
{
	size_t at = 0, last = 0, shown = 0; /* last: length of out before the last character that fits. */
	while (at < s.len) {
		if (shown == max_characters) {
			out->len = MIN(out->len, last);
			text_str(out, "\xe2\x80\xa6");
			return;
		}
		last = out->len;
		at += xml_text_add_character(out, (const uint8_t *)s.data + at, s.len - at);
		shown++;
	}
}
