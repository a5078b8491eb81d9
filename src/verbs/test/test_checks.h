/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_checks.h - defines the checks of a machine: they open each kind of event, read ring buffers, and record
 * workloads with known behaviour to verify the results.
 *
 *	size_t count;
 *	const struct test_check *checks = test_checks_all(&count);
 *	enum test_result result = checks[0].run(&run);
 */
#ifndef VERBS_TEST_TEST_CHECKS_H
#define VERBS_TEST_TEST_CHECKS_H

#include "base/text.h"
#include "cli/cli.h"

enum test_result { TEST_OK, TEST_SKIP, TEST_FAILED };

struct test_run {
	const struct cli *cli;
	const char *folder; /* A temporary folder, which is deleted after the run. */
	struct text log; /* The steps and their results. */
	char reason[400]; /* A sentence, set for TEST_SKIP and TEST_FAILED. */
};

struct test_check {
	const char *name;
	enum test_result (*run)(struct test_run *run);
};

const struct test_check *test_checks_all(size_t *count);

/* Both set the reason: test_skip returns TEST_SKIP, and test_fail returns TEST_FAILED. */
enum test_result test_skip(struct test_run *run, const char *format, ...) TALLY_PRINTF(2, 3);
enum test_result test_fail(struct test_run *run, const char *format, ...) TALLY_PRINTF(2, 3);
/* Runs this program in the temporary folder, with the words of line as arguments, which are separated by blanks; the
 * word "@" stands for the path of this program. Appends its output and messages to out and to the log. Returns the exit
 * status, or -1 if the program could not be started or did not end within a minute. cpu_ns receives the CPU time of the
 * program and its children, unless it is NULL. */
int test_run_self(struct test_run *run, const char *line, struct text *out, uint64_t *cpu_ns);

#endif
