#include "analysis/replay_twins.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* What else a frame may be told apart by is the same in all of one function. */
static bool functions_tell(const struct replay *replay)
{
	const struct replay_options *o = replay->options;
	return !o->with_addresses && !o->with_exact_frames && !replay->places && !replay->has_strays &&
	       replay->frames.words < RESOLVED_FRAME_WORDS;
}

/* Frames without names are told apart by binary and address, which those of a second binary that looks the same may
 * share. */
static bool has_double(const struct replay *replay, uint32_t binary)
{
	return replay->has_namesakes && binary != RESOLVE_NONE &&
	       replay->machine_binaries.items[replay->profile_binaries[binary]] != binary;
}

static bool is_alike(const struct replay *replay, const struct resolved_frame *a, const struct resolved_frame *b)
{
	return a->level == b->level && replay->profile_binaries[a->binary] == replay->profile_binaries[b->binary];
}

/* first_of: by function, its first frame. False: frames of one function differ, or what has no function may be
 * anything. */
static bool find_of_frames(const struct replay *replay, uint32_t *first_of, uint32_t *firsts)
{
	for (uint32_t i = 0; i < replay->frames.len; i++) {
		const struct resolved_frame frame = resolved_frame_get(&replay->frames, i);
		uint32_t function = replay->functions[i];
		firsts[i] = i;
		if (function == PROFILE_NONE) {
			if (has_double(replay, frame.binary))
				return false;
			continue;
		}
		if (first_of[function] == NONE)
			first_of[function] = i;
		firsts[i] = first_of[function];
		const struct resolved_frame first = resolved_frame_get(&replay->frames, firsts[i]);
		if (!is_alike(replay, &first, &frame))
			return false;
	}
	return true;
}

/* An inlined call is at the address of what it was inlined into: the same only beside the same call. */
static bool find_of_calls(const struct replay *replay, size_t count, uint32_t *firsts)
{
	size_t frames = replay->frames.len, begin = frames; /* of the caller's calls */
	for (size_t i = frames; i < count; i++) {
		uint32_t caller = replay->callers[i - frames];
		if (has_double(replay, resolved_frame_get(&replay->frames, caller).binary))
			return false;
		if (replay->callers[begin - frames] != caller)
			begin = i;
		size_t first = begin;
		while (replay->functions[first] != replay->functions[i])
			first++;
		firsts[i] = (uint32_t)first;
	}
	return true;
}

bool replay_find_twins(const struct replay *replay, size_t count, uint32_t *firsts)
{
	size_t functions = replay->function_roles.len;
	uint32_t *first_of = functions_tell(replay) ? malloc((functions + 1) * sizeof(*first_of)) : NULL;
	for (size_t i = 0; first_of && i < functions; i++)
		first_of[i] = NONE;
	bool is_told = first_of && find_of_frames(replay, first_of, firsts) && find_of_calls(replay, count, firsts);
	free(first_of);
	return is_told;
}
