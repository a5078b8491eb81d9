/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_self.c - runs this program for a check, and keeps what it prints.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupts.h"
#include "kernel/system/spawn.h"
#include "verbs/test/test_checks.h"

#define TEST_SELF_MAX_WORDS 48
#define MAX_OUTPUT	    (4u << 20)
#define PATIENCE_MS	    60000
#define STATUS_NO_EXEC	    127

static enum test_result TALLY_PRINTF(3, 0)
	test_self_end(struct test_run *run, enum test_result result, const char *format, va_list args)
{
	vsnprintf(run->reason, sizeof(run->reason), format, args);
	return result;
}

enum test_result test_skip(struct test_run *run, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	enum test_result result = test_self_end(run, TEST_SKIP, format, args);
	va_end(args);
	return result;
}

enum test_result test_fail(struct test_run *run, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	enum test_result result = test_self_end(run, TEST_FAILED, format, args);
	va_end(args);
	return result;
}

/* Runs in the child. */
static _Noreturn void test_self_exec(const struct test_run *run, char **argv, int output)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setpgid(0, 0);
	/* The user's configuration must not affect the checks. */
	(void)setenv("PERF_CONFIG", "/dev/null", 1);
	if (chdir(run->folder) != 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
		_exit(STATUS_NO_EXEC);
	execv("/proc/self/exe", argv);
	_exit(STATUS_NO_EXEC);
}

/* Reads until end of file. Returns false if the time has run out. */
static bool test_self_read(int fd, struct text *out)
{
	int64_t due_ms = clock_ms() + PATIENCE_MS;
	char room[4096];
	for (;;) {
		struct pollfd waits = {fd, POLLIN, 0};
		int64_t left = due_ms - clock_ms();
		if (left <= 0 || poll(&waits, 1, (int)left) == 0)
			return false;
		ssize_t got = read(fd, room, sizeof(room));
		if (got == 0 || (got < 0 && errno != EINTR))
			return true;
		if (got > 0 && out->len < MAX_OUTPUT)
			text_bytes(out, room, (size_t)got);
	}
}

static int test_self_wait(pid_t pid, bool ended, uint64_t *cpu_ns)
{
	struct rusage usage;
	int status;
	if (!ended)
		(void)kill(-pid, SIGKILL);
	unsigned interrupts = 0;
	while (wait4(pid, &status, 0, &usage) < 0)
		if (!is_interrupted(&interrupts))
			return -1;
	if (cpu_ns)
		*cpu_ns = ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000 +
			  ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
	if (!ended)
		return -1;
	return spawn_exit_code(status);
}

int test_run_self(struct test_run *run, const char *line, struct text *out, uint64_t *cpu_ns)
{
	char self[4096], *argv[TEST_SELF_MAX_WORDS + 2] = {(char *)run->cli->program}, *word;
	char *copy = strdup(line), *rest = copy;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int ends[2];
	size_t count = 1, start = out->len;
	if (!copy || len < 0 || pipe(ends) != 0)
		return free(copy), -1;
	self[len] = 0;
	while (count < TEST_SELF_MAX_WORDS && (word = strsep(&rest, " ")))
		argv[count++] = strcmp(word, "@") == 0 ? self : word;
	text_printf(&run->log, "$ %s %s\n", run->cli->program, line);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		test_self_exec(run, argv, ends[1]);
	close(ends[1]);
	bool ended = pid > 0 && test_self_read(ends[0], out);
	int code = pid > 0 ? test_self_wait(pid, ended, cpu_ns) : -1;
	close(ends[0]);
	free(copy);
	text_bytes(&run->log, out->data + start, out->len - start);
	if (pid < 0)
		text_str(&run->log, "(no process could be started)\n");
	else if (!ended)
		text_printf(&run->log, "(it did not end within %d s)\n", PATIENCE_MS / 1000);
	else if (code)
		text_printf(&run->log, "(exit status %d)\n", code);
	return code;
}
