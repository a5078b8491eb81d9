/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_options.h - defines the options of record: their table and the settings that they fill in.
 *
 * The settings contain only what the user typed; record_plan.h interprets them. Settings start as
 * record_settings_default; strings are borrowed from argv; record_settings_deinit frees their lists.
 */
#ifndef TASKS_RECORDING_RECORD_OPTIONS_H
#define TASKS_RECORDING_RECORD_OPTIONS_H

#include "base/vec.h"
#include "cli/commands.h"
#include "tasks/recording/record_session.h"
#include "tasks/recording/rung_options.h"

/* Default sampling frequencies in hertz, without and with --wall. */
#define RECORD_FREQ_DEFAULT 4000
#define RECORD_FREQ_WALL \
	1000 /* Default with --wall, lower because waits are measured completely and sampling must cost little. */
#define RECORD_MAP_TIMEOUT_MS	  500
#define RECORD_RING_BYTES_DEFAULT (512u << 10)

enum record_event_kind {
	RECORD_WORD_EVENT,
	RECORD_WORD_CGROUP,
	RECORD_WORD_FILTER,
	RECORD_WORD_EXCLUDE_PERF,
	RECORD_WORD_PFM
};

/* An option that defines or changes events; they are kept in their order. */
struct record_event_word {
	enum record_event_kind kind;
	const char *text;
};

struct record_simulation_settings {
	bool is_on;
	const char *cache_model; /* NULL for the model of this machine. */
	VEC(const char *) toggles; /* Names of functions. */
};

enum record_setup_filter { SETUP_FILTER_NONE, SETUP_FILTER_PIN, SETUP_FILTER_UNPIN };

struct record_settings {
	struct record_sample_fields fields;
	struct record_event_modes modes;
	struct record_chains chains;
	struct target_request target;
	struct {
		struct record_event_word *items;
		size_t len, cap;
	} event_words;
	struct {
		const char **items;
		size_t len, cap;
	} switch_events;
	struct record_output_options output;
	struct record_control_spec control;
	struct {
		int *items;
		size_t len, cap;
	} toggles; /* Argument of --delay; see toggles_ms in struct record_request. */
	const char *freq_text;
	uint64_t period;
	uint64_t ring_bytes; /* 0 for the default. */
	uint64_t ring_pages_asked; /* Number of pages before rounding, for a message; 0 if none is needed. */
	bool has_aux_size; /* A size of the AUX area was given. */
	uint64_t flush_bytes;
	struct record_synth synth;
	enum affinity_mode affinity;
	int realtime_priority, map_timeout_ms;
	bool keeps_stacks;
	bool has_delay;
	bool call_graph_flag; /* Set by -g. */
	/* Settings of the configuration: the mode for -g, and the stack size if none is given. 0 if not set. */
	struct record_chains configured;
	bool has_any_branch, has_branch_filter; /* Set by -b and -j. */
	bool latency;
	enum record_setup_filter setup_filter;
	struct rung_request rung;
	bool off_cpu, wall;
	bool has_off_cpu_ms;
	bool has_wall_source;
	enum wait_source wall_source; /* Argument of --wall-source; UNKNOWN for auto. */
	uint64_t off_cpu_ms; /* Argument of --off-cpu-thresh; valid if has_off_cpu_ms is set. */
	int wait_sums_ms; /* See struct record_wait_options; no option of record sets it. */
	bool is_self_contained; /* Packs the recording at the end. */
	struct record_simulation_settings simulation;
	bool no_build_ids, no_build_id_cache, all_build_ids, strict_freq, quiet, dry_run, time_boundary, overwrites,
		tail_synthesize;
	unsigned verbose;
};

extern const struct option_table record_option_table;
struct record_settings record_settings_default(void);
/* Returns whether an option of this kind was given. */
bool record_settings_have(const struct record_settings *settings, enum record_event_kind kind);
void record_settings_deinit(struct record_settings *settings);

/* Options that record and top share, with settings in a struct record_settings: events, their sampling rates, the kinds
 * of records to store, rings. Options for targets have their own group (target_options.h). */
extern const struct option_table sampling_option_table;
#define SAMPLING_OPTIONS(type, member) OPTION_GROUP_ROW(&sampling_option_table, type, member)
/* For options with a struct record_settings. Parses a mode and a size such as "dwarf,4096". Returns NULL, or an error
 * message. */
const char *record_set_call_graph(const struct option_use *use);

#endif
