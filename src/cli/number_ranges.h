/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_ranges.h - "0-3,7" as options take it, as a table: true for each number that is in it.
 *
 *	bool table[LIMIT] = {0};
 *	if (!number_ranges_parse("0-3,7", LIMIT, table)) ...	// not such a list, or a number of it is not below the limit
 */
#ifndef CLI_NUMBER_RANGES_H
#define CLI_NUMBER_RANGES_H

#include <stdbool.h>
#include <stddef.h>

bool number_ranges_parse(const char *text, size_t limit, bool *table);

#endif
