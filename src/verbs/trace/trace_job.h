/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_job.h - stores the request of a trace command line, and the results of its events: threads, sums, and the text
 * of lines. trace_feed.h fills it.
 *
 * The caller opens source, which resolves the samples; the job owns it from then on. Settings and choice are borrowed.
 * Used by one thread.
 *
 *	trace_job_init(&job, cli, &settings, &choice);
 *	data_source_take(cli, &input, reader, NULL, &job.source, err);   ... trace_feed_begin(&job, err) ...
 *	trace_job_deinit(&job);
 */
#ifndef VERBS_TRACE_TRACE_JOB_H
#define VERBS_TRACE_TRACE_JOB_H

#include "analysis/cgroup_names.h"
#include "syscalls/btf_types.h"
#include "syscalls/syscall_print.h"
#include "tasks/session/data_source.h"
#include "verbs/trace/trace_choice.h"
#include "verbs/trace/trace_sums.h"
#include "verbs/trace/trace_threads.h"

enum trace_role { /* Role of an event. */
	TRACE_OTHER, /* Each sample is printed on a line. */
	TRACE_CALL, /* The records of the BPF program. */
	TRACE_ENTER, /* The tracepoint raw_syscalls:sys_enter. */
	TRACE_EXIT,
	TRACE_MINOR_FAULT,
	TRACE_MAJOR_FAULT,
	TRACE_RUNTIME, /* The tracepoint sched:sched_stat_runtime, for --sched. */
	TRACE_SILENT, /* Carries side-band records only, or was not selected. */
};

struct trace_job_event { /* State of an event; elements have the same indices as the events of the source. */
	enum trace_role role;
	bool switches_on, switches_off; /* Events of --switch-on and --switch-off. */
	uint64_t most; /* Maximum number of samples (nr=); UINT64_MAX if there is none. */
	uint64_t count;
	enum syscall_abi abi; /* Table of the call if the event is syscalls:sys_enter_NAME. */
	uint32_t number; /* Number of that call; SYSCALL_UNKNOWN for other events. */
};

struct trace_job {
	const struct cli *cli;
	const struct trace_settings *settings;
	const struct trace_choice *choice;
	struct data_source source;
	struct trace_threads threads;
	struct trace_sums sums;
	struct cgroup_names cgroups; /* Names of cgroups, for a summary by cgroup. */
	struct text out;
	struct syscall_print_options style;
	VEC(struct trace_job_event) events;
	uint8_t file_changes[SYSCALLS_COUNT][SYSCALL_NUMBERS]; /* Effects of calls on descriptors; see trace_files.c. */
	bool has_file_changes[SYSCALLS_COUNT];
	uint64_t files_read; /* Number of descriptors whose paths were read from /proc. */
	bool sums_come; /* True if calls are counted by the BPF program in the kernel. */
	struct map_u64 excluded; /* IDs of excluded processes. */
	bool has_command_status; /* True if the command of a live trace has ended. */
	int command_status; /* Status of the command as in waitpid. */
	bool is_live; /* True if the trace is live, so that /proc contains the traced processes. */
	bool follows_files; /* True if the trace is live and all calls that change descriptors are traced. */
	bool shows_threads; /* True if there may be more than one thread, so that lines name their threads. */
	int32_t only_tid; /* ID of the only thread that was traced so far; 0 if there is none. */
	bool has_colours; /* True if the output is a terminal. */
	bool has_wide_words; /* True if the recording is from a 64-bit machine with the byte order of this one. */
	/* True if side-band records must be applied to the source's machine, because they were not read before. */
	bool applies_maps;
	bool has_new_maps; /* True if mappings were added since the last machine_finish. */
	bool is_considered; /* True if samples are handled, between the events of --switch-on and --switch-off. */
	bool is_over; /* True if the limit of --max-events or nr= was reached. */
	bool has_base;
	/*
	 * Time to which printed times are relative: that of the first event, or 0 if the settings have full_time. Valid
	 * if has_base is set.
	 */
	uint64_t base_ns;
	uint64_t records; /* Number of all records, for the percentages of the summary. */
	uint64_t printed; /* Number of printed lines, as --max-events counts them. */
	/* The thread whose call began last and is not printed yet; NULL if there is none. */
	struct trace_thread *current;
};

void trace_job_init(struct trace_job *job, const struct cli *cli, const struct trace_settings *settings,
	const struct trace_choice *choice);
void trace_job_deinit(struct trace_job *job);
/*
 * Returns the owner (see trace_sum_key) to which the call of a sample is added: a thread, a cgroup, or 0, according to
 * the summary mode.
 */
uint64_t trace_job_owner(
	const struct trace_job *job, const struct data_sample *sample, const struct trace_thread *thread);
/* Returns the name of a thread. A callback of struct syscall_print_options, with the struct trace_job as context. */
struct tally_str trace_job_thread_name(void *context, uint32_t tid);
/* Assigns roles to the events of the source, unless they are assigned already. */
TALLY_MUST_CHECK enum tally_status trace_job_read_events(struct trace_job *job, struct tally_error *err);

#endif
