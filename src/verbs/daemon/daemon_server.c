/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/daemon/daemon_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "cli/config_files.h"
#include "verbs/daemon/daemon_answers.h"
#include "verbs/daemon/daemon_socket.h"

#define DAEMON_SERVER_LOOK_MS 1000 /* Interval at which sessions that have been requested to end are checked. */
#define WATCH_FLAGS	      (IN_CLOSE_WRITE | IN_MOVED_TO)

/* Prints a line with the time to standard output, which is the file "output" of the base directory or the terminal. */
TALLY_PRINTF(1, 2)
static void daemon_server_log(const char *format, ...)
{
	struct timeval now;
	struct tm local;
	char stamp[64];
	struct text t = {0};
	va_list args;
	char line[2048];
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	(void)gettimeofday(&now, NULL);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", localtime_r(&now.tv_sec, &local));
	text_printf(&t, "[%s.%06ld] ", stamp, (long)now.tv_usec);
	text_visible(&t, str_from(line));
	text_char(&t, '\n');
	text_to_fd(&t, STDOUT_FILENO);
	(void)text_flush(&t);
	text_deinit(&t);
}

/* ---- sessions ---- */

static struct daemon_session *daemon_server_session(const struct daemon_server *server, const char *name)
{
	for (size_t i = 0; i < server->sessions.len; i++)
		if (strcmp(server->sessions.items[i]->name, name) == 0)
			return server->sessions.items[i];
	return NULL;
}

static void daemon_server_drop(struct daemon_server *server, size_t at)
{
	daemon_session_deinit(server->sessions.items[at]);
	free(server->sessions.items[at]);
	server->sessions.len--;
	memmove(server->sessions.items + at, server->sessions.items + at + 1,
		(server->sessions.len - at) * sizeof(*server->sessions.items));
}

static struct daemon_session *daemon_server_new(const struct daemon_planned *planned)
{
	struct daemon_session *session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	session->control_fd = session->ack_fd = -1;
	session->name = strdup(planned->name);
	session->run = strdup(planned->run);
	if (session->name && session->run)
		return session;
	daemon_session_deinit(session);
	free(session);
	return NULL;
}

static void daemon_server_start_session(struct daemon_server *server, size_t index)
{
	const struct daemon_planned *planned = &server->plan.sessions.items[index];
	struct daemon_session *session = daemon_server_new(planned);
	struct tally_error err;
	if (!session || !vec_push(&server->sessions, session)) {
		if (session)
			daemon_session_deinit(session);
		free(session);
		daemon_server_log("out of memory: session '%s' does not start", planned->name);
		return;
	}
	if (daemon_session_start(session, server->base, server->program, &err) != TALLY_OK) {
		daemon_server_log("session '%s' does not start: %s", planned->name, err.text);
		daemon_server_drop(server, server->sessions.len - 1);
		return;
	}
	daemon_server_log("reconfig: running session [%s:%d]: %s", session->name, (int)session->pid, session->run);
	/* The new session moves from the end to its place, so that running sessions have the order of the plan. */
	struct daemon_session **items = server->sessions.items;
	size_t at = server->sessions.len - 1;
	for (; at > 0; at--) {
		const struct daemon_planned *before = daemon_plan_find(&server->plan, items[at - 1]->name);
		if (!before || before < planned)
			break;
		items[at] = items[at - 1];
	}
	items[at] = session;
}

/* Starts the planned sessions that are not running. A session that has to end first is started by
 * daemon_server_reap. */
static void daemon_server_start_planned(struct daemon_server *server)
{
	for (size_t i = 0; i < server->plan.sessions.len; i++)
		if (!daemon_server_session(server, server->plan.sessions.items[i].name))
			daemon_server_start_session(server, i);
}

static void daemon_server_reap(struct daemon_server *server)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		size_t at = 0;
		while (at < server->sessions.len && server->sessions.items[at]->pid != pid)
			at++;
		if (at == server->sessions.len)
			continue;
		const struct daemon_session *session = server->sessions.items[at];
		if (WIFSIGNALED(status))
			daemon_server_log("session '%s' killed (signal %d)", session->name, WTERMSIG(status));
		else
			daemon_server_log("session '%s' exited, status=%d", session->name, WEXITSTATUS(status));
		/* A session that ended by itself is started again only when the configuration changes. */
		const struct daemon_planned *planned = session->kill_ns && !server->is_stopping
							       ? daemon_plan_find(&server->plan, session->name)
							       : NULL;
		daemon_server_drop(server, at);
		if (planned)
			daemon_server_start_session(server, (size_t)(planned - server->plan.sessions.items));
	}
}

static void daemon_server_kill_late(const struct daemon_server *server)
{
	uint64_t now = clock_ns();
	for (size_t i = 0; i < server->sessions.len; i++) {
		const struct daemon_session *session = server->sessions.items[i];
		if (!session->kill_ns || session->kill_ns > now)
			continue;
		daemon_server_log("session '%s' has not ended: it is killed", session->name);
		(void)kill(session->pid, SIGKILL);
	}
}

/* ---- configuration ---- */

static void daemon_server_reconfigure(struct daemon_server *server)
{
	struct daemon_plan plan;
	struct tally_error err;
	if (server->is_stopping)
		return;
	if (daemon_plan_read(server->config, &plan, &err) != TALLY_OK) {
		daemon_server_log("%s: the sessions stay as they are", err.text);
		return;
	}
	daemon_plan_deinit(&server->plan);
	server->plan = plan;
	for (size_t i = 0; i < server->sessions.len; i++) {
		struct daemon_session *session = server->sessions.items[i];
		const struct daemon_planned *planned = daemon_plan_find(&plan, session->name);
		if (planned && strcmp(planned->run, session->run) == 0)
			continue;
		daemon_server_log("reconfig: ending session [%s:%d]", session->name, (int)session->pid);
		daemon_session_end(session);
	}
	daemon_server_start_planned(server);
}

static void daemon_server_watch_file(struct daemon_server *server, const char *typed)
{
	char *path = realpath(typed, NULL);
	const char *name = path ? path : typed;
	const char *slash = strrchr(name, '/');
	char *folder = slash ? strndup(name, slash == name ? 1 : (size_t)(slash - name)) : strdup(".");
	struct daemon_watched watched = {-1, strdup(slash ? slash + 1 : name)};
	if (folder && watched.name && server->watch_fd >= 0)
		watched.watch = inotify_add_watch(server->watch_fd, folder, WATCH_FLAGS);
	if (watched.watch < 0) {
		daemon_server_log("changes of '%s' are not noticed: %s", name, strerror(errno));
		free(watched.name);
	} else {
		server->watched[server->watched_count++] = watched;
	}
	free(folder);
	free(path);
}

static void daemon_server_watch(struct daemon_server *server)
{
	struct config_paths paths;
	server->watch_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (server->config) {
		daemon_server_watch_file(server, server->config);
		return;
	}
	config_paths_init(&paths);
	daemon_server_watch_file(server, paths.instead ? paths.instead : paths.system);
	if (!paths.instead && paths.own)
		daemon_server_watch_file(server, paths.own);
	config_paths_deinit(&paths);
}

/* Returns whether any of the inotify events concerns a file of the configuration. */
static bool daemon_server_has_changed(const struct daemon_server *server)
{
	_Alignas(struct inotify_event) char room[8192];
	bool has_changed = false;
	ssize_t got;
	while ((got = read(server->watch_fd, room, sizeof(room))) > 0) {
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *event = (const struct inotify_event *)(const void *)(room + at);
			has_changed |= (event->mask & IN_Q_OVERFLOW) != 0;
			for (size_t i = 0; i < server->watched_count; i++)
				has_changed |= event->len && server->watched[i].watch == event->wd &&
					       strcmp(server->watched[i].name, event->name) == 0;
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	return has_changed;
}

/* ---- requests ---- */

static void daemon_server_stop(struct daemon_server *server)
{
	server->is_stopping = true;
	for (size_t i = 0; i < server->sessions.len; i++)
		daemon_session_end(server->sessions.items[i]);
}

/* Handles a request: "list", optionally followed by a separator, "verbose", "json", "ping NAME" or "signal NAME". */
static void daemon_server_compose(struct daemon_server *server, const char *line, struct text *out)
{
	if (strncmp(line, "ping ", 5) == 0)
		daemon_answer_ping(server, line + 5, out);
	else if (strncmp(line, "signal ", 7) == 0)
		daemon_answer_signal(server, line + 7, out);
	else if (strcmp(line, "json") == 0)
		daemon_answer_json(server, out);
	else if (strcmp(line, "verbose") == 0)
		daemon_answer_list(server, 0, true, out);
	else if (strncmp(line, "list", 4) == 0)
		daemon_answer_list(server, line[4], false, out);
	else
		text_printf(out, "unknown request\n");
}

static void daemon_server_answer(struct daemon_server *server)
{
	char line[DAEMON_LINE_BYTES];
	struct text out = {0};
	struct tally_error err;
	int fd = daemon_socket_accept(server->listen_fd, line);
	if (fd < 0)
		return;
	if (strcmp(line, "stop") == 0) {
		daemon_server_stop(server);
		if (!vec_push(&server->waiting, fd))
			close(fd);
		return;
	}
	daemon_server_compose(server, line, &out);
	if (file_write_all(fd, out.data, out.len, &err) != TALLY_OK)
		daemon_server_log("an answer was not read: %s", err.text);
	text_deinit(&out);
	close(fd);
}

/* ---- start and end ---- */

/* The lock file contains the owner's PID for other processes. The lock belongs to the open file description, so it
 * persists across fork. */
static enum tally_status daemon_server_lock(struct daemon_server *server, struct tally_error *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[4200], owner[32] = "";
	snprintf(path, sizeof(path), "%s/lock", server->base);
	server->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (server->lock_fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot open %s", path);
	if (fcntl(server->lock_fd, F_OFD_SETLK, &whole) == 0)
		return TALLY_OK;
	ssize_t got = pread(server->lock_fd, owner, sizeof(owner) - 1, 0);
	return error_set(err, TALLY_INVALID, "another %s daemon (pid %d) owns %s", server->program,
		got > 0 ? atoi(owner) : 0, server->base);
}

enum tally_status daemon_server_open(struct daemon_server *server, const char *base, struct tally_error *err)
{
	server->lock_fd = server->listen_fd = server->signal_fd = server->watch_fd = -1;
	enum tally_status status = daemon_plan_read(server->config, &server->plan, err);
	if (status != TALLY_OK)
		return status;
	base = base ? base : server->plan.base;
	if (!base)
		return error_set(err, TALLY_INVALID,
			"no base folder is known: set daemon.base in the configuration, or use --base");
	server->base = realpath(base, NULL);
	if (!server->base)
		return error_set_errno(err, TALLY_NOT_FOUND, errno, "the base folder '%s' cannot be used", base);
	status = daemon_server_lock(server, err);
	if (status == TALLY_OK)
		status = daemon_socket_listen(server->base, &server->listen_fd, err);
	return status;
}

static enum tally_status daemon_server_begin(struct daemon_server *server, struct tally_error *err)
{
	sigset_t mask;
	char pid[32];
	int len = snprintf(pid, sizeof(pid), "%d", (int)getpid());
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
	server->signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	if (server->signal_fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot wait for signals");
	if (ftruncate(server->lock_fd, 0) != 0 || pwrite(server->lock_fd, pid, (size_t)len, 0) != len)
		return error_set_errno(err, TALLY_IO, errno, "cannot write %s/lock", server->base);
	server->started_ns = clock_ns();
	daemon_server_log("daemon started (pid %s)", pid);
	daemon_server_watch(server);
	daemon_server_start_planned(server);
	return TALLY_OK;
}

static void daemon_server_take_signals(struct daemon_server *server)
{
	struct signalfd_siginfo info;
	while (read(server->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			daemon_server_stop(server);
	daemon_server_reap(server);
}

enum tally_status daemon_server_run(struct daemon_server *server, struct tally_error *err)
{
	enum tally_status status = daemon_server_begin(server, err);
	unsigned interrupts = 0;
	while (status == TALLY_OK && !(server->is_stopping && server->sessions.len == 0)) {
		struct pollfd waits[] = {
			{server->signal_fd, POLLIN, 0}, {server->listen_fd, POLLIN, 0}, {server->watch_fd, POLLIN, 0}};
		int ready = poll(waits, 3, DAEMON_SERVER_LOOK_MS);
		if (ready >= 0)
			interrupts = 0;
		else if (!is_interrupted(&interrupts))
			status = error_set_errno(err, TALLY_IO, errno, "the daemon cannot wait for requests");
		if (ready > 0 && waits[0].revents)
			daemon_server_take_signals(server);
		if (ready > 0 && waits[2].revents && daemon_server_has_changed(server))
			daemon_server_reconfigure(server);
		if (ready > 0 && waits[1].revents)
			daemon_server_answer(server);
		daemon_server_kill_late(server);
	}
	daemon_socket_remove(server->base);
	daemon_server_log("daemon exited");
	return status;
}

static void daemon_server_close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void daemon_server_close(struct daemon_server *server)
{
	while (server->sessions.len)
		daemon_server_drop(server, server->sessions.len - 1);
	vec_free(&server->sessions);
	for (size_t i = 0; i < server->watched_count; i++)
		free(server->watched[i].name);
	daemon_plan_deinit(&server->plan);
	daemon_server_close_fd(server->listen_fd);
	daemon_server_close_fd(server->signal_fd);
	daemon_server_close_fd(server->watch_fd);
	for (size_t i = 0; i < server->waiting.len; i++)
		close(server->waiting.items[i]);
	vec_free(&server->waiting);
	daemon_server_close_fd(server->lock_fd);
	free(server->base);
	server->base = NULL;
}
