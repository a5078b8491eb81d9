/* SPDX-License-Identifier: Apache-2.0 */
#include "base/control.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

#define ESCAPE 0x1b

/* Recognizes line separators and direction marks: U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool is_format_control(const uint8_t s[3])
{
	if (s[0] != 0xe2)
		return false;
	return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
	       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/* Returns the size of the character at s in bytes; *spelled is the number of them that must be escaped. */
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

/* True if one of eight bytes may be below the blank, DEL or not ASCII; only then they are checked one by one. */
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
		/* The last eight bytes are checked together, although some of them were checked before. */
		if (len - at < sizeof(uint64_t) && len >= sizeof(uint64_t) &&
			!needs_a_look(text + len - sizeof(uint64_t)))
			return len;
		size_t spelled, bytes = look_at_character(s + at, len - at, &spelled);
		if (spelled)
			break;
		at += bytes;
	}
	return at;
}

size_t control_colour_bytes(const char *s, size_t left)
{
	size_t at = 2;
	if (left < 3 || s[0] != ESCAPE || s[1] != '[')
		return 0;
	while (at < left && ((s[at] >= '0' && s[at] <= '9') || s[at] == ';'))
		at++;
	return at < left && s[at] == 'm' ? at + 1 : 0;
}

#define CONTROL_BLOCK_BYTES 128

/*
 * NAME(s, len) returns how many leading bytes, in whole blocks, are only printable ASCII, line ends and tabs. All
 * output passes through it and nearly all of it is such text, so each of the two ranges is tested by one addition or
 * subtraction and one signed comparison, for as many bytes at once as the CPU can.
 */
#define DEFINE_PLAIN_BLOCKS(NAME, VECTOR_BYTES)                                                 \
	static size_t NAME(const char *s, size_t len)                                           \
	{                                                                                       \
		typedef uint8_t block __attribute__((vector_size(VECTOR_BYTES)));               \
		typedef int8_t signed_block __attribute__((vector_size(VECTOR_BYTES)));         \
		size_t at = 0;                                                                  \
		for (; len - at >= CONTROL_BLOCK_BYTES; at += CONTROL_BLOCK_BYTES) {            \
			signed_block plain = ~(signed_block){0};                                \
			for (size_t i = at; i < at + CONTROL_BLOCK_BYTES; i += sizeof(block)) { \
				block c;                                                        \
				memcpy(&c, s + i, sizeof(c));                                   \
				plain &= ((signed_block)(c + 1) > 0x20) |                       \
					 ((signed_block)(INT8_MAX + '\t' - c) > INT8_MAX - 2);  \
			}                                                                       \
			uint64_t words[sizeof(block) / sizeof(uint64_t)], all = UINT64_MAX;     \
			memcpy(words, &plain, sizeof(words));                                   \
			for (size_t i = 0; i < ARRAY_LEN(words); i++)                           \
				all &= words[i];                                                \
			if (all != UINT64_MAX)                                                  \
				break;                                                          \
		}                                                                               \
		return at;                                                                      \
	}

DEFINE_PLAIN_BLOCKS(plain_blocks_anywhere, 16)
#if defined(__x86_64__)
__attribute__((target("avx2"))) DEFINE_PLAIN_BLOCKS(plain_blocks_avx2, 32)
#endif

	static size_t plain_blocks(const char *s, size_t len)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return plain_blocks_avx2(s, len);
#endif
	return plain_blocks_anywhere(s, len);
}

size_t control_rows_span(const char *text, size_t len, char separator, bool has_colours)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t at = 0;
	while (at < len) {
		at += plain_blocks(text + at, len - at);
		at += control_span(text + at, len - at);
		if (at == len)
			break;
		bool is_ours = s[at] == '\n' || s[at] == '\t' || (separator && text[at] == separator);
		size_t ours = is_ours ? 1 : has_colours ? control_colour_bytes(text + at, len - at) : 0;
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
