/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_timehist.h - defines the state of `sched timehist`, which its text output (sched_timehist.c) and its JSON
 * output (sched_timehist_json.c, docs/schema/sched-timehist.json) share.
 *
 * The JSON is one object; its rows are written as events are read. Not thread-safe.
 */
#ifndef VERBS_SCHED_SCHED_TIMEHIST_H
#define VERBS_SCHED_SCHED_TIMEHIST_H

#include "analysis/sched_history.h"
#include "base/json.h"
#include "verbs/sched/sched_text.h"

#define SCHED_PRIO_COUNT 140 /* The kernel's priorities: 0 to 99 are real-time, 100 to 139 are nice -20 to 19. */

struct timehist {
	struct sched_job *job;
	const struct sched_settings *settings;
	struct sched_history history;
	struct text *out;
	struct json json; /* Writes to out with --json. */
	bool with_chains, has_waking, with_rows;
	uint64_t shown_frames; /* Number of frames printed so far in the current row. */
	uint32_t cpu_columns; /* Number of columns of --cpu-visual; 0 for none. */
	bool prios[SCHED_PRIO_COUNT]; /* Priorities selected by --prio. */
};

struct timehist_sums { /* The summary after the rows. */
	const uint32_t *order; /* Indices of the tasks to be printed, in order. */
	uint64_t rows, switches, run_ns;
	uint32_t cpus; /* Number of CPUs of the machine. */
	bool has_cpus; /* No task filter is active, so the CPUs are summed up too. */
};

/* Calls put for each function to be printed of the call chain of a sample, innermost first. Returns false if out of
 * memory. */
bool sched_timehist_chain(struct timehist *t, const struct data_sample *sample,
	void (*put)(struct timehist *t, const char *symbol), struct tally_error *err);
/* Returns the state letter of ps: 'S', 'D', ...; 'R' if the task was runnable, 'I' for an idle task. */
char sched_timehist_state(uint64_t state, bool is_idle);
/* Returns the durations that the summary shows: those on a CPU or, with -I, the idle durations after the task. */
static inline const struct sched_spread *sched_timehist_spread(const struct timehist *t, const struct sched_task *task)
{
	return t->settings->only_idle ? &task->idle : &task->run;
}

/* Returns the idle times of the CPU, or NULL if it was not seen or is not selected. */
const struct sched_spread *sched_timehist_idle(const struct timehist *t, uint32_t cpu);

void sched_timehist_json_begin(struct timehist *t);
TALLY_MUST_CHECK enum tally_status sched_timehist_json_switch(
	struct timehist *t, const struct sched_event *event, const struct sched_times *times, struct tally_error *err);
/* Writes a row about an event in which doer affected other, such as a wakeup. */
void sched_timehist_json_other(struct timehist *t, const struct sched_event *event, const struct sched_task *doer,
	const struct sched_task *other);
void sched_timehist_json_summary(struct timehist *t, const struct timehist_sums *sums);
void sched_timehist_json_end(struct timehist *t);

#endif
