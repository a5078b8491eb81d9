/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kwork_job.h - provides what the kwork commands share: their options, the open recording, and its events decoded as
 * kernel work (interrupts, softirqs and work items).
 *
 * The caller sets cli and settings, and closes the job, also after a failure. Not thread-safe.
 *
 *	struct kwork_job job = {.cli = cli, .settings = &settings};
 *	status = kwork_job_open(&job, err);
 *	while ((status = kwork_job_next(&job, &event, err)) == TALLY_OK) ...
 *	kwork_job_close(&job);
 */
#ifndef VERBS_KWORK_KWORK_JOB_H
#define VERBS_KWORK_KWORK_JOB_H

#include "analysis/cpu_usage.h"
#include "analysis/kernel_work.h"
#include "tasks/session/data_source.h"

#define KWORK_SCHED WORK_KINDS /* The kind "sched" of -k: context switches, for top. */
#define KWORK_KINDS (WORK_KINDS + 1)

struct kwork_settings {
	struct input_options input;
	struct symbol_options symbols;
	bool kinds[KWORK_KINDS]; /* Kinds of -k; if none is set, the command's default applies. */
	const char *cpus, *name, *sort, *times;
	bool dump, with_summary, with_chains, is_json, uses_bpf;
	unsigned verbose;
	uint64_t max_stack;
};

enum kwork_what { KWORK_OTHER, KWORK_WORK, KWORK_SWITCH, KWORK_LOST };

struct kwork_event {
	enum kwork_what what;
	struct data_sample sample;
	struct work_event work;
	int32_t tid; /* KWORK_SWITCH: the thread that leaves the CPU. */
	uint32_t cpu; /* UINT32_MAX if it is unknown, which is possible for KWORK_LOST only. */
	uint64_t time_ns;
};

struct kwork_job {
	const struct cli *cli;
	const struct kwork_settings *settings;
	bool kinds[KWORK_KINDS];
	struct data_source source;
	struct kernel_work work;
	struct cpu_usage usage;
	struct text name; /* Name of the work in the current event, which borrows it. */
	uint64_t switches; /* Number of context switches. */
	uint64_t shown; /* Number of printed rows. */
	int exit_code; /* Exit code of the measured command; 0 if there was none. */
};

/* Sets the kinds of a list such as "irq,softirq". Returns false if a word is not a kind. */
bool kwork_read_kinds(const char *list, bool kinds[KWORK_KINDS]);
/* Sets the job's kinds to those of -k, or to the given ones if -k was not used. */
void kwork_job_choose_kinds(struct kwork_job *job, const bool kinds[KWORK_KINDS]);
TALLY_MUST_CHECK enum tally_status kwork_job_open(struct kwork_job *job, struct tally_error *err);
/* Reads the next event of the job's kinds, or the next report of lost events. Returns TALLY_END after the last one.
 * event borrows from the job until the next call. */
TALLY_MUST_CHECK enum tally_status kwork_job_next(
	struct kwork_job *job, struct kwork_event *event, struct tally_error *err);
/* Prints notes about losses, or that nothing was found. Must be called after the last event. */
void kwork_job_tell(const struct kwork_job *job);
void kwork_job_close(struct kwork_job *job);

/* Appends the full name of the work, such as "(s)TIMER:1". */
TALLY_MUST_CHECK enum tally_status kwork_name(
	struct kwork_job *job, const struct work_row *row, struct text *out, struct tally_error *err);
/* Sets is_wanted to whether the row passes the filter of -n. */
TALLY_MUST_CHECK enum tally_status kwork_is_wanted(
	struct kwork_job *job, const struct work_row *row, bool *is_wanted, struct tally_error *err);

#endif
