/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes_json.h - writes a row of a diff as JSON: its keys, its values in each table, and the change between the two
 * sides.
 *
 * docs/diff-json.md describes the members.
 *
 *	changes_json_keys(&json, &diff, row, keys, key_count);
 *	changes_json_values(&json, &diff, row);
 *	changes_json_change(&json, "change", &changes.rows[row]);
 */
#ifndef VIEW_DATA_CHANGES_JSON_H
#define VIEW_DATA_CHANGES_JSON_H

#include "base/json.h"
#include "profile/diff/diff_changes.h"
#include "profile/diff/diff_table.h"

#define CHANGES_JSON_DECIMALS 6

/* Appends the value of a key as text. */
void changes_json_key_text(struct text *out, const struct diff_table *diff, uint32_t row, enum profile_key key);
/* Writes a member for each key, with the name of the key. */
void changes_json_keys(
	struct json *j, const struct diff_table *diff, uint32_t row, const enum profile_key *keys, size_t count);
/* Writes the member "values": period and samples of the row in each table. */
void changes_json_values(struct json *j, const struct diff_table *diff, uint32_t row);
struct changes_json_test {
	const char *measure, *correction;
	/* level is the significance level, confidence that of the intervals, both from 0 to 1; min_share is a
	 * percentage. */
	double level, confidence, min_share;
};
/* Writes the member "test": how rows are tested. */
void changes_json_test(struct json *j, const struct changes_json_test *test);
void changes_json_change(struct json *j, const char *name, const struct diff_change *change);

#endif
