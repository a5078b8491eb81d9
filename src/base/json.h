/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - writes JSON as a stream of nested objects and arrays, one item per line and indented by tabs, or all on one
 * line.
 *
 * The text belongs to the caller, who may flush it between items; its sticky failure is the only error. All strings
 * become valid JSON: control characters (control.h) are escaped, and invalid UTF-8 is replaced by U+FFFD. A key is NULL
 * inside an array and for the outermost value. Used by one thread.
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
	bool has_item; /* True if the innermost object or array has an item. */
	bool is_compact; /* Writes each outermost value on one line. */
	const char *colon, *comma; /* Separators after keys and between items; NULL for ": " and ",". */
};

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_string(struct json *j, const char *key, struct tally_str value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
/* Writes a number with the given number of decimals; value must be finite. */
void json_fixed(struct json *j, const char *key, double value, unsigned decimals);
void json_bool(struct json *j, const char *key, bool value);
/* Writes a string such as "0x1f", for numbers that readers would round. */
void json_hex(struct json *j, const char *key, uint64_t value);
/* Writes a number that has been formatted already. */
void json_digits(struct json *j, const char *key, struct tally_str digits);
/*
 * Writes only the string, with its quotation marks. The ASCII characters in more, which may be "", are written as \u
 * escapes.
 */
void json_text(struct text *out, struct tally_str value, const char *more);
/* Does the same as json_string for a key that is not a C string. */
void json_member(struct json *j, struct tally_str key, struct tally_str value);

#endif
