/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ftrace/function_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

void function_sums_init(struct function_sums *sums)
{
	*sums = (struct function_sums){0};
	intern_init(&sums->names);
}

bool function_sums_add(struct function_sums *sums, struct tally_str name, uint64_t ns)
{
	uint32_t id;
	if (!vec_reserve(&sums->rows, sums->rows.len + 1) || !intern_add(&sums->names, name.data, name.len, &id))
		return false;
	if (id == sums->rows.len)
		sums->rows.items[sums->rows.len++] = (struct function_sum){.name = intern_get(&sums->names, id)};
	struct function_sum *row = &sums->rows.items[id];
	row->total_ns += ns;
	row->max_ns = MAX(row->max_ns, ns);
	row->count++;
	return true;
}

static int function_sums_compare(const void *left, const void *right, void *context)
{
	const struct function_sum *a = left, *b = right;
	int order = 0;
	switch (*(const enum function_sort *)context) {
	case FUNCTION_SORT_TOTAL:
		order = COMPARE(b->total_ns, a->total_ns);
		break;
	case FUNCTION_SORT_AVG: {
		double average_a = (double)a->total_ns / (double)a->count;
		double average_b = (double)b->total_ns / (double)b->count;
		order = COMPARE(average_b, average_a);
		break;
	}
	case FUNCTION_SORT_MAX:
		order = COMPARE(b->max_ns, a->max_ns);
		break;
	case FUNCTION_SORT_COUNT:
		order = COMPARE(b->count, a->count);
		break;
	case FUNCTION_SORT_NAME:
		break;
	}
	return order ? order : strcmp(a->name.data, b->name.data);
}

void function_sums_sort(struct function_sums *sums, enum function_sort sort)
{
	if (sums->rows.len > 1)
		qsort_r(sums->rows.items, sums->rows.len, sizeof(*sums->rows.items), function_sums_compare, &sort);
}

void function_sums_deinit(struct function_sums *sums)
{
	intern_deinit(&sums->names);
	vec_free(&sums->rows);
}
