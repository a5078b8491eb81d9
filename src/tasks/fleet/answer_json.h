/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_json.h - reads single members of the JSON object in a server's answer.
 *
 * The answer is not trusted; text that is not valid JSON has no members. Borrows the text. Thread-safe.
 *
 *	if (answer_json_bool(body, STR("duplicate"))) ...
 */
#ifndef TASKS_FLEET_ANSWER_JSON_H
#define TASKS_FLEET_ANSWER_JSON_H

#include "base/text.h"

/* Finds the text of a member of the outermost object, as it is written there. Returns false if there is none. */
bool answer_json_member(struct tally_str json, struct tally_str name, struct tally_str *value);
/* Returns false if the member is absent, too. */
bool answer_json_bool(struct tally_str json, struct tally_str name);
/* Returns 0 if the member is absent. */
uint64_t answer_json_u64(struct tally_str json, struct tally_str name);
/* Appends the string without its escapes. Returns false if the member is absent or not a string. */
bool answer_json_string(struct tally_str json, struct tally_str name, struct text *out);
/* Calls take for each string of a member that is an array of strings; a string is valid until take returns. Returns
 * false if the member is absent or not such an array, or if memory runs out. */
bool answer_json_strings(struct tally_str json, struct tally_str name,
	void (*take)(void *context, struct tally_str text), void *context);

#endif
