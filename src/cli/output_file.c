#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* The input is mapped while the output is written: the same file would lose both. */
static bool is_same_file(const char *input, int fd)
{
	struct stat in, out;
	return stat(input, &in) == 0 && fstat(fd, &out) == 0 && S_ISREG(in.st_mode) && in.st_dev == out.st_dev &&
	       in.st_ino == out.st_ino;
}

enum tally_status output_file_open(const char *path, const char *input, int *fd, struct tally_error *err)
{
	struct stat st;
	*fd = STDOUT_FILENO;
	if (!path || strcmp(path, "-") == 0)
		return TALLY_OK;
	*fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	if (*fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "%s", path);
	enum tally_status status = TALLY_OK;
	if (is_same_file(input, *fd))
		status = error_set(err, TALLY_INVALID, "%s is the recording itself", path);
	else if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(*fd, 0) != 0)
		status = error_set_errno(err, TALLY_IO, errno, "%s", path);
	if (status != TALLY_OK)
		close(*fd);
	return status;
}

void output_file_discard(const char *path)
{
	struct stat st;
	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}
