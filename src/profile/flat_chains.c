#include "profile/flat_chains.h"

#include <stdlib.h>

#include "base/id_table.h"
#include "base/thread_pool.h"

#define CHAIN_WORDS	3
#define FRAME_BATCH	32
#define STACKS_PER_TASK 8192

struct chain_making {
	struct flat_chains *chains;
	const struct profile *profile;
	const struct flat_options *options;
	const bool *is_used; /* by stack */
};

/* The innermost calls, or the outermost ones of chains that begin with these: as perf, which finds those of copied stacks
 * one by one from the innermost, whatever the order. */
struct list flat_chains_counted(const struct profile *p, const struct flat_options *options, uint32_t stack)
{
	struct list all = profile_stack(p, stack);
	uint32_t left = options->max_stack, begin = 0, end = all.count;
	if (left == 0 || all.count <= left)
		return all;
	if (options->is_caller_first && !p->events[options->first_event].has_copied_stacks) {
		for (begin = end; begin > 0 && (left > 0 || profile_frame_is_inlined(p, all.items[begin - 1])); begin--)
			left -= !profile_frame_is_inlined(p, all.items[begin - 1]);
	} else {
		for (end = 0; end < all.count && left > 0; end++)
			left -= !profile_frame_is_inlined(p, all.items[end]);
	}
	return (struct list){all.items + begin, end - begin};
}

static bool is_hidden(const struct chain_making *m, uint32_t frame)
{
	return m->options->hides_unresolved && !flat_frame_is_resolved(m->profile, frame);
}

static uint32_t shown_frames(const struct chain_making *m, struct list stack)
{
	uint32_t count = 0;
	for (uint32_t i = 0; m->options->hides_unresolved && i < stack.count; i++)
		count += !is_hidden(m, stack.items[i]);
	return m->options->hides_unresolved ? count : stack.count;
}

/* In the order of the chain, of which these are the shown ones. */
static void write_chain(const struct chain_making *m, struct list stack, uint32_t *chain, uint32_t shown)
{
	uint32_t place = 0;
	for (uint32_t i = 0; i < stack.count; i++) {
		if (is_hidden(m, stack.items[i]))
			continue;
		uint32_t at = m->options->is_caller_first ? shown - 1 - place : place;
		place++;
		chain[at] = stack.items[i];
	}
}

/* As lengths, each a place on. */
static void measure_stacks(void *context, size_t index, unsigned worker)
{
	const struct chain_making *m = context;
	size_t end = thread_pool_task_end(index, STACKS_PER_TASK, list_table_len(&m->profile->stacks));
	for (size_t i = index * STACKS_PER_TASK; i < end; i++) {
		if (!m->is_used[i] || m->options->without_callers)
			continue;
		struct list counted = flat_chains_counted(m->profile, m->options, (uint32_t)i);
		if (counted.count < profile_stack(m->profile, (uint32_t)i).count)
			__atomic_store_n(&m->chains->is_cut, true, __ATOMIC_RELAXED);
		m->chains->begin[i + 1] = shown_frames(m, counted);
	}
}

static void write_stacks(void *context, size_t index, unsigned worker)
{
	const struct chain_making *m = context;
	const uint32_t *begin = m->chains->begin;
	size_t end = thread_pool_task_end(index, STACKS_PER_TASK, list_table_len(&m->profile->stacks));
	for (size_t i = index * STACKS_PER_TASK; i < end; i++)
		if (begin[i] < begin[i + 1])
			write_chain(m, flat_chains_counted(m->profile, m->options, (uint32_t)i),
				m->chains->frames + begin[i], begin[i + 1] - begin[i]);
}

static void mark_used(const struct profile *p, const struct flat_options *o, bool *is_used)
{
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		if (sample->event - o->first_event < o->member_count && sample->stack != PROFILE_NONE)
			is_used[sample->stack] = true;
	}
}

static bool needs_chains(const struct flat_options *o)
{
	return o->with_children || o->with_chains ||
	       (o->filter && (o->filter->frame_is_parent || o->filter->ignores_callees));
}

/* False: they are too many. */
static bool place_chains(uint32_t *begin, size_t count)
{
	uint64_t at = 0;
	for (size_t i = 0; i < count; i++)
		begin[i + 1] = (uint32_t)(at += begin[i + 1]);
	return at < UINT32_MAX;
}

bool flat_chains_make(struct flat_chains *chains, const struct profile *profile, const struct flat_options *options)
{
	size_t count = list_table_len(&profile->stacks), tasks = thread_pool_tasks(count, STACKS_PER_TASK);
	*chains = (struct flat_chains){0};
	if (!needs_chains(options) || !flat_events_have_samples(profile, options))
		return true;
	bool *is_used = calloc(count + 1, sizeof(*is_used));
	struct chain_making making = {chains, profile, options, is_used};
	chains->begin = calloc(count + 1, sizeof(*chains->begin));
	bool is_done = is_used && chains->begin;
	if (is_done) {
		mark_used(profile, options, is_used);
		thread_pool_for(tasks, options->threads, measure_stacks, &making);
		is_done = place_chains(chains->begin, count);
	}
	if (is_done)
		chains->frames = malloc(((size_t)chains->begin[count] + 1) * sizeof(*chains->frames));
	is_done = is_done && chains->frames;
	if (is_done)
		thread_pool_for(tasks, options->threads, write_stacks, &making);
	free(is_used);
	return is_done;
}

void flat_chains_deinit(struct flat_chains *chains)
{
	free(chains->frames);
	free(chains->begin);
	*chains = (struct flat_chains){0};
}

static void make_chain_key(
	const struct profile *p, const struct flat_options *o, const struct profile_frame *frame, uint64_t *key)
{
	key[0] = frame->binary;
	key[1] = flat_caller_address(frame);
	key[2] = 0;
	if (o->is_chain_of_lines) {
		key[0] = PROFILE_NONE;
		key[1] = profile_frame_has_line(p, frame) ? frame->own_line.line : PROFILE_NONE;
		return;
	}
	if (frame->function == PROFILE_NONE || o->is_chain_by_address)
		return;
	const struct profile_function *function = &p->functions[frame->function];
	key[1] = function->is_inlined ? function->name : function->start;
	key[2] = function->is_inlined ? 2 : 1;
	if (o->is_chain_by_line && profile_frame_has_line(p, frame))
		key[2] |= (uint64_t)frame->own_line.line << 32;
}

uint32_t *flat_chains_keys(const struct profile *p, const struct flat_options *options)
{
	struct id_table ids = {.words = CHAIN_WORDS};
	uint32_t *chain_keys = malloc((p->frame_count + 1) * sizeof(*chain_keys));
	size_t frame_count = flat_events_have_samples(p, options) ? p->frame_count : 0;
	bool is_done = chain_keys && id_table_reserve(&ids, frame_count);
	for (size_t i = 0; is_done && i < frame_count; i += FRAME_BATCH) {
		uint64_t keys[FRAME_BATCH * CHAIN_WORDS];
		size_t count = frame_count - i < FRAME_BATCH ? frame_count - i : FRAME_BATCH;
		for (size_t k = 0; k < count; k++)
			make_chain_key(p, options, &p->frames[i + k], keys + k * CHAIN_WORDS);
		is_done = id_table_add_many(&ids, keys, count, chain_keys + i);
	}
	id_table_deinit(&ids);
	if (is_done)
		return chain_keys;
	free(chain_keys);
	return NULL;
}

uint32_t flat_chains_ignore_callees(const struct flat_chains *chains, const struct flat_options *options,
	struct flat_instance *whole, uint32_t leaf)
{
	const bool *ignores = options->filter ? options->filter->ignores_callees : NULL;
	for (uint32_t i = whole->len; ignores && i-- > 0;) {
		uint32_t frame = chains->frames[whole->chain + i];
		if (!ignores[frame])
			continue;
		whole->chain += i;
		whole->len -= i;
		return frame;
	}
	return leaf;
}
