/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_options.h - selects which properties of its samples a replay keeps. All zero stands for a flat profile by
 * function.
 */
#ifndef ANALYSIS_REPLAY_OPTIONS_H
#define ANALYSIS_REPLAY_OPTIONS_H

#include "base/progress.h"
#include "perfdata/time_spans.h"

struct replay_field { /* A tracepoint field that is kept as a facet. */
	struct tally_str name;
	uint64_t events; /* Bit mask of event indexes: the events that have the field. */
	unsigned width; /* Width of the column in reports, in characters. */
	bool is_dynamic; /* The field is a text of variable length in some event. */
};

/* Indexes of the events that switch samples on and off, -1 for none. Samples before the first `on` event and after an
 * `off` event are left out. */
struct replay_switches {
	int64_t on, off;
	bool shows; /* The samples of these events are kept too. */
	/* The state before the first sample of the recording; SWITCHES_FIRST if there were no samples before. */
	enum { SWITCHES_FIRST, SWITCHES_ON, SWITCHES_OFF } before;
};

/* How samples of waits (wait_events.h) count: as an event of their own; as samples of the clock event if the recording
 * was made with --wall; or as samples of the clock event whenever there is one. */
enum replay_waits { WAITS_APART, WAITS_IF_WALL, WAITS_JOINED };

struct replay_options {
	bool with_cpu; /* Keep the CPU; otherwise samples of all CPUs are merged. */
	bool with_threads; /* Keep pid and tid; otherwise threads with the same name are merged, and both are 0. */
	bool with_stacks;
	bool with_addresses; /* Distinguish the frames of a function by address. */
	uint64_t facets; /* Bit mask of enum profile_facet: further properties that distinguish samples. */
	uint64_t time_quantum_ns; /* Unit of FACET_TIME; 0 stands for 1. */
	const struct replay_field *fields; /* The fields of the facets from FACET_FIELD on; borrowed. */
	size_t field_count;
	bool with_raw_traces; /* Keep tracepoint fields unformatted. */
	bool tells_no_trace; /* Samples of events other than tracepoints have the trace "N/A", otherwise none. */
	bool by_branch; /* A sample counts once for each of its branches, at the branch's target. */
	enum {
		HISTORY_NONE,
		HISTORY_OLDEST_FIRST,
		HISTORY_NEWEST_FIRST
	} history; /* Taken branches are made part of call chains, in this order. */
	/* Number of LBR registers of the CPU, which extends LBR call stacks (lbr_stitch.h); 0 to leave them as
	 * recorded. */
	uint64_t stitched_registers;
	unsigned max_history; /* Limit of branches of a sample for history; 0 for no limit. */
	enum replay_waits waits;
	/* Unless WAKERS_NONE, only samples of waits are kept, and their chains continue with the chains of the threads
	 * that ended the waits. If such a thread waited itself meanwhile, WAKERS_FOLLOWED attributes that time to the
	 * thread that ended its wait, and so on. */
	enum { WAKERS_NONE, WAKERS_SHOWN, WAKERS_FOLLOWED } wakers;
	bool weight_is_period; /* The period of a sample is its weight, as for memory accesses. */
	bool with_exact_frames; /* Frames keep their own address instead of that of their function. */
	bool with_origins; /* Keep the origin of each binary's symbol names. */
	bool with_inlines; /* Inlined calls are frames of their own in call chains. */
	/* A sample belongs to the innermost call that was inlined at its address, instead of the symbol there. */
	bool self_is_inlined;
	bool with_lines; /* Keep the source lines of frames, and distinguish the frames of a function by line. */
	bool only_known_lines; /* Unknown source lines have no substitute text. */
	bool with_whole_paths; /* Keep the full paths of source files. */
	const struct time_spans *spans; /* Samples outside these spans are left out; NULL for no restriction. */
	const struct replay_switches *switches; /* NULL if no events switch samples on and off. */
	bool with_rows; /* Also keep every single sample, in time order. */
	bool with_build_ids; /* Distinguish binaries of the same path by build ID. */
	unsigned max_stack; /* Limit of frames of a chain; 0 for no limit. */
	/* Limit of record bytes, after which the recording is treated as truncated; 0 for no limit. Ignored for copied
	 * runs. */
	size_t max_bytes;
	bool without_names; /* Do not look up functions: frames are addresses. */
	/* Limit of samples that a profile without chains keeps in memory, beyond which samples are read again; 0 for a
	 * million. */
	size_t kept_samples;
	unsigned threads; /* Number of threads; 0 for one per CPU. */
	struct progress *progress; /* NULL if progress is not shown. */
};

#endif
