/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_functions.h - collects the distinct functions that contain a replay's frames, with their demangled names. Part
 * of replay.
 *
 * A list assigns an index to each symbol and to each name of an inlined function; replay->functions holds these indexes
 * until all functions are added. Then all workers demangle names, and the indexes are replaced by the profile's IDs.
 *
 *	struct function_list list = {0};
 *	replay->functions[i] = function_list_symbol(&list, symbol, binary);
 *	if (!replay_add_functions(replay, &list, count)) ...	function_list_deinit(&list);
 */
#ifndef ANALYSIS_REPLAY_REPLAY_FUNCTIONS_H
#define ANALYSIS_REPLAY_REPLAY_FUNCTIONS_H

#include "analysis/replay/replay_state.h"

struct named_function {
	const char *name; /* Mangled name. */
	const struct symbol *symbol; /* NULL for an inlined function. */
	uint32_t binary; /* The profile's binary of its first frame. */
	const char *readable;
	bool is_start; /* Threads start in it, so it has no caller. */
};

struct function_list {
	VEC(struct named_function) items;
	struct map_u64 places; /* Maps the address of the symbol or of the name to an index in items. */
	bool is_out_of_memory;
};

/* Return the index in items of a symbol or of an inlined function, which is added if it is new. binary is that of the
 * profile. When memory runs out, set is_out_of_memory. */
uint32_t function_list_symbol(struct function_list *list, const struct symbol *symbol, uint32_t binary);
uint32_t function_list_inlined(struct function_list *list, const char *name, uint32_t binary);
void function_list_deinit(struct function_list *list);

/* Adds the functions to the profile, and sets the roles of frames. count is the length of replay->functions, which
 * starts with those of frames. Returns false when out of memory. */
bool replay_add_functions(struct replay *replay, struct function_list *list, size_t count);

#endif
