/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_request.h - defines the request for a recording, and its summary. Values; strings are owned by the caller.
 */
#ifndef TASKS_RECORDING_RECORD_REQUEST_H
#define TASKS_RECORDING_RECORD_REQUEST_H

#include <signal.h>

#include "base/diag.h"
#include "bpf/off_cpu.h"
#include "code/binary_store.h"
#include "kernel/recording/affinity.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/system/target.h"
#include "perfdata/features.h"
#include "tasks/recording/record_control.h"
#include "tasks/recording/record_files.h"
#include "tasks/recording/record_live.h"

enum record_thread_groups { THREADS_NONE, THREADS_PER_CPU, THREADS_PER_CORE, THREADS_PER_PACKAGE, THREADS_PER_NODE };

struct record_output_options {
	const char *path; /* "-" for a pipe on standard output. */
	int compression_level; /* 0 for no compression. */
	uint64_t max_bytes; /* 0 for no limit. */
	bool switches; /* Writes a sequence of files; at least one of the following conditions starts a new one. */
	bool switch_on_signal; /* SIGUSR2 starts a new file. */
	uint64_t switch_bytes;
	int64_t switch_ms;
	unsigned max_files; /* 0 if all files are kept. */
	bool timestamp_name;
	/* If not THREADS_NONE, several threads write to a directory with one file for each ring. */
	enum record_thread_groups threads;
};

/* Parts of the initial state that are not recorded. */
struct record_synth {
	bool no_tasks, no_maps, no_cgroups;
};

struct record_wait_options {
	bool is_wanted; /* Set by --off-cpu or --wall. */
	bool is_wall; /* Also records the time in which threads were runnable. */
	enum wait_source source; /* UNKNOWN for the best one that this process may use. */
	uint64_t threshold_ns; /* Longer waits become separate samples. */
	/* Interval in milliseconds at which sums of shorter waits are recorded; 0 for the default of half a second. */
	int sums_ms;
};

/* The interpreted options. */
struct record_plan {
	struct record_attr_options attrs;
	struct record_wait_options waits;
	size_t ring_bytes;
	size_t flush_bytes; /* Rings are drained when one of them contains this many bytes. */
	/* ring_bytes was given; otherwise rings may be smaller if not enough memory can be locked. */
	bool is_ring_given;
	bool is_stack_given; /* attrs.chains.stack_bytes was given; otherwise it is as large as the rings allow. */
};

struct standin;

struct record_request {
	const struct kernel_seam *kernel;
	/* Owner of the seam if that is a stand-in (kernel/standin/standin.h); NULL for the kernel itself. */
	struct standin *standin;
	struct perfdata_origin origin; /* The kind is ORIGIN_EVENTS if samples come from perf events. */
	struct record_output_options output;
	struct record_control_spec control;
	struct target_request target;
	struct record_plan plan;
	struct event_list *events; /* The events as parsed. */
	struct event_list *switch_events; /* Each of these events starts a new file; NULL or empty if there are none. */
	bool keeps_rate;
	bool no_build_ids, all_build_ids, no_build_id_cache;
	/* Options for the files to which stacks lead, with the directory of the build ID cache. */
	struct binary_store_options store;
	struct record_files *files; /* Keeps mapped files open; NULL if they are not needed. */
	bool wants_times; /* Determines the times of the first and the last sample even if build IDs are not read. */
	struct record_synth synth;
	bool is_verbose; /* Adds notes about the events that were opened. */
	bool describes_at_end; /* Set by --tail-synthesize. */
	bool overwrites;
	bool is_live_view; /* Nothing is kept for later reports. */
	enum affinity_mode affinity;
	int realtime_priority; /* 0 if not requested. */
	int map_timeout_ms;
	/* Times after the start at which events are alternately enabled and disabled; see
	 * plan.attrs.starts_disabled. */
	const int *toggles_ms;
	size_t toggle_count;
	char *const *command; /* NULL if there is none. */
	char *const *argv; /* The whole command line, which is stored in the file. */
	struct diag *diag;
	/* Called when all events are open and diag has the notes about them; may be NULL. */
	void (*started)(void *context);
	void *started_context;
	void (*announce)(const char *text); /* Prints a message while the recording is running; may be NULL. */
};

struct record_summary {
	uint64_t bytes, samples, lost_events, lost_samples;
	uint64_t filtered_samples; /* Number of samples that --filter dropped. */
	uint64_t unpacked_bytes, packed_bytes; /* Numbers of bytes before and after compression. */
	bool is_written; /* The file is complete. */
	bool has_samples; /* Samples were counted. */
	bool has_child_status;
	int child_status; /* Status from waitpid. */
	int signal; /* Signal that ended the recording, or 0. */
	sigset_t signals_before;
	bool has_blocked; /* Signals are blocked; see record_session_unblock. */
	bool has_broken_chains; /* Most call chains end after one or two functions. */
	/* A thread that was still running when the kernel ended its events at an exec; 0 if there is none. */
	pid_t cut_off_thread;
	struct record_live_summary live; /* Summary of the unwound stacks. */
	struct off_cpu_losses lost_waits;
	char walk_losses[512]; /* Losses of unwinding in the kernel, from record_walks_print. */
};

#endif
