/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupts.h"

#define STOP_NS 1000000 /* Pause between two checks of a child that another thread traces. */

static void close_pair(int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

/* Runs in the child and makes only async-signal-safe calls, because the program may have threads. */
_Noreturn static void child_run(char *const *argv, int go_fd, int failed_fd)
{
	char byte;
	ssize_t n;
	unsigned interrupts = 0;
	do
		n = read(go_fd, &byte, 1);
	while (n < 0 && is_interrupted(&interrupts));
	if (n != 1)
		_exit(127); /* The start was cancelled, or the parent has died. */
	execvp(argv[0], argv);
	int errnum = errno;
	n = write(failed_fd, &errnum, sizeof(errnum));
	_exit(n < 0 ? 126 : 127);
}

enum tally_status spawn_create(char *const *argv, struct spawn *child, struct tally_error *err)
{
	return spawn_create_with_signals(argv, NULL, child, err);
}

enum tally_status spawn_create_with_signals(
	char *const *argv, const sigset_t *mask, struct spawn *child, struct tally_error *err)
{
	int go[2], failed[2];
	/* Unlike a pipe, a socket allows writing without SIGPIPE if the child has died. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return error_set_errno(err, TALLY_IO, errno, "cannot make a pipe for '%s'", argv[0]);
	if (pipe2(failed, O_CLOEXEC)) {
		int errnum = errno;
		close_pair(go);
		return error_set_errno(err, TALLY_IO, errnum, "cannot make a pipe for '%s'", argv[0]);
	}
	pid_t pid = fork();
	if (pid < 0) {
		int errnum = errno;
		close_pair(go);
		close_pair(failed);
		return error_set_errno(err, TALLY_IO, errnum, "cannot start a process for '%s'", argv[0]);
	}
	if (pid == 0) {
		close(go[1]);
		close(failed[0]);
		if (mask)
			sigprocmask(SIG_SETMASK, mask, NULL);
		child_run(argv, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	*child = (struct spawn){.pid = pid, .go_fd = go[1], .failed_fd = failed[0], .command = argv[0]};
	return TALLY_OK;
}

/* The stops of a child that another thread traces (kernel/standin) are reported to every thread and must not be
 * consumed here. Returns false also if the child has ended. */
static bool spawn_is_stopped(pid_t pid, int options)
{
	siginfo_t info = {0};
	int failed;
	unsigned interrupts = 0;
	while ((failed = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | options)) != 0 &&
		is_interrupted(&interrupts))
		;
	return !failed && (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED);
}

/* Waits while the child is stopped: a stop lasts for some microseconds, until the tracer has handled it. */
static void spawn_await_end(pid_t pid)
{
	const struct timespec pause = {0, STOP_NS};
	while (spawn_is_stopped(pid, 0))
		nanosleep(&pause, NULL);
}

static void spawn_reap(struct spawn *child)
{
	spawn_await_end(child->pid);
	(void)wait_for_process(child->pid, NULL, 0);
	child->pid = -1;
}

static void spawn_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

enum tally_status spawn_start(struct spawn *child, struct tally_error *err)
{
	ssize_t n;
	unsigned interrupts = 0;
	do
		n = send(child->go_fd, "", 1, MSG_NOSIGNAL);
	while (n < 0 && is_interrupted(&interrupts));
	int errnum = n == 1 ? 0 : errno;
	spawn_close_fd(&child->go_fd);
	int failure = 0;
	if (errnum == 0) {
		do
			n = read(child->failed_fd, &failure, sizeof(failure));
		while (n < 0 && is_interrupted(&interrupts));
	}
	spawn_close_fd(&child->failed_fd);
	if (errnum)
		return error_set_errno(err, TALLY_IO, errnum, "cannot start '%s'", child->command);
	if (n != (ssize_t)sizeof(failure))
		return TALLY_OK; /* exec has closed the pipe. */
	spawn_reap(child);
	enum tally_status status = failure == ENOENT ? TALLY_NOT_FOUND : failure == EACCES ? TALLY_DENIED : TALLY_IO;
	return error_set_errno(err, status, failure, "cannot run '%s'", child->command);
}

static enum tally_status wait_child(
	struct spawn *child, int options, int *status, struct rusage *usage, struct tally_error *err)
{
	int result;
	struct rusage used;
	pid_t pid;
	unsigned interrupts = 0;
	if (!(options & WNOHANG))
		spawn_await_end(child->pid);
	else if (spawn_is_stopped(child->pid, WNOHANG))
		return TALLY_OK;
	while ((pid = wait4(child->pid, &result, options, &used)) < 0)
		if (!is_interrupted(&interrupts))
			return error_set_errno(err, TALLY_IO, errno, "cannot wait for '%s'", child->command);
	if (pid == 0)
		return TALLY_OK;
	child->pid = -1;
	*status = result;
	*usage = used;
	return TALLY_OK;
}

enum tally_status spawn_wait(struct spawn *child, int *status, struct rusage *usage, struct tally_error *err)
{
	return wait_child(child, 0, status, usage, err);
}

enum tally_status spawn_try_wait(
	struct spawn *child, bool *has_ended, int *status, struct rusage *usage, struct tally_error *err)
{
	enum tally_status result = wait_child(child, WNOHANG, status, usage, err);
	if (result == TALLY_OK)
		*has_ended = child->pid < 0;
	return result;
}

int spawn_exit_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void spawn_cancel(struct spawn *child)
{
	spawn_close_fd(&child->go_fd);
	spawn_close_fd(&child->failed_fd);
	if (child->pid > 0)
		spawn_reap(child);
}
