/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_failures.h - reports how measured runs of a command ended, because a failed run did not do the work that was to
 * be measured.
 *
 * The struct is a value that starts as zeros.
 *
 *	stat_failures_add(&f, waitpid_status); if (f.failed) stat_failures_tell(&text, &f);
 */
#ifndef TASKS_COUNTS_STAT_FAILURES_H
#define TASKS_COUNTS_STAT_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"

#define STAT_FAILURE_KINDS 4

struct stat_failures {
	uint64_t runs, failed;
	struct stat_failure_kind {
		int status; /* Status from waitpid. */
		uint64_t count;
	} kinds[STAT_FAILURE_KINDS]; /* In the order of their first runs; further kinds are only counted in failed. */
	unsigned kind_count;
	int last_status; /* Status of the last run that failed. */
};

/* Returns whether a status from waitpid is that of a successful run. */
bool stat_failures_is_success(int status);
void stat_failures_add(struct stat_failures *failures, int status);
/* Returns whether a run had an exit status by which a shell reports that it cannot run the command. */
bool stat_failures_is_hopeless(const struct stat_failures *failures);
/* Appends text such as "2 of 5 runs failed: exit status 1, signal 9, Killed". */
void stat_failures_tell(struct text *t, const struct stat_failures *failures);
/* Writes the member "failures" of the open object: the numbers of runs and of failed ones, the exit status of the last
 * failed run as a shell reports it, its signal, and the text of stat_failures_tell. */
void stat_failures_json(struct json *json, const struct stat_failures *failures);

#endif
