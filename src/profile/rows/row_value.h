/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_value.h - gives the value of a row by one key in a form that is comparable between profiles: a name or a number.
 *
 * For tables of several recordings, where ids and addresses are each recording's own. Texts are borrowed from the
 * profile.
 *
 *	struct row_value v = row_value(&table, &table.rows[0], KEY_SYMBOL);
 */
#ifndef PROFILE_ROWS_ROW_VALUE_H
#define PROFILE_ROWS_ROW_VALUE_H

#include "profile/flat/flat_table.h"

struct row_value {
	struct tally_str text; /* empty for numbers, and where there is no name */
	int64_t number;
	bool is_unknown; /* no name: sorts last */
};

/* Whether this key can match rows of different profiles. */
bool row_value_has_key(enum profile_key key);
/* Code without a symbol is one value regardless of its address, because addresses differ between builds. */
struct row_value row_value(const struct flat_table *table, const struct flat_row *row, enum profile_key key);
/* The order of rows with equal differences. */
int row_value_compare(enum profile_key key, const struct row_value *a, const struct row_value *b);
/* Appends bytes that are equal for equal values. */
void row_value_append(struct text *bytes, const struct row_value *value);

#endif
