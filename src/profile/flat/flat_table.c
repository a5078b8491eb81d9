/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_table.h"

#include <stdlib.h>

void flat_stats_add(const struct flat_table *table, uint64_t *sums, const uint64_t *add)
{
	for (size_t i = 0; i < flat_row_words(table); i++)
		sums[i] += add[i];
}

void flat_branches_add(const struct flat_table *table, const struct flat_instance *instance, uint32_t depth,
	struct flat_branches *sums)
{
	const struct profile *p = table->profile;
	uint64_t count = p->samples[instance->sample].count;
	struct profile_branch branch = profile_branch_get(p->frames[table->chains[instance->chain + depth]].branch);
	if (branch.end == BRANCH_END_TO) {
		sums->targets += count;
		sums->predicted += branch.is_predicted ? count : 0;
		sums->aborts += branch.is_abort ? count : 0;
	} else if (branch.end == BRANCH_END_FROM) {
		sums->sources += count;
		sums->cycles += branch.cycles * count;
	}
}

struct flat_branches flat_row_branches(const struct flat_table *table, const struct flat_row *row)
{
	struct flat_branches sums = {0};
	for (uint32_t i = 0; i < row->instance_count; i++) {
		const struct flat_instance *instance = &table->instances[row->first_instance + i];
		for (uint32_t depth = 0; depth < instance->len; depth++)
			flat_branches_add(table, instance, depth, &sums);
	}
	return sums;
}

void flat_table_deinit(struct flat_table *table)
{
	free(table->rows);
	free(table->stats);
	free(table->parts);
	free(table->order);
	free(table->totals);
	free(table->instances);
	free(table->chains);
	free(table->chain_keys);
	*table = (struct flat_table){0};
}
