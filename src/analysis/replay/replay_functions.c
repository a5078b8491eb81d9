/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/replay/replay_functions.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/stack_frames.h"
#include "base/array.h"
#include "base/thread_pool.h"

#define TASK_NAMES		     256
#define REPLAY_FUNCTIONS_TASK_FRAMES 8192

static uint32_t replay_functions_place_of(
	struct function_list *list, const void *key, const struct named_function *function)
{
	bool is_new;
	uint64_t *place = map_u64_at(&list->places, (uint64_t)(uintptr_t)key, &is_new);
	if (place && !is_new)
		return (uint32_t)*place;
	if (!place || !vec_push(&list->items, *function)) {
		list->is_out_of_memory = true;
		return PROFILE_NONE;
	}
	*place = list->items.len - 1;
	return (uint32_t)*place;
}

uint32_t function_list_symbol(struct function_list *list, const struct symbol *symbol, uint32_t binary)
{
	return replay_functions_place_of(
		list, symbol, &(struct named_function){.name = symbol->name, .symbol = symbol, .binary = binary});
}

uint32_t function_list_inlined(struct function_list *list, const char *name, uint32_t binary)
{
	return replay_functions_place_of(list, name, &(struct named_function){.name = name, .binary = binary});
}

void function_list_deinit(struct function_list *list)
{
	vec_free(&list->items);
	map_u64_deinit(&list->places);
}

/* Functions in which threads begin, as C libraries, Go and the kernel name them. They have no caller, so a call chain
 * that ends there is complete. */
static bool is_first_function(const char *name)
{
	static const char *const names[] = {"_start", "__libc_start_main", "__libc_start_main_impl",
		"__libc_start_call_main", "start_thread", "clone", "clone3", "__clone", "__clone3", "_dl_start_user",
		"ret_from_fork", "ret_from_fork_asm", "rewind_stack_and_make_dead", "common_startup_64",
		"secondary_startup_64", "secondary_startup_64_no_verify", "__primary_switched", "__secondary_switched",
		"runtime.goexit", "runtime.mstart", "runtime.rt0_go", "_rt0_amd64", "_rt0_amd64_linux",
		"_rt0_arm64_linux"};
	size_t len = strcspn(name, "@.");
	if (strncmp(name, "runtime.", 8) == 0) /* Go appends the ABI: "runtime.goexit.abi0". */
		len = 8 + strcspn(name + 8, ".");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i][0] == name[0] && strncmp(names[i], name, len) == 0 && names[i][len] == '\0')
			return true;
	return false;
}

static uint8_t replay_functions_role_of(const struct named_function *named, const struct profile_function *function)
{
	if (!named->symbol)
		return FRAME_OTHER;
	if (function->is_start)
		return FRAME_FIRST;
	return !strcmp(named->name, "main") ? FRAME_MAIN : FRAME_OTHER;
}

struct replay_functions_adding {
	struct replay *replay;
	struct function_list *list;
	struct arena *arenas; /* By worker: memory of readable names. */
	uint32_t *ids; /* By index in list: the ID in the profile. */
	size_t count; /* Number of items in replay->functions. */
};

static void make_readable(void *context, size_t task, unsigned worker)
{
	const struct replay_functions_adding *a = context;
	size_t end = thread_pool_task_end(task, TASK_NAMES, a->list->items.len);
	for (size_t i = task * TASK_NAMES; i < end; i++) {
		struct named_function *named = &a->list->items.items[i];
		named->readable = binary_store_readable(a->replay->store, named->name, &a->arenas[worker]);
		named->is_start = named->is_start || (named->symbol && is_first_function(named->name));
	}
}

/* Returns false if out of memory. */
static bool replay_functions_add_function(struct replay *replay, const struct named_function *named, uint32_t *id)
{
	struct profile_function function = {
		.name = profile_builder_string(replay->builder, str_from(named->readable)),
		.binary = named->binary,
		.is_inlined = !named->symbol,
	};
	if (named->symbol) {
		function.start = named->symbol->start;
		function.size = named->symbol->end - named->symbol->start;
		function.is_object = named->symbol->is_object;
		function.is_start = named->is_start;
	}
	*id = profile_builder_function(replay->builder, &function);
	return *id != replay->function_roles.len ||
	       vec_push(&replay->function_roles, replay_functions_role_of(named, &function));
}

static uint8_t role_of_frame(const struct replay *replay, uint32_t function)
{
	if (function == PROFILE_NONE)
		return FRAME_NAMELESS;
	return function < replay->function_roles.len ? replay->function_roles.items[function] : FRAME_OTHER;
}

static void put_ids(void *context, size_t task, unsigned worker)
{
	const struct replay_functions_adding *a = context;
	struct replay *replay = a->replay;
	for (size_t i = task * REPLAY_FUNCTIONS_TASK_FRAMES;
		i < thread_pool_task_end(task, REPLAY_FUNCTIONS_TASK_FRAMES, a->count); i++) {
		uint32_t *function = &replay->functions[i];
		if (*function != PROFILE_NONE)
			*function = a->ids[*function];
		if (i < replay->frames.len)
			replay->roles[i] =
				replay->roots && replay->roots[i] ? FRAME_FIRST : role_of_frame(replay, *function);
	}
}

bool replay_add_functions(struct replay *replay, struct function_list *list, size_t count)
{
	unsigned threads = replay->options->threads;
	size_t names = list->items.len, tasks = thread_pool_tasks(names, TASK_NAMES);
	unsigned workers = thread_pool_workers(tasks, threads);
	struct replay_functions_adding adding = {.replay = replay,
		.list = list,
		.arenas = calloc(workers + 1, sizeof(*adding.arenas)),
		.ids = replay_new_ids(names),
		.count = count};
	bool is_done = adding.arenas && adding.ids && !list->is_out_of_memory;
	for (unsigned i = 0; adding.arenas && i < workers; i++)
		arena_init(&adding.arenas[i]);
	if (is_done)
		thread_pool_for(tasks, threads, make_readable, &adding);
	for (size_t i = 0; is_done && i < names; i++)
		is_done = replay_functions_add_function(replay, &list->items.items[i], &adding.ids[i]);
	if (is_done)
		thread_pool_for(thread_pool_tasks(count, REPLAY_FUNCTIONS_TASK_FRAMES), threads, put_ids, &adding);
	for (unsigned i = 0; adding.arenas && i < workers; i++)
		arena_deinit(&adding.arenas[i]);
	free(adding.arenas);
	free(adding.ids);
	return is_done;
}
