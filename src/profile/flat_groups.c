#include "profile/flat_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"
#include "base/id_table.h"
#include "profile/facet_keys.h"

#define FRAME_WORDS  5
#define SAMPLE_WORDS 4
#define FRAME_BATCH  32

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
	uint32_t *of_facets; /* by row of values; NULL: no key is about facets */
	uint32_t *of_thread; /* + 1, of its samples, where nothing else decides; 0: not known yet */
};

static bool has_key(const struct flat_options *options, enum profile_key key)
{
	for (size_t i = 0; i < options->key_count; i++) {
		if (options->keys[i] == key)
			return true;
	}
	return false;
}

static struct frame_grouping frame_grouping(const struct profile *p, const struct flat_options *o)
{
	/* The columns that say cycles by instruction are about symbols, whether these are shown or not. */
	bool by_symbol = has_key(o, KEY_SYMBOL) || has_key(o, KEY_IPC_NULL) || has_key(o, KEY_IPC_LBR);
	return (struct frame_grouping){.profile = p,
		.options = o,
		.by_symbol = by_symbol,
		.by_binary = by_symbol || has_key(o, KEY_DSO),
		.by_line = has_key(o, KEY_SRCLINE),
		.by_file = has_key(o, KEY_SRCFILE),
		.by_size = has_key(o, KEY_SYMBOL_SIZE)};
}

static void make_frame_key(const struct frame_grouping *by, const struct profile_frame *frame, uint64_t address,
	const struct profile_place *place, uint64_t *key)
{
	const struct profile *p = by->profile;
	memset(key, 0, FRAME_WORDS * sizeof(*key));
	/* Binaries of one name are one object to the reader; no binary is an object too. */
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
	if (by->by_size)
		key[3] = function ? function->size + 1 : 0;
}

/* 0: in no object. */
static uint8_t mapped_level(const struct profile *p, const struct profile_frame *frame)
{
	if (frame->binary == PROFILE_NONE)
		return 0;
	return p->binaries[frame->binary].is_kernel ? PROFILE_LEVEL_KERNEL : PROFILE_LEVEL_USER;
}

/* The groups of some frames: as the sample's own, and as callers, where those have rows; most are one for both. */
static bool group_some_frames(
	struct flat_groups *groups, struct id_table *ids, const struct frame_grouping *by, size_t first, size_t count)
{
	uint64_t keys[2 * FRAME_BATCH * FRAME_WORDS], *key = keys;
	uint32_t found[2 * FRAME_BATCH], of_caller[FRAME_BATCH], len = 0;
	for (size_t i = 0; i < count; i++, key += FRAME_WORDS, len++) {
		const struct profile_frame *frame = &by->profile->frames[first + i];
		make_frame_key(by, frame, frame->address, &frame->innermost_line, key);
		groups->of_leaf[first + i] = of_caller[i] = len;
		if (!groups->callers)
			continue;
		uint64_t *caller = key + FRAME_WORDS;
		make_frame_key(by, frame, flat_caller_address(frame), &frame->own_line, caller);
		if (memcmp(key, caller, FRAME_WORDS * sizeof(*key)) == 0)
			continue;
		of_caller[i] = ++len;
		key = caller;
	}
	if (!id_table_add_many(ids, keys, len, found))
		return false;
	for (size_t i = first; i < first + count; i++) {
		groups->of_leaf[i] = found[groups->of_leaf[i]];
		if (groups->callers)
			groups->callers[i] = (struct flat_caller){
				found[of_caller[i - first]], mapped_level(by->profile, &by->profile->frames[i])};
	}
	return true;
}

/* An event without samples has no use for them. */
bool flat_groups_frames(struct flat_groups *groups, const struct profile *p, const struct flat_options *options)
{
	const size_t frame_count = flat_events_have_samples(p, options) ? p->frame_count : 0;
	const struct frame_grouping by = frame_grouping(p, options);
	struct id_table ids = {.words = FRAME_WORDS};
	groups->of_leaf = malloc((p->frame_count + 1) * sizeof(*groups->of_leaf));
	groups->callers = options->with_children ? malloc((p->frame_count + 1) * sizeof(*groups->callers)) : NULL;
	/* Some frames are one thing as a sample's own and another as a caller. */
	size_t expected = options->with_children ? frame_count + frame_count / 4 : frame_count;
	bool is_done =
		groups->of_leaf && (!options->with_children || groups->callers) && id_table_reserve(&ids, expected);
	for (size_t i = 0; i < frame_count && is_done; i += FRAME_BATCH)
		is_done = group_some_frames(
			groups, &ids, &by, i, frame_count - i < FRAME_BATCH ? frame_count - i : FRAME_BATCH);
	groups->frame_groups = ids.len;
	id_table_deinit(&ids);
	return is_done;
}

/* Rows of values that the keys about facets show alike are one group. */
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
	bool is_thread = parent == PROFILE_NONE && !g->of_facets && !has_key(o, KEY_CPU);
	if (is_thread && g->of_thread[sample->thread])
		return g->of_thread[sample->thread] - 1;
	if (has_key(o, KEY_COMM))
		key[0] = thread->comm;
	if (has_key(o, KEY_CPU))
		key[0] |= (uint64_t)(uint32_t)sample->cpu << 32;
	if (has_key(o, KEY_PID))
		key[1] = (uint32_t)thread->tid;
	if (has_key(o, KEY_TGID))
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

static bool counts(const struct sample_grouping *g, const struct profile_sample *sample)
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
	if (!counts(g, sample))
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

/* Brings the samples of each group together: what they have in common is then at hand. */
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
