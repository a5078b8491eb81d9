/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* Returns whether the output is the input, which is still mapped while the output is written and would be destroyed. */
static bool output_file_is_same(const char *input, const struct stat *out)
{
	struct stat in;
	return input && stat(input, &in) == 0 && S_ISREG(in.st_mode) && in.st_dev == out->st_dev &&
	       in.st_ino == out->st_ino;
}

bool output_file_is_input(const char *path, const char *input)
{
	struct stat out;
	return stat(path, &out) == 0 && output_file_is_same(input, &out);
}

static enum tally_status fail_to_open(const char *path, struct tally_error *err)
{
	return error_set_errno(err, TALLY_IO, errno, "%s", path);
}

/* Determines the target behind symbolic links, which are preserved, and the temporary name next to it. */
static enum tally_status name_output(const char *path, struct output_file *file, struct tally_error *err)
{
	char *real = realpath(path, NULL);
	file->place = real ? real : strdup(path);
	if (!file->place || asprintf(&file->beside, "%s.tally-%d", file->place, (int)getpid()) < 0) {
		file->beside = NULL;
		return error_nomem(err);
	}
	return TALLY_OK;
}

static void forget_names(struct output_file *file)
{
	free(file->place);
	free(file->beside);
	file->place = file->beside = NULL;
}

/* before is the status of the existing file, or NULL if there is none. */
static enum tally_status output_file_open_beside(
	const char *path, const struct stat *before, struct output_file *file, struct tally_error *err)
{
	if (before && access(path, W_OK) != 0)
		return fail_to_open(path, err);
	enum tally_status status = name_output(path, file, err);
	if (status != TALLY_OK)
		return status;
	(void)unlink(file->beside);
	file->fd = open(file->beside, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (file->fd >= 0 && before)
		(void)fchmod(file->fd, before->st_mode & 0777);
	return file->fd >= 0 ? TALLY_OK : fail_to_open(path, err);
}

enum tally_status output_file_open(
	const char *path, const char *input, struct output_file *file, struct tally_error *err)
{
	struct stat st;
	*file = (struct output_file){.fd = STDOUT_FILENO};
	if (!path || strcmp(path, "-") == 0)
		return TALLY_OK;
	file->fd = -1;
	bool is_there = stat(path, &st) == 0;
	if (is_there && output_file_is_same(input, &st))
		return error_set(err, TALLY_INVALID, "the output file %s is the recording that is being read", path);
	if (!is_there || S_ISREG(st.st_mode)) {
		enum tally_status status = output_file_open_beside(path, is_there ? &st : NULL, file, err);
		if (status == TALLY_OK)
			return status;
		forget_names(file);
		if (!is_there || status == TALLY_NOMEM)
			return status;
	}
	/* This is a pipe, a device, or a file in a directory in which no other file can be created. */
	file->fd = open(path, O_WRONLY | O_CLOEXEC | (is_there && S_ISREG(st.st_mode) ? O_TRUNC : 0));
	return file->fd >= 0 ? TALLY_OK : fail_to_open(path, err);
}

const char *output_file_name(const struct output_file *file, const char *path)
{
	return file->beside ? file->beside : path;
}

enum tally_status output_file_finish(struct output_file *file, enum tally_status status, struct tally_error *err)
{
	bool is_closed = file->fd < 0 || file->fd == STDOUT_FILENO || close(file->fd) == 0;
	if (status == TALLY_OK && !is_closed)
		status = fail_to_open(file->place ? file->place : "output", err);
	/* After a failed allocation, the output may be incomplete. */
	if (status == TALLY_OK && file->beside && error_memory_ran_out())
		status = error_nomem(err);
	if (status == TALLY_OK && file->beside && rename(file->beside, file->place) != 0)
		status = fail_to_open(file->place, err);
	if (status != TALLY_OK && file->beside)
		(void)unlink(file->beside);
	forget_names(file);
	file->fd = -1;
	return status;
}

int output_file_finish_text(
	const struct cli *cli, struct text *t, struct output_file *file, const char *path, enum tally_status status)
{
	struct tally_error err;
	bool has_failed = t->failed;
	bool is_written = text_flush(t) || t->write_errno == EPIPE;
	int write_errno = t->write_errno;
	text_deinit(t);
	enum tally_status ended = status;
	if (ended == TALLY_OK && has_failed)
		ended = error_nomem(&err);
	else if (ended == TALLY_OK && !is_written)
		ended = error_set_errno(&err, TALLY_IO, write_errno, "cannot write %s",
			output_file_is_stdout(file) ? "to standard output" : path);
	ended = output_file_finish(file, ended, &err);
	return ended == TALLY_OK || status != TALLY_OK ? 0 : cli_fail(cli, &err);
}
