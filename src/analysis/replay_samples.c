#include "analysis/replay_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/facet_values.h"
#include "analysis/stack_frames.h"
#include "base/error.h"

#define STACK_BATCH 64

static uint32_t comm_string(struct replay *replay, uint32_t comm, int32_t tid)
{
	char buffer[16];
	if (comm != INTERN_NONE)
		return profile_builder_string(replay->builder, machine_string(replay->sideband.machine, comm));
	size_t len = (size_t)snprintf(buffer, sizeof(buffer), ":%d", tid);
	return profile_builder_string(replay->builder, (struct tally_str){buffer, len});
}

static uint32_t profile_thread_of(struct replay *replay, struct thread_key key)
{
	struct profile_thread thread = {
		.pid = key.pid,
		.tid = key.tid,
		.comm = comm_string(replay, key.comm, key.tid),
		.last_comm = comm_string(replay, key.last_comm, key.tid),
	};
	return profile_builder_thread(replay->builder, &thread);
}

struct pass_ids { /* what the ids of a pass are in the profile */
	const uint32_t *frames; /* in replay's frames */
	struct stack_frames lists; /* its stacks, in frames of the profile */
	uint32_t *stacks, *threads, *facets;
	bool counts_ends; /* of chains as they were recorded; what was unwound was counted by the workers */
};

static void add_facets(struct replay *replay, const struct sample_pass *pass, const struct pass_ids *ids)
{
	if (!ids->facets)
		return;
	struct facet_values values = {.options = replay->options,
		.machine = replay->sideband.machine,
		.store = replay->store,
		.builder = replay->builder,
		.tracepoints = replay->tracepoints,
		.cgroups = &replay->cgroups,
		.namespaces = &replay->namespaces,
		.is_big_endian = replay->run.swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__),
		.frames = &replay->frames,
		.first_ips = replay->first_ips.items,
		.profile_frames = replay->profile_frames};
	facet_values_add(&values, &pass->facets, ids->frames, ids->facets);
	text_deinit(&values.text);
}

/* Of the pass they are needed no more. */
static void add_rows(struct replay *replay, struct sample_pass *pass, const uint32_t *samples)
{
	const struct pass_row *rows = (const struct pass_row *)(const void *)pass->rows.base;
	for (size_t i = 0; i < pass->rows.len / sizeof(*rows); i++) {
		profile_builder_row(
			replay->builder, &(struct profile_row){rows[i].order, rows[i].period, samples[rows[i].key], 0});
		spool_walk(&pass->rows, i, sizeof(*rows));
	}
	spool_deinit(&pass->rows);
}

static void count_end(struct stack_ends *ends, uint8_t stack_kind, uint64_t samples)
{
	if (stack_kind & STACK_IS_WHOLE)
		ends->reached += samples;
	else
		ends->unknown += samples;
}

/* samples: by id of the pass's keys, what the builder calls them. */
static void add_pass_samples(
	struct replay *replay, struct sample_pass *pass, const struct pass_ids *ids, uint32_t *samples)
{
	struct profile_sample batch[SAMPLE_BATCH];
	size_t len = 0;
	for (size_t i = 0; i < pass->keys.len; i++) {
		struct sample_key key = sample_pass_key(pass, (uint32_t)i);
		const struct sample_sum *sum = &pass->sums.items[i];
		batch[len++] = (struct profile_sample){
			.event = key.event,
			.thread = ids->threads[key.thread],
			.leaf = ids->lists.frames[key.leaf].frame,
			.stack = key.stack == RESOLVE_NONE ? PROFILE_NONE : ids->stacks[key.stack],
			.cpu = key.cpu,
			.facets = ids->facets ? ids->facets[key.facets] : 0,
			.count = sum->count,
			.period = sum->period,
			.first_order = sum->first_order,
		};
		replay->leaf_counts[ids->frames[key.leaf]] += sum->count;
		if (ids->counts_ends && key.stack != RESOLVE_NONE)
			count_end(&replay->ends, ids->lists.kinds[key.stack], sum->count);
		if (len == SAMPLE_BATCH) {
			profile_builder_samples(replay->builder, batch, len, samples + i + 1 - len);
			len = 0;
		}
	}
	profile_builder_samples(replay->builder, batch, len, samples + pass->keys.len - len);
	add_rows(replay, pass, samples);
}

/* The frames of one of the pass's stacks that has inlined calls, as the profile's, behind those of replay->stack. False:
 * out of memory. */
static bool read_stack(struct replay *replay, const struct list *list, const struct pass_ids *ids)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct stack_frame *frame = &ids->lists.frames[list->items[i]];
		if (frame->has_inlined_calls && !replay_add_inlined_calls(replay, ids->frames[list->items[i]]))
			return false;
		if (!vec_push(&replay->stack, frame->frame))
			return false;
	}
	return true;
}

/* Some of the pass's stacks as the profile's. False: out of memory. */
static bool add_some_stacks(struct replay *replay, const struct pass_ids *ids, size_t first, size_t count)
{
	struct list batch[STACK_BATCH];
	size_t begin[STACK_BATCH];
	uint32_t *hashes = ids->lists.hashes + first;
	replay->stack.len = 0;
	for (size_t i = 0; i < count; i++) {
		batch[i] = list_table_get(ids->lists.stacks, (uint32_t)(first + i));
		begin[i] = replay->stack.len;
		if (!(ids->lists.kinds[first + i] & STACK_HAS_CALLS))
			continue;
		if (!read_stack(replay, &batch[i], ids))
			return false;
		batch[i].count = (uint32_t)(replay->stack.len - begin[i]);
		hashes[i] = list_table_hash(replay->stack.items + begin[i], batch[i].count);
	}
	for (size_t i = 0; i < count; i++)
		if (ids->lists.kinds[first + i] & STACK_HAS_CALLS)
			batch[i].items = replay->stack.items + begin[i];
	profile_builder_stacks(replay->builder, &(struct profile_stacks){batch, hashes, count}, ids->stacks + first);
	return true;
}

/* A batch at a time, since each look-up waits for memory. False: out of memory. */
static bool add_stacks(struct replay *replay, struct pass_ids *ids)
{
	size_t count = list_table_len(ids->lists.stacks);
	if (!stack_frames_translate(&ids->lists, replay->options->threads))
		return false;
	for (size_t first = 0; first < count; first += STACK_BATCH)
		if (!add_some_stacks(replay, ids, first, count - first < STACK_BATCH ? count - first : STACK_BATCH))
			return false;
	return true;
}

/* NULL: out of memory. */
static struct stack_frame *new_stack_frames(const struct replay *replay, const struct replay_frame_ids *frames)
{
	struct stack_frame *list = malloc((frames->count + 1) * sizeof(*list));
	for (size_t i = 0; list && i < frames->count; i++) {
		uint32_t frame = frames->items[i];
		list[i] = (struct stack_frame){
			replay->profile_frames[frame], replay_has_inlined_calls(replay, frame), replay->roles[frame]};
	}
	return list;
}

enum tally_status replay_add_pass(
	struct replay *replay, struct sample_pass *pass, const struct replay_frame_ids *frames, struct tally_error *err)
{
	uint32_t *samples = replay_new_ids(pass->keys.len);
	struct stack_frame *stack_frames = new_stack_frames(replay, frames);
	struct pass_ids ids = {
		.frames = frames->items,
		.lists = {.stacks = &pass->resolver.stacks, .frames = stack_frames},
		.stacks = replay_new_ids(list_table_len(&pass->resolver.stacks)),
		.threads = replay_new_ids(pass->threads.len),
		.facets = pass->facets.kept ? replay_new_ids(pass->facets.rows.len) : NULL,
		.counts_ends = stack_ends_unwound(&replay->ends) == 0 && replay->options->history == HISTORY_NONE,
	};
	enum tally_status status = TALLY_OK;
	if (!samples || !stack_frames || !ids.stacks || !ids.threads || (pass->facets.kept && !ids.facets) ||
		!add_stacks(replay, &ids)) {
		status = error_nomem(err);
	} else {
		for (size_t i = 0; i < pass->threads.len; i++)
			ids.threads[i] = profile_thread_of(replay, sample_pass_thread(pass, (uint32_t)i));
		add_facets(replay, pass, &ids);
		add_pass_samples(replay, pass, &ids, samples);
	}
	free(samples);
	free(stack_frames);
	free(ids.lists.hashes);
	free(ids.lists.kinds);
	free(ids.stacks);
	free(ids.threads);
	free(ids.facets);
	return status;
}
