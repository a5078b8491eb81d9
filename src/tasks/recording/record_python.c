/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define RECORD_PYTHON_PATH_BYTES 64
/* Readable for everybody, like the maps of other runtimes: they contain only names of functions. */
#define FILE_MODE 0644

void record_python_init(struct record_python *python)
{
	*python = (struct record_python){0};
}

static void record_python_path(uint32_t pid, char path[RECORD_PYTHON_PATH_BYTES])
{
	(void)snprintf(path, RECORD_PYTHON_PATH_BYTES, "/tmp/perf-%u.map", pid);
}

void record_python_close(struct record_python *python, bool removes)
{
	char path[RECORD_PYTHON_PATH_BYTES];
	for (size_t i = 0; removes && i < python->made.len; i++) {
		record_python_path(python->made.items[i], path);
		(void)unlink(path);
	}
	vec_free(&python->made);
}

/* Opens the perf map of a process for appending. Anybody may create files in /tmp, so symbolic links and files of other
 * users are not opened. */
static int record_python_open(struct record_python *python, uint32_t pid)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	char path[RECORD_PYTHON_PATH_BYTES];
	struct stat st;
	record_python_path(pid, path);
	int fd = open(path, flags | O_CREAT | O_EXCL, FILE_MODE);
	if (fd >= 0) {
		(void)vec_push(&python->made, pid);
		return fd;
	}
	fd = errno == EEXIST ? open(path, flags) : -1;
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

static bool record_python_put(void *context, uint32_t pid, struct tally_bytes text)
{
	int fd = record_python_open(context, pid);
	bool is_written = fd >= 0 && file_write_all(fd, text.data, text.len, NULL) == TALLY_OK;
	if (fd >= 0)
		close(fd);
	return is_written;
}

struct python_map record_python_map(struct record_python *python)
{
	return (struct python_map){record_python_put, python};
}

void record_python_print(struct python_frames *frames, struct text *out)
{
	const struct python_losses_total lost = python_frames_losses(frames);
	if (lost.threads)
		text_printf(out, "\n%llu stacks lack their Python frames: the interpreter does not list their threads",
			(unsigned long long)lost.threads);
	if (lost.frames)
		text_printf(out, "\n%llu Python frames could not be read", (unsigned long long)lost.frames);
	if (lost.codes || lost.unnamed > lost.codes + lost.frames)
		text_printf(out, "\n%llu Python frames have no name: their code objects could not be read or stored",
			(unsigned long long)(lost.unnamed > lost.frames ? lost.unnamed - lost.frames : lost.codes));
	if (lost.unwritten)
		text_printf(out,
			"\n%llu Python functions have no names: the map of their process (/tmp/perf-PID.map) cannot be "
			"written",
			(unsigned long long)lost.unwritten);
}
