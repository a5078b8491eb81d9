/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_chains.h"

#include <stdlib.h>

#include "base/thread_pool.h"

#define STACKS_PER_TASK	 8192
#define SAMPLES_PER_TASK 16384

struct chain_making {
	struct flat_chains *chains;
	const struct profile *profile;
	const struct flat_options *options;
	bool *is_used; /* By stack; any worker sets it. */
};

static bool is_kernels(const struct profile_frame *frame)
{
	return frame->level == PROFILE_LEVEL_KERNEL || frame->level == PROFILE_LEVEL_GUEST_KERNEL ||
	       frame->level == PROFILE_LEVEL_HYPERVISOR;
}

/* Returns the innermost calls, with everything that was inlined into them. */
static struct list innermost_calls(const struct profile *p, struct list frames, uint32_t calls)
{
	uint32_t end = 0;
	for (; end < frames.count && calls > 0; end++)
		calls -= !profile_frame_is_inlined(p, frames.items[end]);
	return (struct list){frames.items, end};
}

static struct list outermost_calls(const struct profile *p, struct list frames, uint32_t calls)
{
	uint32_t begin = frames.count;
	for (; begin > 0 && (calls > 0 || profile_frame_is_inlined(p, frames.items[begin - 1])); begin--)
		calls -= !profile_frame_is_inlined(p, frames.items[begin - 1]);
	return (struct list){frames.items + begin, frames.count - begin};
}

static struct list recorded_calls(
	const struct profile *p, const struct flat_options *options, struct list frames, uint32_t calls)
{
	return options->is_caller_first ? outermost_calls(p, frames, calls) : innermost_calls(p, frames, calls);
}

/* As in perf, keeps at most max_stack calls: the innermost ones, or the outermost ones if chains begin with the caller.
 * Callers unwound from stack dumps are always counted from the innermost one, and limited separately from the frames
 * that the kernel recorded. */
struct flat_counted flat_chains_counted(const struct profile *p, const struct flat_options *options, uint32_t stack)
{
	struct list all = profile_stack(p, stack), kernels = {all.items, 0};
	uint32_t most = options->max_stack;
	bool is_copied = p->events[options->first_event].has_copied_stacks;
	if (most == 0 || all.count <= most)
		return (struct flat_counted){.others = all};
	while (is_copied && kernels.count < all.count && is_kernels(&p->frames[all.items[kernels.count]]))
		kernels.count++;
	struct list others = {all.items + kernels.count, all.count - kernels.count};
	return (struct flat_counted){recorded_calls(p, options, kernels, most),
		is_copied ? innermost_calls(p, others, most) : recorded_calls(p, options, others, most)};
}

static bool flat_chains_is_hidden(const struct chain_making *m, uint32_t frame)
{
	return m->options->hides_unresolved && !flat_frame_is_resolved(m->profile, frame);
}

static uint32_t shown_frames(const struct chain_making *m, struct list frames)
{
	uint32_t count = 0;
	for (uint32_t i = 0; m->options->hides_unresolved && i < frames.count; i++)
		count += !flat_chains_is_hidden(m, frames.items[i]);
	return m->options->hides_unresolved ? count : frames.count;
}

/* Writes frames in the order of the chain, from place on. Returns the next place. */
static uint32_t write_frames(
	const struct chain_making *m, struct list frames, uint32_t place, uint32_t *chain, uint32_t shown)
{
	for (uint32_t i = 0; i < frames.count; i++) {
		if (flat_chains_is_hidden(m, frames.items[i]))
			continue;
		uint32_t at = m->options->is_caller_first ? shown - 1 - place : place;
		place++;
		chain[at] = frames.items[i];
	}
	return place;
}

/* Stores the length of each chain in begin, one index higher. */
static void measure_stacks(void *context, size_t index, unsigned worker)
{
	const struct chain_making *m = context;
	size_t end = thread_pool_task_end(index, STACKS_PER_TASK, list_table_len(&m->profile->stacks));
	for (size_t i = index * STACKS_PER_TASK; i < end; i++) {
		if (!m->is_used[i] || m->options->without_callers)
			continue;
		struct flat_counted counted = flat_chains_counted(m->profile, m->options, (uint32_t)i);
		if (flat_counted_frames(&counted) < profile_stack(m->profile, (uint32_t)i).count)
			__atomic_store_n(&m->chains->is_cut, true, __ATOMIC_RELAXED);
		m->chains->begin[i + 1] = shown_frames(m, counted.kernels) + shown_frames(m, counted.others);
	}
}

static void write_stacks(void *context, size_t index, unsigned worker)
{
	const struct chain_making *m = context;
	const uint32_t *begin = m->chains->begin;
	size_t end = thread_pool_task_end(index, STACKS_PER_TASK, list_table_len(&m->profile->stacks));
	for (size_t i = index * STACKS_PER_TASK; i < end; i++) {
		uint32_t shown = begin[i + 1] - begin[i], *chain = m->chains->frames + begin[i];
		if (shown == 0)
			continue;
		struct flat_counted counted = flat_chains_counted(m->profile, m->options, (uint32_t)i);
		uint32_t place = write_frames(m, counted.kernels, 0, chain, shown);
		write_frames(m, counted.others, place, chain, shown);
	}
}

static void mark_used(void *context, size_t index, unsigned worker)
{
	const struct chain_making *m = context;
	const struct flat_options *o = m->options;
	size_t end = thread_pool_task_end(index, SAMPLES_PER_TASK, m->profile->sample_count);
	for (size_t i = index * SAMPLES_PER_TASK; i < end; i++) {
		const struct profile_sample *sample = &m->profile->samples[i];
		if (sample->event - o->first_event < o->member_count && sample->stack != PROFILE_NONE)
			__atomic_store_n(&m->is_used[sample->stack], true, __ATOMIC_RELAXED);
	}
}

bool flat_chains_make(struct flat_chains *chains, const struct profile *profile, const struct flat_options *options)
{
	size_t count = list_table_len(&profile->stacks), tasks = thread_pool_tasks(count, STACKS_PER_TASK);
	*chains = (struct flat_chains){0};
	bool are_needed = options->with_children || options->with_chains ||
			  (options->filter && (options->filter->frame_is_parent || options->filter->ignores_callees));
	if (!are_needed || !flat_events_have_samples(profile, options))
		return true;
	bool *is_used = calloc(count + 1, sizeof(*is_used));
	struct chain_making making = {chains, profile, options, is_used};
	chains->begin = calloc(count + 1, sizeof(*chains->begin));
	bool is_done = is_used && chains->begin;
	if (is_done) {
		thread_pool_for(thread_pool_tasks(profile->sample_count, SAMPLES_PER_TASK), options->threads, mark_used,
			&making);
		thread_pool_for(tasks, options->threads, measure_stacks, &making);
		/* Lengths become offsets, unless there are too many frames. */
		uint64_t at = 0;
		for (size_t i = 0; i < count; i++)
			chains->begin[i + 1] = (uint32_t)(at += chains->begin[i + 1]);
		is_done = at < UINT32_MAX;
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
