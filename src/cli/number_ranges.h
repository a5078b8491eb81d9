/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_ranges.h - parses "0-3,7" into a table that is true for each number in the list.
 *
 *	bool table[LIMIT] = {0};
 *	if (!number_ranges_parse("0-3,7", LIMIT, table)) ...	// not a list, or a number is not below LIMIT
 */
#ifndef CLI_NUMBER_RANGES_H
#define CLI_NUMBER_RANGES_H

#include <stdbool.h>
#include <stddef.h>

/* table has limit elements; those of numbers that are not in the list are not changed. */
bool number_ranges_parse(const char *text, size_t limit, bool *table);

#endif
