#include "profile/flat_table.h"
#include "base/error.h"
#include "base/id_table.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "profile/facet_keys.h"

#include <stdlib.h>

#define FRAME_WORDS  5
#define SAMPLE_WORDS 4
#define FRAME_BATCH  32

struct row_instance {
	struct flat_instance instance;
	uint32_t row;
};

struct caller { /* what a frame is as a caller: all that most samples need of it */
	uint32_t group; /* frame group */
	uint32_t sample_group, row; /* the row it was counted in last; UINT32_MAX: none yet */
	uint8_t level; /* 0: outside every mapping */
};

struct flat_builder {
	struct flat_table *table;
	const struct profile *profile;
	const struct flat_options *options;
	struct id_table frame_groups, sample_groups;
	uint32_t *group_of_facets; /* by row of values; NULL: no key is about facets */
	uint32_t *group_of_leaf; /* frame group by frame, as the sample's own */
	struct caller *callers; /* by frame */
	struct map_u64 row_of; /* sample group << 32 | frame group -> row */
	VEC(struct flat_row) rows;
	VEC(struct flat_stat) stats;
	VEC(uint32_t) last_sample; /* by row: sample + 1 that was added last, so that recursion counts once */
	VEC(struct row_instance) instances;
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

static bool group_frames(struct flat_builder *b)
{
	const struct profile *p = b->profile;
	b->group_of_leaf = calloc(p->frame_count + 1, sizeof(*b->group_of_leaf));
	b->callers = calloc(p->frame_count + 1, sizeof(*b->callers));
	if (!b->group_of_leaf || !b->callers)
		return false;
	for (size_t i = 0; i < p->frame_count; i += FRAME_BATCH) {
		uint64_t keys[2 * FRAME_BATCH * FRAME_WORDS], *key = keys;
		uint32_t groups[2 * FRAME_BATCH];
		size_t count = p->frame_count - i < FRAME_BATCH ? p->frame_count - i : FRAME_BATCH;
		for (size_t k = 0; k < count; k++, key += 2 * FRAME_WORDS) {
			const struct profile_frame *frame = &p->frames[i + k];
			make_frame_key(p, b->options, frame, frame->address, &frame->innermost_line, key);
			make_frame_key(
				p, b->options, frame, caller_address(frame), &frame->own_line, key + FRAME_WORDS);
		}
		if (!id_table_add_many(&b->frame_groups, keys, 2 * count, groups))
			return false;
		for (size_t k = 0; k < count; k++) {
			b->group_of_leaf[i + k] = groups[2 * k];
			b->callers[i + k] = (struct caller){.group = groups[2 * k + 1],
				.sample_group = UINT32_MAX,
				.level = mapped_level(p, &p->frames[i + k])};
		}
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

/* Frames that a call graph takes for the same: one function, or one address where there is no symbol. */
static bool make_chain_keys(struct flat_builder *b)
{
	const struct profile *p = b->profile;
	struct id_table ids = {.words = 3};
	uint32_t *keys = calloc(p->frame_count + 1, sizeof(*keys));
	bool is_done = keys != NULL;
	for (size_t i = 0; is_done && i < p->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[i];
		uint64_t key[3] = {frame->binary, caller_address(frame), 0};
		if (frame->function != PROFILE_NONE && !b->options->is_chain_by_address) {
			const struct profile_function *function = &p->functions[frame->function];
			key[1] = function->is_inlined ? function->name : function->start;
			key[2] = function->is_inlined ? 2 : 1;
			if (b->options->is_chain_by_line && profile_frame_has_line(p, frame))
				key[2] |= (uint64_t)frame->own_line.line << 32;
		}
		keys[i] = id_table_add(&ids, key, NULL);
		is_done = keys[i] != ID_TABLE_NONE;
	}
	id_table_deinit(&ids);
	b->table->chain_keys = keys;
	return is_done;
}

static uint32_t sample_group(struct flat_builder *b, const struct profile_sample *sample, uint32_t parent)
{
	const struct flat_options *o = b->options;
	const struct profile_thread *thread = &b->profile->threads[sample->thread];
	uint64_t key[SAMPLE_WORDS] = {0};
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
	return id_table_add(&b->sample_groups, key, NULL);
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

/* The row of a sample group and a frame, made like the given one if it is new; UINT32_MAX when memory is out. */
static uint32_t find_row(
	struct flat_builder *b, uint32_t sample_group, uint32_t frame_group, const struct flat_row *like)
{
	uint32_t members = b->options->member_count;
	bool was_new;
	uint64_t *slot = map_u64_at(&b->row_of, (uint64_t)sample_group << 32 | frame_group, &was_new);
	if (!slot)
		return UINT32_MAX;
	if (!was_new)
		return (uint32_t)*slot;
	uint32_t row = (uint32_t)b->rows.len;
	*slot = row;
	if (!vec_push(&b->rows, *like) || !vec_push(&b->last_sample, 0) ||
		!vec_reserve(&b->stats, b->stats.len + members))
		return UINT32_MAX;
	memset(b->stats.items + b->stats.len, 0, members * sizeof(*b->stats.items));
	b->stats.len += members;
	return row;
}

static bool add_instance(struct flat_builder *b, uint32_t row, const struct flat_instance *instance)
{
	struct flat_row *r = &b->rows.items[row];
	if (b->profile->samples[instance->sample].event != b->options->first_event)
		return true;
	if (instance->len > r->max_depth)
		r->max_depth = instance->len;
	if (!b->options->with_chains || instance->len == 0)
		return true;
	r->instance_count++;
	struct row_instance added = {*instance, row};
	return vec_push(&b->instances, added);
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
static void expect_callers(const struct flat_builder *b, uint32_t group, const struct flat_instance *whole)
{
	if (whole->len == 0)
		return;
	const uint32_t *frames = b->chains.items + whole->chain;
	for (uint32_t i = 0; i < whole->len; i++)
		__builtin_prefetch(&b->callers[frames[i]]);
	for (uint32_t i = 0; i < whole->len; i++) {
		const struct caller *caller = &b->callers[frames[i]];
		if (caller->sample_group != group)
			continue;
		__builtin_prefetch(&b->last_sample.items[caller->row]);
		__builtin_prefetch(&b->rows.items[caller->row].max_depth);
		__builtin_prefetch(&b->stats.items[caller->row * b->options->member_count].children_period);
	}
}

/* The row of a caller for samples of the group: like the given one, of the sample, but for its place. */
static uint32_t caller_row(struct flat_builder *b, uint32_t group, uint32_t frame, const struct flat_row *sample_like)
{
	struct caller *caller = &b->callers[frame];
	if (caller->sample_group == group)
		return caller->row;
	const struct profile_frame *from = &b->profile->frames[frame];
	struct flat_row like = *sample_like;
	like.frame = frame;
	like.address = caller_address(from);
	like.place = from->own_line;
	uint32_t row = find_row(b, group, caller->group, &like);
	if (row != UINT32_MAX) {
		caller->sample_group = group;
		caller->row = row;
	}
	return row;
}

/* like: what the rows have of the sample; its level is that of the sample's own frame. */
static bool add_callers(struct flat_builder *b, struct flat_row like, uint32_t group, const struct flat_instance *whole)
{
	const struct profile *p = b->profile;
	const struct profile_filter *filter = b->options->filter;
	const struct profile_sample *sample = &p->samples[whole->sample];
	uint32_t member = sample->event - b->options->first_event;
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
		uint32_t row = caller_row(b, group, frame, &like);
		if (row == UINT32_MAX)
			return false;
		if (b->last_sample.items[row] == whole->sample + 1)
			continue;
		b->last_sample.items[row] = whole->sample + 1;
		struct flat_stat *stat = &b->stats.items[row * b->options->member_count + member];
		stat->children_period += sample->period;
		stat->children_latency += latency;
		struct flat_instance part = {whole->sample, whole->chain + i, whole->len - i};
		if (!add_instance(b, row, &part))
			return false;
	}
	return true;
}

/* Adds a sample that passes the filter to the row of its own frame and to those of its callers. */
static bool add_rows(struct flat_builder *b, const struct flat_instance *whole, uint32_t parent, uint32_t own_frame)
{
	const struct profile *p = b->profile;
	const struct flat_options *o = b->options;
	const struct profile_sample *sample = &p->samples[whole->sample];
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
	uint32_t group = sample_group(b, sample, parent);
	uint32_t row = UINT32_MAX;
	if (group != ID_TABLE_NONE)
		row = find_row(b, group, b->group_of_leaf[own_frame], &like);
	if (row == UINT32_MAX)
		return false;
	b->last_sample.items[row] = whole->sample + 1;
	struct flat_stat *stat = &b->stats.items[row * o->member_count + sample->event - o->first_event];
	add_self(stat, leaf->level, sample, sample_latency(p, sample));
	if (p->facets & WEIGHT_FACETS)
		add_weights(p, sample, stat);
	if (!add_instance(b, row, whole))
		return false;
	return !o->with_children || add_callers(b, like, group, whole);
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

static bool add_sample(struct flat_builder *b, uint32_t index)
{
	const struct flat_options *o = b->options;
	const struct profile_sample *sample = &b->profile->samples[index];
	struct flat_total *total = &b->table->totals[sample->event - o->first_event];
	if (!counts(b, sample))
		return true;
	uint64_t latency = sample_latency(b->profile, sample);
	total->count += sample->count;
	total->period += sample->period;
	total->latency += latency;
	if (o->filter && !profile_filter_passes(o->filter, sample))
		return true;
	struct flat_instance whole = {.sample = index};
	bool needs_chain = o->with_children || o->with_chains ||
			   (o->filter && (o->filter->frame_is_parent || o->filter->ignores_callees));
	if (needs_chain && sample->stack != PROFILE_NONE && !find_chain(b, sample->stack, &whole.chain, &whole.len))
		return false;
	uint32_t parent = find_parent(b, &whole);
	if (parent == PROFILE_NONE && o->filter && o->filter->excludes_other)
		return true;
	total->passed_count += sample->count;
	total->passed_period += sample->period;
	total->passed_latency += latency;
	uint32_t own_frame = ignore_callees(b, &whole, sample->leaf);
	return add_rows(b, &whole, parent, own_frame);
}

static bool add_samples(struct flat_builder *b)
{
	const struct profile *p = b->profile;
	uint32_t end = b->options->first_event + b->options->member_count;
	for (size_t i = 0; i < p->sample_count; i++) {
		if (p->samples[i].event < b->options->first_event)
			continue;
		if (p->samples[i].event >= end)
			break;
		if (!add_sample(b, (uint32_t)i))
			return false;
	}
	return true;
}

/* Brings the instances of each row together. */
static bool settle_instances(struct flat_builder *b)
{
	struct flat_instance *sorted = malloc((b->instances.len + 1) * sizeof(*sorted));
	uint32_t *next = malloc((b->rows.len + 1) * sizeof(*next));
	if (!sorted || !next) {
		free(sorted);
		free(next);
		return false;
	}
	uint32_t at = 0;
	for (size_t row = 0; row < b->rows.len; row++) {
		b->rows.items[row].first_instance = next[row] = at;
		at += b->rows.items[row].instance_count;
	}
	for (size_t i = 0; i < b->instances.len; i++)
		sorted[next[b->instances.items[i].row]++] = b->instances.items[i].instance;
	free(next);
	b->table->instances = sorted;
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
	if (!group_frames(b) || !group_facets(b) || (b->options->with_chains && !make_chain_keys(b)))
		return false;
	if (!add_samples(b) || !settle_instances(b))
		return false;
	table->order = malloc((b->rows.len + 1) * sizeof(*table->order));
	if (!table->order)
		return false;
	const struct profile_filter *filter = b->options->filter;
	for (size_t i = 0; i < b->rows.len; i++) {
		if (!filter || !filter->frame_shows || filter->frame_shows[b->rows.items[i].frame])
			table->order[table->shown_count++] = (uint32_t)i;
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
	map_u64_deinit(&b.row_of);
	free(b.group_of_facets);
	free(b.group_of_leaf);
	free(b.callers);
	free(b.chain_of_stack);
	free(b.len_of_stack);
	vec_free(&b.rows);
	vec_free(&b.stats);
	vec_free(&b.last_sample);
	vec_free(&b.instances);
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
