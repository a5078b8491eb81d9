/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_twins.h - finds the frames of a replay that become one frame of its profile because they lie in the same
 * function, without hashing or comparing. Part of replay.
 *
 *	frames.firsts = replay_find_twins(replay, count, room) ? room : NULL;
 */
#ifndef ANALYSIS_REPLAY_REPLAY_TWINS_H
#define ANALYSIS_REPLAY_REPLAY_TWINS_H

#include "analysis/replay/replay_state.h"

/* Sets firsts, for each frame and then for each inlined call (count in all), to the first one that becomes the same
 * frame of the profile. Functions, binaries and callers must be known. Returns false if they do not suffice to decide
 * this, or when out of memory. */
bool replay_find_twins(const struct replay *replay, size_t count, uint32_t *firsts);

#endif
