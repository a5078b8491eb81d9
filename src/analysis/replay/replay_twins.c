/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/replay/replay_twins.h"

#include <stdlib.h>

#include "base/atomic_least.h"
#include "base/thread_pool.h"

#define NONE			 UINT32_MAX
#define REPLAY_TWINS_TASK_FRAMES 8192

/* Returns whether frames of one function can differ only in level and binary, with these options. */
static bool functions_tell(const struct replay *replay)
{
	const struct replay_options *o = replay->options;
	return !o->with_addresses && !o->with_exact_frames && !replay->places && !replay->has_strays &&
	       replay->frames.words < RESOLVED_FRAME_WORDS;
}

/* Returns whether the profile cannot distinguish the binary from an earlier one: frames without names, which differ
 * only in binary and address, may then be equal in both. */
static bool has_double(const struct replay *replay, uint32_t binary)
{
	return replay->has_namesakes && binary != RESOLVE_NONE &&
	       replay->machine_binaries.items[replay->profile_binaries[binary]] != binary;
}

static bool replay_twins_is_alike(
	const struct replay *replay, const struct resolved_frame *a, const struct resolved_frame *b)
{
	return a->level == b->level && replay->profile_binaries[a->binary] == replay->profile_binaries[b->binary];
}

struct twin_finding { /* State that the workers share. */
	const struct replay *replay;
	size_t count; /* Number of frames and inlined calls, which follow the frames. */
	uint32_t *first_of; /* By function: its first frame. */
	uint32_t *firsts;
	/* This method does not apply: frames of one function differ, or has_double is true for the binary of a frame
	 * without function or of an inlined call. */
	bool is_untold;
};

static void set_untold(struct twin_finding *f)
{
	__atomic_store_n(&f->is_untold, true, __ATOMIC_RELAXED);
}

static void note_firsts(void *context, size_t task, unsigned worker)
{
	struct twin_finding *f = context;
	const struct replay *replay = f->replay;
	for (size_t i = task * REPLAY_TWINS_TASK_FRAMES;
		i < thread_pool_task_end(task, REPLAY_TWINS_TASK_FRAMES, replay->frames.len); i++) {
		if (replay->functions[i] != PROFILE_NONE)
			atomic_least(&f->first_of[replay->functions[i]], (uint32_t)i);
		else if (has_double(replay, resolved_frame_get(&replay->frames, (uint32_t)i).binary))
			set_untold(f);
	}
}

static void replay_twins_tell_frames(void *context, size_t task, unsigned worker)
{
	struct twin_finding *f = context;
	const struct replay *replay = f->replay;
	for (size_t i = task * REPLAY_TWINS_TASK_FRAMES;
		i < thread_pool_task_end(task, REPLAY_TWINS_TASK_FRAMES, replay->frames.len); i++) {
		uint32_t function = replay->functions[i];
		f->firsts[i] = function == PROFILE_NONE ? (uint32_t)i : f->first_of[function];
		const struct resolved_frame frame = resolved_frame_get(&replay->frames, (uint32_t)i);
		const struct resolved_frame first = resolved_frame_get(&replay->frames, f->firsts[i]);
		if (function != PROFILE_NONE && !replay_twins_is_alike(replay, &first, &frame))
			set_untold(f);
	}
}

/* An inlined call has the address of its caller: it can only equal a call at the same caller. */
static void tell_calls(void *context, size_t task, unsigned worker)
{
	struct twin_finding *f = context;
	const struct replay *replay = f->replay;
	const uint32_t *functions = replay->functions + replay->frames.len, *callers = replay->callers;
	size_t calls = f->count - replay->frames.len,
	       begin = task * REPLAY_TWINS_TASK_FRAMES; /* Index of the caller's first call. */
	while (begin > 0 && callers[begin - 1] == callers[task * REPLAY_TWINS_TASK_FRAMES])
		begin--;
	for (size_t i = task * REPLAY_TWINS_TASK_FRAMES;
		i < thread_pool_task_end(task, REPLAY_TWINS_TASK_FRAMES, calls); i++) {
		if (has_double(replay, resolved_frame_get(&replay->frames, callers[i]).binary))
			set_untold(f);
		if (callers[begin] != callers[i])
			begin = i;
		size_t first = begin;
		while (functions[first] != functions[i])
			first++;
		f->firsts[replay->frames.len + i] = (uint32_t)(replay->frames.len + first);
	}
}

static bool find_all(struct twin_finding *f)
{
	unsigned threads = f->replay->options->threads;
	size_t frames = f->replay->frames.len, tasks = thread_pool_tasks(frames, REPLAY_TWINS_TASK_FRAMES);
	thread_pool_for(tasks, threads, note_firsts, f);
	if (!f->is_untold)
		thread_pool_for(tasks, threads, replay_twins_tell_frames, f);
	if (!f->is_untold)
		thread_pool_for(thread_pool_tasks(f->count - frames, REPLAY_TWINS_TASK_FRAMES), threads, tell_calls, f);
	return !f->is_untold;
}

bool replay_find_twins(const struct replay *replay, size_t count, uint32_t *firsts)
{
	size_t functions = replay->function_roles.len;
	uint32_t *first_of = functions_tell(replay) ? malloc((functions + 1) * sizeof(*first_of)) : NULL;
	if (!first_of)
		return false;
	for (size_t i = 0; i < functions; i++)
		first_of[i] = NONE;
	struct twin_finding finding = {replay, count, first_of, firsts, false};
	bool is_told = find_all(&finding);
	free(first_of);
	return is_told;
}
