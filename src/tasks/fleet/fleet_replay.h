/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_replay.h - defines which properties of samples batches contain, so that agent and push make equal batches of
 * equal samples.
 *
 *	struct replay_options replay = fleet_replay_options();
 *	status = replay_profile(reader, store, &replay, &result, err);
 */
#ifndef TASKS_FLEET_FLEET_REPLAY_H
#define TASKS_FLEET_FLEET_REPLAY_H

#include "analysis/replay_options.h"
#include "fleet/batch.h"

/* Samples are grouped by thread, call chain and state, with cgroups for labels; each frame has its own address, its
 * source line and the calls that were inlined there. */
static inline struct replay_options fleet_replay_options(void)
{
	return (struct replay_options){.with_threads = true,
		.with_stacks = true,
		.with_exact_frames = true,
		.with_inlines = true,
		.with_lines = true,
		.only_known_lines = true,
		.with_whole_paths = true,
		.with_build_ids = true,
		.facets = 1ull << FACET_STATE | 1ull << FACET_CGROUP,
		.waits = WAITS_APART,
		.max_stack = FLEET_STACK_DEPTH};
}

#endif
