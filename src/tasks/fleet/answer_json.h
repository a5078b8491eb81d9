/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_json.h - reads single members of a JSON object that a server answers.
 *
 * Nothing of the answer is trusted; what is not valid JSON has no members. Borrows the text. Any thread.
 *
 *	if (answer_json_bool(body, STR("duplicate"))) ...
 */
#ifndef TASKS_FLEET_ANSWER_JSON_H
#define TASKS_FLEET_ANSWER_JSON_H

#include "base/text.h"

/* The text of a member of the outermost object, as it is written there. False: there is none. */
bool answer_json_member(struct tally_str json, struct tally_str name, struct tally_str *value);
/* False also if it is absent. */
bool answer_json_bool(struct tally_str json, struct tally_str name);
/* 0 if it is absent. */
uint64_t answer_json_u64(struct tally_str json, struct tally_str name);
/* Appends the string without its escapes; false: it is absent or no string. */
bool answer_json_string(struct tally_str json, struct tally_str name, struct text *out);
/* Calls take for each string of a member that is an array of strings; the strings are valid until it returns. False: it
 * is absent, or none, or out of memory. */
bool answer_json_strings(struct tally_str json, struct tally_str name,
	void (*take)(void *context, struct tally_str text), void *context);

#endif
