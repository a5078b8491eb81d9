/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/build_ids/archive_tar.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupts.h"

#define TAR_DIFFERS 1 /* tar's exit status if a file changed while it was read. */

extern char **environ;

/* Writes as much of the names as tar reads; tar may exit early. */
static void archive_tar_feed(int fd, const struct text *names)
{
	size_t done = 0;
	unsigned interrupts = 0;
	while (done < names->len) {
		ssize_t n = write(fd, names->data + done, names->len - done);
		if (n < 0 && is_interrupted(&interrupts))
			continue;
		if (n <= 0)
			return;
		done += (size_t)n;
	}
}

/* It is not an error if other processes linked or changed a file while tar read it. */
static enum tally_status archive_tar_wait_for(pid_t pid, struct tally_error *err)
{
	int status;
	if (wait_for_process(pid, &status, 0) < 0) {
		int errnum = errno;
		(void)kill(pid, SIGTERM); /* It must not go on after this process. */
		return error_set_errno(err, TALLY_IO, errnum, "cannot wait for tar");
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) <= TAR_DIFFERS)
		return TALLY_OK;
	return error_set(err, TALLY_IO, "tar failed (status %d)", WIFEXITED(status) ? WEXITSTATUS(status) : 128);
}

static enum tally_status archive_tar_run(const char *const *argv, const struct text *names, struct tally_error *err)
{
	int ends[2];
	pid_t pid;
	posix_spawn_file_actions_t actions;
	if (pipe(ends) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot make a pipe");
	int failure = posix_spawn_file_actions_init(&actions);
	if (failure == 0) {
		posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
		posix_spawn_file_actions_addclose(&actions, ends[1]);
		failure = posix_spawnp(&pid, "tar", &actions, NULL, (char *const *)(uintptr_t)argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[0]);
	if (failure) {
		close(ends[1]);
		return error_set_errno(err, failure == ENOENT ? TALLY_NOT_FOUND : TALLY_IO, failure,
			"cannot run tar, which archive needs");
	}
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	archive_tar_feed(ends[1], names);
	close(ends[1]);
	signal(SIGPIPE, before);
	return archive_tar_wait_for(pid, err);
}

enum tally_status tar_pack(
	const char *path, const char *dir, const struct text *names, bool follows_links, struct tally_error *err)
{
	const char *argv[] = {"tar", "--create", "--bzip2", "--force-local", "--file", path, "--directory", dir,
		"--hard-dereference", "--null", "--verbatim-files-from", "--files-from=-",
		follows_links ? "--dereference" : NULL, NULL};
	if (names->failed)
		return error_nomem(err);
	enum tally_status status = archive_tar_run(argv, names, err);
	if (status != TALLY_OK)
		unlink(path);
	return status;
}
