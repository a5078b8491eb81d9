/* SPDX-License-Identifier: Apache-2.0 */
#include "verb.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"

#define MAX_WORDS 32

/* Defined by the sanitizers; NULL without them. */
__attribute__((weak)) void __sanitizer_set_report_fd(void *fd);

static const char *const nothing_of_this_machine[] = {
	"--symfs", "/dev/null/none", "--kallsyms", "/dev/null/none", "-i"};

static int verb_null_fd = -1, verb_kept_fds[2] = {-1, -1}; /* verb_kept_fds holds standard output and standard error. */

static void verb_prepare(void)
{
	if (verb_null_fd >= 0)
		return;
	verb_null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < 2; i++)
		verb_kept_fds[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (verb_null_fd < 0 || verb_kept_fds[0] < 0 || verb_kept_fds[1] < 0)
		abort();
	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)verb_kept_fds[1]);
	setenv("HOME", "/dev/null/none", 1);
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
	setenv("DEBUGINFOD_URLS", "", 1);
}

static void verb_output_to(int out, int errors)
{
	fflush(stdout);
	fflush(stderr);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		abort();
}

static uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t sum = 2166136261u;
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ data[i]) * 16777619u;
	return sum;
}

static int recording_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size))
		return fd;
	abort();
}

int verb_fuzz(const char *const *const *lines, const uint8_t *data, size_t size)
{
	size_t line_count = 0, count = 0;
	char *words[MAX_WORDS + 1];
	char path[32];
	verb_prepare();
	while (lines[line_count])
		line_count++;
	const char *const *line = lines[checksum(data, size) % line_count];
	while (line[count] && count < MAX_WORDS - 6) {
		words[count] = (char *)line[count];
		count++;
	}
	for (size_t i = 0; i < ARRAY_LEN(nothing_of_this_machine); i++)
		words[count++] = (char *)nothing_of_this_machine[i];
	int fd = recording_of(data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	words[count++] = path;
	words[count] = NULL;
	const struct command *command = command_find(line[0]);
	if (!command)
		abort();
	struct cli cli = {.program = "tally"};
	/* Output is redirected only while the verb runs: between runs libFuzzer reports its progress on
	 * standard error. */
	verb_output_to(verb_null_fd, verb_null_fd);
	int status = command->run(&cli, command, (int)count, words);
	verb_output_to(verb_kept_fds[0], verb_kept_fds[1]);
	/* The command line itself is valid, whatever the recording contains. */
	if (status == EXIT_USAGE)
		abort();
	close(fd);
	return 0;
}
