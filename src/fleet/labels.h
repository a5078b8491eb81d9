/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - defines labels, pairs of a name and a value that say where a sample comes from, and selects by them.
 *
 * A name is [a-zA-Z_][a-zA-Z0-9_]*, at most 128 bytes; a value is any UTF-8 text without control characters, at most
 * 1,024 bytes. A list of labels is sorted by name, and has each name once. Lists borrow their texts.
 *
 * A query is text like: service="api" and not (region=~"eu-.*" or host!="a"). `and` binds closer than `or`; an empty
 * query selects everything; a label that is absent has the empty value. =~ and !~ take POSIX extended regular
 * expressions that must match the whole value.
 *
 *	label_query_parse(STR("service=\"api\""), &query, err);   // err has the column of the first wrong character
 *	if (label_query_matches(query, lists, 2)) ...
 *	label_query_destroy(query);
 */
#ifndef FLEET_LABELS_H
#define FLEET_LABELS_H

#include <tally/status.h>

#include "base/bytes.h"

#define LABEL_NAME_BYTES  128
#define LABEL_VALUE_BYTES 1024
#define LABELS_MAX	  64 /* of one list */

struct fleet_label {
	struct tally_str name, value;
};

struct fleet_labels {
	const struct fleet_label *items; /* by name */
	size_t count;
};

bool label_name_is_valid(struct tally_str name);
bool label_value_is_valid(struct tally_str value);
/* NULL: no label has this name. */
const struct fleet_label *fleet_labels_find(const struct fleet_labels *labels, struct tally_str name);
/* Sorts in place and removes equal pairs. TALLY_INVALID: a name or value is not valid, a name has two values, or there
 * are too many. */
TALLY_MUST_CHECK enum tally_status fleet_labels_make(
	struct fleet_label *items, size_t count, struct fleet_labels *labels, struct tally_error *err);

struct label_query;
TALLY_MUST_CHECK enum tally_status label_query_parse(
	struct tally_str text, struct label_query **query, struct tally_error *err);
void label_query_destroy(struct label_query *query);
/* Of several lists together; the first one that has a name decides. A NULL query matches. */
bool label_query_matches(const struct label_query *query, const struct fleet_labels *lists, size_t list_count);

#endif
