/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - defines labels, which are pairs of a name and a value that describe the origin of samples, and label
 * queries.
 *
 * A name is [a-zA-Z_][a-zA-Z0-9_]*, at most 128 bytes; a value is any UTF-8 text without control characters, at most
 * 1,024 bytes. A list of labels is sorted by name and contains each name once. Lists borrow their texts.
 *
 * A query is text such as: service="api" and not (region=~"eu-.*" or host!="a"). `and` binds tighter than `or`; an
 * empty query selects everything; an absent label has the empty value. =~ and !~ are followed by POSIX extended regular
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
#define LABELS_MAX	  64 /* Maximum number of labels in a list. */

struct fleet_label {
	struct tally_str name, value;
};

struct fleet_labels {
	const struct fleet_label *items; /* Sorted by name. */
	size_t count;
};

bool label_name_is_valid(struct tally_str name);
bool label_value_is_valid(struct tally_str value);
/* Returns NULL if no label has this name. */
const struct fleet_label *fleet_labels_find(const struct fleet_labels *labels, struct tally_str name);
/* Makes a list of items by sorting them in place and removing equal pairs. Returns TALLY_INVALID if a name or value is
 * not valid, a name has two values, or there are too many labels. */
TALLY_MUST_CHECK enum tally_status fleet_labels_make(
	struct fleet_label *items, size_t count, struct fleet_labels *labels, struct tally_error *err);

struct label_query;
TALLY_MUST_CHECK enum tally_status label_query_parse(
	struct tally_str text, struct label_query **query, struct tally_error *err);
void label_query_destroy(struct label_query *query);
/* Returns whether the lists together match; the first list that contains a name determines its value. A query that is
 * NULL matches everything. */
bool label_query_matches(const struct label_query *query, const struct fleet_labels *lists, size_t list_count);

#endif
