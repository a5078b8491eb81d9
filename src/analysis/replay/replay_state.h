/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_state.h - holds the intermediate state of a replay; used only by replay*.c. The passes read samples
 * (replay.c), the frames of all passes are joined and named (replay_frames.c, replay_functions.c), and stacks and
 * samples are added to the profile (replay_samples.c).
 *
 * One thread, except for the passes.
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

struct frame_places { /* Source lines of a frame: of the function itself, and of the innermost inlined call. */
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
	struct sample_pass **passes; /* In the order of their ranges of the recording. */
	size_t pass_count;
	struct id_table frames; /* Joined resolved frames of all passes; "frame" below is their ID. */
	/* The profile's index of each of the machine's binaries; PROFILE_NONE if not added yet. */
	uint32_t *profile_binaries;
	VEC(uint32_t) machine_binaries; /* The machine's first index of each of the profile's binaries. */
	VEC(uint64_t) first_ips; /* Run-time address of each frame. */
	const struct symbol **symbols; /* Symbol of each frame. */
	bool is_by_function; /* Frames of one function are already merged, by the passes for profiles without chains. */
	bool has_namesakes; /* Several of the machine's binaries are one binary in the profile. */
	bool has_strays; /* Some frames are in a binary that the profile treats as no binary. */
	bool has_distinct_frames; /* Each frame has a profile frame of its own. */
	/* The profile's function of each frame, followed by those of inlined calls; PROFILE_NONE if there is none. */
	uint32_t *functions;
	struct frame_places *places; /* Indexed like functions; NULL if not requested. */
	uint32_t *callers; /* Frame that each inlined call belongs to. */
	uint32_t *profile_frames; /* The profile's frame of each frame. */
	uint8_t *roles; /* enum frame_role of each frame. */
	VEC(uint8_t) function_roles; /* Indexed by the profile's function. */
	bool *roots; /* Whether threads begin in each frame; NULL if stacks are not kept. */
	struct inline_frames inlines; /* Inlined calls of each frame; empty if not requested. */
	const uint32_t *inlined_frames; /* The profile's frame of each inlined call; NULL if there are none. */
	bool failed; /* Memory ran out. */
	uint64_t *leaf_counts; /* Number of samples with each frame as their innermost one. */
	struct binary_hits hits;
	struct arena arena;
	struct profile_builder *builder;
	struct tracepoint_printer *tracepoints; /* NULL if not requested. */
	struct cgroup_names cgroups;
	struct parallelism parallelism;
	struct thread_namespaces namespaces;
	struct sample_switches switches;
	struct wait_events waits;
	struct wait_index wait_index; /* Filled only if wakers are requested. */
};

/* Returns the pass that an item of a joined list comes from; begin holds the index of each pass's first item. */
static inline size_t replay_pass_of(const uint32_t *begin, size_t passes, uint32_t item)
{
	size_t behind;
	LOWER_BOUND_IN(behind, 1, passes, i, begin[i] <= item);
	return behind - 1;
}

/* Returns an uninitialised array of IDs, which the caller frees; NULL when out of memory. */
uint32_t *replay_new_ids(size_t count);

struct replay_frame_ids { /* Joined IDs of the frames of all passes. */
	uint32_t *items;
	uint32_t *begin; /* Index of each pass's first item. */
};

/* Joins the frames of all passes into one list, in order of first use. Returns false when out of memory; the caller
 * frees ids in both cases. */
bool replay_join_frames(struct replay *replay, struct replay_frame_ids *ids);
/*
 * Finds the frames that threads begin in, not only by name, because programs may be stripped and entry points may have
 * any name. Such a frame is outermost in a recorded stack, and is at the program's entry point or has call-frame
 * information which says that it has no caller. Call-frame information is read for frames without a name, and for all
 * frames if stacks were unwound by it.
 *
 * Marks the outermost frames of all stacks in replay->roots, before stacks are taken from the passes. Returns false
 * when out of memory.
 */
TALLY_MUST_CHECK bool replay_note_outermost(struct replay *replay, const struct replay_frame_ids *ids);
/* Clears the marks of frames that are not roots. Requires symbols. Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status replay_find_roots(struct replay *replay, struct tally_error *err);
/* Looks up symbols, functions, lines and inlined calls of all frames, and adds the frames to the profile. */
TALLY_MUST_CHECK enum tally_status replay_name_frames(struct replay *replay, struct tally_error *err);
/* Collects the files that samples hit from leaf_counts, which must be final. May be called on any worker. Returns false
 * when out of memory. */
bool replay_count_hits(struct replay *replay);
/* Adds the passes' threads, stacks, facets and samples. */
TALLY_MUST_CHECK enum tally_status replay_add_samples(
	struct replay *replay, const struct replay_frame_ids *frames, struct tally_error *err);

#endif
