/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_sums.h - adds up how long functions took, by name.
 *
 * The caller owns it (function_sums_init, function_sums_deinit); names are copied. Functions return false when out of
 * memory. One thread.
 *
 *	function_sums_add(&sums, name, ns);
 *	function_sums_sort(&sums, FUNCTION_SORT_TOTAL);
 */
#ifndef ANALYSIS_FTRACE_FUNCTION_SUMS_H
#define ANALYSIS_FTRACE_FUNCTION_SUMS_H

#include <stdbool.h>

#include "base/intern.h"
#include "base/vec.h"

enum function_sort {
	FUNCTION_SORT_TOTAL,
	FUNCTION_SORT_AVG,
	FUNCTION_SORT_MAX,
	FUNCTION_SORT_COUNT,
	FUNCTION_SORT_NAME
};

struct function_sum {
	struct tally_str name;
	uint64_t total_ns, max_ns, count;
};

struct function_sums {
	struct intern names;
	VEC(struct function_sum) rows; /* Indexed by the number of the name until function_sums_sort. */
};

void function_sums_init(struct function_sums *sums);
bool function_sums_add(struct function_sums *sums, struct tally_str name, uint64_t ns);
/* Sorts the rows, largest first, or alphabetically by name. Nothing can be added afterwards. */
void function_sums_sort(struct function_sums *sums, enum function_sort sort);
void function_sums_deinit(struct function_sums *sums);

#endif
