/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_text.h - prints `sched latency`, `map` and `timehist` from an open recording. Each function returns a status
 * and appends to out, which it flushes meanwhile.
 *
 * It borrows its arguments. One thread.
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
	bool *cpus; /* that are wanted, LIMIT_CPUS of them; NULL: all */
	uint64_t from_ns, to_ns; /* that are wanted; 0: all */
	uint64_t seen[SCHED_KINDS]; /* events, for -v */
	uint64_t asked; /* switches that options leave */
	uint64_t cut; /* times with lost events within */
};

/* sched_events_next, counted. */
TALLY_MUST_CHECK enum tally_status sched_job_next(
	struct sched_job *job, struct sched_event *event, struct tally_error *err);
/* Keys of a sort list that exist: NULL, or the first that does not. */
const char *sched_latency_unknown_key(const char *keys);
TALLY_MUST_CHECK enum tally_status sched_print_latency(
	struct sched_job *job, struct text *out, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status sched_print_map(struct sched_job *job, struct text *out, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status sched_print_timehist(
	struct sched_job *job, struct text *out, struct tally_error *err);

/* Seconds with six decimals, cut, right-aligned. */
void sched_text_time(struct text *out, uint64_t ns, size_t width);
/* Milliseconds with three decimals, cut, right-aligned. */
void sched_text_ms(struct text *out, uint64_t ns, size_t width);

#endif
