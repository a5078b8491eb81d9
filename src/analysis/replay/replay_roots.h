/*
 * replay_roots.h - which frames threads begin in, by more than names: programs are stripped, and entry points have any name.
 *
 * Of frames that are outermost in a recorded stack: those at the program's entry point, and those whose call-frame
 * information says that nobody called them, which is how unwinding knows that a stack is whole. Call-frame information is
 * read for frames without a name, and for all where stacks were unwound by it.
 *
 *	replay_note_outermost(replay, &ids) ...   replay_find_roots(replay, err);   if (replay->roots[frame]) ...
 */
#ifndef ANALYSIS_REPLAY_REPLAY_ROOTS_H
#define ANALYSIS_REPLAY_REPLAY_ROOTS_H

#include "analysis/replay/replay_state.h"

/* Marks the outermost frames of all stacks in replay->roots. Before stacks are taken from the passes. False: out of memory. */
TALLY_MUST_CHECK bool replay_note_outermost(struct replay *replay, const struct replay_frame_ids *ids);
/* Leaves the marks of those that are roots. Wants symbols. NOMEM only. */
TALLY_MUST_CHECK enum tally_status replay_find_roots(struct replay *replay, struct tally_error *err);

#endif
