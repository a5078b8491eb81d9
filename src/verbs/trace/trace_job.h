/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_job.h - holds the request of a trace command line, and what its events have told so far: threads, sums, and the
 * text of lines. trace_feed.h fills it.
 *
 * The caller opens source, which names the samples; the job owns it from then on. Settings and choice are borrowed. One
 * thread.
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

enum trace_role { /* of an event */
	TRACE_OTHER, /* its samples are lines */
	TRACE_CALL, /* the records of our BPF program */
	TRACE_ENTER, /* raw_syscalls:sys_enter */
	TRACE_EXIT,
	TRACE_MINOR_FAULT,
	TRACE_MAJOR_FAULT,
	TRACE_RUNTIME, /* sched:sched_stat_runtime, for --sched */
	TRACE_SILENT, /* carries side-band records only, or was not asked for */
};

struct trace_job_event { /* of the source's, by its index */
	enum trace_role role;
	bool switches_on, switches_off; /* --switch-on, --switch-off */
	uint64_t most; /* nr=; UINT64_MAX: any number */
	uint64_t count;
	enum syscall_abi abi; /* syscalls:sys_enter_NAME: its table */
	uint32_t number; /* its number; SYSCALL_UNKNOWN: another event */
};

struct trace_job {
	const struct cli *cli;
	const struct trace_settings *settings;
	const struct trace_choice *choice;
	struct data_source source;
	struct trace_threads threads;
	struct trace_sums sums;
	struct cgroup_names cgroups; /* for sums by cgroup */
	struct text out;
	struct syscall_print_options style;
	VEC(struct trace_job_event) events;
	uint8_t file_changes[SYSCALLS_COUNT][SYSCALL_NUMBERS]; /* see trace_files.c */
	bool has_file_changes[SYSCALLS_COUNT];
	uint64_t files_read; /* names of descriptors, from /proc */
	bool sums_come; /* sums are counted in the kernel */
	struct map_u64 excluded; /* processes that are left out */
	bool has_command_status; /* the command of a live trace has ended */
	int command_status; /* as waitpid gives it */
	bool is_live; /* /proc has what goes on */
	bool follows_files; /* live, and all calls that change descriptors are seen */
	bool shows_threads; /* more than one thread may come, or has come */
	int32_t only_tid; /* the one thread that is traced so far; 0: it is not known */
	bool has_colours; /* the output is a terminal */
	bool has_wide_words; /* the recording's payloads are of a 64-bit machine of our byte order */
	bool applies_maps; /* side-band records go into the source's machine: nobody else read them before */
	bool has_new_maps; /* since the machine was finished */
	bool is_considered; /* between --switch-on and --switch-off */
	bool is_over; /* --max-events, nr= */
	bool has_base;
	uint64_t base_ns; /* the first event */
	uint64_t records; /* in all, for the shares of the summary */
	uint64_t printed; /* lines, as --max-events counts them */
	struct trace_thread *current; /* the last one that began a call */
};

void trace_job_init(struct trace_job *job, const struct cli *cli, const struct trace_settings *settings,
	const struct trace_choice *choice);
void trace_job_deinit(struct trace_job *job);
/* Whose the sums of a sample's thread are. */
uint64_t trace_job_owner(
	const struct trace_job *job, const struct data_sample *sample, const struct trace_thread *thread);
/* The name of a thread, for a callback of struct syscall_print_options; context is the job. */
struct tally_str trace_job_thread_name(void *context, uint32_t tid);
/* Says what the events of the source are for, unless events has that already. */
TALLY_MUST_CHECK enum tally_status trace_job_read_events(struct trace_job *job, struct tally_error *err);

#endif
