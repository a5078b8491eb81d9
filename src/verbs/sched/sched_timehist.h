/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_timehist.h - what `sched timehist` knows while it runs, for its text (sched_timehist.c) and its JSON
 * (sched_timehist_json.c, see docs/schema/sched-timehist.json).
 *
 * The JSON is one object, whose rows are written as they come. One thread.
 */
#ifndef VERBS_SCHED_SCHED_TIMEHIST_H
#define VERBS_SCHED_SCHED_TIMEHIST_H

#include "analysis/sched_history.h"
#include "base/json.h"
#include "verbs/sched/sched_text.h"

#define SCHED_PRIO_COUNT 140 /* of the kernel: 0 to 99 real time, 100 to 139 nice -20 to 19 */

struct timehist {
	struct sched_job *job;
	const struct sched_settings *settings;
	struct sched_history history;
	struct text *out;
	struct json json; /* of out, with --json */
	bool with_chains, has_waking, with_rows;
	uint64_t shown_frames; /* of the row, by now */
	uint32_t cpu_columns; /* --cpu-visual; 0: none */
	bool prios[SCHED_PRIO_COUNT]; /* --prio: those that are wanted */
};

struct timehist_sums {
	const uint32_t *order; /* the tasks that have rows */
	uint64_t rows, switches, run_ns;
	uint32_t cpus; /* of the machine */
	bool has_cpus; /* of all tasks: what the CPUs did is summed up, too */
};

/* Hands out the functions of a sample's call chain that are shown, innermost first. False: out of memory. */
bool sched_timehist_chain(struct timehist *t, const struct data_sample *sample,
	void (*put)(struct timehist *t, const char *symbol), struct tally_error *err);
/* As ps shows it: 'S', 'D', ...; 'R' if it could run on, 'I' of an idle task. */
char sched_timehist_state(uint64_t state, bool is_idle);
/* Of the times that the summary shows: on a CPU, or with -I idle behind the task. */
static inline const struct sched_spread *sched_timehist_spread(const struct timehist *t, const struct sched_task *task)
{
	return t->settings->only_idle ? &task->idle : &task->run;
}

/* How long the CPU was idle; NULL: it was not seen, or is not wanted. */
const struct sched_spread *sched_timehist_idle(const struct timehist *t, uint32_t cpu);

void sched_timehist_json_begin(struct timehist *t);
TALLY_MUST_CHECK enum tally_status sched_timehist_json_switch(
	struct timehist *t, const struct sched_event *event, const struct sched_times *times, struct tally_error *err);
/* What one task did to another. */
void sched_timehist_json_other(struct timehist *t, const struct sched_event *event, const struct sched_task *doer,
	const struct sched_task *other);
void sched_timehist_json_summary(struct timehist *t, const struct timehist_sums *sums);
void sched_timehist_json_end(struct timehist *t);

#endif
