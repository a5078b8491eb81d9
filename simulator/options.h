/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - reads the tool's options, and refuses what it cannot do with a message that says why.
 */
#ifndef SIMULATOR_OPTIONS_H
#define SIMULATOR_OPTIONS_H

#include "core.h"
#include "stream.h"

struct sim_geometry {
	UInt entries; /* lines or pages in all; 0: there is no such level */
	UInt ways;
	UInt shift; /* log2 of the bytes of a line or page */
};

#define SIM_TOGGLES_MOST 64

struct sim_options {
	const HChar *stream_dir;
	UInt kinds; /* enum sim_kind */
	struct sim_geometry i1, d1, l2, ll, itlb, dtlb;
	UInt sampled_count;
	struct sim_sampled sampled[SIM_SAMPLED_MOST];
	UInt stack_bytes;
	UInt toggle_count;
	const HChar *toggles[SIM_TOGGLES_MOST];
	Bool collects_at_start;
};

extern struct sim_options sim_options;

/* For VG_(needs_command_line_options). */
Bool sim_options_read(const HChar *argument);
void sim_options_usage(void);
void sim_options_debug_usage(void);
/* Checks what options say together; ends the program with a message if that is nothing to work with. */
void sim_options_check(void);
/* Whether a sample of this event was asked for. */
Bool sim_options_samples(enum sim_event event);
/* The model as in the stream's header; returns its length without the NUL. */
UInt sim_options_model(HChar *text, UInt size);

#endif
