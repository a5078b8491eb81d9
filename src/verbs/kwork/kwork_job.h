/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kwork_job.h - holds what the commands of kwork share: their options, the open recording, and its events as pieces of
 * the kernel's work.
 *
 * The caller fills cli and settings, and closes the job also after a failure. One thread.
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

#define KWORK_SCHED WORK_KINDS /* as a kind that -k names: context switches, for top */
#define KWORK_KINDS (WORK_KINDS + 1)

struct kwork_settings {
	struct input_options input;
	struct symbol_options symbols;
	bool kinds[KWORK_KINDS]; /* that -k names; none: those of the command */
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
	int32_t tid; /* of a switch: who leaves the CPU */
	uint32_t cpu; /* of lost events: UINT32_MAX if it is not known */
	uint64_t time_ns;
};

struct kwork_job {
	const struct cli *cli;
	const struct kwork_settings *settings;
	bool kinds[KWORK_KINDS];
	struct data_source source;
	struct kernel_work work;
	struct cpu_usage usage;
	struct text name; /* of the event that was read last */
	uint64_t switches;
	uint64_t shown; /* rows */
	int exit_code; /* of the command that was measured; 0: there was none */
};

/* Sets kinds of the settings from a list such as "irq,softirq"; false: some word names none. */
bool kwork_read_kinds(const char *list, bool kinds[KWORK_KINDS]);
/* The job's kinds: those that -k names, or else the given ones. */
void kwork_job_choose_kinds(struct kwork_job *job, const bool kinds[KWORK_KINDS]);
/* Opens the recording. */
TALLY_MUST_CHECK enum tally_status kwork_job_open(struct kwork_job *job, struct tally_error *err);
/* The next event of the kinds that are wanted, or of losses. */
TALLY_MUST_CHECK enum tally_status kwork_job_next(
	struct kwork_job *job, struct kwork_event *event, struct tally_error *err);
/* After the last one: says what was lost, or that there was nothing. */
void kwork_job_tell(const struct kwork_job *job);
void kwork_job_close(struct kwork_job *job);

/* Appends "(s)TIMER:1", not cut; false: out of memory. */
TALLY_MUST_CHECK enum tally_status kwork_name(
	struct kwork_job *job, const struct work_row *row, struct text *out, struct tally_error *err);
/* Whether -n leaves the row. */
TALLY_MUST_CHECK enum tally_status kwork_is_wanted(
	struct kwork_job *job, const struct work_row *row, bool *is_wanted, struct tally_error *err);

#endif
