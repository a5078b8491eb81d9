/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/stream_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "tasks/session/recording_input.h"

const char *stream_output_name(const char *named)
{
	struct stat st;
	if (named)
		return named;
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : RECORDING_NAME;
}

/* Returns the number of the descriptor that the path denotes, or -1. */
static int stream_descriptor(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	uint64_t number;
	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		size_t len = strlen(folders[i]);
		if (strncmp(path, folders[i], len) == 0 && str_to_u64(str_from(path + len), 10, &number) &&
			number <= INT32_MAX)
			return (int)number;
	}
	return -1;
}

bool stream_output_is_named(const char *path)
{
	struct stat st;
	if (stream_descriptor(path) >= 0)
		return true;
	if (stat(path, &st) != 0)
		return false;
	if (!S_ISCHR(st.st_mode))
		return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	/* A terminal is a stream, but /dev/null is seekable and is written like a file. */
	int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	bool is_stream = fd >= 0 && lseek(fd, 0, SEEK_CUR) < 0 && errno == ESPIPE;
	if (fd >= 0)
		close(fd);
	return is_stream;
}

static enum tally_status stream_connect(const char *path, int *fd, struct tally_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	if (len >= sizeof(address.sun_path))
		return error_set(err, TALLY_INVALID, "the path '%s' is too long for a socket", path);
	memcpy(address.sun_path, path, len);
	int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (made < 0 || connect(made, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		int errnum = errno;
		if (made >= 0)
			close(made);
		return error_set_errno(err, TALLY_IO, errnum, "failed to connect to the socket %s", path);
	}
	*fd = made;
	return TALLY_OK;
}

enum tally_status stream_output_open(const char *path, int *fd, struct tally_error *err)
{
	struct stat st;
	int named = stream_descriptor(path);
	if (named < 0 && stat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		return stream_connect(path, fd, err);
	int made = named >= 0 ? fcntl(named, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			      : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (made < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot write to '%s'", path);
	if (named == STDOUT_FILENO && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		int errnum = errno;
		close(made);
		return error_set_errno(err, TALLY_IO, errnum, "standard output cannot be written to");
	}
	*fd = made;
	return TALLY_OK;
}
