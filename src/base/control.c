/* SPDX-License-Identifier: Apache-2.0 */
#include "base/control.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

#define ESCAPE 0x1b

/* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069: ends of lines, and directions. */
static bool is_format_control(const uint8_t s[3])
{
	if (s[0] != 0xe2)
		return false;
	return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
	       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/* Bytes of the character at s, and of them those that are to be escaped. */
static inline size_t look_at_character(const uint8_t *s, size_t left, size_t *spelled)
{
	if (s[0] < 0x80) {
		*spelled = s[0] < 0x20 || s[0] == 0x7f;
		return 1;
	}
	size_t bytes = utf8_bytes(s, left);
	bool is_control =
		bytes == 0 || (bytes == 2 && s[0] == 0xc2 && s[1] < 0xa0) || (bytes == 3 && is_format_control(s));
	bytes = bytes ? bytes : 1;
	*spelled = is_control ? bytes : 0;
	return bytes;
}

size_t control_bytes(const char *s, size_t left)
{
	size_t spelled;
	(void)look_at_character((const uint8_t *)s, left, &spelled);
	return spelled;
}

/* Whether one of eight bytes may be below the blank, DEL or beyond ASCII: only then they are looked at one by one. */
static inline bool needs_a_look(const char *s)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
	uint64_t word;
	memcpy(&word, s, sizeof(word));
	uint64_t del = word ^ ones * 0x7f;
	return (((word - ones * 0x20) | (del - ones) | word) & high) != 0;
}

size_t control_span(const char *text, size_t len)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t at = 0;
	while (at < len) {
		if (len - at >= sizeof(uint64_t) && !needs_a_look(text + at)) {
			at += sizeof(uint64_t);
			continue;
		}
		size_t spelled, bytes = look_at_character(s + at, len - at, &spelled);
		if (spelled)
			break;
		at += bytes;
	}
	return at;
}

static size_t colour_bytes(const uint8_t *s, size_t left)
{
	size_t at = 2;
	if (left < 3 || s[0] != ESCAPE || s[1] != '[')
		return 0;
	while (at < left && ((s[at] >= '0' && s[at] <= '9') || s[at] == ';'))
		at++;
	return at < left && s[at] == 'm' ? at + 1 : 0;
}

typedef uint8_t control_block __attribute__((vector_size(16)));
typedef int8_t signed_block __attribute__((vector_size(16)));
#define BLOCK_BYTES (4 * sizeof(control_block))

/* Whether a piece of rows has only printable ASCII, line ends and tabs. All output passes through this function and
 * nearly all of it is plain, so each of the two ranges is tested by one addition and one signed comparison. */
static inline bool is_plain_block(const char *s)
{
	signed_block found = {0};
	for (size_t i = 0; i < BLOCK_BYTES; i += sizeof(control_block)) {
		control_block c;
		memcpy(&c, s + i, sizeof(c));
		signed_block not_printable = (signed_block)(c + 1) < 0x21; /* 0x7f and above become negative or zero */
		signed_block line_end_or_tab =
			(signed_block)(c + (0x80 - '\t')) < INT8_MIN + 2; /* the lowest two values */
		found |= not_printable ^ line_end_or_tab;
	}
	uint64_t words[2];
	memcpy(words, &found, sizeof(words));
	return (words[0] | words[1]) == 0;
}

size_t control_rows_span(const char *text, size_t len, char separator)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t at = 0;
	while (at < len) {
		if (len - at >= BLOCK_BYTES && is_plain_block(text + at)) {
			at += BLOCK_BYTES;
			continue;
		}
		at += control_span(text + at, len - at);
		if (at == len)
			break;
		bool is_ours = s[at] == '\n' || s[at] == '\t' || (separator && text[at] == separator);
		size_t ours = is_ours ? 1 : colour_bytes(s + at, len - at);
		if (ours == 0)
			break;
		at += ours;
	}
	return at;
}

size_t control_spell(const char *s, size_t left, char word[CONTROL_WORD])
{
	size_t bytes = control_bytes(s, left);
	for (size_t i = 0; i < bytes; i++)
		snprintf(word + 4 * i, 5, "\\x%02x", (unsigned)(uint8_t)s[i]);
	return bytes;
}

size_t control_message_span(const char *format, const char *s, size_t len)
{
	bool has_lines = strchr(format, '\n') || strcmp(format, "%s") == 0;
	size_t at = 0;
	while ((at += control_span(s + at, len - at)) < len && has_lines && (s[at] == '\n' || s[at] == '\t'))
		at++;
	return at;
}

void control_spell_message(const char *format, char *message, size_t room)
{
	size_t len = strlen(message), at = 0;
	while ((at += control_message_span(format, message + at, len - at)) < len) {
		char word[CONTROL_WORD];
		size_t used = control_spell(message + at, len - at, word), width = strlen(word);
		if (at + width >= room) {
			message[at] = '\0';
			return;
		}
		size_t tail = len - at - used;
		tail = MIN(tail, room - 1 - at - width);
		memmove(message + at + width, message + at + used, tail);
		memcpy(message + at, word, width);
		at += width;
		len = at + tail;
		message[len] = '\0';
	}
}
