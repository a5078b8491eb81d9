/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_lines.h - declares a function's code as lines with the samples of each event, the input of the annotate
 * printers.
 *
 * Everything is borrowed from the code that made it. The values of a line are at values[line.values + event]; source
 * lines have none.
 */
#ifndef VIEW_TEXT_ANNOTATE_LINES_H
#define VIEW_TEXT_ANNOTATE_LINES_H

#include "base/text.h"

#define ANNOTATE_NONE UINT32_MAX

enum annotate_line_kind {
	ANNOTATE_TEXT, /* a heading, or a line of source */
	ANNOTATE_CODE,
	ANNOTATE_MORE_BYTES, /* of the instruction before it: what does not fit into its own line */
};

enum annotate_flow { ANNOTATE_PLAIN, ANNOTATE_JUMP, ANNOTATE_CALL, ANNOTATE_RETURN };

struct annotate_value {
	uint64_t count, period;
};

struct annotate_line {
	enum annotate_line_kind kind;
	enum annotate_flow flow;
	const char *text; /* of code: mnemonic, padded, and operands, with names of addresses: as objdump has it */
	const char *mnemonic,
		*operands; /* of code, for the compact form: names instead of addresses; jumps by offset */
	uint32_t number; /* of text: as shown; 0: none */
	uint32_t values; /* ANNOTATE_NONE: no samples */
	uint32_t target; /* of a jump inside the function: the line it leads to; ANNOTATE_NONE: none */
	uint64_t callee; /* of a call, or a jump out of the function, to a known place: its address */
	uint32_t place; /* index of places; ANNOTATE_NONE: not known */
	uint64_t address;
	struct tally_bytes bytes; /* of code */
	bool leads_out; /* it has a callee */
	bool is_target; /* a jump leads here */
	bool has_type; /* the data that it accesses is known: */
	const char *data_type, *data_field; /* the field NULL: none */
	uint64_t data_offset;
	bool is_source; /* a line of a source file */
	uint32_t source_number; /* of a line of source: in its file; 0: it is none */
	const char *path; /* of the source line that this is, or is of; NULL: not known */
	uint32_t source_line;
	/* From branch stacks; 0: not known. Cycles are of a run that ends here, on average. */
	double cycles, ipc;
	uint64_t least_cycles, most_cycles; /* of one such run */
	/* In percent: runs that began here, relative to those through the hottest instruction; how many of the runs
	 * through here ended here; and how many of these were predicted. */
	double entered, left, predicted;
};

struct annotate_event {
	struct tally_str name;
	struct annotate_value function, whole; /* of the function's samples, of all of the event's */
};

struct annotate_place { /* a source line and its samples */
	const char *text; /* "demo.c:27" */
	uint32_t values;
};

struct annotate_function {
	const char *name, *file, *short_file; /* of the program: path and last part */
	const char *event_name;
	uint64_t sample_count; /* in the heading */
	const struct annotate_event *events;
	uint32_t event_count;
	const struct annotate_line *lines;
	size_t line_count;
	const struct annotate_value *values;
	const struct annotate_place *places;
	const uint32_t *place_order; /* the hottest first */
	size_t place_count;
	uint64_t start; /* address of the first instruction */
	bool has_cycles;
	/* Sums of all listed functions, for the heading of the compact form. */
	uint64_t listed_count, listed_period, frequency; /* Hz; 0: it had a period */
};

enum annotate_percent { ANNOTATE_LOCAL_PERIOD, ANNOTATE_GLOBAL_PERIOD, ANNOTATE_LOCAL_HITS, ANNOTATE_GLOBAL_HITS };
enum annotate_column { ANNOTATE_PERCENT, ANNOTATE_SAMPLES, ANNOTATE_PERIOD };

#define ANNOTATE_PLACE_LIMIT 0.5 /* percent: colder lines are not named in text */

struct annotate_text_options {
	enum annotate_percent percent;
	enum annotate_column column;
	double min_percent; /* colder instructions are left out, but the one before a hot one; 0: none are */
	bool with_bytes, with_places, with_whole_path, with_colours;
};

/* In percent; 0 if the total is 0. */
double annotate_percent_of(
	const struct annotate_function *function, enum annotate_percent kind, uint32_t values, uint32_t event);
/* The highest of the events'. */
double annotate_hottest(const struct annotate_function *function, enum annotate_percent kind, uint32_t values);
const char *annotate_percent_name(enum annotate_percent kind);
/* Instructions per cycle and cycles, in ANNOTATE_CYCLES_WIDTH columns; blank where they are not known. */
void annotate_cycles(struct text *out, const struct annotate_line *line);
#define ANNOTATE_CYCLES_WIDTH 12
/* The same with the least and the most cycles that one run took, in ANNOTATE_CYCLE_RANGE_WIDTH columns. */
void annotate_cycle_range(struct text *out, const struct annotate_line *line);
#define ANNOTATE_CYCLE_RANGE_WIDTH 22
/* An arrow for the target of an instruction: up, down, elsewhere, back; two columns. */
const char *annotate_arrow(const struct annotate_function *function, const struct annotate_line *line);

#endif
