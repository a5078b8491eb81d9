/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report.h - runs checks, each in a process of its own, and prints their results like perf test, and as JUnit XML.
 *
 *	status = test_report_begin(&report, err);
 *	test_report_run(&report, &checks[0], 1);
 *	status = test_report_end(&report, "test.xml", err);
 */
#ifndef VERBS_TEST_TEST_REPORT_H
#define VERBS_TEST_TEST_REPORT_H

#include <signal.h>
#include <stdint.h>

#include "verbs/test/test_checks.h"

#define TEST_RESULTS 3
#define TEST_SIGNALS SIGINT, SIGTERM, SIGHUP, SIGPIPE /* These end the tests after the folder has been deleted. */

struct test_report {
	const struct cli *cli;
	unsigned verbose;
	bool in_process; /* Runs the checks in this process instead. */
	uint64_t snippet_lines; /* Number of log lines to print for a failed test. */
	size_t counts[TEST_RESULTS];
	char folder[4096];
	struct text cases; /* Test cases of the XML file. */
};

TALLY_MUST_CHECK enum tally_status test_report_begin(struct test_report *report, struct tally_error *err);
void test_report_run(struct test_report *report, const struct test_check *check, size_t number);
/* Reports a test that the user has excluded. */
void test_report_pass_over(struct test_report *report, const struct test_check *check, size_t number);
/* Prints the totals, writes the XML file junit (unless it is NULL), and deletes the folder. */
TALLY_MUST_CHECK enum tally_status test_report_end(
	struct test_report *report, const char *junit, struct tally_error *err);

#endif
