/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/command_watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"

static enum tally_status command_watch_take_signals(struct command_watch *watch, struct tally_error *err)
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGQUIT);
	sigaddset(&mask, SIGPIPE);
	sigaddset(&mask, SIGCHLD);
	watch->has_mask = sigprocmask(SIG_BLOCK, &mask, &watch->old_mask) == 0;
	watch->signal_fd = watch->has_mask ? signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
	return watch->signal_fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
}

enum tally_status command_watch_open(struct command_watch *watch, const struct kernel_seam *kernel,
	const struct target_request *request, char **argv, struct tally_error *err)
{
	*watch = (struct command_watch){.signal_fd = -1};
	enum tally_status status = target_resolve(kernel, request, &watch->target, err);
	if (status == TALLY_OK && argv[0]) {
		status = spawn_create(argv, &watch->child, err);
		watch->has_child = status == TALLY_OK;
		if (watch->has_child && watch->target.is_command)
			watch->target.threads[0] = watch->child.pid;
	}
	return status == TALLY_OK ? command_watch_take_signals(watch, err) : status;
}

enum tally_status command_watch_start(struct command_watch *watch, struct tally_error *err)
{
	if (!watch->has_child)
		return TALLY_OK;
	enum tally_status status = spawn_start(&watch->child, err);
	watch->child_is_started = status == TALLY_OK;
	return status;
}

/* Whether everything that -p and --tid name has ended. */
static bool command_watch_target_is_gone(const struct command_watch *watch)
{
	if (watch->has_child || watch->target.is_system_wide)
		return false;
	for (size_t i = 0; i < watch->target.thread_count; i++)
		if (kill(watch->target.threads[i], 0) == 0 || errno != ESRCH)
			return false;
	return true;
}

enum tally_status command_watch_wait(struct command_watch *watch, int ms, struct tally_error *err)
{
	struct pollfd wanted = {.fd = watch->signal_fd, .events = POLLIN};
	struct signalfd_siginfo info;
	struct rusage usage;
	int exit_status;
	bool has_ended = false;
	enum tally_status status = TALLY_OK;
	(void)poll(&wanted, 1, ms);
	while (read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		watch->is_over |= info.ssi_signo != SIGCHLD;
	if (watch->child_is_started && watch->child.pid > 0)
		status = spawn_try_wait(&watch->child, &has_ended, &exit_status, &usage, err);
	watch->is_over |= has_ended || command_watch_target_is_gone(watch);
	return status;
}

void command_watch_close(struct command_watch *watch)
{
	struct signalfd_siginfo info;
	struct rusage usage;
	int status;
	if (watch->has_child && !watch->child_is_started) {
		spawn_cancel(&watch->child);
	} else if (watch->has_child && watch->child.pid > 0) {
		(void)kill(watch->child.pid, SIGTERM);
		(void)!spawn_wait(&watch->child, &status, &usage, NULL);
	}
	/* timeout(1) signals twice, and a terminal the whole job: what is pending must not end us before the output. */
	while (watch->signal_fd >= 0 && read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	if (watch->signal_fd >= 0)
		close(watch->signal_fd);
	if (watch->has_mask)
		sigprocmask(SIG_SETMASK, &watch->old_mask, NULL);
	target_deinit(&watch->target);
}
