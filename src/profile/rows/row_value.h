/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_value.h - returns the value of a row by a key in a form that is comparable between profiles: a name or a number.
 *
 * Tables of several recordings need it because IDs and addresses are specific to a recording. Texts are borrowed from
 * the profile.
 *
 *	struct row_value v = row_value(&table, &table.rows[0], KEY_SYMBOL);
 */
#ifndef PROFILE_ROWS_ROW_VALUE_H
#define PROFILE_ROWS_ROW_VALUE_H

#include "profile/flat/flat_table.h"

struct row_value {
	struct tally_str text; /* Empty for numbers and if there is no name. */
	int64_t number;
	bool is_unknown; /* There is no name; sorts last. */
};

/* Returns whether rows of different profiles can be matched by this key. */
bool row_value_has_key(enum profile_key key);
/* Returns the value of a row. Code without a symbol has the same value regardless of its address, because addresses
 * differ between builds. */
struct row_value row_value(const struct flat_table *table, const struct flat_row *row, enum profile_key key);
/* Compares two values, for the order of rows with equal differences. */
int row_value_compare(enum profile_key key, const struct row_value *a, const struct row_value *b);
/* Appends bytes that are equal for equal values. */
void row_value_append(struct text *bytes, const struct row_value *value);

#endif
