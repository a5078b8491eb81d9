/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - defines slices of bytes and of text: a pointer and a length, borrowed, not NUL-terminated.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

struct tally_bytes {
	const uint8_t *data;
	size_t len;
};

struct tally_str {
	const char *data;
	size_t len;
};

#define STR(literal) ((struct tally_str){"" literal, sizeof(literal) - 1})

static inline struct tally_str str_from(const char *text)
{
	return (struct tally_str){text, text ? strlen(text) : 0};
}
static inline bool str_equal(struct tally_str a, struct tally_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}
static inline bool bytes_equal(struct tally_bytes a, struct tally_bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}
/* The bytes from begin on, at most so many. */
static inline struct tally_bytes bytes_part(struct tally_bytes b, size_t begin, size_t most)
{
	if (begin >= b.len)
		return (struct tally_bytes){b.data, 0};
	size_t rest = b.len - begin;
	return (struct tally_bytes){b.data + begin, MIN(rest, most)};
}

/* Inline, because prefix is nearly always a literal, for which the compiler emits one or two comparisons. */
static inline bool str_starts_with(struct tally_str text, struct tally_str prefix)
{
	return text.len >= prefix.len && memcmp(text.data, prefix.data, prefix.len) == 0;
}
static inline bool str_ends_with(struct tally_str text, struct tally_str suffix)
{
	return text.len >= suffix.len && memcmp(text.data + text.len - suffix.len, suffix.data, suffix.len) == 0;
}
/* Shell-style * ? [set] match over the whole text, iterative. */
bool str_glob(struct tally_str pattern, struct tally_str text);
/* Decimal, 0x hex or 0 octal (base 0) or the given base; the whole text must be the number. */
bool str_to_u64(struct tally_str text, int base, uint64_t *value);
struct tally_str str_trim(struct tally_str text);
/* Splits off the part before the first separator; false when rest is used up. rest shrinks. */
bool str_next(struct tally_str *rest, char separator, struct tally_str *part);
/* The next item of a comma-separated list ("a, b,"), without the blanks around it. A comma at the end does not begin
 * another item, and an empty list has no items. */
bool str_next_item(struct tally_str *rest, struct tally_str *item);
/* The length in bytes of the multi-byte UTF-8 sequence at s, or 0 if there is no valid one: no overlong forms, no
 * surrogates, nothing beyond U+10FFFF. */
size_t utf8_bytes(const uint8_t *s, size_t left);
/* Writes a character of Unicode as UTF-8; returns its length in bytes. */
size_t utf8_put(uint32_t character, uint8_t bytes[4]);
uint64_t bytes_hash(const void *data, size_t len);

#endif
