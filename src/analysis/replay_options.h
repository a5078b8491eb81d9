/*
 * replay_options.h - what replay keeps of a recording. A value; all zero is a flat profile by function.
 */
#ifndef ANALYSIS_REPLAY_OPTIONS_H
#define ANALYSIS_REPLAY_OPTIONS_H

#include "perfdata/time_spans.h"

struct replay_options {
	bool with_cpu; /* keep the CPU label (else samples of all CPUs merge) */
	bool with_threads; /* keep pid and tid; else threads of one name merge, and both are 0 */
	bool with_stacks; /* keep call chains */
	bool with_addresses; /* keep frames of one function apart by address */
	bool with_labels; /* keep the text of tracepoints' fields */
	bool with_inlines; /* calls that were inlined are frames of their own in call chains */
	bool with_lines; /* keep the source lines of frames, and frames of one function apart by them */
	bool with_whole_paths; /* of the lines' files */
	const struct time_spans *spans; /* samples outside them are left out; NULL: none are */
	unsigned max_stack; /* frames of a chain that are looked at; 0: no bound */
	unsigned threads; /* 0: one per CPU */
};

#endif
