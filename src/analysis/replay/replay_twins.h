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

/* Of each frame, then of each inlined call, count in all: the first one that is the same to the profile. Once functions,
 * binaries and callers are known. False: these do not tell it, or memory runs out. */
bool replay_find_twins(const struct replay *replay, size_t count, uint32_t *firsts);

#endif
