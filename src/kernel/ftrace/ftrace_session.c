/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/ftrace/ftrace_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"
#include "kernel/ftrace/ftrace_files.h"
#include "kernel/ftrace/ftrace_leftovers.h"
#include "kernel/system/kernel_files.h"

#define FILE_NAME_MAX 64

struct ftrace_saved {
	char file[FILE_NAME_MAX]; /* Path below the top of tracefs. */
	char *value; /* Previous value; NULL for a list, which was empty. */
};

struct ftrace_session {
	struct ftrace_files files;
	const char *tracer; /* Borrowed from the caller of ftrace_open. */
	char instance[FTRACE_NAME_MAX]; /* Path of the session's own directory; empty if there is none. */
	bool is_top; /* Whether the tracer runs at the top of tracefs. */
	bool has_mark; /* Whether the name of a directory shows that the top is changed. */
	/* Open file of a directory that only marks the top as changed; a busy directory cannot be removed. -1 if there
	 * is none. */
	int hold_fd;
	int pipe_fd;
	VEC(struct ftrace_saved) saved;
};

static const char *ftrace_session_path(const struct ftrace_session *session, const char *file, char room[FTRACE_PATH])
{
	if (session->is_top)
		return file;
	snprintf(room, FTRACE_PATH, "%s/%s", session->instance, file);
	return room;
}

/* Makes a directory whose name shows to other processes that this session changes the top of tracefs. */
static enum tally_status ftrace_session_mark(struct ftrace_session *session, struct tally_error *err)
{
	char name[FTRACE_NAME_MAX], pipe[FTRACE_PATH];
	if (session->has_mark || !ftrace_file_exists(&session->files, FTRACE_INSTANCES))
		return TALLY_OK;
	ftrace_instance_name(true, name);
	int errnum = ftrace_folder_make(&session->files, name);
	if (errnum && errnum != EEXIST)
		return error_set_errno(err, TALLY_DENIED, errnum, "cannot make %s/%s", session->files.top, name);
	session->has_mark = true;
	snprintf(pipe, sizeof(pipe), "%s/trace_pipe", name);
	session->hold_fd = ftrace_file_open(&session->files, pipe);
	/* Two sessions would save each other's values as the previous ones. */
	int other = ftrace_other_at_top(&session->files);
	return other == 0 ? TALLY_OK
			  : error_set(err, TALLY_DENIED,
				    "another ftrace (PID %d) has changed the settings at the top of %s; wait until it "
				    "ends",
				    other, session->files.top);
}

/* Empty lists contain a comment or a phrase. */
static bool ftrace_list_is_empty(const char *text)
{
	return text[0] == '\0' || text[0] == '#' || strncmp(text, "no pid", 6) == 0;
}

static enum tally_status ftrace_session_save(struct ftrace_session *session, const char *file, struct tally_error *err)
{
	char *value;
	for (size_t i = 0; i < session->saved.len; i++)
		if (strcmp(session->saved.items[i].file, file) == 0)
			return TALLY_OK;
	enum tally_status status = ftrace_file_text(&session->files, file, &value, err);
	if (status != TALLY_OK)
		return error_prefix(err, "ftrace needs to change it");
	struct ftrace_saved saved = {.value = value};
	snprintf(saved.file, sizeof(saved.file), "%s", file);
	if (ftrace_is_list(file)) {
		if (!ftrace_list_is_empty(value))
			status = error_set(err, TALLY_DENIED,
				"%s/%s is not empty: somebody else traces there; end that trace or empty the file "
				"first",
				session->files.top, file);
		free(value);
		saved.value = NULL;
	} else {
		value[strcspn(value, " \n")] = '\0'; /* The value may be "7 (expanded: 1408)". */
	}
	if (status == TALLY_OK)
		status = ftrace_session_mark(session, err);
	if (status == TALLY_OK && vec_push(&session->saved, saved))
		return TALLY_OK;
	free(saved.value);
	return status == TALLY_OK ? error_nomem(err) : status;
}

/* Returns the file of the session's own directory if it exists there, and otherwise that at the top of tracefs. */
static const char *ftrace_session_find(const struct ftrace_session *session, const char *file, char room[FTRACE_PATH])
{
	const char *path = ftrace_session_path(session, file, room);
	return session->is_top || ftrace_file_exists(&session->files, path) ? path : file;
}

static enum tally_status ftrace_session_write(
	struct ftrace_session *session, const char *file, const char *value, bool is_appended, struct tally_error *err)
{
	char room[FTRACE_PATH];
	const char *path = ftrace_session_find(session, file, room);
	if (path == file) {
		enum tally_status status = ftrace_session_save(session, file, err);
		if (status != TALLY_OK)
			return status;
	}
	return ftrace_file_write(&session->files, path, value, is_appended, err);
}

/* ---- functions ---- */

enum tally_status ftrace_functions(const struct kernel_seam *kernel, bool (*take)(void *context, const char *name),
	void *context, struct tally_error *err)
{
	struct ftrace_files files;
	enum tally_status status = ftrace_files_find(kernel, &files, err);
	if (status != TALLY_OK)
		return status;
	int fd = ftrace_file_open(&files, "available_filter_functions");
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!file) {
		int errnum = errno;
		if (fd >= 0)
			close(fd);
		if (errnum == EPERM)
			return error_set(err, TALLY_DENIED,
				"cannot open %s/available_filter_functions: this kernel does not let functions be "
				"traced",
				files.top);
		return error_set_errno(err, errnum == ENOENT ? TALLY_UNSUPPORTED : TALLY_DENIED, errnum,
			"cannot open %s/available_filter_functions", files.top);
	}
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	bool goes_on = true;
	while (goes_on && (len = getline(&line, &cap, file)) >= 0) {
		if (len > 0 && line[len - 1] == '\n')
			line[len - 1] = '\0';
		goes_on = take(context, line);
	}
	status = ferror(file)
			 ? error_set_errno(err, TALLY_IO, errno, "cannot read %s/available_filter_functions", files.top)
			 : TALLY_OK;
	free(line);
	fclose(file);
	return status;
}

/* ---- the nearest function ---- */

static bool ftrace_session_gather(void *context, const char *name)
{
	struct name_list *names = context;
	char *copy = strndup(name, strcspn(name, " "));
	if (copy && vec_push(names, copy))
		return true;
	free(copy);
	return false;
}

/* Appends to the error the nearest name of a function that can be traced. */
static void ftrace_session_suggest(const struct ftrace_session *session, const char *function, struct tally_error *err)
{
	struct name_list names = {0};
	char said[sizeof(err->text)];
	if (!strpbrk(function, "*?:[") &&
		ftrace_functions(session->files.kernel, ftrace_session_gather, &names, NULL) == TALLY_OK) {
		size_t nearest = text_nearest((const char *const *)names.items, names.len, function);
		snprintf(said, sizeof(said), "%s", err->text);
		if (nearest != SIZE_MAX)
			error_set(err, err->status, "%.400s; did you mean '%.100s'?", said, names.items[nearest]);
	}
	name_list_deinit(&names);
}

/* ---- settings ---- */

enum tally_status ftrace_set(
	struct ftrace_session *session, const char *file, const char *value, const char *why, struct tally_error *err)
{
	char room[FTRACE_PATH];
	const char *path = ftrace_session_find(session, file, room);
	if (!ftrace_file_exists(&session->files, path))
		return error_set(err, TALLY_UNSUPPORTED, "%s is not supported by this kernel: tracefs has no file %s",
			why, file);
	char *old;
	if (!ftrace_is_list(file) && ftrace_file_text(&session->files, path, &old, NULL) == TALLY_OK) {
		bool is_set = strcmp(old, value) == 0;
		free(old);
		if (is_set)
			return TALLY_OK;
	}
	enum tally_status status = ftrace_session_write(session, file, value, ftrace_is_list(file), err);
	if (status == TALLY_NOT_FOUND && err)
		ftrace_session_suggest(session, value, err);
	return status == TALLY_OK ? status : error_prefix(err, "%s", why);
}

/* ---- opening ---- */

static enum tally_status ftrace_session_lacks(const struct ftrace_session *session, struct tally_error *err)
{
	char *text = NULL;
	enum tally_status status = ftrace_file_text(&session->files, "available_tracers", &text, err);
	if (status != TALLY_OK)
		return error_prefix(err, "ftrace needs root");
	status = error_set(err, TALLY_UNSUPPORTED,
		"this kernel has no tracer '%s': %s/available_tracers lists '%.200s'%s", session->tracer,
		session->files.top, text,
		strcmp(session->tracer, "function_graph") == 0
			? "; function_graph needs a kernel that was built with CONFIG_FUNCTION_GRAPH_TRACER"
			: "");
	free(text);
	return status;
}

static enum tally_status ftrace_session_use_top(struct ftrace_session *session, struct tally_error *err)
{
	char *current;
	enum tally_status status = ftrace_file_text(&session->files, "current_tracer", &current, err);
	if (status != TALLY_OK)
		return status;
	if (strcmp(current, "nop") != 0)
		status = error_set(err, TALLY_DENIED,
			"the tracer '%.60s' runs already, and this kernel has '%s' only once; end it first: echo nop > "
			"%s/current_tracer",
			current, session->tracer, session->files.top);
	free(current);
	session->is_top = true;
	return status;
}

static enum tally_status ftrace_session_place(struct ftrace_session *session, struct tally_error *err)
{
	char name[FTRACE_NAME_MAX], path[FTRACE_PATH];
	ftrace_instance_name(false, name);
	int errnum = ftrace_folder_make(&session->files, name);
	/* The directory is left by a killed session with this PID, or a session in another PID namespace uses it and
	 * makes the removal fail. */
	if (errnum == EEXIST && (errnum = ftrace_folder_remove(&session->files, name)) == 0)
		errnum = ftrace_folder_make(&session->files, name);
	if (errnum == EBUSY)
		return error_set(err, TALLY_DENIED,
			"%s/%s is in use by an ftrace that has the same PID in another PID namespace (a container); "
			"try again, with another PID",
			session->files.top, name);
	if (errnum == EACCES || errnum == EPERM)
		return error_set(
			err, TALLY_DENIED, "ftrace needs root: %s/%s cannot be made", session->files.top, name);
	if (errnum == EROFS)
		return error_set(err, TALLY_DENIED,
			"tracefs is mounted read-only here; as root: mount -o remount,rw %s", session->files.top);
	if (errnum == 0) {
		snprintf(session->instance, sizeof(session->instance), "%s", name);
		snprintf(path, sizeof(path), "%s/available_tracers", name);
		if (ftrace_file_has_word(&session->files, path, session->tracer))
			return TALLY_OK;
	}
	if (!ftrace_file_has_word(&session->files, "available_tracers", session->tracer))
		return ftrace_session_lacks(session, err);
	return ftrace_session_use_top(session, err);
}

enum tally_status ftrace_open(const struct kernel_seam *kernel, const char *tracer, struct diag *diag,
	struct ftrace_session **session, struct tally_error *err)
{
	struct ftrace_files files;
	enum tally_status status = ftrace_files_find(kernel, &files, err);
	if (status != TALLY_OK)
		return status;
	struct ftrace_session *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	*made = (struct ftrace_session){.files = files, .tracer = tracer, .hold_fd = -1, .pipe_fd = -1};
	ftrace_leftovers_remove(&files, diag);
	status = ftrace_session_place(made, err);
	if (status == TALLY_OK)
		status = ftrace_session_write(made, "tracing_on", "0", false, err);
	if (status == TALLY_OK)
		*session = made;
	else
		ftrace_close(made);
	return status;
}

enum tally_status ftrace_prepare(struct ftrace_session *session, struct tally_error *err)
{
	char room[FTRACE_PATH];
	enum tally_status status = ftrace_session_write(session, "current_tracer", session->tracer, false, err);
	if (status != TALLY_OK)
		return status;
	if (session->is_top) /* Removes the result of an earlier trace. */
		(void)ftrace_file_put(&session->files, "trace", "", false);
	session->pipe_fd = ftrace_file_open(&session->files, ftrace_session_path(session, "trace_pipe", room));
	return session->pipe_fd >= 0 ? TALLY_OK
				     : error_set_errno(err, TALLY_IO, errno, "cannot open %s/%s", session->files.top,
					       ftrace_session_path(session, "trace_pipe", room));
}

enum tally_status ftrace_heading(struct ftrace_session *session, char **heading, struct tally_error *err)
{
	char room[FTRACE_PATH];
	char *text;
	enum tally_status status =
		ftrace_file_text(&session->files, ftrace_session_path(session, "trace", room), &text, err);
	if (status != TALLY_OK)
		return status;
	size_t end = 0;
	while (text[end] == '#') {
		size_t len = strcspn(text + end, "\n");
		end += len + (text[end + len] == '\n');
	}
	/* ftrace_file_text removes the last newline. */
	bool is_whole = end == 0 || text[end - 1] == '\n';
	*heading = NULL;
	if (asprintf(heading, "%.*s%s", (int)end, text, is_whole ? "" : "\n") < 0)
		status = error_nomem(err);
	free(text);
	return status;
}

enum tally_status ftrace_start(struct ftrace_session *session, struct tally_error *err)
{
	return ftrace_session_write(session, "tracing_on", "1", false, err);
}

void ftrace_stop(struct ftrace_session *session)
{
	(void)ftrace_session_write(session, "tracing_on", "0", false, NULL);
}

int ftrace_pipe(const struct ftrace_session *session)
{
	return session->pipe_fd;
}

/* ---- closing ---- */

static void ftrace_session_restore(struct ftrace_session *session)
{
	size_t on = SIZE_MAX;
	for (size_t i = session->saved.len; i-- > 0;) {
		const struct ftrace_saved *saved = &session->saved.items[i];
		if (strcmp(saved->file, "tracing_on") == 0)
			on = i;
		else
			(void)ftrace_file_put(&session->files, saved->file, saved->value ? saved->value : "", false);
	}
	if (on != SIZE_MAX)
		(void)ftrace_file_put(&session->files, "tracing_on", session->saved.items[on].value, false);
}

void ftrace_close(struct ftrace_session *session)
{
	char name[FTRACE_NAME_MAX];
	if (!session)
		return;
	if (session->pipe_fd >= 0)
		close(session->pipe_fd);
	ftrace_session_restore(session);
	if (session->hold_fd >= 0)
		close(session->hold_fd);
	ftrace_instance_name(true, name);
	if (session->has_mark)
		(void)ftrace_folder_remove(&session->files, name);
	if (session->instance[0])
		(void)ftrace_folder_remove(&session->files, session->instance);
	for (size_t i = 0; i < session->saved.len; i++)
		free(session->saved.items[i].value);
	vec_free(&session->saved);
	free(session);
}
