/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_job.h - stores the request of a `lock` command line and the waits that were found, and converts lock events to
 * labelled rows.
 *
 * It receives samples in time order, from a file or live (lock_live.h). The caller opens source, which resolves the
 * samples; the job owns it from then on. Settings are borrowed. Used by one thread.
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

struct lock_sum { /* A sum of waits that was computed by a BPF program. */
	uint64_t address; /* Address of the lock, set if rows or filters depend on locks. */
	struct lock_row row; /* Sum of waits with the same flags. */
	struct tally_str comm; /* Name of the sample's thread. */
};

struct lock_losses { /* Losses of a BPF program. */
	uint64_t missed; /* Number of lock events that the program did not see. */
	/* Numbers of waits that were not counted, and of waits without a stack, because a map had no room. */
	uint64_t without_wait, without_stack;
	/* Number of threads of the command that could not be followed, because a map had no room. */
	uint64_t without_task;
};

struct lock_job {
	const struct cli *cli;
	const struct lock_settings *settings;
	enum lock_verb verb;
	enum lock_layout layout;
	struct data_source source;
	/* Current names of running threads in a live measurement; NULL if the source reads them from a recording. */
	const struct live_state *running;
	struct cgroup_names cgroups; /* Names of cgroups, if rows or filters depend on them. */
	struct lock_waits waits;
	VEC(struct lock_label) labels; /* Indexed by row of waits. */
	struct intern names; /* Names of locks and stacks that identify rows. */
	struct id_table classes; /* Addresses of locks, with -c. */
	VEC(uint32_t) class_names; /* IDs in names, indexed by the ID in classes. */
	struct arena arena;
	bool *cpus; /* Selected CPUs by number; NULL selects all. */
	struct lock_losses lost;
	/* Number of selected lock events, and number of lock events that were not selected. */
	uint64_t events, left_out;
};

TALLY_MUST_CHECK enum tally_status lock_job_init(struct lock_job *job, const struct cli *cli,
	const struct lock_settings *settings, enum lock_verb verb, struct tally_error *err);
void lock_job_deinit(struct lock_job *job);
/* Returns true if samples must contain cgroups. */
bool lock_job_wants_cgroups(const struct lock_job *job);
/* Must be called before the first sample, after the source was opened. */
TALLY_MUST_CHECK enum tally_status lock_job_begin(struct lock_job *job, struct tally_error *err);
/* Handles a sample. Samples of events that are not lock events are ignored. */
TALLY_MUST_CHECK enum tally_status lock_job_take(
	struct lock_job *job, const struct data_sample *sample, struct tally_error *err);
/*
 * Adds the waits of a sum, which have the same key. sample contains their stack, thread, cgroup and an address in the
 * kernel.
 */
TALLY_MUST_CHECK enum tally_status lock_job_add(
	struct lock_job *job, const struct data_sample *sample, const struct lock_sum *sum, struct tally_error *err);
void lock_job_finish(struct lock_job *job);

#endif
