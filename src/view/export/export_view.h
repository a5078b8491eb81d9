/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_view.h - selects the content of an export: a profile, its chosen samples and other events; and builds the
 * tables of export formats, limited to what the chosen samples need.
 *
 * A node is a frame below its caller's node; parents come before children. A sample without a call chain has a node for
 * its own frame. A track is a thread ID, whatever names the thread had. Everything is borrowed, including the profile;
 * export_tables_deinit frees the tables. Times are those of the recording's clock in ns. One thread.
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
	EXPORT_COMM, /* A thread changes its name. */
	EXPORT_EXEC, /* A thread changes its name by executing a new program. */
	EXPORT_FORK, /* number is the new thread. */
	EXPORT_EXIT,
	EXPORT_LOST, /* number is the number of lost records. */
	/* A switch on cpu from tid to number; text is the name of the latter, state the reason why tid leaves. */
	EXPORT_SWITCH,
	EXPORT_MARKS
};

struct export_mark {
	uint64_t time;
	enum export_mark_kind kind;
	int32_t pid, tid, cpu; /* cpu is -1 if unknown. */
	int64_t number, state;
	uint32_t text; /* Number in the view's mark_texts; INTERN_NONE if there is none. */
	uint32_t left_text; /* For EXPORT_SWITCH, the name of the thread that leaves. */
};

/* What made the samples and what they cannot show, for samples that do not come from perf events (docs/origin.md);
 * otherwise empty. */
struct export_origin {
	struct tally_str kind, by, not_seen;
	struct tally_str sentence;
};

struct export_about { /* Texts about the recording; empty if unknown. */
	struct tally_str program, version, title, hostname, os, arch, cpu, command;
	struct tally_str quality; /* One line about losses, call chains and symbols. */
	struct export_origin origin;
	uint64_t cpus;
	bool has_wall_clock;
	int64_t wall_clock_offset_ns; /* Added to the recording's clock to get the time since 1970. */
};

struct export_count { /* An event that `stat record` counted. */
	struct tally_str name, unit; /* unit is the unit of the values: "", "msec", "Joules". */
	double least_share; /* Minimum percentage of the time for which it was on the PMU. */
	bool is_merged; /* It was added to the preceding event. */
	struct tally_str place; /* For example "CPU3"; empty if it was counted everywhere. */
};

struct export_count_round {
	double end_s; /* End of an interval, since the start; negative for the totals. */
	double elapsed_s;
};

struct export_attribute { /* An attribute of OpenTelemetry's resources. */
	int32_t pid; /* Process that the attribute belongs to; EXPORT_EVERY_PROCESS for all. */
	struct tally_str key, value;
	/* Label set of the processes; EXPORT_EVERY_SET for all. It is 0 for threads of recordings. */
	uint32_t label_set;
};
#define EXPORT_EVERY_PROCESS INT32_MIN
#define EXPORT_EVERY_SET     UINT32_MAX

struct export_counts {
	const struct export_count *events;
	size_t event_count;
	const struct export_count_round *rounds;
	size_t round_count;
	const double *values; /* Indexed by round and event; NAN if not counted. */
	uint64_t rounds_left_out; /* Number of rounds that were left out for lack of space. */
};

struct export_view {
	const struct profile *profile;
	const struct profile_filter *filter;
	uint32_t event; /* PROFILE_NONE for all events. */
	const struct spool *marks; /* Items are struct export_mark, sorted by time; NULL if there are none. */
	const struct intern *mark_texts;
	struct export_about about;
	struct tally_str code; /* Listings of hot functions, one after another, as page_code.h writes them. */
	/* Number of the listing of each of the profile's functions; PROFILE_NONE if it has none. NULL if there is no
	 * code. */
	const uint32_t *listing_of_function;
	const struct export_counts *counts; /* NULL if not requested or if there are none. */
	/* For export_otlp: attributes of every set first, then sorted by set; of several with the same key, the last
	 * one is valid. */
	const struct export_attribute *attributes;
	size_t attribute_count;
	/* For export_pprof: the receiver makes series of labels, so samples have no labels, and types of time are named
	 * as in OpenTelemetry. */
	bool is_of_series;
	bool has_times; /* Rows have times; otherwise positions serve as times. */
	/* Range of times of the chosen samples, if requested and if has_times is set. */
	uint64_t first_time, last_time;
};

struct export_track {
	int32_t pid, tid; /* -1 if unknown. */
	uint32_t comm; /* String of the profile: the last name. */
	uint64_t row_count;
};

struct export_tables {
	const struct export_view *view;
	struct stack_nodes nodes; /* Frames are indexes in frames. */
	uint32_t *frames; /* For each frame of the tables, its index in the profile's frames. */
	size_t frame_count;
	struct export_track *tracks;
	size_t track_count;
	uint32_t *track_of_thread; /* Indexed by the profile's threads. */
	uint32_t *node_of_sample; /* Indexed by the profile's samples; PROFILE_NONE if not chosen. */
	uint64_t first_time, last_time; /* Range of times of rows and marks; 0 if there are none. */
};

struct export_sample {
	uint64_t time, period;
	uint32_t event, thread, track, node;
	int32_t cpu;
	uint32_t index; /* Index of the profile's sample. */
};

TALLY_MUST_CHECK enum tally_status export_tables_init(
	struct export_tables *tables, const struct export_view *view, struct tally_error *err);
void export_tables_deinit(struct export_tables *tables);
/* Returns the next chosen sample from *position on, in time order; false if there are no more. */
bool export_next_row(const struct export_tables *tables, size_t *position, struct export_sample *sample);
/* Returns whether the profile's sample is chosen. */
bool export_wants(const struct export_view *view, const struct profile_sample *sample);
/* Returns whether no sample is chosen. */
bool export_is_empty(const struct export_view *view);
/* Returns one flag for each of the profile's events: whether it has chosen samples. The caller frees them. NULL when
 * out of memory. */
bool *export_event_flags(const struct export_view *view);

size_t export_mark_count(const struct export_view *view);
const struct export_mark *export_mark_at(const struct export_view *view, size_t index);

/* The chosen single samples (rows of the profile), grouped by track and event; those of a group are sorted by time. */
struct export_groups {
	struct spool rows; /* Items are struct profile_row. */
	size_t *begin; /* Index of each group's first row, with one more entry at the end. */
	size_t put; /* Number of rows stored so far. */
	/* Number of groups. The group of a track and an event is track * number of the profile's events + event; it may
	 * be empty. */
	size_t count;
};
/* Returns false when out of memory; export_groups_deinit must be called in both cases. */
bool export_groups_init(struct export_groups *groups, const struct export_tables *tables);
const struct profile_row *export_group_row(const struct export_groups *groups, size_t index);
void export_groups_deinit(struct export_groups *groups);

struct export_line {
	struct tally_str file; /* Empty if unknown. */
	uint64_t number;
};
/* Returns, for each frame of the tables, whether another function in its file has the same name, so that only the
 * address distinguishes them. The caller frees the result. NULL when out of memory. */
bool *export_namesakes(const struct export_tables *tables);
/* Returns how many of the frames (innermost first; at least one) are at one address: inlined calls and the function
 * that they were inlined into. At most LIMIT_INLINE_DEPTH. */
size_t export_count_inlined(const struct profile *profile, const uint32_t *frames, size_t count);
/* Returns the source line of a frame of a profile with lines. */
struct export_line export_frame_line(const struct profile *profile, const struct profile_frame *frame);
/* Returns a number that is equal for two frames exactly if they belong to the same symbol, to the same inlined
 * function, or to code without names in the same file. Names are not enough: static functions, and functions of two
 * files, may have the same name. */
uint64_t export_frame_function(const struct profile *profile, const struct profile_frame *frame);
/* Returns the text of a tracepoint's sample; empty for samples of other events and if the text was not kept. */
struct tally_str export_trace(const struct profile *profile, const struct profile_sample *sample);
/* Returns the state of the sample's thread; PROFILE_STATES if it was not kept. */
enum profile_state export_state(const struct profile *profile, const struct profile_sample *sample);
/* Returns the name of the state of the sample's thread; empty if it was not kept. */
struct tally_str export_state_name(const struct profile *profile, const struct profile_sample *sample);
/* Returns the thread that ended the wait as "comm:tid"; empty if there is none or it is not known. */
struct tally_str export_waker(const struct profile *profile, const struct profile_sample *sample);
/* Returns one flag for each of the profile's events: whether its samples have texts. The caller frees them. NULL when
 * out of memory. */
bool *export_trace_flags(const struct export_view *view);
const char *export_mark_name(enum export_mark_kind kind);
/* Returns the name by which profile stores know the event's values: "cpu" for time on the CPU, "off_cpu" for waits. */
struct tally_str export_type_name(struct tally_str event, bool is_wait);
/* Returns the unit of the event's period: "nanoseconds" or "count". */
const char *export_event_unit(struct tally_str name);
/* Appends nanoseconds without rounding: as milliseconds if digits is 6, as microseconds if it is 3. */
void export_decimal(struct text *out, uint64_t ns, unsigned digits);
/* Appends a JSON string, in which U+2028 and U+2029 are escaped too. */
void export_json_string(struct text *out, struct tally_str s);
const char *export_kind_name(enum flame_kind kind);

#endif
