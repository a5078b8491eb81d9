/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - reads the options of the tool, and refuses invalid ones with a message that gives the reason.
 */
#ifndef SIMULATOR_OPTIONS_H
#define SIMULATOR_OPTIONS_H

#include "core.h"
#include "stream.h"

struct sim_geometry {
	UInt entries; /* Total number of lines or pages; 0 if the level does not exist. */
	UInt ways;
	UInt shift; /* log2 of the size of a line or page in bytes. */
};

#define SIM_TOGGLES_MOST 64

struct sim_options {
	const HChar *stream_dir;
	UInt kinds; /* Bits of enum sim_kind. */
	struct sim_geometry i1, d1, l2, ll, itlb, dtlb;
	UInt sampled_count;
	struct sim_sampled sampled[SIM_SAMPLED_MOST];
	UInt stack_bytes;
	UInt toggle_count;
	const HChar *toggles[SIM_TOGGLES_MOST];
	Bool collects_at_start;
};

extern struct sim_options sim_options;

/* Callbacks for VG_(needs_command_line_options). */
Bool sim_options_read(const HChar *argument);
void sim_options_usage(void);
void sim_options_debug_usage(void);
/* Checks combinations of options; ends the program with a message if they are invalid. */
void sim_options_check(void);
/* Returns whether the event is sampled. */
Bool sim_options_samples(enum sim_event event);
/* Writes the model as text, as in the header of the stream; returns the length without the NUL. */
UInt sim_options_model(HChar *text, UInt size);

#endif
