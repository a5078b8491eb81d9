/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <string.h>

#include "base/array.h"
#include "base/control.h"

#define REPLACEMENT "\\ufffd"

static void json_put_code(struct text *t, uint32_t code)
{
	text_str(t, "\\u");
	text_hex(t, code, 4);
}

static void put_escaped(struct text *t, uint8_t c)
{
	static const char letters[][3] = {"\"\"", "\\\\", "\bb", "\ff", "\nn", "\rr", "\tt"};
	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if ((uint8_t)letters[i][0] == c) {
			text_char(t, '\\');
			text_char(t, letters[i][1]);
			return;
		}
	json_put_code(t, c);
}

/* Decodes a valid character of two or three bytes. */
static uint32_t code_of(const uint8_t *s, size_t bytes)
{
	return bytes == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
			  : (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

static uint64_t eight_bytes(const uint8_t *s)
{
	uint64_t word;
	memcpy(&word, s, sizeof(word));
	return word;
}

/* Returns the first four and the last four bytes, which may overlap. */
static uint64_t ends_of_bytes(const uint8_t *s, size_t len)
{
	uint32_t words[2];
	memcpy(&words[0], s, sizeof(words[0]));
	memcpy(&words[1], s + len - sizeof(words[1]), sizeof(words[1]));
	return (uint64_t)words[1] << 32 | words[0];
}

/* True if none of the eight characters is '"' or '\\', below a blank, or above '~'. */
static bool json_is_plain_word(uint64_t word)
{
	uint64_t quote = word ^ EACH_BYTE * '"', backslash = word ^ EACH_BYTE * '\\', delete = word ^ EACH_BYTE * 0x7f;
	/* The highest bit of a byte is set if the byte is too small, too large, or became zero above. */
	uint64_t found =
		word | (word - EACH_BYTE * ' ') | (quote - EACH_BYTE) | (backslash - EACH_BYTE) | (delete - EACH_BYTE);
	return (found & EACH_BYTE * 0x80) == 0;
}

/* Returns the number of leading characters that need no escape. */
static size_t json_plain_bytes(const uint8_t *s, size_t len)
{
	size_t i = 0;
	while (len - i >= sizeof(uint64_t) && json_is_plain_word(eight_bytes(s + i)))
		i += sizeof(uint64_t);
	if (i > 0 && len - i < sizeof(uint64_t) && json_is_plain_word(eight_bytes(s + len - sizeof(uint64_t))))
		return len;
	if (i == 0 && len >= sizeof(uint32_t) && len < sizeof(uint64_t) && json_is_plain_word(ends_of_bytes(s, len)))
		return len;
	while (i < len && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

/* Bytes that json_plain_before searches at once: with all of a long text, each of its many parts would be searched to
 * the end of the text. */
#define PART_BYTES 256

/* Like json_plain_bytes, but also stops at a character in more. */
static size_t json_plain_before(const uint8_t *s, size_t len, const char *more)
{
	size_t at = 0, plain, part;
	if (!*more || len == 0)
		return json_plain_bytes(s, len);
	do {
		part = MIN(len - at, PART_BYTES);
		plain = json_plain_bytes(s + at, part);
		for (const char *c = more; *c; c++) {
			/* Characters that need an escape anyway are never in the plain part. */
			bool may_come = *c >= ' ' && *c != '"' && *c != '\\';
			const uint8_t *found = may_come ? memchr(s + at, *c, plain) : NULL;
			plain = found ? (size_t)(found - s) - at : plain;
		}
		at += plain;
	} while (plain == part && at < len);
	return at;
}

/* Appends a text that needs no escapes. */
static void put_plain(struct text *t, struct tally_str value)
{
	char *to = text_room(t, value.len + 2);
	if (!to)
		return;
	to[0] = '"';
	memcpy(to + 1, value.data, value.len);
	to[value.len + 1] = '"';
	t->len += value.len + 2;
}

static void put_spelled(struct text *t, struct tally_str value, size_t first, const char *more)
{
	const uint8_t *s = (const uint8_t *)value.data;
	size_t plain = 0; /* Start of the characters that are not written yet, which need no escapes. */
	text_char(t, '"');
	for (size_t i = first; i < value.len; i += json_plain_before(s + i, value.len - i, more)) {
		bool is_ascii = s[i] < 0x80, is_more = is_ascii && s[i] && strchr(more, s[i]);
		size_t bytes = control_bytes(value.data + i, value.len - i);
		if (bytes == 0 && s[i] != '"' && s[i] != '\\' && !is_more) {
			i += is_ascii ? 1 : utf8_bytes(s + i, value.len - i);
			continue;
		}
		text_bytes(t, value.data + plain, i - plain);
		if (is_more)
			json_put_code(t, s[i]);
		else if (is_ascii)
			put_escaped(t, s[i]);
		else if (bytes == 1)
			text_str(t, REPLACEMENT);
		else
			json_put_code(t, code_of(s + i, bytes));
		i += bytes ? bytes : 1;
		plain = i;
	}
	if (value.len > plain)
		text_bytes(t, value.data + plain, value.len - plain);
	text_char(t, '"');
}

void json_text(struct text *t, struct tally_str value, const char *more)
{
	size_t plain = json_plain_before((const uint8_t *)value.data, value.len, more);
	if (plain == value.len && value.len > 0)
		put_plain(t, value);
	else
		put_spelled(t, value, plain, more);
}

static void begin_line(struct json *j)
{
	if (j->is_compact)
		return;
	text_char(j->out, '\n');
	text_repeat(j->out, '\t', j->depth);
}

static void begin_item(struct json *j, struct tally_str key)
{
	if (j->has_item)
		text_str(j->out, j->comma ? j->comma : ",");
	if (j->depth > 0)
		begin_line(j);
	j->has_item = true;
	if (!key.data)
		return;
	json_text(j->out, key, "");
	text_str(j->out, j->colon ? j->colon : ": ");
}

static void open_nested(struct json *j, const char *key, char bracket)
{
	begin_item(j, str_from(key));
	text_char(j->out, bracket);
	j->depth++;
	j->has_item = false;
}

static void close_nested(struct json *j, char bracket)
{
	j->depth--;
	begin_line(j);
	text_char(j->out, bracket);
	j->has_item = j->depth > 0;
	if (j->depth == 0)
		text_char(j->out, '\n');
}

void json_object(struct json *j, const char *key)
{
	open_nested(j, key, '{');
}

void json_object_end(struct json *j)
{
	close_nested(j, '}');
}

void json_array(struct json *j, const char *key)
{
	open_nested(j, key, '[');
}

void json_array_end(struct json *j)
{
	close_nested(j, ']');
}

void json_member(struct json *j, struct tally_str key, struct tally_str value)
{
	begin_item(j, key);
	json_text(j->out, value, "");
}

void json_string(struct json *j, const char *key, struct tally_str value)
{
	json_member(j, str_from(key), value);
}

void json_digits(struct json *j, const char *key, struct tally_str digits)
{
	begin_item(j, str_from(key));
	text_bytes(j->out, digits.data, digits.len);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	begin_item(j, str_from(key));
	text_u64(j->out, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	begin_item(j, str_from(key));
	text_i64(j->out, value);
}

void json_fixed(struct json *j, const char *key, double value, unsigned decimals)
{
	begin_item(j, str_from(key));
	text_fixed(j->out, value, decimals);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_item(j, str_from(key));
	text_str(j->out, value ? "true" : "false");
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	begin_item(j, str_from(key));
	text_str(j->out, "\"0x");
	text_hex(j->out, value, 0);
	text_char(j->out, '"');
}
