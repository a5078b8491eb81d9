/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_instances.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/thread_pool.h"

static bool flat_instances_needs_chains(const struct flat_part *b, size_t row)
{
	double least = (double)b->table->totals[0].passed_period * b->options->min_chain_share;
	return (double)flat_part_stat(b, row, 0)->children_period >= least - 1;
}

struct row_list {
	uint32_t *items;
	size_t len, cap;
};

/* Reserves room for the instances (chains of samples) of the rows that need any. Such rows are few of many, so they are
 * listed. */
static bool place_instances(struct flat_part *b, struct row_list *needing)
{
	uint64_t at = 0;
	for (size_t row = 0; row < b->rows.len && b->options->with_chains; row++) {
		struct flat_row *r = &b->rows.items[row];
		if (!flat_instances_needs_chains(b, row))
			continue;
		if (!vec_push(needing, (uint32_t)row))
			return false;
		r->first_instance = (uint32_t)at;
		r->instance_count = b->tallies.items[row].instance_count;
		at += r->instance_count;
	}
	b->table->instances = at < UINT32_MAX ? malloc((at + 1) * sizeof(*b->table->instances)) : NULL;
	return b->table->instances != NULL;
}

static void keep_instance(struct flat_part *part, uint32_t frame_group, const struct flat_instance *instance)
{
	uint32_t row = flat_part_row(part, part->groups->of_sample[instance->sample], frame_group);
	if (row == UINT32_MAX || part->tallies.items[row].last_sample == instance->sample + 1)
		return;
	part->tallies.items[row].last_sample = instance->sample + 1;
	if (instance->len > 0)
		part->table->instances[part->kept.items[row].at++] = *instance;
}

static void keep_sample(struct flat_part *part, const bool *is_kept, uint32_t index)
{
	struct flat_instance whole = flat_chains_of(part->chains, part->profile, index);
	const struct profile_sample *sample = &part->profile->samples[index];
	if (sample->event != part->options->first_event)
		return;
	uint32_t own_frame = flat_chains_ignore_callees(part->chains, part->options, &whole, sample->leaf);
	keep_instance(part, part->groups->of_leaf[own_frame], &whole);
	for (uint32_t i = 0; part->options->with_children && i < whole.len; i++) {
		uint32_t frame = part->chains->frames[whole.chain + i];
		if (!is_kept[frame])
			continue;
		const struct flat_instance of_caller = {index, whole.chain + i, whole.len - i};
		keep_instance(part, part->groups->callers[frame].group, &of_caller);
	}
}

/* Returns false if out of memory. */
static bool mark_kept_frames(struct flat_keeping *keeping, const struct row_list *needing)
{
	const struct flat_part *b = &keeping->parts[0];
	size_t frames = b->profile->frame_count;
	bool *is_group_kept = calloc(b->groups->frame_groups + 1, sizeof(*is_group_kept));
	keeping->is_kept = calloc(frames + 1, sizeof(*keeping->is_kept));
	bool is_done = is_group_kept && keeping->is_kept;
	for (size_t i = 0; i < needing->len && is_done; i++)
		is_group_kept[b->tallies.items[needing->items[i]].frame_group] = true;
	for (size_t i = 0; i < frames && is_done && b->groups->callers; i++)
		keeping->is_kept[i] = is_group_kept[b->groups->callers[i].group];
	free(is_group_kept);
	return is_done;
}

/* Enters those rows of the part's group that need instances in row_of. Returns false if there are none. */
static bool know_kept_rows(const struct flat_keeping *keeping, struct flat_part *part, uint32_t group)
{
	size_t index = group - part->first_group, count = part->group_rows.len;
	size_t end = index + 1 < count ? part->group_rows.items[index + 1] : part->rows.len;
	const struct flat_part *whole = &keeping->parts[0];
	bool has_rows = false;
	for (size_t row = part->group_rows.items[index]; row < end; row++) {
		struct kept_row *kept = &part->kept.items[row];
		if (!flat_instances_needs_chains(whole, kept->row))
			continue;
		kept->at += whole->rows.items[kept->row].first_instance;
		part->row_of[part->tallies.items[row].frame_group] = (struct group_row){group + 1, (uint32_t)row};
		part->tallies.items[row].last_sample = 0;
		has_rows = true;
	}
	return has_rows;
}

static void keep_part(void *context, size_t index, unsigned worker)
{
	const struct flat_keeping *keeping = context;
	struct flat_part *part = &keeping->parts[index];
	const struct flat_groups *groups = part->groups;
	if (part->begin == part->end)
		return;
	memset(part->row_of, 0, (groups->frame_groups + 1) * sizeof(*part->row_of));
	for (uint32_t group = part->first_group; group < groups->sample_groups; group++) {
		size_t i = groups->begin[group], end = groups->begin[group + 1];
		if (i >= part->end)
			return;
		i = MAX(i, part->begin);
		end = MIN(end, part->end);
		if (!know_kept_rows(keeping, part, group))
			continue;
		for (; i < end; i++)
			keep_sample(part, keeping->is_kept, groups->samples[i]);
	}
}

bool flat_instances_place(struct flat_keeping *keeping)
{
	struct flat_part *whole = &keeping->parts[0];
	struct row_list needing = {0};
	bool is_done = place_instances(whole, &needing);
	if (is_done && whole->options->with_chains && whole->rows.len > 0) {
		is_done = vec_reserve(&whole->kept, whole->rows.len) && mark_kept_frames(keeping, &needing);
		for (size_t row = 0; row < whole->rows.len && is_done; row++)
			whole->kept.items[whole->kept.len++] = (struct kept_row){(uint32_t)row, 0};
	}
	vec_free(&needing);
	return is_done;
}

void flat_instances_keep(struct flat_keeping *keeping)
{
	if (keeping->is_kept)
		thread_pool_for(keeping->count, keeping->parts[0].options->threads, keep_part, keeping);
}

void flat_instances_deinit(struct flat_keeping *keeping)
{
	free(keeping->is_kept);
	keeping->is_kept = NULL;
}
