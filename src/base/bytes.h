/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - defines slices of bytes and of text, which consist of a pointer and a length, borrow the memory, and are
 * not NUL-terminated.
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
/* Returns the bytes from begin on, at most `most` of them. */
static inline struct tally_bytes bytes_part(struct tally_bytes b, size_t begin, size_t most)
{
	if (begin >= b.len)
		return (struct tally_bytes){b.data, 0};
	size_t rest = b.len - begin;
	return (struct tally_bytes){b.data + begin, MIN(rest, most)};
}

/*
 * This function is inline, because prefix is nearly always a literal, for which the compiler emits one or two
 * comparisons.
 */
static inline bool str_starts_with(struct tally_str text, struct tally_str prefix)
{
	return text.len >= prefix.len && memcmp(text.data, prefix.data, prefix.len) == 0;
}
static inline bool str_ends_with(struct tally_str text, struct tally_str suffix)
{
	return text.len >= suffix.len && memcmp(text.data + text.len - suffix.len, suffix.data, suffix.len) == 0;
}
/*
 * Returns true if the whole text matches a shell pattern with *, ?, [set], [!set] and \ before a literal character.
 * Does not recurse.
 */
bool str_glob(struct tally_str pattern, struct tally_str text);
/*
 * Parses a number in the given base; base 0 accepts decimal, hexadecimal (0x1f) and octal (017) numbers. Returns false
 * if the whole text is not a number of 64 bits.
 */
bool str_to_u64(struct tally_str text, int base, uint64_t *value);
struct tally_str str_trim(struct tally_str text);
/*
 * Splits off the part before the first separator, and advances rest; the last part may be empty. Returns false after
 * the last part.
 */
bool str_next(struct tally_str *rest, char separator, struct tally_str *part);
/*
 * Splits off the next item of a comma-separated list ("a, b,"), without surrounding blanks. A comma at the end does not
 * begin another item, and an empty list has no items.
 */
bool str_next_item(struct tally_str *rest, struct tally_str *item);
/*
 * Returns the length in bytes of the UTF-8 sequence of a character beyond ASCII at s, where left, the number of
 * available bytes, is at least 1. Returns 0 if there is an ASCII character, or the sequence is truncated or invalid
 * (overlong, a surrogate, or beyond U+10FFFF).
 */
size_t utf8_bytes(const uint8_t *s, size_t left);
/* Writes a Unicode character as UTF-8, and returns its length in bytes. */
size_t utf8_put(uint32_t character, uint8_t bytes[4]);
uint64_t bytes_hash(const void *data, size_t len);

#endif
