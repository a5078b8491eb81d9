/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_failures.h - reports how measured runs of a command ended, because a failed run did not do the work that was to
 * be measured.
 *
 * A value of the caller's, all zeros at first.
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
		int status; /* as waitpid gives it */
		uint64_t count;
	} kinds[STAT_FAILURE_KINDS]; /* in order of their first run; runs that ended in yet other ways have none */
	unsigned kind_count;
	int last_status; /* of the last run that failed */
};

/* Whether a run that ended this way was successful. */
bool stat_failures_is_success(int status);
void stat_failures_add(struct stat_failures *failures, int status);
/* Whether a shell said that the command cannot be run at all. */
bool stat_failures_is_hopeless(const struct stat_failures *failures);
/* "2 of 5 runs failed: exit status 1, signal 9, Killed" */
void stat_failures_tell(struct text *t, const struct stat_failures *failures);
/* The member "failures" of an object: runs, failed, the last one's exit status as a shell gives it, its signal, and the
 * sentence above. */
void stat_failures_json(struct json *json, const struct stat_failures *failures);

#endif
