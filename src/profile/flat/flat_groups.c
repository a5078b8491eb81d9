/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"
#include "base/dedup.h"
#include "base/id_table.h"
#include "base/thread_pool.h"
#include "profile/flat/facet_keys.h"

#define FRAME_WORDS		5
#define SAMPLE_WORDS		4
#define FLAT_GROUPS_TASK_FRAMES 8192

struct frame_grouping {
	const struct profile *profile;
	const struct flat_options *options;
	bool by_symbol, by_binary, by_line, by_file, by_size;
};

struct sample_grouping {
	struct flat_groups *groups;
	struct flat_table *table;
	const struct profile *profile;
	const struct flat_options *options;
	const struct flat_chains *chains;
	struct id_table ids;
	uint32_t *of_facets; /* By row of the profile's facet values: its group. NULL if no key shows facets. */
	/* By thread: the group of its samples, + 1, if nothing else decides; 0: not known yet. */
	uint32_t *of_thread;
};

static bool flat_groups_has_key(const struct flat_options *options, enum profile_key key)
{
	for (size_t i = 0; i < options->key_count; i++) {
		if (options->keys[i] == key)
			return true;
	}
	return false;
}

static struct frame_grouping frame_grouping(const struct profile *p, const struct flat_options *o)
{
	/* Columns with cycles per instruction group by symbol, whether symbols are shown or not. */
	bool by_symbol = flat_groups_has_key(o, KEY_SYMBOL) || flat_groups_has_key(o, KEY_IPC_NULL) ||
			 flat_groups_has_key(o, KEY_IPC_LBR);
	return (struct frame_grouping){.profile = p,
		.options = o,
		.by_symbol = by_symbol,
		.by_binary = by_symbol || flat_groups_has_key(o, KEY_DSO),
		.by_line = flat_groups_has_key(o, KEY_SRCLINE),
		.by_file = flat_groups_has_key(o, KEY_SRCFILE),
		.by_size = flat_groups_has_key(o, KEY_SYMBOL_SIZE)};
}

bool flat_groups_callers_by_function(const struct profile *p, const struct flat_options *o)
{
	const struct frame_grouping by = frame_grouping(p, o);
	return o->with_children && by.by_symbol && !by.by_line && !by.by_file && !by.by_size;
}

static void make_frame_key(const struct frame_grouping *by, const struct profile_frame *frame, uint64_t address,
	const struct profile_place *place, uint64_t *key)
{
	const struct profile *p = by->profile;
	memset(key, 0, FRAME_WORDS * sizeof(*key));
	/* Binaries with one name are shown as one object; "no binary" is an object too. */
	if (by->by_binary)
		key[0] = flat_binary_name(p, by->options, frame->binary);
	const struct profile_function *function =
		frame->function == PROFILE_NONE ? NULL : &p->functions[frame->function];
	if (by->by_symbol && function) {
		key[1] = function->is_inlined ? function->name : function->start;
		key[2] = function->is_inlined ? UINT64_MAX : function->size + 1;
	} else if (by->by_symbol) {
		key[1] = address;
	}
	if (by->by_line)
		key[4] = place->line;
	if (by->by_file)
		key[4] |= (uint64_t)place->file << 32;
	if (by->by_symbol && function && !function->is_inlined)
		/* Another build at this path may have another function there. */
		key[3] = (uint64_t)function->name + 1;
	else if (by->by_size)
		key[3] = function ? function->size + 1 : 0;
}

static void make_leaf_key(const struct frame_grouping *by, const struct profile_frame *frame, uint64_t *key)
{
	make_frame_key(by, frame, frame->address, &frame->innermost_line, key);
}

static void make_caller_key(const struct frame_grouping *by, const struct profile_frame *frame, uint64_t *key)
{
	make_frame_key(by, frame, flat_caller_address(frame), &frame->own_line, key);
}

/* Returns 0 if the frame is in no binary. */
static uint8_t mapped_level(const struct profile *p, const struct profile_frame *frame)
{
	if (frame->binary == PROFILE_NONE)
		return 0;
	return p->binaries[frame->binary].is_kernel ? PROFILE_LEVEL_KERNEL : PROFILE_LEVEL_USER;
}

/* The frames as the table shows them: as callers if callers have rows, otherwise as samples' own frames. After them
 * come the frames that look different as a sample's own. */
struct frame_items {
	const struct frame_grouping *by;
	bool are_callers;
	size_t frame_count;
	uint32_t *leaves; /* Frames that look different as a sample's own; numbered after the others. */
	size_t leaf_count;
};

static void make_item_key(const struct frame_items *items, size_t item, uint64_t *key)
{
	const struct profile_frame *frames = items->by->profile->frames;
	if (item >= items->frame_count)
		make_leaf_key(items->by, &frames[items->leaves[item - items->frame_count]], key);
	else if (items->are_callers)
		make_caller_key(items->by, &frames[item], key);
	else
		make_leaf_key(items->by, &frames[item], key);
}

static uint32_t flat_groups_hash_item(const void *context, uint32_t item)
{
	uint64_t key[FRAME_WORDS];
	make_item_key(context, item, key);
	return id_table_hash_words(key, FRAME_WORDS);
}

static bool flat_groups_is_same_item(const void *context, uint32_t a, uint32_t b)
{
	uint64_t key[FRAME_WORDS], other[FRAME_WORDS];
	make_item_key(context, a, key);
	make_item_key(context, b, other);
	return memcmp(key, other, sizeof(key)) == 0;
}

/* If callees are ignored, any frame of a chain may become a sample's own. */
static void mark_leaves(const struct profile *p, const struct flat_options *o, bool *is_leaf)
{
	if (o->filter && o->filter->ignores_callees) {
		memset(is_leaf, true, p->frame_count * sizeof(*is_leaf));
		return;
	}
	for (size_t i = 0; i < p->sample_count; i++)
		is_leaf[p->samples[i].leaf] = true;
}

static bool is_another_as_leaf(const struct frame_grouping *by, const struct profile_frame *frame)
{
	uint64_t key[FRAME_WORDS], caller[FRAME_WORDS];
	make_leaf_key(by, frame, key);
	make_caller_key(by, frame, caller);
	return memcmp(key, caller, sizeof(key)) != 0;
}

static bool list_leaves(struct frame_items *items, const struct flat_options *options)
{
	const struct profile *p = items->by->profile;
	bool *is_leaf = calloc(items->frame_count + 1, sizeof(*is_leaf));
	items->leaves = malloc((items->frame_count + 1) * sizeof(*items->leaves));
	bool is_done = is_leaf && items->leaves;
	if (is_done)
		mark_leaves(p, options, is_leaf);
	for (size_t i = 0; is_done && i < items->frame_count; i++)
		if (is_leaf[i] && is_another_as_leaf(items->by, &p->frames[i]))
			items->leaves[items->leaf_count++] = (uint32_t)i;
	free(is_leaf);
	return is_done;
}

struct frame_telling {
	struct flat_groups *groups;
	const struct frame_items *items;
};

static void tell_some_frames(void *context, size_t task, unsigned worker)
{
	const struct frame_telling *t = context;
	const struct profile *p = t->items->by->profile;
	size_t end = thread_pool_task_end(task, FLAT_GROUPS_TASK_FRAMES, t->items->frame_count);
	for (size_t i = task * FLAT_GROUPS_TASK_FRAMES; i < end; i++)
		t->groups->callers[i] = (struct flat_caller){t->groups->of_leaf[i], mapped_level(p, &p->frames[i])};
}

/* Moves the numbers from found to groups. */
static bool flat_groups_tell_frames(
	struct flat_groups *groups, const struct frame_items *items, struct dedup *found, unsigned threads)
{
	groups->frame_groups = found->count;
	groups->of_leaf = found->numbers;
	found->numbers = NULL;
	if (!items->are_callers)
		return true;
	groups->callers = malloc((items->frame_count + 1) * sizeof(*groups->callers));
	if (!groups->callers)
		return false;
	struct frame_telling telling = {groups, items};
	thread_pool_for(
		thread_pool_tasks(items->frame_count, FLAT_GROUPS_TASK_FRAMES), threads, tell_some_frames, &telling);
	for (size_t i = 0; i < items->leaf_count; i++)
		groups->of_leaf[items->leaves[i]] = groups->of_leaf[items->frame_count + i];
	return true;
}

/* An event without samples needs no groups. */
bool flat_groups_frames(struct flat_groups *groups, const struct profile *p, const struct flat_options *options)
{
	const struct frame_grouping by = frame_grouping(p, options);
	struct frame_items items = {.by = &by,
		.are_callers = options->with_children,
		.frame_count = flat_events_have_samples(p, options) ? p->frame_count : 0};
	struct dedup found = {0};
	bool is_done = !items.are_callers || items.frame_count == 0 || list_leaves(&items, options);
	const struct dedup_items all = {.count = items.frame_count + items.leaf_count,
		.hash = flat_groups_hash_item,
		.equal = flat_groups_is_same_item,
		.context = &items};
	is_done = is_done && dedup_find(&all, options->threads, &found) &&
		  flat_groups_tell_frames(groups, &items, &found, options->threads);
	free(items.leaves);
	dedup_deinit(&found);
	return is_done;
}

/* Puts the rows of facet values that look the same in all keys that show facets into one group. */
static bool group_facets(struct sample_grouping *g)
{
	const struct profile *p = g->profile;
	enum profile_key keys[PROFILE_KEY_COUNT];
	size_t count = 0;
	for (size_t i = 0; i < g->options->key_count; i++)
		if (profile_key_get(g->options->keys[i])->form != KEY_FORM_ROW)
			keys[count++] = g->options->keys[i];
	if (count == 0 || p->facet_rows == 0)
		return true;
	struct id_table groups = {.words = (unsigned)count * FACET_KEY_WORDS};
	g->of_facets = calloc(p->facet_rows, sizeof(*g->of_facets));
	bool is_done = g->of_facets != NULL;
	for (size_t row = 0; is_done && row < p->facet_rows; row++) {
		uint64_t words[PROFILE_KEY_COUNT * FACET_KEY_WORDS];
		for (size_t i = 0; i < count; i++) {
			const struct profile_value *value = profile_facet(p, (uint32_t)row, profile_key_facet(keys[i]));
			facet_key_words(g->table, keys[i], value, words + i * FACET_KEY_WORDS);
		}
		g->of_facets[row] = id_table_add(&groups, words, NULL);
		is_done = g->of_facets[row] != ID_TABLE_NONE;
	}
	id_table_deinit(&groups);
	return is_done;
}

static uint32_t sample_group(struct sample_grouping *g, const struct profile_sample *sample, uint32_t parent)
{
	const struct flat_options *o = g->options;
	const struct profile_thread *thread = &g->profile->threads[sample->thread];
	uint64_t key[SAMPLE_WORDS] = {0};
	bool is_thread = parent == PROFILE_NONE && !g->of_facets && !flat_groups_has_key(o, KEY_CPU);
	if (is_thread && g->of_thread[sample->thread])
		return g->of_thread[sample->thread] - 1;
	if (flat_groups_has_key(o, KEY_COMM))
		key[0] = thread->comm;
	if (flat_groups_has_key(o, KEY_CPU))
		key[0] |= (uint64_t)(uint32_t)sample->cpu << 32;
	if (flat_groups_has_key(o, KEY_PID))
		key[1] = (uint32_t)thread->tid;
	if (flat_groups_has_key(o, KEY_TGID))
		key[1] |= (uint64_t)(uint32_t)thread->pid << 32;
	if (g->of_facets)
		key[2] = g->of_facets[sample->facets];
	if (parent != PROFILE_NONE)
		key[3] = g->profile->functions[parent].name + UINT64_C(1);
	uint32_t group = id_table_add(&g->ids, key, NULL);
	if (is_thread && group != ID_TABLE_NONE)
		g->of_thread[sample->thread] = group + 1;
	return group;
}

static bool flat_groups_counts(const struct sample_grouping *g, const struct profile_sample *sample)
{
	const struct flat_options *o = g->options;
	if (o->hides_unresolved && !flat_frame_is_resolved(g->profile, sample->leaf))
		return false;
	return !o->cpu_passes || (sample->cpu >= 0 && (size_t)sample->cpu < o->cpu_limit && o->cpu_passes[sample->cpu]);
}

/* Counts the sample in the totals and finds its group. */
static bool group_sample(struct sample_grouping *g, uint32_t index)
{
	const struct flat_options *o = g->options;
	const struct profile_filter *filter = o->filter;
	const struct profile_sample *sample = &g->profile->samples[index];
	struct flat_total *total = &g->table->totals[sample->event - o->first_event];
	g->groups->of_sample[index] = BUCKET_NONE;
	if (!flat_groups_counts(g, sample) || (filter && profile_filter_is_idle(filter, sample)))
		return true;
	uint64_t latency = flat_sample_latency(g->profile, sample);
	total->count += sample->count;
	total->period += sample->period;
	total->latency += latency;
	if (filter && !profile_filter_passes(filter, sample))
		return true;
	struct flat_instance whole = {.sample = index};
	if (filter && filter->frame_is_parent)
		whole = flat_chains_of(g->chains, g->profile, index);
	uint32_t parent = flat_chains_parent(g->chains, g->profile, o, &whole);
	if (parent == PROFILE_NONE && filter && filter->excludes_other)
		return true;
	total->passed_count += sample->count;
	total->passed_period += sample->period;
	total->passed_latency += latency;
	g->groups->of_sample[index] = sample_group(g, sample, parent);
	return g->groups->of_sample[index] != ID_TABLE_NONE;
}

/* Sorts samples by group, so that the data that a group shares stays in the CPU's cache. */
static bool group_samples(struct sample_grouping *g)
{
	const struct profile *p = g->profile;
	uint32_t first = g->options->first_event, end = first + g->options->member_count;
	size_t count = flat_events_have_samples(p, g->options) ? p->sample_count : 0;
	g->groups->of_sample = malloc((count + 1) * sizeof(*g->groups->of_sample));
	g->groups->samples = malloc((count + 1) * sizeof(*g->groups->samples));
	g->of_thread = calloc(p->thread_count + 1, sizeof(*g->of_thread));
	if (!g->groups->of_sample || !g->groups->samples || !g->of_thread)
		return false;
	for (size_t i = 0; i < count; i++) {
		g->groups->of_sample[i] = BUCKET_NONE;
		if (p->samples[i].event >= first && p->samples[i].event < end && !group_sample(g, (uint32_t)i))
			return false;
	}
	size_t groups = g->ids.len;
	g->groups->begin = calloc(groups + 2, sizeof(*g->groups->begin));
	if (!g->groups->begin)
		return false;
	buckets_fill(g->groups->of_sample, count, groups, g->groups->begin, g->groups->samples);
	return true;
}

bool flat_groups_samples(struct flat_groups *groups, struct flat_table *table, const struct flat_chains *chains)
{
	struct sample_grouping g = {.groups = groups,
		.table = table,
		.profile = table->profile,
		.options = &table->options,
		.chains = chains,
		.ids = {.words = SAMPLE_WORDS}};
	bool is_done = group_facets(&g) && group_samples(&g);
	groups->sample_groups = g.ids.len;
	id_table_deinit(&g.ids);
	free(g.of_facets);
	free(g.of_thread);
	return is_done;
}

void flat_groups_deinit(struct flat_groups *groups)
{
	free(groups->of_leaf);
	free(groups->callers);
	free(groups->of_sample);
	free(groups->samples);
	free(groups->begin);
	*groups = (struct flat_groups){0};
}
