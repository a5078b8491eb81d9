/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_request.h - defines the request for a recording, and its summary. Values; strings are the caller's.
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
	const char *path; /* "-": a pipe on standard output */
	int compression_level; /* 0: none */
	uint64_t max_bytes; /* 0: no limit */
	bool switches; /* into several files: by at least one of the following */
	bool switch_on_signal; /* SIGUSR2 */
	uint64_t switch_bytes;
	int64_t switch_ms;
	unsigned max_files; /* 0: all are kept */
	bool timestamp_name;
	enum record_thread_groups threads; /* NONE: one thread, and one file; else a directory */
};

struct record_synth { /* the parts of the initial state that are not recorded */
	bool no_tasks, no_maps, no_cgroups;
};

struct record_wait_options {
	bool is_wanted; /* --off-cpu or --wall */
	bool is_wall; /* also time in which threads were runnable */
	enum wait_source source; /* UNKNOWN: the best one that may be used */
	uint64_t threshold_ns; /* longer waits are samples of their own */
	int sums_ms; /* sums of the others are taken so often; 0: twice a second */
};

/* The interpreted options. */
struct record_plan {
	struct record_attr_options attrs;
	struct record_wait_options waits;
	size_t ring_bytes;
	size_t flush_bytes; /* rings are read when one has so many bytes */
	bool is_ring_given; /* ring_bytes was given; else rings may be smaller, if so much memory cannot be locked */
	bool is_stack_given; /* attrs.chains.stack_bytes was given; else it is as large as rings allow */
};

struct standin;

struct record_request {
	const struct kernel_seam *kernel;
	struct standin *standin; /* whose seam that is (kernel/standin/standin.h); NULL: the kernel itself */
	struct perfdata_origin origin; /* kind EVENTS: samples are from perf events */
	struct record_output_options output;
	struct record_control_spec control;
	struct target_request target;
	struct record_plan plan;
	struct event_list *events; /* as parsed */
	struct event_list *switch_events; /* each of them starts the next file; NULL or empty: none */
	bool keeps_rate;
	bool no_build_ids, all_build_ids, no_build_id_cache;
	struct binary_store_options store; /* of the files that stacks lead to; build_id_dir: where files are kept */
	struct record_files *files; /* keeps mapped files open; NULL: they are not needed */
	bool wants_times; /* of the first and the last sample, even without build IDs */
	struct record_synth synth;
	bool is_verbose; /* notes report what was opened */
	bool describes_at_end; /* --tail-synthesize */
	bool overwrites;
	bool is_live_view; /* nothing stays for later reports */
	enum affinity_mode affinity;
	int realtime_priority; /* 0: none */
	int map_timeout_ms;
	const int *toggles_ms; /* when events are enabled, disabled, ... after the start; plan.attrs.starts_disabled */
	size_t toggle_count;
	char *const *command; /* NULL: none */
	char *const *argv; /* the whole command line, for the file */
	struct diag *diag;
	void (*started)(void *context); /* called when all events are open and diag has its notes; may be NULL */
	void *started_context;
	void (*announce)(const char *text); /* prints a message while the recording runs; may be NULL */
};

struct record_summary {
	uint64_t bytes, samples, lost_events, lost_samples;
	uint64_t filtered_samples; /* --filter dropped them */
	uint64_t unpacked_bytes, packed_bytes; /* what went through compression */
	bool is_written; /* the file is complete */
	bool has_samples; /* they were counted */
	bool has_child_status;
	int child_status; /* as waitpid gives it */
	int signal; /* that ended it; 0: none */
	sigset_t signals_before;
	bool has_blocked; /* signals: see record_session_unblock */
	bool has_broken_chains; /* most call chains stop after a function or two */
	pid_t cut_off_thread; /* whose events the kernel ended at an exec although the thread continued; 0: none */
	struct record_live_summary live; /* of what was unwound */
	struct off_cpu_losses lost_waits;
	char walk_losses[512]; /* what unwinding in the kernel lost, as record_walks_print says it */
};

#endif
