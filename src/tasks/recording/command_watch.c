/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/command_watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

static enum tally_status command_watch_take_signals(struct command_watch *watch, struct tally_error *err)
{
	const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD};
	sigset_t mask;
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		struct sigaction before;
		if (ours[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
			continue; /* Under nohup, the measurement outlives its terminal. */
		sigaddset(&mask, ours[i]);
	}
	watch->has_mask = sigprocmask(SIG_BLOCK, &mask, &watch->old_mask) == 0;
	watch->signal_fd = watch->has_mask ? signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
	return watch->signal_fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
}

enum tally_status command_watch_create(
	struct command_watch *watch, char *const *argv, struct target *target, struct tally_error *err)
{
	*watch = (struct command_watch){.signal_fd = -1};
	enum tally_status status = argv[0] ? spawn_create(argv, &watch->child, err) : TALLY_OK;
	watch->has_child = argv[0] && status == TALLY_OK;
	if (watch->has_child && target->is_command)
		target->threads[0] = watch->child.pid;
	return status == TALLY_OK ? command_watch_take_signals(watch, err) : status;
}

enum tally_status command_watch_open(struct command_watch *watch, const struct kernel_seam *kernel,
	const struct target_request *request, char **argv, struct tally_error *err)
{
	struct target target;
	*watch = (struct command_watch){.signal_fd = -1};
	enum tally_status status = target_resolve(kernel, request, &target, err);
	if (status != TALLY_OK)
		return status;
	status = command_watch_create(watch, argv, &target, err);
	watch->target = target;
	return status;
}

enum tally_status command_watch_start(struct command_watch *watch, struct tally_error *err)
{
	if (!watch->has_child)
		return TALLY_OK;
	enum tally_status status = spawn_start(&watch->child, err);
	watch->child_is_started = status == TALLY_OK;
	return status;
}

/* Returns whether all processes and threads of -p and --tid have ended. */
static bool command_watch_target_is_gone(const struct command_watch *watch)
{
	if (watch->has_child || watch->target.is_system_wide)
		return false;
	for (size_t i = 0; i < watch->target.thread_count; i++)
		if (kill(watch->target.threads[i], 0) == 0 || errno != ESRCH)
			return false;
	return true;
}

enum tally_status command_watch_look(struct command_watch *watch, struct tally_error *err)
{
	struct signalfd_siginfo info;
	struct rusage usage;
	bool has_ended = false;
	enum tally_status status = TALLY_OK;
	while (read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		watch->is_over |= info.ssi_signo != SIGCHLD;
	if (watch->child_is_started && watch->child.pid > 0)
		status = spawn_try_wait(&watch->child, &has_ended, &watch->child_status, &usage, err);
	watch->has_ended |= has_ended;
	watch->is_over |= has_ended;
	return status;
}

enum tally_status command_watch_wait(struct command_watch *watch, int ms, struct tally_error *err)
{
	struct pollfd wanted = {.fd = watch->signal_fd, .events = POLLIN};
	if (poll(&wanted, 1, ms) < 0 && errno != EINTR)
		return error_set_errno(err, TALLY_IO, errno, "cannot wait for the command or for signals");
	watch->is_over |= command_watch_target_is_gone(watch);
	return command_watch_look(watch, err);
}

int command_watch_exit_code(const struct command_watch *watch)
{
	return watch->has_ended ? spawn_exit_code(watch->child_status) : 0;
}

bool command_watch_still_runs(const struct command_watch *watch)
{
	return watch->child_is_started && watch->child.pid > 0;
}

bool command_watch_leaves_running(const struct command_watch *watch)
{
	return command_watch_still_runs(watch) && watch->leaves_command;
}

void command_watch_end(struct command_watch *watch)
{
	struct rusage usage;
	int status;
	if (!watch->child_is_started || watch->child.pid <= 0)
		return;
	(void)kill(watch->child.pid, SIGTERM);
	(void)!spawn_wait(&watch->child, &status, &usage, NULL);
}

void command_watch_close(struct command_watch *watch)
{
	struct signalfd_siginfo info;
	if (watch->has_child && !watch->child_is_started)
		spawn_cancel(&watch->child);
	else if (!command_watch_leaves_running(watch))
		command_watch_end(watch);
	/* timeout(1) sends its signal twice, and a terminal signals the whole job: a pending signal must not end this
	 * process before it has printed its results. */
	while (watch->signal_fd >= 0 && read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	if (watch->signal_fd >= 0)
		close(watch->signal_fd);
	if (watch->has_mask)
		sigprocmask(SIG_SETMASK, &watch->old_mask, NULL);
	target_deinit(&watch->target);
}
