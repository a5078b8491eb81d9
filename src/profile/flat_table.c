#include "profile/flat_table.h"
#include "base/error.h"
#include "base/id_table.h"
#include "base/thread_pool.h"
#include "base/vec.h"
#include "profile/facet_keys.h"

#include <stdlib.h>

#define FRAME_WORDS  5
#define SAMPLE_WORDS 4
#define CHAIN_WORDS  3
#define FRAME_BATCH  32
#define NO_GROUP     UINT32_MAX
#define AHEAD	     4 /* samples */
#define MANY_FRAMES  4096 /* fewer are looked at by one worker */

struct caller { /* what a frame is as a caller: all that most samples need of it */
	uint32_t group; /* frame group */
	uint8_t level; /* 0: outside every mapping */
};

struct group_row { /* of a frame group, the row in the sample group that is being added */
	uint32_t sample_group; /* + 1 */
	uint32_t row;
};

struct row_tally { /* what each frame of a chain changes */
	uint32_t last_sample; /* + 1, that was added last, so that recursion counts once */
	uint32_t max_depth, instance_count;
	uint32_t frame_group;
};

struct flat_builder {
	struct flat_table *table;
	const struct profile *profile;
	const struct flat_options *options;
	struct id_table frame_groups, sample_groups;
	uint32_t *group_of_facets; /* by row of values; NULL: no key is about facets */
	uint32_t *group_of_leaf; /* frame group by frame, as the sample's own */
	struct caller *callers; /* by frame */
	struct group_row *row_of; /* by frame group */
	uint32_t *group_of_thread; /* + 1, of its samples, where nothing else decides; 0: not known yet */
	uint32_t *group_of_sample; /* NO_GROUP: it counts in no row */
	uint32_t *samples; /* those of one sample group together, each group's in their order */
	uint32_t *group_begin; /* by sample group, in samples; one more at the end */
	uint32_t *group_rows; /* by sample group: its first row; one more at the end */
	VEC(struct flat_row) rows; /* those of one sample group together */
	VEC(struct flat_stat) stats;
	VEC(struct row_tally) tallies; /* by row */
	VEC(uint32_t) made_by; /* by row: the first sample */
	VEC(uint32_t) chains;
	uint32_t *chain_of_stack; /* index in chains + 1; 0: not made yet */
	uint32_t *len_of_stack;
};

static bool has_key(const struct flat_options *options, enum profile_key key)
{
	for (size_t i = 0; i < options->key_count; i++) {
		if (options->keys[i] == key)
			return true;
	}
	return false;
}

/* Binaries of one short name are one object to the reader; no binary is an object too. */
static uint32_t binary_name(const struct profile *p, uint32_t binary)
{
	return binary == PROFILE_NONE ? PROFILE_NONE : p->binaries[binary].name;
}

/* perf names a sample's own frame without symbol by its place in the object, its callers by the run-time address. */
static uint64_t caller_address(const struct profile_frame *frame)
{
	return frame->raw_address ? frame->raw_address : frame->address;
}

static void make_frame_key(const struct profile *p, const struct flat_options *o, const struct profile_frame *frame,
	uint64_t address, const struct profile_place *place, uint64_t *key)
{
	/* The columns that say cycles by instruction are about symbols, whether these are shown or not. */
	bool by_symbol = has_key(o, KEY_SYMBOL) || has_key(o, KEY_IPC_NULL) || has_key(o, KEY_IPC_LBR);
	memset(key, 0, FRAME_WORDS * sizeof(*key));
	if (by_symbol || has_key(o, KEY_DSO))
		key[0] = binary_name(p, frame->binary);
	const struct profile_function *function =
		frame->function == PROFILE_NONE ? NULL : &p->functions[frame->function];
	if (by_symbol && function) {
		key[1] = function->is_inlined ? function->name : function->start;
		key[2] = function->is_inlined ? UINT64_MAX : function->size + 1;
	} else if (by_symbol) {
		key[1] = address;
	}
	if (has_key(o, KEY_SRCLINE))
		key[4] = place->line;
	if (has_key(o, KEY_SRCFILE))
		key[4] |= (uint64_t)place->file << 32;
	if (has_key(o, KEY_SYMBOL_SIZE))
		key[3] = function ? function->size + 1 : 0;
}

/* 0: in no object. */
static uint8_t mapped_level(const struct profile *p, const struct profile_frame *frame)
{
	if (frame->binary == PROFILE_NONE)
		return 0;
	return p->binaries[frame->binary].is_kernel ? PROFILE_LEVEL_KERNEL : PROFILE_LEVEL_USER;
}

static bool has_samples(const struct flat_builder *b)
{
	const struct profile_event *first = &b->profile->events[b->options->first_event];
	for (uint32_t i = 0; i < b->options->member_count; i++)
		if (first[i].sample_count)
			return true;
	return false;
}

/* As the sample's own; and as callers, where those have rows. An event without samples has no use for them. */
static bool group_frames(struct flat_builder *b)
{
	const struct profile *p = b->profile;
	const unsigned kinds = b->options->with_children ? 2 : 1;
	const size_t frame_count = has_samples(b) ? p->frame_count : 0;
	b->group_of_leaf = malloc((p->frame_count + 1) * sizeof(*b->group_of_leaf));
	b->callers = kinds > 1 ? malloc((p->frame_count + 1) * sizeof(*b->callers)) : NULL;
	if (!b->group_of_leaf || (kinds > 1 && !b->callers) || !id_table_reserve(&b->frame_groups, frame_count))
		return false;
	for (size_t i = 0; i < frame_count; i += FRAME_BATCH) {
		uint64_t keys[2 * FRAME_BATCH * FRAME_WORDS], *key = keys;
		uint32_t groups[2 * FRAME_BATCH];
		size_t count = frame_count - i < FRAME_BATCH ? frame_count - i : FRAME_BATCH;
		for (size_t k = 0; k < count; k++, key += kinds * FRAME_WORDS) {
			const struct profile_frame *frame = &p->frames[i + k];
			make_frame_key(p, b->options, frame, frame->address, &frame->innermost_line, key);
			if (kinds > 1)
				make_frame_key(p, b->options, frame, caller_address(frame), &frame->own_line,
					key + FRAME_WORDS);
		}
		if (!id_table_add_many(&b->frame_groups, keys, kinds * count, groups))
			return false;
		for (size_t k = 0; k < count; k++)
			b->group_of_leaf[i + k] = groups[kinds * k];
		for (size_t k = 0; k < count && kinds > 1; k++)
			b->callers[i + k] = (struct caller){groups[2 * k + 1], mapped_level(p, &p->frames[i + k])};
	}
	return true;
}

/* Rows of values that the keys about facets show alike are one group. */
static bool group_facets(struct flat_builder *b)
{
	const struct profile *p = b->profile;
	enum profile_key keys[PROFILE_KEY_COUNT];
	size_t count = 0;
	for (size_t i = 0; i < b->options->key_count; i++)
		if (profile_key_get(b->options->keys[i])->form != KEY_FORM_ROW)
			keys[count++] = b->options->keys[i];
	if (count == 0 || p->facet_rows == 0)
		return true;
	struct id_table groups = {.words = (unsigned)count * FACET_KEY_WORDS};
	b->group_of_facets = calloc(p->facet_rows, sizeof(*b->group_of_facets));
	bool is_done = b->group_of_facets != NULL;
	for (size_t row = 0; is_done && row < p->facet_rows; row++) {
		uint64_t words[PROFILE_KEY_COUNT * FACET_KEY_WORDS];
		for (size_t i = 0; i < count; i++) {
			const struct profile_value *value = profile_facet(p, (uint32_t)row, profile_key_facet(keys[i]));
			facet_key_words(p, keys[i], value, words + i * FACET_KEY_WORDS);
		}
		b->group_of_facets[row] = id_table_add(&groups, words, NULL);
		is_done = b->group_of_facets[row] != ID_TABLE_NONE;
	}
	id_table_deinit(&groups);
	return is_done;
}

static void make_chain_key(
	const struct profile *p, const struct flat_options *o, const struct profile_frame *frame, uint64_t *key)
{
	key[0] = frame->binary;
	key[1] = caller_address(frame);
	key[2] = 0;
	if (frame->function == PROFILE_NONE || o->is_chain_by_address)
		return;
	const struct profile_function *function = &p->functions[frame->function];
	key[1] = function->is_inlined ? function->name : function->start;
	key[2] = function->is_inlined ? 2 : 1;
	if (o->is_chain_by_line && profile_frame_has_line(p, frame))
		key[2] |= (uint64_t)frame->own_line.line << 32;
}

/* Frames that a call graph takes for the same: one function, or one address where there is no symbol. */
static bool make_chain_keys(struct flat_builder *b)
{
	const struct profile *p = b->profile;
	struct id_table ids = {.words = CHAIN_WORDS};
	uint32_t *chain_keys = malloc((p->frame_count + 1) * sizeof(*chain_keys));
	bool is_done = chain_keys && id_table_reserve(&ids, p->frame_count);
	for (size_t i = 0; is_done && i < p->frame_count; i += FRAME_BATCH) {
		uint64_t keys[FRAME_BATCH * CHAIN_WORDS];
		size_t count = p->frame_count - i < FRAME_BATCH ? p->frame_count - i : FRAME_BATCH;
		for (size_t k = 0; k < count; k++)
			make_chain_key(p, b->options, &p->frames[i + k], keys + k * CHAIN_WORDS);
		is_done = id_table_add_many(&ids, keys, count, chain_keys + i);
	}
	id_table_deinit(&ids);
	b->table->chain_keys = chain_keys;
	return is_done;
}

static uint32_t sample_group(struct flat_builder *b, const struct profile_sample *sample, uint32_t parent)
{
	const struct flat_options *o = b->options;
	const struct profile_thread *thread = &b->profile->threads[sample->thread];
	uint64_t key[SAMPLE_WORDS] = {0};
	bool is_thread = parent == PROFILE_NONE && !b->group_of_facets && !has_key(o, KEY_CPU);
	if (is_thread && b->group_of_thread[sample->thread])
		return b->group_of_thread[sample->thread] - 1;
	if (has_key(o, KEY_COMM))
		key[0] = thread->comm;
	if (has_key(o, KEY_CPU))
		key[0] |= (uint64_t)(uint32_t)sample->cpu << 32;
	if (has_key(o, KEY_PID))
		key[1] = (uint32_t)thread->tid;
	if (has_key(o, KEY_TGID))
		key[1] |= (uint64_t)(uint32_t)thread->pid << 32;
	if (b->group_of_facets)
		key[2] = b->group_of_facets[sample->facets];
	if (parent != PROFILE_NONE)
		key[3] = b->profile->functions[parent].name + UINT64_C(1);
	uint32_t group = id_table_add(&b->sample_groups, key, NULL);
	if (is_thread && group != ID_TABLE_NONE)
		b->group_of_thread[sample->thread] = group + 1;
	return group;
}

static bool is_resolved(const struct profile *p, uint32_t frame)
{
	return p->frames[frame].function != PROFILE_NONE;
}

/* The chain of a stack in the order asked for, made once per stack. */
static bool find_chain(struct flat_builder *b, uint32_t stack, uint32_t *chain, uint32_t *len)
{
	const struct profile *p = b->profile;
	const struct flat_options *o = b->options;
	if (b->chain_of_stack[stack]) {
		*chain = b->chain_of_stack[stack] - 1;
		*len = b->len_of_stack[stack];
		return true;
	}
	size_t first = b->chains.len;
	struct list recorded = profile_stack(p, stack);
	for (uint32_t i = 0; i < recorded.count; i++) {
		uint32_t frame = recorded.items[i];
		if (o->hides_unresolved && !is_resolved(p, frame))
			continue;
		if (!vec_push(&b->chains, frame))
			return false;
	}
	if (b->chains.len >= UINT32_MAX)
		return false;
	uint32_t *frames = b->chains.items + first;
	size_t count = b->chains.len - first;
	for (size_t i = 0; o->is_caller_first && i < count / 2; i++) {
		uint32_t frame = frames[i];
		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
	if (o->max_stack && count > o->max_stack)
		b->chains.len = first + (count = o->max_stack);
	b->chain_of_stack[stack] = (uint32_t)first + 1;
	b->len_of_stack[stack] = (uint32_t)count;
	*chain = (uint32_t)first;
	*len = (uint32_t)count;
	return true;
}

/* The row of a frame group in the sample's group; UINT32_MAX: none yet. */
static uint32_t known_row(const struct flat_builder *b, uint32_t sample_group, uint32_t frame_group)
{
	const struct group_row *known = &b->row_of[frame_group];
	return known->sample_group == sample_group + 1 ? known->row : UINT32_MAX;
}

/* UINT32_MAX: out of memory. */
static uint32_t add_row(
	struct flat_builder *b, const struct flat_row *added, const struct flat_instance *by, uint32_t frame_group)
{
	uint32_t members = b->options->member_count;
	uint32_t row = (uint32_t)b->rows.len;
	struct row_tally tally = {.frame_group = frame_group};
	if (b->rows.len >= UINT32_MAX || !vec_push(&b->rows, *added) || !vec_push(&b->tallies, tally) ||
		!vec_push(&b->made_by, by->sample) || !vec_reserve(&b->stats, b->stats.len + members))
		return UINT32_MAX;
	memset(b->stats.items + b->stats.len, 0, members * sizeof(*b->stats.items));
	b->stats.len += members;
	b->row_of[frame_group] = (struct group_row){b->group_of_sample[by->sample] + 1, row};
	return row;
}

/* The chains of a row are of the first member. */
static void count_instance(struct flat_builder *b, uint32_t row, const struct flat_instance *instance)
{
	struct row_tally *tally = &b->tallies.items[row];
	tally->last_sample = instance->sample + 1;
	if (b->profile->samples[instance->sample].event != b->options->first_event)
		return;
	if (instance->len > tally->max_depth)
		tally->max_depth = instance->len;
	tally->instance_count += b->options->with_chains && instance->len > 0;
}

/* Its part of the time that passed: the period shared among the threads that ran. 0 where that is not known. */
static uint64_t sample_latency(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_value *running = profile_facet(p, sample->facets, FACET_PARALLELISM);
	return running && running->number ? sample->period / running->number : 0;
}

static void add_self(struct flat_stat *stat, uint8_t level, const struct profile_sample *sample, uint64_t latency)
{
	stat->latency += latency;
	stat->children_latency += latency;
	stat->count += sample->count;
	stat->period += sample->period;
	stat->children_period += sample->period;
	if (level == PROFILE_LEVEL_KERNEL)
		stat->sys_period += sample->period;
	else if (level == PROFILE_LEVEL_USER)
		stat->us_period += sample->period;
	else if (level == PROFILE_LEVEL_GUEST_KERNEL)
		stat->guest_sys_period += sample->period;
	else if (level == PROFILE_LEVEL_GUEST_USER)
		stat->guest_us_period += sample->period;
}

#define WEIGHT_FACETS (UINT64_C(1) << FACET_WEIGHT | UINT64_C(1) << FACET_INS_LAT | UINT64_C(1) << FACET_STAGE_CYCLES)

static void add_weights(const struct profile *p, const struct profile_sample *sample, struct flat_stat *stat)
{
	static const enum profile_facet facets[] = {FACET_WEIGHT, FACET_INS_LAT, FACET_STAGE_CYCLES};
	for (size_t i = 0; i < sizeof(facets) / sizeof(facets[0]); i++) {
		const struct profile_value *weight = profile_facet(p, sample->facets, facets[i]);
		stat->weights[i] += weight ? weight->number * sample->count : 0;
	}
}

/* The function of the first frame, in the order of the chain, that the parent expression names. */
static uint32_t find_parent(const struct flat_builder *b, const struct flat_instance *whole)
{
	const bool *is_parent = b->options->filter ? b->options->filter->frame_is_parent : NULL;
	for (uint32_t i = 0; is_parent && i < whole->len; i++) {
		uint32_t frame = b->chains.items[whole->chain + i];
		if (is_parent[frame])
			return b->profile->frames[frame].function;
	}
	return PROFILE_NONE;
}

/* What the callers' rows are made of lies anywhere in memory: all of it is waited for together. */
static void expect_callers(const struct flat_builder *b, uint32_t sample_group, const struct flat_instance *whole)
{
	if (whole->len == 0)
		return;
	const uint32_t *frames = b->chains.items + whole->chain;
	for (uint32_t i = 0; i < whole->len; i++)
		__builtin_prefetch(&b->row_of[b->callers[frames[i]].group]);
	for (uint32_t i = 0; i < whole->len; i++) {
		uint32_t row = known_row(b, sample_group, b->callers[frames[i]].group);
		if (row == UINT32_MAX)
			continue;
		__builtin_prefetch(&b->tallies.items[row]);
		__builtin_prefetch(&b->stats.items[row * b->options->member_count].children_period);
	}
}

/* The row of a caller: like that of the sample but for its place. */
static uint32_t add_caller_row(
	struct flat_builder *b, uint32_t frame, const struct flat_row *sample_like, const struct flat_instance *by)
{
	const struct profile_frame *from = &b->profile->frames[frame];
	struct flat_row like = *sample_like;
	like.frame = frame;
	like.address = caller_address(from);
	like.place = from->own_line;
	return add_row(b, &like, by, b->callers[frame].group);
}

/* like: what the rows have of the sample; its level is that of the sample's own frame. */
static bool add_callers(struct flat_builder *b, struct flat_row like, const struct flat_instance *whole)
{
	const struct profile *p = b->profile;
	const struct profile_filter *filter = b->options->filter;
	const struct profile_sample *sample = &p->samples[whole->sample];
	uint32_t member = sample->event - b->options->first_event, group = b->group_of_sample[whole->sample];
	uint64_t latency = sample_latency(p, sample);
	expect_callers(b, group, whole);
	for (uint32_t i = 0; i < whole->len; i++) {
		uint32_t frame = b->chains.items[whole->chain + i];
		uint8_t level = b->callers[frame].level;
		/* A frame outside every mapping shows the level of the frame before it. */
		if (level)
			like.level = level;
		if (level && filter && filter->frame_passes && !filter->frame_passes[frame])
			continue;
		uint32_t row = known_row(b, group, b->callers[frame].group);
		if (row == UINT32_MAX)
			row = add_caller_row(b, frame, &like, whole);
		if (row == UINT32_MAX)
			return false;
		if (b->tallies.items[row].last_sample == whole->sample + 1)
			continue;
		struct flat_stat *stat = &b->stats.items[row * b->options->member_count + member];
		stat->children_period += sample->period;
		stat->children_latency += latency;
		count_instance(b, row, &(struct flat_instance){whole->sample, whole->chain + i, whole->len - i});
	}
	return true;
}

static bool counts(const struct flat_builder *b, const struct profile_sample *sample)
{
	const struct flat_options *o = b->options;
	if (o->hides_unresolved && !is_resolved(b->profile, sample->leaf))
		return false;
	return !o->cpu_passes || (sample->cpu >= 0 && (size_t)sample->cpu < o->cpu_limit && o->cpu_passes[sample->cpu]);
}

/* Cuts the chain to what follows the last function whose callees are ignored, in the order of the chain, which is perf's
 * way: callers where chains start at the callee, callees where they start at the caller. Gives the frame that the sample
 * counts for. */
static uint32_t ignore_callees(const struct flat_builder *b, struct flat_instance *whole, uint32_t leaf)
{
	const bool *ignores = b->options->filter ? b->options->filter->ignores_callees : NULL;
	for (uint32_t i = whole->len; ignores && i-- > 0;) {
		uint32_t frame = b->chains.items[whole->chain + i];
		if (!ignores[frame])
			continue;
		whole->chain += i;
		whole->len -= i;
		return frame;
	}
	return leaf;
}

static bool read_chain(struct flat_builder *b, struct flat_instance *whole)
{
	uint32_t stack = b->profile->samples[whole->sample].stack;
	return stack == PROFILE_NONE || find_chain(b, stack, &whole->chain, &whole->len);
}

static bool needs_chain(const struct flat_options *o)
{
	return o->with_children || o->with_chains ||
	       (o->filter && (o->filter->frame_is_parent || o->filter->ignores_callees));
}

/* Counts the sample in the totals and finds its group. */
static bool group_sample(struct flat_builder *b, uint32_t index)
{
	const struct flat_options *o = b->options;
	const struct profile_filter *filter = o->filter;
	const struct profile_sample *sample = &b->profile->samples[index];
	struct flat_total *total = &b->table->totals[sample->event - o->first_event];
	b->group_of_sample[index] = NO_GROUP;
	if (!counts(b, sample))
		return true;
	uint64_t latency = sample_latency(b->profile, sample);
	total->count += sample->count;
	total->period += sample->period;
	total->latency += latency;
	if (filter && !profile_filter_passes(filter, sample))
		return true;
	struct flat_instance whole = {.sample = index};
	if (filter && filter->frame_is_parent && !read_chain(b, &whole))
		return false;
	uint32_t parent = find_parent(b, &whole);
	if (parent == PROFILE_NONE && filter && filter->excludes_other)
		return true;
	total->passed_count += sample->count;
	total->passed_period += sample->period;
	total->passed_latency += latency;
	b->group_of_sample[index] = sample_group(b, sample, parent);
	return b->group_of_sample[index] != ID_TABLE_NONE;
}

/* Brings the samples of each group together: what they have in common is then at hand. */
static bool group_samples(struct flat_builder *b)
{
	const struct profile *p = b->profile;
	uint32_t first = b->options->first_event, end = first + b->options->member_count;
	b->group_of_sample = malloc((p->sample_count + 1) * sizeof(*b->group_of_sample));
	b->samples = malloc((p->sample_count + 1) * sizeof(*b->samples));
	b->group_of_thread = calloc(p->thread_count + 1, sizeof(*b->group_of_thread));
	if (!b->group_of_sample || !b->samples || !b->group_of_thread)
		return false;
	for (size_t i = 0; i < p->sample_count; i++) {
		b->group_of_sample[i] = NO_GROUP;
		if (p->samples[i].event >= first && p->samples[i].event < end && !group_sample(b, (uint32_t)i))
			return false;
	}
	size_t groups = b->sample_groups.len;
	b->group_begin = calloc(groups + 2, sizeof(*b->group_begin));
	b->group_rows = calloc(groups + 1, sizeof(*b->group_rows));
	if (!b->group_begin || !b->group_rows)
		return false;
	/* Counted two places on, so that filling them in leaves each where the next one begins. */
	for (size_t i = 0; i < p->sample_count; i++)
		if (b->group_of_sample[i] != NO_GROUP)
			b->group_begin[b->group_of_sample[i] + 2]++;
	for (size_t i = 2; i < groups + 2; i++)
		b->group_begin[i] += b->group_begin[i - 1];
	for (size_t i = 0; i < p->sample_count; i++)
		if (b->group_of_sample[i] != NO_GROUP)
			b->samples[b->group_begin[b->group_of_sample[i] + 1]++] = (uint32_t)i;
	return true;
}

/* Adds a sample to the row of its own frame and to those of its callers. */
static bool add_sample(struct flat_builder *b, uint32_t index)
{
	const struct profile *p = b->profile;
	const struct flat_options *o = b->options;
	const struct profile_sample *sample = &p->samples[index];
	struct flat_instance whole = {.sample = index};
	if (needs_chain(o) && !read_chain(b, &whole))
		return false;
	uint32_t parent = find_parent(b, &whole);
	uint32_t own_frame = ignore_callees(b, &whole, sample->leaf);
	const struct profile_frame *leaf = &p->frames[own_frame];
	struct flat_row like = {
		.thread = sample->thread,
		.frame = own_frame,
		.address = o->is_leaf_raw ? caller_address(leaf) : leaf->address,
		.cpu = sample->cpu,
		.facets = sample->facets,
		.place = leaf->innermost_line,
		.parent = parent,
		.level = leaf->level,
	};
	uint32_t frame_group = b->group_of_leaf[own_frame];
	uint32_t row = known_row(b, b->group_of_sample[index], frame_group);
	if (row == UINT32_MAX)
		row = add_row(b, &like, &whole, frame_group);
	if (row == UINT32_MAX)
		return false;
	struct flat_stat *stat = &b->stats.items[row * o->member_count + sample->event - o->first_event];
	add_self(stat, leaf->level, sample, sample_latency(p, sample));
	if (p->facets & WEIGHT_FACETS)
		add_weights(p, sample, stat);
	count_instance(b, row, &whole);
	return !o->with_children || add_callers(b, like, &whole);
}

/* A group's samples lie apart: what the next ones are made of is fetched ahead. */
static void expect_samples(const struct flat_builder *b, size_t at, size_t end)
{
	const struct profile *p = b->profile;
	if (at + 2 * AHEAD < end)
		__builtin_prefetch(&p->samples[b->samples[at + 2 * AHEAD]]);
	if (at + AHEAD >= end)
		return;
	const struct profile_sample *sample = &p->samples[b->samples[at + AHEAD]];
	__builtin_prefetch(&b->group_of_leaf[sample->leaf]);
	if (sample->stack != PROFILE_NONE)
		__builtin_prefetch(profile_stack(p, sample->stack).items);
}

static bool add_samples(struct flat_builder *b)
{
	for (uint32_t group = 0; group < b->sample_groups.len; group++) {
		size_t end = b->group_begin[group + 1];
		for (size_t i = b->group_begin[group]; i < end; i++) {
			expect_samples(b, i, end);
			if (!add_sample(b, b->samples[i]))
				return false;
		}
		b->group_rows[group + 1] = (uint32_t)b->rows.len;
	}
	return true;
}

/* The rows in the order in which they would be made by taking sample after sample, whatever its group. */
static bool number_rows(struct flat_builder *b, uint32_t *order)
{
	size_t samples = b->profile->sample_count;
	uint32_t *next = calloc(samples + 1, sizeof(*next));
	if (!next)
		return false;
	for (size_t row = 0; row < b->rows.len; row++)
		next[b->made_by.items[row] + 1]++;
	for (size_t i = 1; i <= samples; i++)
		next[i] += next[i - 1];
	for (size_t row = 0; row < b->rows.len; row++) {
		b->rows.items[row].number = next[b->made_by.items[row]]++;
		order[b->rows.items[row].number] = (uint32_t)row;
	}
	free(next);
	return true;
}

static bool needs_chains(const struct flat_builder *b, size_t row)
{
	double least = (double)b->table->totals[0].passed_period * b->options->min_chain_share;
	return (double)b->stats.items[row * b->options->member_count].children_period >= least - 1;
}

/* Room for the instances of the rows that need any. */
static bool place_instances(struct flat_builder *b)
{
	uint64_t at = 0;
	for (size_t row = 0; row < b->rows.len; row++) {
		struct flat_row *r = &b->rows.items[row];
		r->max_depth = b->tallies.items[row].max_depth;
		if (!needs_chains(b, row))
			continue;
		r->first_instance = (uint32_t)at;
		at += b->tallies.items[row].instance_count;
	}
	b->table->instances = at < UINT32_MAX ? malloc((at + 1) * sizeof(*b->table->instances)) : NULL;
	return b->table->instances != NULL;
}

static void keep_instance(struct flat_builder *b, uint32_t frame_group, const struct flat_instance *instance)
{
	uint32_t row = known_row(b, b->group_of_sample[instance->sample], frame_group);
	if (row == UINT32_MAX || b->tallies.items[row].last_sample == instance->sample + 1)
		return;
	struct flat_row *r = &b->rows.items[row];
	b->tallies.items[row].last_sample = instance->sample + 1;
	if (instance->len > 0)
		b->table->instances[r->first_instance + r->instance_count++] = *instance;
}

static bool keep_sample(struct flat_builder *b, uint32_t index)
{
	const struct profile_filter *filter = b->options->filter;
	struct flat_instance whole = {.sample = index};
	const struct profile_sample *sample = &b->profile->samples[index];
	if (sample->event != b->options->first_event)
		return true;
	if (!read_chain(b, &whole))
		return false;
	uint32_t own_frame = ignore_callees(b, &whole, sample->leaf);
	keep_instance(b, b->group_of_leaf[own_frame], &whole);
	for (uint32_t i = 0; b->options->with_children && i < whole.len; i++) {
		uint32_t frame = b->chains.items[whole.chain + i];
		if (b->callers[frame].level && filter && filter->frame_passes && !filter->frame_passes[frame])
			continue;
		const struct flat_instance part = {index, whole.chain + i, whole.len - i};
		keep_instance(b, b->callers[frame].group, &part);
	}
	return true;
}

/* Most rows of a large table are too light for a call graph: instances are kept of the others, in a second walk. */
static bool keep_instances(struct flat_builder *b)
{
	if (!place_instances(b))
		return false;
	memset(b->row_of, 0, (b->frame_groups.len + 1) * sizeof(*b->row_of));
	for (uint32_t group = 0; b->options->with_chains && group < b->sample_groups.len; group++) {
		bool has_rows = false;
		for (uint32_t row = b->group_rows[group]; row < b->group_rows[group + 1]; row++) {
			if (!needs_chains(b, row))
				continue;
			b->row_of[b->tallies.items[row].frame_group] = (struct group_row){group + 1, row};
			b->tallies.items[row].last_sample = 0;
			has_rows = true;
		}
		for (size_t i = b->group_begin[group]; has_rows && i < b->group_begin[group + 1]; i++)
			if (!keep_sample(b, b->samples[i]))
				return false;
	}
	return true;
}

/* Without children a sample makes one row at most; with them, most callers are of one group of samples only. */
static bool reserve_rows(struct flat_builder *b)
{
	size_t count = b->options->with_children ? b->frame_groups.len : b->profile->sample_count;
	return vec_reserve(&b->rows, count) && vec_reserve(&b->tallies, count) && vec_reserve(&b->made_by, count) &&
	       vec_reserve(&b->stats, count * b->options->member_count);
}

/* What rows are made of, each part by itself: about frames, about frames of chains, about samples. */
#define PREPARATIONS 3

struct preparation {
	struct flat_builder *builder;
	bool is_done[PREPARATIONS];
};

static void prepare(void *context, size_t index, unsigned worker)
{
	struct preparation *preparation = context;
	struct flat_builder *b = preparation->builder;
	if (index == 0)
		preparation->is_done[index] = group_frames(b);
	else if (index == 1)
		preparation->is_done[index] = !b->options->with_chains || make_chain_keys(b);
	else
		preparation->is_done[index] = group_facets(b) && group_samples(b);
}

static bool prepare_rows(struct flat_builder *b)
{
	struct preparation preparation = {.builder = b};
	thread_pool_for(PREPARATIONS, b->profile->frame_count < MANY_FRAMES ? 1 : 0, prepare, &preparation);
	for (size_t i = 0; i < PREPARATIONS; i++)
		if (!preparation.is_done[i])
			return false;
	return true;
}

static bool build(struct flat_builder *b)
{
	const struct profile *p = b->profile;
	struct flat_table *table = b->table;
	table->totals = calloc(b->options->member_count + 1, sizeof(*table->totals));
	b->chain_of_stack = calloc(list_table_len(&p->stacks) + 1, sizeof(*b->chain_of_stack));
	b->len_of_stack = calloc(list_table_len(&p->stacks) + 1, sizeof(*b->len_of_stack));
	if (!table->totals || !b->chain_of_stack || !b->len_of_stack)
		return false;
	if (!prepare_rows(b))
		return false;
	b->row_of = calloc(b->frame_groups.len + 1, sizeof(*b->row_of));
	if (!b->row_of || !reserve_rows(b) || !add_samples(b) || !keep_instances(b))
		return false;
	table->order = malloc((b->rows.len + 1) * sizeof(*table->order));
	if (!table->order || !number_rows(b, table->order))
		return false;
	const struct profile_filter *filter = b->options->filter;
	for (size_t i = 0; i < b->rows.len; i++) {
		uint32_t row = table->order[i];
		if (!filter || !filter->frame_shows || filter->frame_shows[b->rows.items[row].frame])
			table->order[table->shown_count++] = row;
	}
	table->rows = b->rows.items;
	table->stats = b->stats.items;
	table->chains = b->chains.items;
	table->row_count = b->rows.len;
	b->rows.items = NULL;
	b->stats.items = NULL;
	b->chains.items = NULL;
	return true;
}

enum tally_status flat_table_init(struct flat_table *table, const struct profile *profile,
	const struct flat_options *options, struct tally_error *err)
{
	struct flat_table made = {.profile = profile, .options = *options};
	struct flat_builder b = {.table = &made, .profile = profile, .options = options};
	if (options->member_count == 0 || options->first_event + options->member_count > profile->event_count)
		return error_set(err, TALLY_INVALID, "no event %u in this profile", options->first_event);
	b.frame_groups.words = FRAME_WORDS;
	b.sample_groups.words = SAMPLE_WORDS;
	bool is_built = build(&b);
	id_table_deinit(&b.frame_groups);
	id_table_deinit(&b.sample_groups);
	free(b.row_of);
	free(b.group_of_sample);
	free(b.group_of_thread);
	free(b.samples);
	free(b.group_begin);
	free(b.group_rows);
	free(b.group_of_facets);
	free(b.group_of_leaf);
	free(b.callers);
	free(b.chain_of_stack);
	free(b.len_of_stack);
	vec_free(&b.rows);
	vec_free(&b.stats);
	vec_free(&b.tallies);
	vec_free(&b.made_by);
	vec_free(&b.chains);
	if (!is_built) {
		flat_table_deinit(&made);
		return error_nomem(err);
	}
	*table = made;
	return TALLY_OK;
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
	free(table->order);
	free(table->totals);
	free(table->instances);
	free(table->chains);
	free(table->chain_keys);
	*table = (struct flat_table){0};
}
