/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_text.h - prints `sched latency`, `map` and `timehist` from an open recording. Each function returns a status
 * and appends to out, which it flushes meanwhile.
 *
 * Arguments are borrowed. Not thread-safe.
 *
 *	status = sched_print_map(&job, &out, err);
 */
#ifndef VERBS_SCHED_SCHED_TEXT_H
#define VERBS_SCHED_SCHED_TEXT_H

#include "tasks/session/sched_events.h"

struct sched_job {
	const struct cli *cli;
	const struct sched_settings *settings;
	struct data_source source;
	bool *cpus; /* Selected CPUs, LIMIT_CPUS elements; NULL for all. */
	uint64_t from_ns, to_ns; /* Selected time span; 0 for no limit. */
	uint64_t seen[SCHED_KINDS]; /* Number of events of each kind, printed with -v. */
	uint64_t asked; /* Number of context switches that pass the filters. */
	uint64_t cut; /* Number of durations that are unknown because events were lost. */
};

/* Reads the next event, like sched_events_next, and counts it in seen. */
TALLY_MUST_CHECK enum tally_status sched_job_next(
	struct sched_job *job, struct sched_event *event, struct tally_error *err);
/* Returns a pointer to the first word in keys, a comma-separated list, that is not a sort key, or NULL if there is
 * none. */
const char *sched_latency_unknown_key(const char *keys);
TALLY_MUST_CHECK enum tally_status sched_print_latency(
	struct sched_job *job, struct text *out, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status sched_print_map(struct sched_job *job, struct text *out, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status sched_print_timehist(
	struct sched_job *job, struct text *out, struct tally_error *err);

/* Appends seconds with six decimals, truncated, right-aligned. */
void sched_text_time(struct text *out, uint64_t ns, size_t width);
/* Appends milliseconds with three decimals, truncated, right-aligned. */
void sched_text_ms(struct text *out, uint64_t ns, size_t width);

#endif
