/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_chain_keys.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/id_table.h"
#include "base/thread_pool.h"

#define CHAIN_WORDS		    4
#define FRAME_BATCH		    32
#define FLAT_CHAIN_KEYS_TASK_FRAMES 8192

static void make_chain_key(
	const struct profile *p, const struct flat_options *o, const struct profile_frame *frame, uint64_t *key)
{
	key[0] = frame->binary;
	key[1] = flat_caller_address(frame);
	key[2] = 0;
	key[3] = 0;
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
	key[3] = function->name; /* Two builds of a program may have the same path. */
	if (o->is_chain_by_line && profile_frame_has_line(p, frame))
		key[2] |= (uint64_t)frame->own_line.line << 32;
}

static bool make_keys(struct flat_table *table, size_t frame_count)
{
	const struct profile *p = table->profile;
	struct id_table ids = {.words = CHAIN_WORDS};
	bool is_done = id_table_reserve(&ids, frame_count);
	for (size_t i = 0; is_done && i < frame_count; i += FRAME_BATCH) {
		uint64_t keys[FRAME_BATCH * CHAIN_WORDS];
		size_t count = MIN(frame_count - i, FRAME_BATCH);
		for (size_t k = 0; k < count; k++)
			make_chain_key(p, &table->options, &p->frames[i + k], keys + k * CHAIN_WORDS);
		is_done = id_table_add_many(&ids, keys, count, table->chain_keys + i);
	}
	table->chain_key_count = ids.len;
	id_table_deinit(&ids);
	return is_done;
}

/* Returns whether no two functions of a binary have the same start but different sizes: such functions are several
 * rows, but one frame of a call graph. */
static bool have_one_end_each(const struct profile *p)
{
	struct id_table starts = {.words = 2}, functions = {.words = 3};
	bool is_so = true;
	for (size_t i = 0; is_so && i < p->function_count; i++) {
		const struct profile_function *f = &p->functions[i];
		const uint64_t key[] = {f->binary, f->start, f->size};
		is_so = f->is_inlined || (id_table_add(&starts, key, NULL) != ID_TABLE_NONE &&
						 id_table_add(&functions, key, NULL) != ID_TABLE_NONE);
	}
	is_so = is_so && starts.len == functions.len;
	id_table_deinit(&starts);
	id_table_deinit(&functions);
	return is_so;
}

/* By binary: whether another one has the same name. Returns NULL if out of memory. */
static bool *find_namesakes(const struct profile *p, const struct flat_options *o)
{
	bool *has_namesake = calloc(p->binary_count + 1, sizeof(*has_namesake));
	uint32_t *first = calloc(p->strings.len + 1, sizeof(*first)); /* By name: the first binary with it, + 1. */
	for (uint32_t i = 0; has_namesake && first && i < p->binary_count; i++) {
		uint32_t *known = &first[flat_binary_name(p, o, i)];
		if (*known)
			has_namesake[i] = has_namesake[*known - 1] = true;
		else
			*known = i + 1;
	}
	if (!first) {
		free(has_namesake);
		has_namesake = NULL;
	}
	free(first);
	return has_namesake;
}

struct group_taking {
	const struct flat_table *table;
	const struct flat_groups *groups;
	const bool *has_namesake; /* Indexed by binary. */
	size_t frame_count;
	bool has_namesakes; /* Set by any worker. */
};

static bool is_namesake(const struct group_taking *t, size_t frame)
{
	uint32_t binary = t->table->profile->frames[frame].binary;
	return binary != PROFILE_NONE && t->has_namesake[binary];
}

static void take_some_groups(void *context, size_t task, unsigned worker)
{
	struct group_taking *t = context;
	bool has_namesakes = false;
	for (size_t i = task * FLAT_CHAIN_KEYS_TASK_FRAMES;
		i < thread_pool_task_end(task, FLAT_CHAIN_KEYS_TASK_FRAMES, t->frame_count); i++) {
		t->table->chain_keys[i] = t->groups->callers[i].group;
		has_namesakes = has_namesakes || is_namesake(t, i);
	}
	if (has_namesakes)
		__atomic_store_n(&t->has_namesakes, true, __ATOMIC_RELAXED);
}

/* Gives frames in binaries that share a name a key per binary: a call graph distinguishes these binaries, but their
 * frames are in one group. Returns false if out of memory. */
static bool part_namesakes(const struct group_taking *t, struct id_table *others)
{
	for (size_t i = 0; t->has_namesakes && i < t->frame_count; i++) {
		uint32_t *key = &t->table->chain_keys[i];
		if (!is_namesake(t, i))
			continue;
		const uint64_t word = (uint64_t)t->table->profile->frames[i].binary << 32 | *key;
		uint32_t other = id_table_add(others, &word, NULL);
		if (other == ID_TABLE_NONE)
			return false;
		*key = (uint32_t)t->groups->frame_groups + other;
	}
	return true;
}

/* Callers of one group are also equal in a call graph, unless they are in different objects with one name. */
static bool flat_chain_keys_take_groups(struct flat_table *table, const struct flat_groups *groups, size_t frame_count)
{
	bool *has_namesake = find_namesakes(table->profile, &table->options);
	struct id_table others = {.words = 1};
	struct group_taking taking = {table, groups, has_namesake, frame_count, false};
	if (!has_namesake)
		return false;
	thread_pool_for(thread_pool_tasks(frame_count, FLAT_CHAIN_KEYS_TASK_FRAMES), table->options.threads,
		take_some_groups, &taking);
	bool is_done = part_namesakes(&taking, &others);
	table->chain_key_count = groups->frame_groups + others.len;
	id_table_deinit(&others);
	free(has_namesake);
	return is_done;
}

bool flat_chain_keys_make(struct flat_table *table, const struct flat_groups *groups)
{
	const struct flat_options *o = &table->options;
	size_t frame_count = flat_events_have_samples(table->profile, o) ? table->profile->frame_count : 0;
	table->chain_keys = malloc((frame_count + 1) * sizeof(*table->chain_keys));
	if (!table->chain_keys)
		return false;
	bool are_of_functions = !o->is_chain_of_lines && !o->is_chain_by_address && !o->is_chain_by_line;
	if (are_of_functions && flat_groups_callers_by_function(table->profile, o) && have_one_end_each(table->profile))
		return flat_chain_keys_take_groups(table, groups, frame_count);
	return make_keys(table, frame_count);
}
