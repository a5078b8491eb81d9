/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_job.h - holds the request of a `lock` command line and the waits that it found: lock events become labelled
 * rows.
 *
 * It gets samples in time order, from a file or live (lock_live.h). The caller opens source, which names the samples;
 * the job owns it from then on. Settings are borrowed. One thread.
 *
 *	lock_job_init(&job, cli, &settings, VERB_CONTENTION, err);
 *	data_source_take(cli, &input, reader, NULL, &job.source, err);   lock_job_begin(&job, err);
 *	lock_job_take(&job, &sample, err); ...   lock_job_finish(&job);
 *	lock_job_deinit(&job);
 */
#ifndef VERBS_LOCK_LOCK_JOB_H
#define VERBS_LOCK_LOCK_JOB_H

#include "analysis/cgroup_names.h"
#include "analysis/live/live_state.h"
#include "base/intern.h"
#include "tasks/session/data_source.h"
#include "verbs/lock/lock_table.h"

enum lock_verb { VERB_REPORT, VERB_CONTENTION, VERB_INFO };

struct lock_settings {
	struct symbol_options symbols;
	struct input_options input;
	const char *key, *fields, *separator, *cpus, *pids, *tids, *types, *callers, *locks, *cgroups, *output;
	uint64_t entries, max_stack, skip, row_limit;
	bool quiet, by_thread, by_owner, by_address, by_cgroup, combine, is_map, all_cpus, dump, is_live, is_json;
	unsigned verbose;
};

struct lock_sum { /* waits that were summed elsewhere */
	uint64_t address; /* of the lock, where rows or filters are about locks */
	struct lock_row row; /* all of one flags */
	struct tally_str comm; /* of the sample's thread */
};

struct lock_losses { /* of what a BPF program saw */
	uint64_t missed; /* events */
	uint64_t without_wait, without_stack; /* waits, where a map was full */
	uint64_t without_task; /* children that were not followed */
};

struct lock_job {
	const struct cli *cli;
	const struct lock_settings *settings;
	enum lock_verb verb;
	enum lock_layout layout;
	struct data_source source;
	const struct live_state *running; /* names of threads as they are now; NULL: the source's history has them */
	struct cgroup_names cgroups; /* where they are asked for */
	struct lock_waits waits;
	VEC(struct lock_label) labels; /* by row of waits */
	struct intern names; /* of locks and stacks that make rows */
	struct id_table classes; /* addresses of locks, with -c */
	VEC(uint32_t) class_names; /* by id of classes: in names */
	struct arena arena;
	bool *cpus; /* that are looked at; NULL: all */
	struct lock_losses lost;
	uint64_t events, left_out; /* events of locks; those that were not selected */
};

TALLY_MUST_CHECK enum tally_status lock_job_init(struct lock_job *job, const struct cli *cli,
	const struct lock_settings *settings, enum lock_verb verb, struct tally_error *err);
void lock_job_deinit(struct lock_job *job);
/* Whether cgroups are needed, so that samples must have them. */
bool lock_job_wants_cgroups(const struct lock_job *job);
/* Call it before the first sample, when the source is open. */
TALLY_MUST_CHECK enum tally_status lock_job_begin(struct lock_job *job, struct tally_error *err);
/* Samples of other events are skipped. */
TALLY_MUST_CHECK enum tally_status lock_job_take(
	struct lock_job *job, const struct data_sample *sample, struct tally_error *err);
/* Many waits at once, of one key: the sample has their stack, thread, cgroup and an address in the kernel. */
TALLY_MUST_CHECK enum tally_status lock_job_add(
	struct lock_job *job, const struct data_sample *sample, const struct lock_sum *sum, struct tally_error *err);
void lock_job_finish(struct lock_job *job);

#endif
