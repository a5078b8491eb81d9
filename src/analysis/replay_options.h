/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_options.h - selects which properties of its samples a replay keeps. A value; all zero is a flat profile by
 * function.
 */
#ifndef ANALYSIS_REPLAY_OPTIONS_H
#define ANALYSIS_REPLAY_OPTIONS_H

#include "base/progress.h"
#include "perfdata/time_spans.h"

struct replay_field { /* of tracepoints */
	struct tally_str name;
	uint64_t events; /* bit by event's index: those that it is kept of */
	unsigned width;
	bool is_dynamic;
};

struct replay_switches { /* events by index, -1: none; samples before the first on, and from an off on, are left out */
	int64_t on, off;
	bool shows; /* the samples that switch count too */
	/* The state after the samples before these; FIRST: there are none. */
	enum { SWITCHES_FIRST, SWITCHES_ON, SWITCHES_OFF } before;
};

/* How samples of waits (wait_events.h) count: as an event of their own; as samples of the clock event if the recording
 * was made with --wall; or as samples of the clock event whenever there is one. */
enum replay_waits { WAITS_APART, WAITS_IF_WALL, WAITS_JOINED };

struct replay_options {
	bool with_cpu; /* keep the CPU label (else samples of all CPUs merge) */
	bool with_threads; /* keep pid and tid; else threads of one name merge, and both are 0 */
	bool with_stacks; /* keep call chains */
	bool with_addresses; /* keep frames of one function apart by address */
	uint64_t facets; /* bit by enum profile_facet: what else samples are told apart by */
	uint64_t time_quantum_ns; /* of FACET_TIME; 0: 1 */
	const struct replay_field *fields; /* by facet, from FACET_FIELD on; borrowed */
	size_t field_count;
	bool with_raw_traces; /* tracepoint fields as they are stored */
	bool tells_no_trace; /* samples of other events have the trace "N/A"; else they have none */
	bool by_branch; /* a sample counts once for each of its branches, at their targets */
	enum {
		HISTORY_NONE,
		HISTORY_OLDEST_FIRST,
		HISTORY_NEWEST_FIRST
	} history; /* branches as parts of call chains */
	uint64_t stitched_registers; /* of the CPU's LBR, if longer call stacks are to be made of them; 0: not */
	unsigned max_history; /* branches of a sample that are looked at; 0: no bound */
	enum replay_waits waits;
	/* Samples are waits, and their chains continue with those of the threads that ended them, or of the threads
	 * that these waited for. */
	enum { WAKERS_NONE, WAKERS_SHOWN, WAKERS_FOLLOWED } wakers;
	bool weight_is_period; /* samples count by their weight, as accesses of memory do */
	bool with_exact_frames; /* a frame's address is its own, not that of its function */
	bool with_origins; /* of the names of binaries */
	bool with_inlines; /* calls that were inlined are frames of their own in call chains */
	bool self_is_inlined; /* a sample is of the innermost call that was inlined at its address; else of the symbol there */
	bool with_lines; /* keep the source lines of frames, and frames of one function apart by them */
	bool only_known_lines; /* unknown lines get no substitute */
	bool with_whole_paths; /* of the lines' files */
	const struct time_spans *spans; /* samples outside them are left out; NULL: none are */
	const struct replay_switches *switches; /* NULL: none */
	bool with_rows; /* keep each sample by itself too, by time */
	bool with_build_ids; /* binaries of one path and different ids stay apart */
	unsigned max_stack; /* frames of a chain that are looked at; 0: no bound */
	size_t max_bytes; /* of records: the recording is read as if it were truncated there; 0: no limit. Not for copies */
	bool without_names; /* of functions: frames are addresses */
	size_t kept_samples; /* of a profile without chains: other samples are read again later; 0: a million */
	unsigned threads; /* 0: one per CPU */
	struct progress *progress; /* NULL: nobody looks */
};

#endif
