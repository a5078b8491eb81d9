/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/thread_pool.h"
#include "base/zeroed.h"
#include "profile/flat/flat_instances.h"

#define FLAT_ROWS_AHEAD	    4 /* Number of samples by which prefetching runs ahead. */
#define FLAT_ROWS_MANY_ROWS 4096 /* Fewer rows are finished by one worker. */
/* Minimum per part: fewer do not justify a worker, because its rows must be joined with others. */
#define PART_SAMPLES 16384

/* Returns UINT32_MAX if out of memory. */
static uint32_t flat_rows_add_row(
	struct flat_part *b, const struct flat_row *added, const struct flat_instance *by, uint32_t frame_group)
{
	uint32_t row = (uint32_t)b->rows.len;
	struct row_tally tally = {.frame_group = frame_group};
	if (b->rows.len >= UINT32_MAX || !vec_push(&b->rows, *added) || !vec_push(&b->tallies, tally) ||
		!vec_push(&b->made_by, by->sample) || !vec_reserve(&b->stats, b->stats.len + b->row_words))
		return UINT32_MAX;
	memset(b->stats.items + b->stats.len, 0, b->row_words * sizeof(*b->stats.items));
	b->stats.len += b->row_words;
	b->row_of[frame_group] = (struct group_row){b->groups->of_sample[by->sample] + 1, row};
	return row;
}

/* Counts a sample in a row. Only samples of the first event of a group of events count for call chains, because only
 * their chains are shown. */
static void count_instance(struct flat_part *b, uint32_t row, const struct flat_instance *instance)
{
	struct row_tally *tally = &b->tallies.items[row];
	tally->last_sample = instance->sample + 1;
	if (b->profile->samples[instance->sample].event != b->options->first_event)
		return;
	if (instance->len > tally->max_depth)
		tally->max_depth = instance->len;
	tally->instance_count += b->options->with_chains && instance->len > 0;
}

static void add_level(struct flat_stat *stat, uint8_t level, uint64_t period)
{
	if (level == PROFILE_LEVEL_KERNEL)
		stat->more[MORE_SYS] += period;
	else if (level == PROFILE_LEVEL_USER)
		stat->more[MORE_US] += period;
	else if (level == PROFILE_LEVEL_GUEST_KERNEL)
		stat->more[MORE_GUEST_SYS] += period;
	else if (level == PROFILE_LEVEL_GUEST_USER)
		stat->more[MORE_GUEST_US] += period;
}

#define WEIGHT_FACETS  (UINT64_C(1) << FACET_WEIGHT | UINT64_C(1) << FACET_INS_LAT | UINT64_C(1) << FACET_STAGE_CYCLES)
#define LATENCY_FACETS (UINT64_C(1) << FACET_PARALLELISM)

static unsigned more_count(const struct flat_table *table)
{
	uint64_t facets = table->profile->facets;
	if (facets >> FACET_STATE & 1)
		return MORE_COUNT;
	if (facets & WEIGHT_FACETS)
		return MORE_WAIT;
	if (facets & LATENCY_FACETS)
		return MORE_LATENCY_CHILDREN + 1;
	return table->options.with_levels ? MORE_GUEST_US + 1 : 0;
}

static void add_weights(const struct profile *p, const struct profile_sample *sample, struct flat_stat *stat)
{
	static const enum profile_facet facets[] = {FACET_WEIGHT, FACET_INS_LAT, FACET_STAGE_CYCLES};
	for (size_t i = 0; i < ARRAY_LEN(facets); i++) {
		const struct profile_value *weight = profile_facet(p, sample->facets, facets[i]);
		stat->more[MORE_WEIGHTS + i] += weight ? weight->number * sample->count : 0;
	}
}

/* Adds the time that the sample's thread was off the CPU: until it was woken, or until it ran. */
static void flat_rows_add_wait(const struct profile *p, const struct profile_sample *sample, struct flat_stat *stat)
{
	const struct profile_value *state = profile_facet(p, sample->facets, FACET_STATE);
	if (!state || state->number == PROFILE_STATE_RUNNING)
		return;
	stat->more[profile_state_is_ready(state->number) ? MORE_RUN_LATENCY : MORE_WAIT] += sample->period;
}

static void add_self(
	const struct flat_part *b, struct flat_stat *stat, uint8_t level, const struct profile_sample *sample)
{
	unsigned kept = b->table->more_count;
	stat->count += sample->count;
	stat->period += sample->period;
	stat->children_period += sample->period;
	if (kept > MORE_GUEST_US)
		add_level(stat, level, sample->period);
	if (kept > MORE_LATENCY_CHILDREN) {
		uint64_t latency = flat_sample_latency(b->profile, sample);
		stat->more[MORE_LATENCY] += latency;
		stat->more[MORE_LATENCY_CHILDREN] += latency;
	}
	if (kept > MORE_WEIGHTS)
		add_weights(b->profile, sample, stat);
	if (kept > MORE_RUN_LATENCY)
		flat_rows_add_wait(b->profile, sample, stat);
}

/* The data of the callers' rows is scattered in memory, so all of it is prefetched together. */
static void expect_callers(const struct flat_part *b, uint32_t sample_group, const struct flat_instance *whole)
{
	if (whole->len == 0)
		return;
	const uint32_t *frames = b->chains->frames + whole->chain;
	for (uint32_t i = 0; i < whole->len; i++)
		__builtin_prefetch(&b->row_of[b->groups->callers[frames[i]].group]);
	for (uint32_t i = 0; i < whole->len; i++) {
		uint32_t row = flat_part_row(b, sample_group, b->groups->callers[frames[i]].group);
		if (row == UINT32_MAX)
			continue;
		__builtin_prefetch(&b->tallies.items[row]);
		__builtin_prefetch(flat_part_stat(b, row, 0));
	}
}

/* Adds the row of a caller, which differs from the sample's row only in frame, address and line. */
static uint32_t add_caller_row(
	struct flat_part *b, uint32_t frame, const struct flat_row *sample_like, const struct flat_instance *by)
{
	const struct profile_frame *from = &b->profile->frames[frame];
	struct flat_row like = *sample_like;
	like.frame = frame;
	like.address = flat_caller_address(from);
	like.place = from->own_line;
	return flat_rows_add_row(b, &like, by, b->groups->callers[frame].group);
}

/* like: the sample's properties for all rows; its level is that of the sample's own frame. */
static bool add_callers(struct flat_part *b, struct flat_row like, const struct flat_instance *whole)
{
	const struct profile *p = b->profile;
	const struct profile_sample *sample = &p->samples[whole->sample];
	uint32_t member = sample->event - b->options->first_event, group = b->groups->of_sample[whole->sample];
	bool with_latency = b->table->more_count > MORE_LATENCY_CHILDREN;
	uint64_t latency = with_latency ? flat_sample_latency(p, sample) : 0;
	expect_callers(b, group, whole);
	for (uint32_t i = 0; i < whole->len; i++) {
		uint32_t frame = b->chains->frames[whole->chain + i];
		uint8_t level = b->groups->callers[frame].level;
		/* A frame outside every mapping shows the level of the frame before it. */
		if (level)
			like.level = level;
		uint32_t row = flat_part_row(b, group, b->groups->callers[frame].group);
		if (row == UINT32_MAX)
			row = add_caller_row(b, frame, &like, whole);
		if (row == UINT32_MAX)
			return false;
		if (b->tallies.items[row].last_sample == whole->sample + 1)
			continue;
		struct flat_stat *stat = flat_part_stat(b, row, member);
		stat->children_period += sample->period;
		if (with_latency)
			stat->more[MORE_LATENCY_CHILDREN] += latency;
		if (b->table->more_count > MORE_RUN_LATENCY)
			flat_rows_add_wait(p, sample, stat);
		count_instance(b, row, &(struct flat_instance){whole->sample, whole->chain + i, whole->len - i});
	}
	return true;
}

/* Adds a sample to the row of its own frame and to those of its callers. */
static bool flat_rows_add_sample(struct flat_part *b, uint32_t index)
{
	const struct profile *p = b->profile;
	const struct flat_options *o = b->options;
	const struct profile_sample *sample = &p->samples[index];
	struct flat_instance whole = flat_chains_of(b->chains, p, index);
	uint32_t parent = flat_chains_parent(b->chains, p, o, &whole);
	uint32_t own_frame = flat_chains_ignore_callees(b->chains, b->options, &whole, sample->leaf);
	const struct profile_frame *leaf = &p->frames[own_frame];
	struct flat_row like = {
		.thread = sample->thread,
		.tid = sample->first_tid,
		.frame = own_frame,
		.address = o->is_leaf_raw ? flat_caller_address(leaf) : leaf->address,
		.cpu = sample->cpu,
		.facets = sample->facets,
		.place = leaf->innermost_line,
		.parent = parent,
		.level = leaf->level,
	};
	uint32_t frame_group = b->groups->of_leaf[own_frame];
	uint32_t row = flat_part_row(b, b->groups->of_sample[index], frame_group);
	if (row == UINT32_MAX)
		row = flat_rows_add_row(b, &like, &whole, frame_group);
	if (row == UINT32_MAX)
		return false;
	add_self(b, flat_part_stat(b, row, sample->event - o->first_event), leaf->level, sample);
	count_instance(b, row, &whole);
	return !o->with_children || add_callers(b, like, &whole);
}

/* The samples of a group are not adjacent in memory, so the data of the next ones is prefetched. */
static void flat_rows_expect_samples(const struct flat_part *b, size_t at, size_t end)
{
	const struct profile *p = b->profile;
	if (at + 2 * FLAT_ROWS_AHEAD < end)
		__builtin_prefetch(&p->samples[b->groups->samples[at + 2 * FLAT_ROWS_AHEAD]]);
	if (at + FLAT_ROWS_AHEAD >= end)
		return;
	const struct profile_sample *sample = &p->samples[b->groups->samples[at + FLAT_ROWS_AHEAD]];
	__builtin_prefetch(&b->groups->of_leaf[sample->leaf]);
	if (b->chains->begin && sample->stack != PROFILE_NONE)
		__builtin_prefetch(&b->chains->frames[b->chains->begin[sample->stack]]);
}

static void add_part(struct flat_part *b)
{
	const struct flat_groups *groups = b->groups;
	b->first_group = b->begin < b->end ? groups->of_sample[groups->samples[b->begin]] : 0;
	for (uint32_t group = b->first_group; group < groups->sample_groups && !b->failed; group++) {
		size_t i = groups->begin[group], end = groups->begin[group + 1];
		if (i >= b->end)
			return;
		i = MAX(i, b->begin);
		end = MIN(end, b->end);
		b->failed = !vec_push(&b->group_rows, (uint32_t)b->rows.len);
		for (; i < end && !b->failed; i++) {
			flat_rows_expect_samples(b, i, end);
			b->failed = !flat_rows_add_sample(b, groups->samples[i]);
		}
	}
}

static bool builder_init(struct flat_part *b)
{
	b->row_of = zeroed_new(b->groups->frame_groups + 1, sizeof(*b->row_of));
	return b->row_of && flat_part_reserve(b, b->expected);
}

static void builder_deinit(struct flat_part *b)
{
	free(b->row_of);
	vec_free(&b->kept);
	vec_free(&b->rows);
	vec_free(&b->stats);
	vec_free(&b->tallies);
	vec_free(&b->made_by);
	vec_free(&b->group_rows);
}

static void flat_rows_add_samples(void *context, size_t index, unsigned worker)
{
	struct flat_part *parts = context;
	/* A local variable, because the items of parts share cache lines. */
	struct flat_part part = parts[index];
	part.failed = !builder_init(&part);
	if (!part.failed)
		add_part(&part);
	parts[index] = part;
}

/* Numbers the rows in the order in which they would be created sample by sample, whatever the group. */
static bool number_rows(struct flat_part *b, uint32_t *order)
{
	size_t samples = b->rows.len > 0 ? b->profile->sample_count : 0;
	uint32_t *next = calloc(samples + 1, sizeof(*next));
	if (!next)
		return false;
	for (size_t row = 0; row < b->rows.len; row++)
		next[b->made_by.items[row] + 1]++;
	for (size_t i = 1; i <= samples; i++)
		next[i] += next[i - 1];
	for (size_t row = 0; row < b->rows.len; row++) {
		struct flat_row *r = &b->rows.items[row];
		r->max_depth = b->tallies.items[row].max_depth;
		r->number = next[b->made_by.items[row]]++;
		order[r->number] = (uint32_t)row;
	}
	free(next);
	return true;
}

static void add_parts(struct flat_part *b, uint32_t group, uint32_t index)
{
	const struct profile_sample *sample = &b->profile->samples[index];
	const struct profile_value *value = profile_facet(b->profile, sample->facets, FACET_MEM_PARTS);
	struct flat_instance whole = flat_chains_of(b->chains, b->profile, index);
	uint32_t row = flat_part_row(
		b, group, b->groups->of_leaf[flat_chains_ignore_callees(b->chains, b->options, &whole, sample->leaf)]);
	if (!value || row == UINT32_MAX || sample->event != b->options->first_event)
		return;
	for (unsigned kind = 0; kind < PART_KINDS; kind++) {
		unsigned part = profile_part_get((enum profile_part_kind)kind, value->number);
		b->table->parts[((size_t)row * PART_KINDS + kind) * PROFILE_PARTS + part] += sample->period;
	}
}

/* Adds up periods by the parts of memory accesses (FACET_MEM_PARTS), in a separate walk because few tables have
 * them. */
static bool make_parts(struct flat_part *b)
{
	const struct flat_groups *groups = b->groups;
	if (!(b->profile->facets >> FACET_MEM_PARTS & 1))
		return true;
	b->table->parts = calloc(b->rows.len + 1, sizeof(*b->table->parts) * PART_KINDS * PROFILE_PARTS);
	if (!b->table->parts)
		return false;
	for (uint32_t group = 0; group < b->group_rows.len; group++) {
		size_t end = group + 1 < b->group_rows.len ? b->group_rows.items[group + 1] : b->rows.len;
		for (size_t row = b->group_rows.items[group]; row < end; row++)
			b->row_of[b->tallies.items[row].frame_group] = (struct group_row){group + 1, (uint32_t)row};
		for (size_t i = groups->begin[group]; i < groups->begin[group + 1]; i++)
			add_parts(b, group, groups->samples[i]);
	}
	return true;
}

/* Lists the rows that the filter shows, in the order in which samples created them. */
static bool flat_rows_order(struct flat_part *b)
{
	struct flat_table *table = b->table;
	const struct profile_filter *filter = b->options->filter;
	table->order = malloc((b->rows.len + 1) * sizeof(*table->order));
	if (!table->order || !number_rows(b, table->order))
		return false;
	for (size_t i = 0; i < b->rows.len; i++) {
		uint32_t row = table->order[i];
		if (!filter || !filter->frame_shows || filter->frame_shows[b->rows.items[row].frame]) {
			table->order[table->shown_count++] = row;
			continue;
		}
		for (uint32_t m = 0; m < b->options->member_count; m++)
			table->totals[m].hidden_period += flat_part_stat(b, row, m)->period;
	}
	return true;
}

/* Joins all parts into the first one. */
static bool join_parts(struct flat_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (parts[i].failed || (i > 0 && !flat_part_join(&parts[0], &parts[i])))
			return false;
	return true;
}

struct finishing {
	struct flat_keeping keeping;
	bool is_placed, is_ordered;
};

/* The two tasks write different members of the rows. */
static void finish_rows(void *context, size_t index, unsigned worker)
{
	struct finishing *f = context;
	if (index == 0)
		f->is_placed = flat_instances_place(&f->keeping);
	else
		f->is_ordered = flat_rows_order(&f->keeping.parts[0]);
}

static bool finish_parts(struct flat_part *parts, size_t count)
{
	struct finishing finishing = {.keeping = {.parts = parts, .count = count}};
	unsigned threads = parts[0].rows.len < FLAT_ROWS_MANY_ROWS ? 1 : parts[0].options->threads;
	thread_pool_for(2, threads, finish_rows, &finishing);
	bool is_done = finishing.is_placed && finishing.is_ordered;
	if (is_done)
		flat_instances_keep(&finishing.keeping);
	flat_instances_deinit(&finishing.keeping);
	return is_done && make_parts(&parts[0]);
}

#define WEIGHED	   64 /* One of this many samples is weighed. */
#define OWN_WEIGHT 2 /* Cost of a sample without its chain; a frame of the chain costs 1. */

/* Estimates the cost of a sample. */
static uint64_t flat_rows_weight_of(const struct flat_table *table, const struct flat_rows_source *source, size_t index)
{
	const struct profile_sample *sample = &table->profile->samples[source->groups->samples[index]];
	const uint32_t *begin = source->chains->begin;
	bool has_chain = table->options.with_children && begin && sample->stack != PROFILE_NONE;
	return OWN_WEIGHT + (has_chain ? begin[sample->stack + 1] - begin[sample->stack] : 0);
}

/* Divides the samples into parts of about the same cost, each of at least one sample if there are any, because the
 * depth of chains varies. */
static void divide_samples(const struct flat_rows_source *source, struct flat_part *parts, size_t count)
{
	size_t samples = source->groups->begin[source->groups->sample_groups];
	uint64_t all = 0, so_far = 0;
	for (size_t i = 0; count > 1 && i < samples; i += WEIGHED)
		all += flat_rows_weight_of(parts[0].table, source, i);
	for (size_t part = 0, i = 0; part < count; part++) {
		size_t begin = part ? parts[part - 1].end : 0, most = samples - (count - 1 - part);
		for (; part + 1 < count && so_far * count < all * (part + 1) && i < samples; i += WEIGHED)
			so_far += flat_rows_weight_of(parts[0].table, source, i);
		size_t end = i > begin ? i : begin + 1;
		parts[part].begin = begin;
		parts[part].end = part + 1 == count || end > most ? most : end;
	}
}

bool flat_rows_make(struct flat_table *table, const struct flat_rows_source *source)
{
	const struct flat_groups *groups = source->groups;
	size_t samples = groups->begin[groups->sample_groups];
	size_t count = thread_pool_workers(samples / PART_SAMPLES + 1, table->options.threads);
	struct flat_part *parts = calloc(count, sizeof(*parts));
	bool is_done = parts != NULL;
	/* Without children, a sample makes at most one row; with children, most groups of frames occur with one group of
	 * samples, either as callers or as samples' own frames. */
	size_t expected = table->options.with_children ? groups->frame_groups + groups->frame_groups / 8 : samples;
	table->more_count = more_count(table);
	for (size_t i = 0; i < count && is_done; i++)
		parts[i] = (struct flat_part){.table = table,
			.profile = table->profile,
			.options = &table->options,
			.row_words = flat_row_words(table),
			.groups = groups,
			.chains = source->chains,
			/* The first part will hold the rows of all parts. */
			.expected = expected / (i == 0 ? 1 : count)};
	if (is_done) {
		divide_samples(source, parts, count);
		thread_pool_for(count, table->options.threads, flat_rows_add_samples, parts);
	}
	is_done = is_done && join_parts(parts, count) && finish_parts(parts, count);
	if (is_done) {
		table->rows = parts[0].rows.items;
		table->stats = parts[0].stats.items;
		table->row_count = parts[0].rows.len;
		parts[0].rows.items = NULL;
		parts[0].stats.items = NULL;
	}
	for (size_t i = 0; parts && i < count; i++)
		builder_deinit(&parts[i]);
	free(parts);
	return is_done;
}
