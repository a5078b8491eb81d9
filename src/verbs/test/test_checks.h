/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_checks.h - lists the checks of a machine: each kind of event is opened, rings are read, and programs of a known
 * behaviour are recorded and compared with what is known of them.
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
	const char *folder; /* of its own, which is deleted afterwards */
	struct text log; /* what was done, and what came of it */
	char reason[400]; /* of TEST_SKIP and TEST_FAILED: one sentence */
};

struct test_check {
	const char *name;
	enum test_result (*run)(struct test_run *run);
};

const struct test_check *test_checks_all(size_t *count);

/* What several checks need. */
enum test_result test_skip(struct test_run *run, const char *format, ...) TALLY_PRINTF(2, 3);
enum test_result test_fail(struct test_run *run, const char *format, ...) TALLY_PRINTF(2, 3);
/* Runs this program in the run's folder, with the words of a line, which are separated by blanks; "@" is the path of
 * this program. out gets the output and messages, and the log, too. Returns its exit status, or -1: it did not end
 * within a minute. cpu_ns (may be NULL): the CPU time of it and its children. */
int test_run_self(struct test_run *run, const char *line, struct text *out, uint64_t *cpu_ns);

#endif
