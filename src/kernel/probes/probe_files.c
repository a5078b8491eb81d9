/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/probes/probe_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "kernel/events/tracepoints.h"

static const char *probe_files_name(bool is_user)
{
	return is_user ? "uprobe_events" : "kprobe_events";
}

static enum tally_status probe_files_missing(bool is_user, const char *directory, struct tally_error *err)
{
	if (!*directory)
		return error_set(err, TALLY_UNSUPPORTED,
			"Tracefs is not mounted: as root, run 'mount -t tracefs nodev /sys/kernel/tracing'.");
	return error_set(err, TALLY_UNSUPPORTED,
		"%s/%s does not exist.\nPlease rebuild kernel with CONFIG_%s_EVENTS=y.", directory,
		probe_files_name(is_user), is_user ? "UPROBE" : "KPROBE");
}

/* Explains why a file of the kernel cannot be used. */
static enum tally_status probe_files_refused(const char *path, const char *verb, int errnum, struct tally_error *err)
{
	if (errnum == EACCES || errnum == EPERM)
		return error_set(err, TALLY_DENIED, "No permission to %s %s: run as root%s.", verb, path,
			geteuid() == 0 ? " outside of this container or lockdown" : "");
	if (errnum == EROFS)
		return error_set(err, TALLY_DENIED,
			"Failed to %s %s: tracefs is mounted read-only; as root, run 'mount -o remount,rw %.*s'.", verb,
			path, (int)(strrchr(path, '/') - path), path);
	return error_set_errno(err, TALLY_IO, errnum, "Failed to %s %s", verb, path);
}

static enum tally_status probe_list_read_file(const struct kernel_seam *kernel, const char *directory, bool is_user,
	struct probe_list *list, struct tally_error *err)
{
	char path[PATH_MAX];
	char *text;
	size_t len;
	snprintf(path, sizeof(path), "%s%s/%s", kernel->root, directory, probe_files_name(is_user));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return TALLY_OK;
	if (fd < 0)
		return probe_files_refused(path, "read", errno, err);
	*(is_user ? &list->has_user_file : &list->has_kernel_file) = true;
	enum tally_status status = file_read_fd(fd, LIMIT_SMALL_FILE, &text, &len, err);
	close(fd);
	if (status != TALLY_OK)
		return error_prefix(err, "%s", path);
	struct tally_str rest = {arena_string(&list->arena, text, len), len}, line;
	free(text);
	if (!rest.data)
		return error_nomem(err);
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct probe_event event;
		if (probe_event_parse(line, is_user, &event) && !vec_push(&list->events, event))
			return error_nomem(err);
	}
	return TALLY_OK;
}

enum tally_status probe_list_read(const struct kernel_seam *kernel, struct probe_list *list, struct tally_error *err)
{
	const char *directory = tracefs_directory(kernel);
	*list = (struct probe_list){0};
	arena_init(&list->arena);
	enum tally_status status = *directory ? TALLY_OK : probe_files_missing(true, directory, err);
	if (status == TALLY_OK)
		status = probe_list_read_file(kernel, directory, false, list, err);
	if (status == TALLY_OK)
		status = probe_list_read_file(kernel, directory, true, list, err);
	if (status != TALLY_OK)
		probe_list_deinit(list);
	return status;
}

void probe_list_deinit(struct probe_list *list)
{
	vec_free(&list->events);
	arena_deinit(&list->arena);
	*list = (struct probe_list){0};
}

/* Probe lists open for appending; descriptors are -1 before their first use. */
struct probe_files {
	const struct kernel_seam *kernel;
	int fds[2]; /* Indexed by is_user. */
	char path[PATH_MAX]; /* Path of the list opened last. */
	sigset_t before; /* Signal mask before probe_files_begin. */
};

static enum tally_status probe_files_open(struct probe_files *files, bool is_user, struct tally_error *err)
{
	const char *directory = tracefs_directory(files->kernel);
	snprintf(
		files->path, sizeof(files->path), "%s%s/%s", files->kernel->root, directory, probe_files_name(is_user));
	if (files->fds[is_user] >= 0)
		return TALLY_OK;
	/* O_TRUNC would remove all probes. */
	int fd = *directory ? open(files->path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
	if (!*directory || (fd < 0 && errno == ENOENT))
		return probe_files_missing(is_user, directory, err);
	if (fd < 0)
		return probe_files_refused(files->path, "write", errno, err);
	files->fds[is_user] = fd;
	return TALLY_OK;
}

/* Signals that end the process wait until the list is complete or restored. */
static void probe_files_begin(struct probe_files *files, const struct kernel_seam *kernel)
{
	sigset_t held;
	*files = (struct probe_files){.kernel = kernel, .fds = {-1, -1}};
	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &held, &files->before);
}

/* Signals that the process ignores, or that were blocked before, do not request its end. */
static bool probe_files_is_asked_to_end(const struct probe_files *files)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t pending;
	if (sigpending(&pending) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct sigaction action;
		if (sigismember(&pending, ends[i]) == 1 && sigismember(&files->before, ends[i]) == 0 &&
			sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			return true;
	}
	return false;
}

static void probe_files_end(struct probe_files *files)
{
	for (size_t i = 0; i < ARRAY_LEN(files->fds); i++)
		if (files->fds[i] >= 0)
			close(files->fds[i]);
	pthread_sigmask(SIG_SETMASK, &files->before, NULL);
}

/* Returns 0 or the errno with which the kernel refused the line. */
static int probe_files_write(struct probe_files *files, bool is_user, const struct text *line)
{
	ssize_t n = write(files->fds[is_user], line->data, line->len);
	if (n < 0)
		return errno;
	return (size_t)n == line->len ? 0 : EIO;
}

/* The kernel's explanation for this line in error_log; empty if there is none. */
static struct tally_str probe_files_reason(struct probe_files *files, struct tally_str line, char **text)
{
	char path[PATH_MAX];
	size_t len;
	snprintf(path, sizeof(path), "%s%s/error_log", files->kernel->root, tracefs_directory(files->kernel));
	*text = NULL;
	if (file_read(path, LIMIT_SMALL_FILE, text, &len, NULL) != TALLY_OK)
		return (struct tally_str){0};
	struct tally_str rest = {*text, len}, row, error = {0}, reason = {0};
	while (rest.len > 0 && str_next(&rest, '\n', &row)) {
		const char *found = memmem(row.data, row.len, "error: ", strlen("error: "));
		if (found)
			error = (struct tally_str){found + 7, (size_t)(row.data + row.len - found) - 7};
		const struct tally_str command = str_trim(row);
		if (str_starts_with(command, STR("Command: ")) &&
			str_equal(str_trim((struct tally_str){command.data + 9, command.len - 9}), str_trim(line)))
			reason = error;
	}
	return reason;
}

static enum tally_status probe_files_explain(struct probe_files *files, const struct probe_event *event,
	const struct text *line, int errnum, struct tally_error *err)
{
	int group_len = (int)event->group.len, event_len = (int)event->event.len;
	if (errnum == EEXIST)
		return error_set(err, TALLY_INVALID, "Failed to write event: %.*s:%.*s exists already.", group_len,
			event->group.data, event_len, event->event.data);
	if (errnum == EACCES || errnum == EPERM || errnum == EROFS)
		return probe_files_refused(files->path, "write", errnum, err);
	char *text;
	const struct tally_str reason = probe_files_reason(files, text_view(line), &text);
	int shown = (int)MIN(line->len - 1, (size_t)200);
	enum tally_status status =
		reason.len > 0
			? error_set(err, TALLY_INVALID, "Failed to write event: the kernel does not take '%.*s': %.*s",
				  shown, line->data, (int)reason.len, reason.data)
			: error_set_errno(err, TALLY_INVALID, errnum, "Failed to write event '%.*s' to %s", shown,
				  line->data, files->path);
	free(text);
	return status;
}

static int probe_files_write_removal(struct probe_files *files, const struct probe_event *event, struct text *line)
{
	text_clear(line);
	text_printf(line, "-:%.*s/%.*s\n", (int)event->group.len, event->group.data, (int)event->event.len,
		event->event.data);
	return line->failed ? ENOMEM : probe_files_write(files, event->is_user, line);
}

/* Descriptors for the return from another mount namespace. */
struct probe_files_origin {
	int space; /* Descriptor of the process's own namespace; -1 if that was not left. */
	int folder; /* Descriptor of the current directory, which setns changes. */
};

static void probe_files_forget(struct probe_files_origin *origin)
{
	if (origin->space >= 0)
		close(origin->space);
	if (origin->folder >= 0)
		close(origin->folder);
	*origin = (struct probe_files_origin){-1, -1};
}

static enum tally_status probe_files_enter(int32_t pid, struct probe_files_origin *origin, struct tally_error *err)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	origin->space = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	origin->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int other = open(path, O_RDONLY | O_CLOEXEC);
	bool has_entered = origin->space >= 0 && origin->folder >= 0 && other >= 0 && unshare(CLONE_FS) == 0 &&
			   setns(other, CLONE_NEWNS) == 0;
	int errnum = errno;
	if (other >= 0)
		close(other);
	if (has_entered)
		return TALLY_OK;
	probe_files_forget(origin);
	return error_set_errno(
		err, TALLY_DENIED, errnum, "Failed to enter the mount namespace of process %d", (int)pid);
}

static void probe_files_leave(struct probe_files_origin *origin)
{
	if (origin->space < 0)
		return;
	(void)!setns(origin->space, CLONE_NEWNS);
	(void)!fchdir(origin->folder);
	probe_files_forget(origin);
}

static enum tally_status probe_files_add_one(
	struct probe_files *files, const struct probe_event *event, struct text *line, struct tally_error *err)
{
	enum tally_status status = probe_files_open(files, event->is_user, err);
	if (status != TALLY_OK)
		return status;
	text_clear(line);
	probe_event_print(event, line);
	text_char(line, '\n');
	int errnum = line->failed ? ENOMEM : probe_files_write(files, event->is_user, line);
	return errnum ? probe_files_explain(files, event, line, errnum, err) : TALLY_OK;
}

enum tally_status probe_files_add(const struct kernel_seam *kernel, const struct probe_event *events, size_t count,
	int32_t namespace_pid, struct tally_error *err)
{
	struct probe_files files;
	struct text line = {0};
	size_t done = 0;
	struct probe_files_origin origin = {-1, -1};
	enum tally_status status = TALLY_OK;
	probe_files_begin(&files, kernel);
	if (namespace_pid > 0 && count > 0) {
		status = probe_files_open(&files, true, err);
		if (status == TALLY_OK)
			status = probe_files_enter(namespace_pid, &origin, err);
	}
	while (done < count && status == TALLY_OK) {
		status = probe_files_add_one(&files, &events[done], &line, err);
		if (status == TALLY_OK && done++ < count && probe_files_is_asked_to_end(&files))
			status = error_set(err, TALLY_INVALID, "Interrupted: no event is added.");
	}
	probe_files_leave(&origin);
	/* Either all events are added or none. */
	for (size_t i = done; status != TALLY_OK && i-- > 0;)
		(void)probe_files_write_removal(&files, &events[i], &line);
	text_deinit(&line);
	probe_files_end(&files);
	return status;
}

static enum tally_status probe_files_keep(const struct probe_event *event, int errnum, struct tally_error *err)
{
	int group_len = (int)event->group.len, event_len = (int)event->event.len;
	if (errnum == EBUSY)
		return error_set(err, TALLY_INVALID,
			"Failed to delete event %.*s:%.*s: it is in use; end the recording or tracing that has it "
			"enabled.",
			group_len, event->group.data, event_len, event->event.data);
	return error_set_errno(err, TALLY_IO, errnum, "Failed to delete event %.*s:%.*s", group_len, event->group.data,
		event_len, event->event.data);
}

enum tally_status probe_files_remove(const struct kernel_seam *kernel, const struct probe_event *events, size_t count,
	bool *removed, struct tally_error *err)
{
	struct probe_files files;
	struct text line = {0};
	enum tally_status status = TALLY_OK;
	probe_files_begin(&files, kernel);
	for (size_t i = 0; i < count; i++) {
		struct tally_error why;
		if (probe_files_is_asked_to_end(&files)) {
			if (status == TALLY_OK)
				status = error_set(err, TALLY_INVALID, "Interrupted: %zu of %zu events are left.",
					count - i, count);
			break;
		}
		enum tally_status one = probe_files_open(&files, events[i].is_user, &why);
		int errnum = one == TALLY_OK ? probe_files_write_removal(&files, &events[i], &line) : 0;
		if (errnum)
			one = probe_files_keep(&events[i], errnum, &why);
		if (removed)
			removed[i] = one == TALLY_OK;
		if (one != TALLY_OK && status == TALLY_OK) {
			status = one;
			if (err)
				*err = why;
		}
	}
	text_deinit(&line);
	probe_files_end(&files);
	return status;
}
