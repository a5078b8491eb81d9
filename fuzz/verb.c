/* SPDX-License-Identifier: Apache-2.0 */
#include "verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"

#define MAX_WORDS 32

/* Of the sanitizers, where the program has them. */
__attribute__((weak)) void __sanitizer_set_report_fd(void *fd);

static const char *const nothing_of_this_machine[] = {
	"--symfs", "/dev/null/none", "--kallsyms", "/dev/null/none", "-i"};

static void drop_output(void)
{
	static int report_fd = -1;
	if (report_fd >= 0)
		return;
	report_fd = dup(STDERR_FILENO);
	if (report_fd < 0)
		abort();
	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)report_fd);
	/* Through stdio: the driver and libFuzzer write to the descriptors themselves. */
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		abort();
	setenv("HOME", "/dev/null/none", 1);
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
	setenv("DEBUGINFOD_URLS", "", 1);
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
	drop_output();
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
	int status = command->run(&cli, command, (int)count, words);
	/* Whatever the recording holds, the command line itself is right. */
	if (status == EXIT_USAGE)
		abort();
	fflush(stdout);
	close(fd);
	return 0;
}
