/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/test/test_report.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/output_file.h"

#define TEST_REPORT_NAME_COLUMNS 65
#define VERBOSE_LINES		 100
#define LOG_LIMIT		 (64u << 20)

struct test_report_outcome {
	enum test_result result;
	char reason[400];
	struct text log;
	uint64_t ns;
};

/* ---- running ---- */

static void test_report_run_here(
	const struct test_report *report, const struct test_check *check, struct test_report_outcome *outcome)
{
	struct test_run run = {.cli = report->cli, .folder = report->folder};
	outcome->result = check->run(&run);
	outcome->log = run.log;
	memcpy(outcome->reason, run.reason, sizeof(outcome->reason));
}

/* Runs in the child, which writes the result, the reason and the log to the pipe. */
static _Noreturn void test_report_child(const struct test_report *report, const struct test_check *check, int fd)
{
	static const int signals[] = {TEST_SIGNALS};
	struct test_report_outcome outcome = {.result = TEST_FAILED};
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		(void)signal(signals[i], SIG_DFL);
	test_report_run_here(report, check, &outcome);
	bool is_sent = file_write_all(fd, &outcome.result, sizeof(outcome.result), NULL) == TALLY_OK &&
		       file_write_all(fd, outcome.reason, sizeof(outcome.reason), NULL) == TALLY_OK &&
		       file_write_all(fd, outcome.log.data, outcome.log.len, NULL) == TALLY_OK;
	_exit(is_sent ? 0 : 1);
}

static bool test_report_take(int fd, struct test_report_outcome *outcome)
{
	size_t head = sizeof(outcome->result) + sizeof(outcome->reason), len;
	char *data;
	if (file_read_fd(fd, LOG_LIMIT, &data, &len, NULL) != TALLY_OK)
		return false;
	if (len >= head) {
		memcpy(&outcome->result, data, sizeof(outcome->result));
		memcpy(outcome->reason, data + sizeof(outcome->result), sizeof(outcome->reason));
		outcome->reason[sizeof(outcome->reason) - 1] = 0;
		text_bytes(&outcome->log, data + head, len - head);
	}
	free(data);
	return len >= head && outcome->result < TEST_RESULTS;
}

static void test_report_run_apart(
	const struct test_report *report, const struct test_check *check, struct test_report_outcome *outcome)
{
	int ends[2], status = 0;
	pid_t pid = -1;
	fflush(NULL);
	if (pipe(ends) == 0)
		pid = fork();
	if (pid == 0) {
		close(ends[0]);
		test_report_child(report, check, ends[1]);
	}
	outcome->result = TEST_FAILED;
	if (pid < 0) {
		snprintf(outcome->reason, sizeof(outcome->reason), "no process: %s", strerror(errno));
		return;
	}
	close(ends[1]);
	bool is_taken = test_report_take(ends[0], outcome);
	close(ends[0]);
	(void)waitpid(pid, &status, 0);
	if (is_taken && status == 0)
		return;
	outcome->result = TEST_FAILED;
	snprintf(outcome->reason, sizeof(outcome->reason),
		WIFSIGNALED(status) ? "the test ended with signal %d" : "the test ended with status %d",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* ---- printing ---- */

static void test_report_print_log(const struct test_report *report, const struct test_report_outcome *outcome)
{
	struct tally_str log = text_view(&outcome->log);
	bool is_failure = outcome->result == TEST_FAILED;
	if (report->verbose == 0 && !is_failure)
		return;
	if (report->verbose < 2 && outcome->result == TEST_OK)
		return;
	/* If the log is truncated, its end is the most informative part. */
	size_t start = log.len, lines = 0;
	uint64_t most = report->verbose > 1 ? UINT64_MAX - 1 : report->verbose ? VERBOSE_LINES : report->snippet_lines;
	while (start > 0 && lines <= most)
		lines += log.data[--start] == '\n';
	if (start > 0)
		start++;
	struct text t = {0};
	text_bytes(&t, log.data + MIN(start, log.len), log.len - MIN(start, log.len));
	text_to_fd(&t, STDOUT_FILENO);
	fflush(stdout);
	(void)text_flush(&t);
	text_deinit(&t);
}

static void test_report_xml_text(struct text *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '<' || c == '>' || c == '&' || c == '"')
			text_printf(out, "&#%u;", c);
		else if (c == '\n' || c == '\t' || (c >= ' ' && c < 127))
			text_char(out, (char)c);
		else
			/* XML 1.0 allows no other control characters, and other bytes may be no valid UTF-8. */
			text_char(out, '?');
	}
}

static void test_report_add_case(
	struct test_report *report, const struct test_check *check, const struct test_report_outcome *outcome)
{
	static const char *const tags[] = {NULL, "skipped", "failure"};
	struct text *xml = &report->cases;
	const char *tag = tags[outcome->result];
	text_str(xml, "\t\t<testcase classname=\"tally test\" name=\"");
	test_report_xml_text(xml, check->name, strlen(check->name));
	text_printf(xml, "\" time=\"%.3f\">\n", (double)outcome->ns / 1e9);
	if (tag) {
		text_printf(xml, "\t\t\t<%s message=\"", tag);
		test_report_xml_text(xml, outcome->reason, strlen(outcome->reason));
		text_str(xml, "\"/>\n");
	}
	text_str(xml, "\t\t\t<system-out>");
	if (report->verbose || outcome->result == TEST_FAILED)
		test_report_xml_text(xml, text_view(&outcome->log).data, outcome->log.len);
	text_str(xml, "</system-out>\n\t\t</testcase>\n");
}

static void test_report_note(struct test_report *report, const struct test_check *check, size_t number,
	const struct test_report_outcome *outcome)
{
	static const char *const words[] = {"Ok", "Skip", "FAILED!"};
	struct text t = {0};
	report->counts[outcome->result]++;
	test_report_print_log(report, outcome);
	text_printf(&t, "%3zu: %-*s: %s", number, TEST_REPORT_NAME_COLUMNS, check->name, words[outcome->result]);
	if (outcome->result != TEST_OK && outcome->reason[0]) {
		text_str(&t, " (");
		text_visible(&t, str_from(outcome->reason));
		text_char(&t, ')');
	}
	text_char(&t, '\n');
	fwrite(t.data, 1, t.len, stdout);
	fflush(stdout);
	text_deinit(&t);
	test_report_add_case(report, check, outcome);
}

void test_report_run(struct test_report *report, const struct test_check *check, size_t number)
{
	struct test_report_outcome outcome = {.result = TEST_OK};
	uint64_t start = clock_ns();
	(report->in_process ? test_report_run_here : test_report_run_apart)(report, check, &outcome);
	outcome.ns = clock_ns() - start;
	test_report_note(report, check, number, &outcome);
	text_deinit(&outcome.log);
}

void test_report_pass_over(struct test_report *report, const struct test_check *check, size_t number)
{
	struct test_report_outcome outcome = {.result = TEST_SKIP, .reason = "user override"};
	test_report_note(report, check, number, &outcome);
}

/* ---- beginning and end ---- */

enum tally_status test_report_begin(struct test_report *report, struct tally_error *err)
{
	const char *place = getenv("TMPDIR");
	int len = snprintf(report->folder, sizeof(report->folder), "%s/tally-test.XXXXXX", place ? place : "/tmp");
	if (len < 0 || (size_t)len >= sizeof(report->folder))
		return error_set(err, TALLY_INVALID, "TMPDIR is too long for the recordings of the tests");
	if (!mkdtemp(report->folder))
		return error_set_errno(err, TALLY_IO, errno, "no folder for the recordings of the tests");
	return TALLY_OK;
}

static enum tally_status test_report_write(const struct test_report *report, const char *path, struct tally_error *err)
{
	struct text xml = {0};
	struct output_file file;
	size_t all = report->counts[TEST_OK] + report->counts[TEST_SKIP] + report->counts[TEST_FAILED];
	enum tally_status status = output_file_open(path, NULL, &file, err);
	if (status != TALLY_OK)
		return status;
	text_printf(&xml,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\t<testsuite name=\"tally test\" "
		"tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
		all, report->counts[TEST_FAILED], report->counts[TEST_SKIP]);
	text_bytes(&xml, text_view(&report->cases).data, report->cases.len);
	text_str(&xml, "\t</testsuite>\n</testsuites>\n");
	status =
		xml.failed || report->cases.failed ? error_nomem(err) : file_write_all(file.fd, xml.data, xml.len, err);
	status = output_file_finish(&file, status, err);
	text_deinit(&xml);
	return status;
}

enum tally_status test_report_end(struct test_report *report, const char *junit, struct tally_error *err)
{
	printf("\n=== Test Summary ===\nPassed main tests : %zu\nPassed subtests   : 0\nSkipped tests     : %zu\n"
	       "Failed tests      : %zu\n",
		report->counts[TEST_OK], report->counts[TEST_SKIP], report->counts[TEST_FAILED]);
	enum tally_status status = junit ? test_report_write(report, junit, err) : TALLY_OK;
	text_deinit(&report->cases);
	DIR *dir = opendir(report->folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
	(void)rmdir(report->folder);
	return status;
}
