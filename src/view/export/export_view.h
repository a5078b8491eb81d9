/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_view.h - selects what an export writes: a profile, the chosen samples and other events; and builds the tables
 * of export formats, with only what the chosen samples need.
 *
 * A node is a frame below its caller's node, parents before children. A sample without a call chain has a node for its
 * own frame. A track is a thread ID, whatever names the thread had. Borrows the profile and all else; the tables are
 * freed by export_tables_deinit. One thread.
 *
 *	export_tables_init(&tables, &view, err);
 *	struct export_sample s;
 *	for (size_t at = 0; export_next_row(&tables, &at, &s);) use(s.time, tables.nodes.items[s.node]);
 */
#ifndef VIEW_EXPORT_EXPORT_VIEW_H
#define VIEW_EXPORT_EXPORT_VIEW_H

#include "base/byte_sink.h"
#include "profile/filter.h"
#include "profile/flame_tree.h"
#include "profile/stack_nodes.h"

enum export_mark_kind {
	EXPORT_COMM, /* a thread changes its name */
	EXPORT_EXEC, /* and a new program with it */
	EXPORT_FORK, /* number: the new thread */
	EXPORT_EXIT,
	EXPORT_LOST, /* number: records */
	EXPORT_SWITCH, /* on cpu; tid leaves, number comes, text: its name, state: why tid leaves */
	EXPORT_MARKS
};

struct export_mark {
	uint64_t time;
	enum export_mark_kind kind;
	int32_t pid, tid, cpu; /* cpu -1: not known */
	int64_t number, state;
	uint32_t text; /* of the view's mark_texts; INTERN_NONE: none */
	uint32_t left_text; /* EXPORT_SWITCH: name of the one that leaves */
};

struct export_origin { /* what made samples that are not from perf events; empty: they are */
	struct tally_str kind, by, not_seen;
	struct tally_str sentence;
};

struct export_about { /* texts; empty: not known */
	struct tally_str program, version, title, hostname, os, arch, cpu, command;
	struct tally_str quality; /* one line about losses, call chains and symbols */
	struct export_origin origin;
	uint64_t cpus;
	bool has_wall_clock;
	int64_t wall_clock_offset_ns; /* from the recording's clock to time since 1970 */
};

struct export_count { /* what stat record counted */
	struct tally_str name, unit; /* of the values: "", "msec", "Joules" */
	double least_share; /* percent of the time that it was on the PMU, at the least */
	bool is_merged; /* added to the one before */
	struct tally_str place; /* where: "CPU3"; empty: everywhere */
};

struct export_count_round {
	double end_s; /* of an interval, since the start; negative: the totals */
	double elapsed_s;
};

struct export_attribute { /* of OpenTelemetry's resources */
	int32_t pid; /* whose resource gets it; EXPORT_EVERY_PROCESS: each */
	struct tally_str key, value;
	uint32_t label_set; /* of the processes; EXPORT_EVERY_SET: each. Threads of recordings have 0 */
};
#define EXPORT_EVERY_PROCESS INT32_MIN
#define EXPORT_EVERY_SET     UINT32_MAX

struct export_counts {
	const struct export_count *events;
	size_t event_count;
	const struct export_count_round *rounds;
	size_t round_count;
	const double *values; /* by round and event; NAN: not counted */
	uint64_t rounds_left_out; /* for which there was no room */
};

struct export_view {
	const struct profile *profile;
	const struct profile_filter *filter;
	uint32_t event; /* PROFILE_NONE: all */
	const struct spool *marks; /* of struct export_mark, by time; NULL: none */
	const struct intern *mark_texts;
	struct export_about about;
	struct tally_str code; /* listings of hot functions, one behind another, as page_code.h writes them */
	const uint32_t *listing_of_function; /* by the profile's; PROFILE_NONE: none; NULL: no code */
	const struct export_counts *counts; /* NULL: not asked for, or none */
	const struct export_attribute *attributes; /* for export_otlp: those of each set, then by set; of those with one
						    * key the last counts */
	size_t attribute_count;
	bool is_of_series; /* for export_pprof: the receiver makes series of labels, so samples have none, and types of
			    * time are named as in OpenTelemetry */
	bool has_times; /* else those of rows are positions */
	uint64_t first_time, last_time; /* of what was chosen, where asked for and has_times */
};

struct export_track {
	int32_t pid, tid; /* -1: not known */
	uint32_t comm; /* profile's string: the last name */
	uint64_t row_count;
};

struct export_tables {
	const struct export_view *view;
	struct stack_nodes nodes; /* of frames of the tables */
	uint32_t *frames; /* the profile's */
	size_t frame_count;
	struct export_track *tracks;
	size_t track_count;
	uint32_t *track_of_thread; /* by the profile's threads */
	uint32_t *node_of_sample; /* by the profile's samples; PROFILE_NONE: not chosen */
	uint64_t first_time, last_time; /* of rows and marks; 0 where there are none */
};

struct export_sample {
	uint64_t time, period;
	uint32_t event, thread, track, node;
	int32_t cpu;
	uint32_t index; /* of the profile's samples */
};

TALLY_MUST_CHECK enum tally_status export_tables_init(
	struct export_tables *tables, const struct export_view *view, struct tally_error *err);
void export_tables_deinit(struct export_tables *tables);
/* The next chosen sample from *position on, by time; false: none is left. */
bool export_next_row(const struct export_tables *tables, size_t *position, struct export_sample *sample);
/* Whether the profile's sample is chosen. */
bool export_wants(const struct export_view *view, const struct profile_sample *sample);
/* Whether no sample is chosen. */
bool export_is_empty(const struct export_view *view);
/* Whether the event has chosen samples: fills one flag for each of the profile's. */
bool *export_event_flags(const struct export_view *view);

/* The number of marks, and one of them, for loops over marks. */
size_t export_mark_count(const struct export_view *view);
const struct export_mark *export_mark_at(const struct export_view *view, size_t index);

/* Chosen rows, those of one track and event together, by time. */
struct export_groups {
	struct spool rows; /* of struct profile_row */
	size_t *begin; /* by group: its first; one more at the end */
	size_t put; /* rows, by now */
	size_t count; /* group: track times the profile's number of events, plus event; may be empty */
};
/* False: out of memory; freed by export_groups_deinit in any case. */
bool export_groups_init(struct export_groups *groups, const struct export_tables *tables);
/* One of the rows, for loops over the rows of a group. */
const struct profile_row *export_group_row(const struct export_groups *groups, size_t index);
void export_groups_deinit(struct export_groups *groups);

struct export_line {
	struct tally_str file; /* empty: not known */
	uint64_t number;
};
/* For each frame of the tables, whether another function in its file has the same name, so that only the address
 * distinguishes them. NULL: out of memory. */
bool *export_namesakes(const struct export_tables *tables);
/* How many of the frames (innermost first; at least one) are at one address: inlined calls, and the function that they
 * were inlined into. At most LIMIT_INLINE_DEPTH. */
size_t export_count_inlined(const struct profile *profile, const uint32_t *frames, size_t count);
/* Of a frame of a profile with lines. */
struct export_line export_frame_line(const struct profile *profile, const struct profile_frame *frame);
/* A number that two frames share exactly if they belong to the same symbol, to the same inlined function, or to code
 * without names in the same file. Names are not enough: static functions, and functions of two files, may have the same
 * name. */
uint64_t export_frame_function(const struct profile *profile, const struct profile_frame *frame);
/* The text of a tracepoint's sample; empty: the sample is of another event, or the text was not kept. */
struct tally_str export_trace(const struct profile *profile, const struct profile_sample *sample);
/* The state of the sample's thread; PROFILE_STATES: it was not kept. */
enum profile_state export_state(const struct profile *profile, const struct profile_sample *sample);
/* Its name; empty: that was not kept. */
struct tally_str export_state_name(const struct profile *profile, const struct profile_sample *sample);
/* The thread that ended the wait, "comm:tid"; empty: none, or not known. */
struct tally_str export_waker(const struct profile *profile, const struct profile_sample *sample);
/* Whether samples of the event print something: one flag for each of the profile's. NULL: out of memory. */
bool *export_trace_flags(const struct export_view *view);
const char *export_mark_name(enum export_mark_kind kind);
/* What services that keep profiles call the event's values: "cpu" for time on the CPU, "off_cpu" for waits. */
struct tally_str export_type_name(struct tally_str event, bool is_wait);
/* What one unit of the event's period is: "nanoseconds" or "count". */
const char *export_event_unit(struct tally_str name);
/* Nanoseconds as milliseconds (or micro-, with 3 digits) with all their digits. */
void export_decimal(struct text *out, uint64_t ns, unsigned digits);
/* A JSON string; also U+2028 and U+2029 are escaped. */
void export_json_string(struct text *out, struct tally_str s);
const char *export_kind_name(enum flame_kind kind);

#endif
