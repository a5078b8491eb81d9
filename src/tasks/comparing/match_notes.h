/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_notes.h - reports which functions, files and threads of the compared profiles were matched although their names
 * differ (profile/name_match.h), or that no function was matched.
 *
 *	match_notes_add(&notes, &match);
 *	match_notes_json(&json, &match);
 */
#ifndef TASKS_COMPARING_MATCH_NOTES_H
#define TASKS_COMPARING_MATCH_NOTES_H

#include "base/diag.h"
#include "base/json.h"
#include "profile/name_match.h"

/* Adds one note with a pair of names as an example. Adds none if all names are equal. */
void match_notes_add(struct diag *notes, const struct name_match *match);
/* Adds a warning that no function of the two profiles was matched. advice is an option to try, or NULL. */
void match_notes_add_none(struct diag *notes, const char *base, const char *other, const char *advice);
/* Writes "matched_names": [{"kind": "function", "name": "hot.llvm.2", "as": "hot.llvm.1"}, ...], or nothing if there
 * are none. */
void match_notes_json(struct json *json, const struct name_match *match);

#endif
