/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_functions.h - collects the functions that contain a replay's frames, each once, with its readable name. Part
 * of replay.
 *
 * A list gives each symbol and each inlined function's name an index, which replay->functions holds until all are
 * added. Then all workers make names readable, and the indexes are replaced by the profile's IDs.
 *
 *	struct function_list list = {0};
 *	replay->functions[i] = function_list_symbol(&list, symbol, binary);
 *	if (!replay_add_functions(replay, &list, count)) ...	function_list_deinit(&list);
 */
#ifndef ANALYSIS_REPLAY_REPLAY_FUNCTIONS_H
#define ANALYSIS_REPLAY_REPLAY_FUNCTIONS_H

#include "analysis/replay/replay_state.h"

struct named_function {
	const char *name; /* the linker's */
	const struct symbol *symbol; /* NULL: it was inlined */
	uint32_t binary; /* the profile's, of the first frame */
	const char *readable;
	bool is_start; /* threads start in it: it has no caller */
};

struct function_list {
	VEC(struct named_function) items;
	struct map_u64 places; /* address of the symbol, or of the name */
	bool is_out_of_memory;
};

uint32_t function_list_symbol(struct function_list *list, const struct symbol *symbol, uint32_t binary);
uint32_t function_list_inlined(struct function_list *list, const char *name, uint32_t binary);
void function_list_deinit(struct function_list *list);

/* Adds the functions to the profile, and sets the roles of frames. count: of replay->functions, in which those of
 * frames come first. False: out of memory. */
bool replay_add_functions(struct replay *replay, struct function_list *list, size_t count);

#endif
