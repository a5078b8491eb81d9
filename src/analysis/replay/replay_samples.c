/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facet_values.h"
#include "analysis/frame_names.h"
#include "analysis/replay/replay_state.h"
#include "analysis/stack_frames.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "profile/profile_bulk.h"

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
	uint32_t process =
		key.pid == key.tid ? key.last_comm : machine_comm_at(replay->sideband.machine, key.pid, UINT64_MAX);
	thread.process_comm = comm_string(replay, process, key.pid);
	return profile_builder_thread(replay->builder, &thread);
}

struct pass_ids { /* The IDs of a pass, translated to those of the profile. */
	const uint32_t *frames; /* By frame of the pass: the index in replay->frames. */
	size_t frame_count;
	uint32_t *profile_frames;
	uint8_t *roles; /* enum frame_role, and the flag FRAME_HAS_CALLS. */
	struct stack_frames lists; /* Stacks of the pass, with frames of the profile. */
	uint32_t *threads, *facets;
};

struct replay_samples_joining { /* Stacks and samples of all passes, each numbered as one list. */
	struct replay *replay;
	struct pass_ids *passes;
	uint32_t *first_stacks, *first_keys; /* By pass: the number of its first item; the last item is the total. */
	const uint32_t *stacks; /* By stack of all passes: the ID in the profile. */
};

struct key_translation {
	struct replay *replay;
	struct sample_pass *pass;
	const struct pass_ids *ids;
	const uint32_t *stacks; /* By stack of the pass: the ID in the profile. */
	const struct perfdata_event *events;
	bool counts_ends;
};

struct kernel_names { /* Symbols of kernel addresses in fields of tracepoints. */
	struct resolver resolver;
	struct frame_names names;
	struct resolve_where where;
	bool is_begun;
};

static const char *find_kernel_symbol(void *context, uint64_t *address, const char **module)
{
	struct kernel_names *kernel = context;
	return frame_names_kernel(&kernel->names, &kernel->resolver, &kernel->where, address, module);
}

/* Called once for all passes; does nothing if no tracepoint fields are shown. Returns false if out of memory. */
static bool begin_kernel_names(struct replay *replay, struct kernel_names *kernel)
{
	if (!replay->tracepoints)
		return true;
	const struct machine *machine = replay->sideband.machine;
	if (!resolver_init(&kernel->resolver, machine, replay->run.swap))
		return false;
	frame_names_init(&kernel->names, &kernel->resolver, machine, replay->store);
	kernel->where =
		/* The kernel and its modules at the end of the recording. */
		resolver_where(&kernel->resolver, 0, UINT64_MAX - 1);
	kernel->is_begun = true;
	tracepoint_printer_set_symbols(replay->tracepoints, find_kernel_symbol, kernel);
	return true;
}

/* Returns false if memory ran out. */
static bool end_kernel_names(struct replay *replay, struct kernel_names *kernel)
{
	if (!kernel->is_begun)
		return true;
	bool is_done = !kernel->resolver.failed;
	tracepoint_printer_set_symbols(replay->tracepoints, NULL, NULL);
	frame_names_deinit(&kernel->names);
	resolver_deinit(&kernel->resolver);
	return is_done;
}

/* Adds the facet values of a pass (further properties of samples) to the profile, if it has any. */
static void replay_samples_add_facets(struct replay *replay, const struct sample_pass *pass, const struct pass_ids *ids)
{
	if (!ids->facets)
		return;
	size_t event_count;
	struct facet_values values = {.options = replay->options,
		.machine = replay->sideband.machine,
		.store = replay->store,
		.builder = replay->builder,
		.tracepoints = replay->tracepoints,
		.events = perfdata_reader_events(replay->reader, &event_count),
		.cgroups = &replay->cgroups,
		.namespaces = &replay->namespaces,
		.is_big_endian = replay->run.swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__),
		.frames = &replay->frames,
		.first_ips = replay->first_ips.items,
		.profile_frames = replay->profile_frames};
	values.event_count = event_count;
	facet_values_add(&values, &pass->facets, ids->frames, ids->facets);
	text_deinit(&values.text);
}

/* Adds the rows of a pass, and frees them in the pass. */
static void replay_samples_add_rows(struct replay *replay, struct sample_pass *pass, const uint32_t *samples)
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

struct frame_filling {
	const struct replay *replay;
	struct pass_ids *ids;
};

#define REPLAY_SAMPLES_FRAMES_PER_TASK 8192

static void fill_stack_frames(void *context, size_t index, unsigned worker)
{
	const struct frame_filling *f = context;
	const struct replay *replay = f->replay;
	size_t end = thread_pool_task_end(index, REPLAY_SAMPLES_FRAMES_PER_TASK, f->ids->frame_count);
	for (size_t i = index * REPLAY_SAMPLES_FRAMES_PER_TASK; i < end; i++) {
		uint32_t frame = f->ids->frames[i];
		const size_t *calls = replay->inlined_frames ? &replay->inlines.begin[frame] : NULL;
		f->ids->profile_frames[i] = replay->profile_frames[frame];
		f->ids->roles[i] = replay->roles[frame];
		if (calls && calls[0] < calls[1])
			f->ids->roles[i] |= FRAME_HAS_CALLS;
	}
}

/* Returns false if out of memory. */
static bool make_stack_frames(const struct replay *replay, struct pass_ids *ids)
{
	struct frame_filling filling = {replay, ids};
	ids->profile_frames = replay_new_ids(ids->frame_count);
	ids->roles = malloc(ids->frame_count + 1);
	bool is_done = ids->profile_frames && ids->roles;
	if (is_done)
		thread_pool_for(thread_pool_tasks(ids->frame_count, REPLAY_SAMPLES_FRAMES_PER_TASK),
			replay->options->threads, fill_stack_frames, &filling);
	return is_done;
}

/* Translates threads, facets and the frames of stacks. Returns false if out of memory. */
static bool translate_pass(struct replay *replay, struct sample_pass *pass, struct pass_ids *ids)
{
	ids->threads = replay_new_ids(pass->threads.len);
	ids->facets = pass->facets.kept ? replay_new_ids(pass->facets.rows.len) : NULL;
	if (!ids->threads || (pass->facets.kept && !ids->facets) || !make_stack_frames(replay, ids))
		return false;
	for (size_t i = 0; i < pass->threads.len; i++)
		ids->threads[i] = profile_thread_of(replay, sample_pass_thread(pass, (uint32_t)i));
	replay_samples_add_facets(replay, pass, ids);
	ids->lists = (struct stack_frames){.stacks = &pass->resolver.stacks,
		.frames = ids->profile_frames,
		.roles = ids->roles,
		.numbers = ids->frames,
		.calls = replay->inlines.begin,
		.inlined = replay->inlined_frames};
	return stack_frames_translate(&ids->lists, replay->options->threads);
}

static struct list get_stack(const void *context, uint32_t item)
{
	const struct replay_samples_joining *j = context;
	size_t pass = replay_pass_of(j->first_stacks, j->replay->pass_count, item);
	return stack_frames_get(&j->passes[pass].lists, item - j->first_stacks[pass]);
}

static uint32_t hash_stack(const void *context, uint32_t item)
{
	const struct replay_samples_joining *j = context;
	size_t pass = replay_pass_of(j->first_stacks, j->replay->pass_count, item);
	return j->passes[pass].lists.hashes[item - j->first_stacks[pass]];
}

static const uint64_t *get_key(const void *context, uint32_t item)
{
	const struct replay_samples_joining *j = context;
	size_t pass = replay_pass_of(j->first_keys, j->replay->pass_count, item);
	return id_table_key(&j->replay->passes[pass]->keys, item - j->first_keys[pass]);
}

static struct profile_sample get_sample(const void *context, uint32_t item)
{
	const struct replay_samples_joining *j = context;
	size_t pass = replay_pass_of(j->first_keys, j->replay->pass_count, item);
	uint32_t id = item - j->first_keys[pass];
	struct sample_key key = sample_pass_key(j->replay->passes[pass], id);
	const struct sample_sum *sum = &j->replay->passes[pass]->sums.items[id];
	return (struct profile_sample){
		.event = key.event,
		.thread = key.thread,
		.leaf = key.leaf,
		.stack = key.stack,
		.cpu = key.cpu,
		.facets = key.facets,
		.count = sum->count,
		.period = sum->period,
		.first_order = sum->first_order,
		.first_tid = sum->first_tid,
	};
}

static void replay_samples_expect_sample(const void *context, uint32_t item)
{
	const struct replay_samples_joining *j = context;
	size_t pass = replay_pass_of(j->first_keys, j->replay->pass_count, item);
	uint32_t id = item - j->first_keys[pass];
	__builtin_prefetch(id_table_key(&j->replay->passes[pass]->keys, id));
	__builtin_prefetch(&j->replay->passes[pass]->sums.items[id]);
}

#define KEYS_PER_TASK 8192

/* Unwinding a stack dump finds no caller if the executed file is missing; such a stack is left out. */
static bool tells_nothing(const struct key_translation *t, const struct sample_key *key)
{
	bool is_recorded = key->stack < t->pass->recorded.len && t->pass->recorded.items[key->stack];
	return (t->ids->lists.kinds[key->stack] & STACK_IS_BARE) && !is_recorded &&
	       (t->events[key->event].attr.sample_type & SAMPLE_STACK_USER);
}

/* Returns the profile's frame of the sample's own address. */
static uint32_t own_frame(const struct key_translation *t, uint32_t leaf)
{
	const struct replay *replay = t->replay;
	uint32_t frame = t->ids->frames[leaf];
	bool is_inlined = replay->options->self_is_inlined && replay->inlined_frames &&
			  replay->inlines.begin[frame] < replay->inlines.begin[frame + 1];
	return is_inlined ? replay->inlined_frames[replay->inlines.begin[frame]] : t->ids->profile_frames[leaf];
}

/* Replaces a pass's keys by the profile's keys in place. At the same time it counts samples by their own addresses, and
 * by how their recorded chains end; the workers have counted the unwound ones. */
static void translate_keys(void *context, size_t index, unsigned worker)
{
	const struct key_translation *t = context;
	struct sample_pass *pass = t->pass;
	struct stack_ends ends = {0};
	size_t end = thread_pool_task_end(index, KEYS_PER_TASK, pass->keys.len);
	for (size_t i = index * KEYS_PER_TASK; i < end; i++) {
		struct sample_key key = sample_pass_key(pass, (uint32_t)i);
		uint64_t count = pass->sums.items[i].count, words[SAMPLE_KEY_WORDS];
		__atomic_fetch_add(&t->replay->leaf_counts[t->ids->frames[key.leaf]], count, __ATOMIC_RELAXED);
		if (key.stack != RESOLVE_NONE)
			count_end(&ends, t->ids->lists.kinds[key.stack], count);
		key.thread = t->ids->threads[key.thread];
		key.leaf = own_frame(t, key.leaf);
		bool has_stack = key.stack != RESOLVE_NONE && !tells_nothing(t, &key);
		key.stack = has_stack ? t->stacks[key.stack] : PROFILE_NONE;
		key.facets = t->ids->facets ? t->ids->facets[key.facets] : 0;
		sample_key_pack(&key, words);
		memcpy(pass->keys.keys + i * pass->keys.words, words, pass->keys.words * sizeof(*words));
	}
	if (!t->counts_ends)
		return;
	__atomic_fetch_add(&t->replay->ends.reached, ends.reached, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->replay->ends.unknown, ends.unknown, __ATOMIC_RELAXED);
}

static void translate_all_keys(struct replay_samples_joining *j)
{
	struct replay *replay = j->replay;
	size_t event_count;
	for (size_t i = 0; i < replay->pass_count; i++) {
		struct key_translation translation = {.replay = replay,
			.events = perfdata_reader_events(replay->reader, &event_count),
			.pass = replay->passes[i],
			.ids = &j->passes[i],
			.stacks = j->stacks + j->first_stacks[i],
			.counts_ends = stack_ends_unwound(&replay->ends) == 0 &&
				       replay->options->history == HISTORY_NONE &&
				       replay->options->wakers == WAKERS_NONE};
		size_t tasks = thread_pool_tasks(replay->passes[i]->keys.len, KEYS_PER_TASK);
		thread_pool_for(tasks, replay->options->threads, translate_keys, &translation);
		for (size_t s = 0; s < replay->passes[i]->wait_stacks.len; s++)
			count_end(&replay->ends, j->passes[i].lists.kinds[s], replay->passes[i]->wait_stacks.items[s]);
	}
}

/* Returns whether no two samples can be equal in the profile: the keys of one pass are distinct, and remain so if no
 * frames and threads merge. */
static bool are_distinct(const struct replay_samples_joining *j)
{
	const struct replay *replay = j->replay;
	bool is_distinct = replay->pass_count == 1 && replay->has_distinct_frames &&
			   list_table_len(&replay->passes[0]->resolver.stacks) == 0 && !j->passes[0].facets;
	for (size_t i = 0; is_distinct && i < replay->passes[0]->threads.len; i++)
		/* Threads are numbered in order of first use: another number means that two merged. */
		is_distinct = j->passes[0].threads[i] == i;
	return is_distinct;
}

#define REPLAY_SAMPLES_MANY_FRAMES 16384 /* Fewer frames do not justify a second thread. */

struct adding_up {
	struct replay *replay;
	const struct sample_source *samples;
	struct dedup ids; /* Numbers of the samples in the profile. */
	bool are_added, are_counted;
};

/* Counts the hits of files in parallel to adding the samples. */
static void replay_samples_add_up(void *context, size_t index, unsigned worker)
{
	struct adding_up *a = context;
	if (index == 0)
		a->are_added = profile_builder_all_samples(
			a->replay->builder, a->samples, a->replay->options->threads, &a->ids);
	else
		a->are_counted = replay_count_hits(a->replay);
}

/* Returns false if out of memory. */
static bool replay_samples_add_all(struct replay_samples_joining *j)
{
	struct replay *replay = j->replay;
	unsigned threads = replay->options->threads;
	size_t passes = replay->pass_count;
	const struct stack_source stacks = {.lists = {j->first_stacks[passes], get_stack, j}, .hash = hash_stack};
	const struct sample_source samples = {.count = j->first_keys[passes],
		.key_words = passes ? replay->passes[0]->keys.words : 0,
		.is_distinct = are_distinct(j),
		.key = get_key,
		.get = get_sample,
		.expect = replay_samples_expect_sample,
		.context = j};
	struct adding_up adding = {.replay = replay, .samples = &samples};
	struct dedup stack_ids;
	if (!profile_builder_all_stacks(replay->builder, &stacks, threads, &stack_ids))
		return false;
	j->stacks = stack_ids.numbers;
	for (size_t i = 0; i < passes; i++) {
		stack_frames_forget_stacks(&j->passes[i].lists);
		list_table_deinit(&replay->passes[i]->resolver.stacks);
	}
	translate_all_keys(j);
	thread_pool_for(
		2, replay->frames.len < REPLAY_SAMPLES_MANY_FRAMES ? 1 : threads, replay_samples_add_up, &adding);
	dedup_deinit(&stack_ids);
	if (!adding.are_added)
		return false;
	for (size_t i = 0; i < passes && adding.are_counted; i++)
		replay_samples_add_rows(replay, replay->passes[i], adding.ids.numbers + j->first_keys[i]);
	dedup_deinit(&adding.ids);
	return adding.are_counted;
}

/* Returns false if there are too many. */
static bool number_passes(struct replay_samples_joining *j)
{
	size_t stacks = 0, keys = 0, passes = j->replay->pass_count;
	for (size_t i = 0; i < passes; i++) {
		j->first_stacks[i] = (uint32_t)stacks;
		j->first_keys[i] = (uint32_t)keys;
		stacks += list_table_len(&j->replay->passes[i]->resolver.stacks);
		keys += j->replay->passes[i]->keys.len;
	}
	j->first_stacks[passes] = (uint32_t)stacks;
	j->first_keys[passes] = (uint32_t)keys;
	return stacks < UINT32_MAX && keys < UINT32_MAX;
}

static void free_ids(struct pass_ids *ids)
{
	free(ids->profile_frames);
	free(ids->roles);
	stack_frames_deinit(&ids->lists);
	free(ids->threads);
	free(ids->facets);
}

enum tally_status replay_add_samples(
	struct replay *replay, const struct replay_frame_ids *frames, struct tally_error *err)
{
	struct replay_samples_joining j = {.replay = replay,
		.passes = calloc(replay->pass_count + 1, sizeof(*j.passes)),
		.first_stacks = replay_new_ids(replay->pass_count + 1),
		.first_keys = replay_new_ids(replay->pass_count + 1)};
	struct kernel_names kernel = {.is_begun = false};
	bool is_done =
		j.passes && j.first_stacks && j.first_keys && number_passes(&j) && begin_kernel_names(replay, &kernel);
	for (size_t i = 0; i < replay->pass_count && is_done; i++) {
		j.passes[i].frames = frames->items + frames->begin[i];
		j.passes[i].frame_count = frames->begin[i + 1] - frames->begin[i];
		is_done = translate_pass(replay, replay->passes[i], &j.passes[i]);
	}
	is_done = end_kernel_names(replay, &kernel) && is_done;
	is_done = is_done && replay_samples_add_all(&j);
	for (size_t i = 0; j.passes && i < replay->pass_count; i++)
		free_ids(&j.passes[i]);
	free(j.passes);
	free(j.first_stacks);
	free(j.first_keys);
	return is_done ? TALLY_OK : error_nomem(err);
}
