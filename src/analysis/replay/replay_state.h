/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_state.h - holds the intermediate state of a replay; only replay_*.c uses it. Part of replay: its passes read
 * samples (replay.c), the frames of all are joined and named (replay_frames.c, replay_functions.c), and stacks and
 * samples become the profile's (replay_samples.c).
 *
 * One thread, but for the passes.
 */
#ifndef ANALYSIS_REPLAY_REPLAY_STATE_H
#define ANALYSIS_REPLAY_REPLAY_STATE_H

#include "analysis/cgroup_names.h"
#include "analysis/inline_frames.h"
#include "analysis/replay/replay.h"
#include "analysis/sample_pass.h"
#include "base/id_table.h"
#include "base/order.h"
#include "profile/profile_builder.h"

struct frame_places { /* source lines of a frame */
	struct profile_place own, innermost;
};

struct replay {
	struct perfdata_reader *reader;
	struct binary_store *store;
	const struct replay_options *options;
	struct record_run run;
	struct sideband sideband;
	struct unwind_files unwind_files;
	struct stack_ends ends;
	struct sample_pass **passes; /* in order of what they read */
	size_t pass_count;
	struct id_table frames; /* resolved frames of all passes */
	uint32_t *profile_binaries; /* by the machine's index: the profile's; PROFILE_NONE: none yet */
	VEC(uint32_t) machine_binaries; /* by the profile's index: the machine's first */
	VEC(uint64_t) first_ips; /* by id of frames */
	const struct symbol **symbols; /* by id of frames */
	bool is_by_function; /* frames of one function are merged already: by the path for profiles without chains */
	bool has_namesakes; /* binaries that the profile does not tell apart */
	bool has_strays; /* some frames are in a binary that the profile shows as none */
	bool has_distinct_frames; /* of the profile: each frame of frames has its own */
	uint32_t *functions; /* by id of frames, then by inlined call: the profile's; PROFILE_NONE: no symbol */
	struct frame_places *places; /* the same; NULL: not asked for */
	uint32_t *callers; /* by inlined call: the frame */
	uint32_t *profile_frames; /* by id of frames */
	uint8_t *roles; /* by id of frames: enum frame_role */
	VEC(uint8_t) function_roles; /* by the profile's */
	bool *roots; /* by id of frames: threads begin there; NULL: stacks are not kept */
	struct inline_frames inlines; /* by id of frames; nothing if not asked for */
	const uint32_t *inlined_frames; /* by inlined call; NULL: there is none */
	bool failed; /* out of memory */
	uint64_t *leaf_counts; /* by id of frames: samples whose own address it is */
	struct binary_hits hits;
	struct arena arena;
	struct profile_builder *builder;
	struct tracepoint_printer *tracepoints; /* NULL: not asked for */
	struct cgroup_names cgroups;
	struct parallelism parallelism;
	struct thread_namespaces namespaces;
	struct sample_switches switches;
	struct wait_events waits;
	struct wait_index wait_index; /* read, where wakers are asked for */
};

/* Joins lists of all passes into one: begin has the index of each pass's first item. Returns the pass of an item. */
static inline size_t replay_pass_of(const uint32_t *begin, size_t passes, uint32_t item)
{
	size_t behind;
	LOWER_BOUND_IN(behind, 1, passes, i, begin[i] <= item);
	return behind - 1;
}

/* NULL: out of memory. */
uint32_t *replay_new_ids(size_t count);

struct replay_frame_ids { /* of all passes, in replay's frames */
	uint32_t *items;
	uint32_t *begin; /* by pass */
};

/* Joins the frames of all passes into one list, in order of first use. False: out of memory; the caller frees ids. */
bool replay_join_frames(struct replay *replay, struct replay_frame_ids *ids);
/*
 * Finds the frames that threads begin in, not only by name, because programs may be stripped and entry points may have
 * any name. Such a frame is outermost in a recorded stack, and is at the program's entry point or has call-frame
 * information which says that it has no caller. Call-frame information is read for frames without a name, and for all
 * frames if stacks were unwound by it.
 *
 * Marks the outermost frames of all stacks in replay->roots, before stacks are taken from the passes. False: out of
 * memory.
 */
TALLY_MUST_CHECK bool replay_note_outermost(struct replay *replay, const struct replay_frame_ids *ids);
/* Keeps only the marks of frames that are roots. Needs symbols. NOMEM only. */
TALLY_MUST_CHECK enum tally_status replay_find_roots(struct replay *replay, struct tally_error *err);
/* Looks up symbols, functions, lines and inlined calls of all frames, and adds the frames to the profile. */
TALLY_MUST_CHECK enum tally_status replay_name_frames(struct replay *replay, struct tally_error *err);
/* The files that samples hit, by leaf_counts, which no longer change; asked by any worker. False: out of memory. */
bool replay_count_hits(struct replay *replay);
/* Adds the passes' threads, stacks, facets and samples. */
TALLY_MUST_CHECK enum tally_status replay_add_samples(
	struct replay *replay, const struct replay_frame_ids *frames, struct tally_error *err);

#endif
