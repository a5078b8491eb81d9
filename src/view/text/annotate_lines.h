/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_lines.h - declares the input of the annotate printers: a function's code as lines with the samples of each
 * event.
 *
 * Everything is borrowed from the code that created it. The values of a line are values[line.values + event]; source
 * lines have none.
 */
#ifndef VIEW_TEXT_ANNOTATE_LINES_H
#define VIEW_TEXT_ANNOTATE_LINES_H

#include "base/text.h"

#define ANNOTATE_NONE UINT32_MAX

enum annotate_line_kind {
	ANNOTATE_TEXT, /* A heading, or a line of source. */
	ANNOTATE_CODE,
	ANNOTATE_MORE_BYTES, /* Bytes of the preceding instruction that do not fit into its line. */
};

enum annotate_flow { ANNOTATE_PLAIN, ANNOTATE_JUMP, ANNOTATE_CALL, ANNOTATE_RETURN };

struct annotate_value {
	uint64_t count, period;
};

struct annotate_line {
	enum annotate_line_kind kind;
	enum annotate_flow flow;
	/* For code: padded mnemonic and operands, with symbols of addresses, as printed by objdump. */
	const char *text;
	/* For code, in the compact form: names instead of addresses, and jumps by offset. */
	const char *mnemonic, *operands;
	uint32_t number; /* For text: displayed line number; 0 if there is none. */
	uint32_t values; /* ANNOTATE_NONE if there are no samples. */
	uint32_t target; /* Line that a jump inside the function leads to; ANNOTATE_NONE if there is none. */
	uint64_t callee; /* Known target address of a call, or of a jump out of the function. */
	uint32_t place; /* Index in places; ANNOTATE_NONE if unknown. */
	uint64_t address;
	struct tally_bytes bytes; /* Bytes of the instruction. */
	bool leads_out; /* callee is valid. */
	bool is_target; /* A jump leads here. */
	bool has_type; /* The type of the accessed data is known: data_type, data_field and data_offset are valid. */
	const char *data_type, *data_field; /* data_field is NULL if there is none. */
	uint64_t data_offset;
	bool is_source; /* It is a line of a source file. */
	uint32_t source_number; /* Number of a source line in its file; 0 for other lines. */
	const char *path; /* Path of the line's source file; NULL if unknown. */
	uint32_t source_line;
	/* From branch stacks; 0 if unknown. A run is the code that was executed between two taken branches. cycles is
	 * the average of the runs that end here. */
	double cycles, ipc;
	uint64_t least_cycles, most_cycles; /* Minimum and maximum cycles of the runs that end here. */
	/* In percent: entered is the number of runs that begin here, relative to those through the hottest instruction;
	 * left is the share of the runs through here that end here; predicted is the share of the runs that end here at
	 * a correctly predicted branch. */
	double entered, left, predicted;
};

struct annotate_event {
	struct tally_str name;
	struct annotate_value function, whole; /* Samples of the function, and all samples of the event. */
};

struct annotate_place { /* A source line with its samples. */
	const char *text; /* For example "demo.c:27". */
	uint32_t values;
};

struct annotate_function {
	/* Name of the function, path of its program, and last part of that path. */
	const char *name, *file, *short_file;
	const char *event_name;
	uint64_t sample_count; /* Displayed in the heading. */
	const struct annotate_event *events;
	uint32_t event_count;
	const struct annotate_line *lines;
	size_t line_count;
	const struct annotate_value *values;
	const struct annotate_place *places;
	const uint32_t *place_order; /* Hottest first. */
	size_t place_count;
	uint64_t start; /* Address of the first instruction. */
	bool has_cycles;
	/* Sums of all listed functions, for the heading of the compact form. */
	uint64_t listed_count, listed_period, frequency; /* frequency is in Hz; 0 if the event has a period. */
};

enum annotate_percent { ANNOTATE_LOCAL_PERIOD, ANNOTATE_GLOBAL_PERIOD, ANNOTATE_LOCAL_HITS, ANNOTATE_GLOBAL_HITS };
enum annotate_column { ANNOTATE_PERCENT, ANNOTATE_SAMPLES, ANNOTATE_PERIOD };

#define ANNOTATE_PLACE_LIMIT 0.5 /* Percentage below which source lines are not named in text. */

struct annotate_text_options {
	enum annotate_percent percent;
	enum annotate_column column;
	/* Leave out instructions below this percentage, except the one before a hot one; 0 to leave out none. */
	double min_percent;
	bool with_bytes, with_places, with_whole_path, with_colours;
};

/* Returns the percentage of a line's values; 0 if the total is 0. */
double annotate_percent_of(
	const struct annotate_function *function, enum annotate_percent kind, uint32_t values, uint32_t event);
/* Returns the highest percentage of all events. */
double annotate_hottest(const struct annotate_function *function, enum annotate_percent kind, uint32_t values);
const char *annotate_percent_name(enum annotate_percent kind);
/* Prints instructions per cycle and cycles in ANNOTATE_CYCLES_WIDTH columns; blank if unknown. */
void annotate_cycles(struct text *out, const struct annotate_line *line);
#define ANNOTATE_CYCLES_WIDTH 12
/* Prints instructions per cycle, and average, minimum and maximum cycles, in ANNOTATE_CYCLE_RANGE_WIDTH columns; blank
 * if unknown. */
void annotate_cycle_range(struct text *out, const struct annotate_line *line);
#define ANNOTATE_CYCLE_RANGE_WIDTH 22
/* Returns an arrow for the target of an instruction (up, down, elsewhere, back), two columns wide. */
const char *annotate_arrow(const struct annotate_function *function, const struct annotate_line *line);

#endif
