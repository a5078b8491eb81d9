/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - writes JSON in a stream: nested objects and arrays, one item per line and indented by tabs, or all on one
 * line.
 *
 * The text is the caller's (a sink may flush it between items) and fails stickily, which is the only failure. Strings
 * become valid JSON whatever they contain: control characters (control.h) are escaped, and invalid UTF-8 is replaced by
 * U+FFFD. A key is NULL inside an array and for the outermost value. One thread.
 *
 *	struct json j = {.out = &text};
 *	json_object(&j, NULL);
 *	json_u64(&j, "version", 1);
 *	json_array(&j, "names"); json_string(&j, NULL, STR("a")); json_array_end(&j);
 *	json_object_end(&j);
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/text.h"

struct json {
	struct text *out;
	unsigned depth;
	bool has_item; /* at this depth */
	bool is_compact; /* one line for each outermost value */
	const char *colon, *comma; /* after keys and between items; NULL: ": " and "," */
};

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_string(struct json *j, const char *key, struct tally_str value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
/* With so many decimals; the value is finite. */
void json_fixed(struct json *j, const char *key, double value, unsigned decimals);
void json_bool(struct json *j, const char *key, bool value);
/* Writes "0x1f": a string, for numbers that readers would round. */
void json_hex(struct json *j, const char *key, uint64_t value);
/* Writes a number that has been formatted already. */
void json_digits(struct json *j, const char *key, struct tally_str digits);
/* Only the string, with its quotation marks, for callers that write the rest themselves. ASCII characters in `more` are
 * written as \u escapes. */
void json_text(struct text *out, struct tally_str value, const char *more);
/* As json_string, for a key that is no C string. */
void json_member(struct json *j, struct tally_str key, struct tally_str value);

#endif
