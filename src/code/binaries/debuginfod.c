/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/own_home.h"
#include "base/shared_object.h"
#include "tally_config.h"

#define LIBRARY	      "libdebuginfod.so.1"
#define STALL_SECONDS 20 /* A download is aborted if no byte arrives for this long. */
/* Time that the child has left after the time budget; then SIGALRM ends it, even if the library hangs. */
#define GRACE_SECONDS 10
#define LOCK_NAME     ".tally.lock"

/* Functions that elfutils/debuginfod.h declares. They are loaded at run time, because linking would load 20 libraries
 * at every start. */
struct library {
	void *handle;
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find_debuginfo)(void *client, const unsigned char *id, int len, char **path);
	int (*find_executable)(void *client, const unsigned char *id, int len, char **path);
	void (*set_progress)(void *client, int (*call)(void *client, long done, long all));
};

struct message { /* Result that the child writes to the pipe. It is smaller than PIPE_BUF, so each write is atomic. */
	uint32_t index;
	uint32_t state;
	uint64_t bytes;
};

struct debuginfod_job {
	struct debuginfod_request *requests;
	size_t count;
	int from; /* Read end of the pipe. */
	bool is_over;
};

/* The state of the downloading child process; debuginfod's progress callback has no argument for a context. */
static struct {
	uint64_t bytes_left;
	time_t deadline, last_moved;
	long last_done;
	bool is_over_budget;
} child;

static bool load_library(struct library *library)
{
	*library = (struct library){.handle = shared_object_open(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
	if (!library->handle)
		return false;
	*(void **)&library->begin = dlsym(library->handle, "debuginfod_begin");
	*(void **)&library->end = dlsym(library->handle, "debuginfod_end");
	*(void **)&library->find_debuginfo = dlsym(library->handle, "debuginfod_find_debuginfo");
	*(void **)&library->find_executable = dlsym(library->handle, "debuginfod_find_executable");
	*(void **)&library->set_progress = dlsym(library->handle, "debuginfod_set_progressfn");
	return library->begin && library->end && library->find_debuginfo && library->find_executable &&
	       library->set_progress;
}

static const char *cache_folder(struct arena *arena)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH");
	char home[PATH_MAX], xdg[PATH_MAX];
	bool has_home = own_home(home);
	struct stat info;
	if (own)
		return own;
	/* libdebuginfod uses its old location if it exists. */
	const char *old = has_home ? arena_printf(arena, "%s/.debuginfod_client_cache", home) : NULL;
	if (old && stat(old, &info) == 0)
		return old;
	if (own_cache_home(xdg))
		return arena_printf(arena, "%s/debuginfod_client", xdg);
	return has_home ? arena_printf(arena, "%s/.cache/debuginfod_client", home) : NULL;
}

const char *debuginfod_cached(struct arena *arena, struct elf_build_id id, const char *file)
{
	const char *folder = cache_folder(arena);
	struct stat info;
	char hex[2 * ELF_BUILD_ID_MAX + 1] = "";
	for (size_t i = 0; i < id.size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
	if (!folder || !*hex || stat(folder, &info) != 0)
		return NULL;
	const char *path = arena_printf(arena, "%s/%s/%s", folder, hex, file);
	/* libdebuginfod marks files that no server has with an empty file. */
	return path && stat(path, &info) == 0 && info.st_size == 0 ? NULL : path;
}

/* The library calls this repeatedly during a download; a nonzero result aborts it. */
static int debuginfod_watch(void *client, long done, long all)
{
	time_t now = time(NULL);
	if (done != child.last_done) {
		child.last_done = done;
		child.last_moved = now;
	}
	if (now >= child.deadline || (done > 0 && (uint64_t)done > child.bytes_left) ||
		(all > 0 && (uint64_t)all > child.bytes_left))
		child.is_over_budget = true;
	return child.is_over_budget || now - child.last_moved > STALL_SECONDS;
}

static enum debuginfod_state check_file(const struct debuginfod_request *request, const char *path, uint64_t *bytes)
{
	struct stat info;
	struct elf_build_id id = {0};
	*bytes = stat(path, &info) == 0 && info.st_size > 0 ? (uint64_t)info.st_size : 0;
	if (elf_file_build_id(path, &id, NULL) == TALLY_OK && id.size == request->id.size &&
		memcmp(id.bytes, request->id.bytes, id.size) == 0)
		return DEBUGINFOD_FETCHED;
	unlink(path);
	return DEBUGINFOD_WRONG;
}

static enum debuginfod_state debuginfod_fetch(
	const struct library *library, const struct debuginfod_request *request, uint64_t *bytes)
{
	char *path = NULL;
	char limit[24];
	void *client = library->begin();
	*bytes = 0;
	if (!client)
		return DEBUGINFOD_FAILED;
	/* The library compares this limit with the size that the server reports before the download. */
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)child.bytes_left);
	setenv("DEBUGINFOD_MAXSIZE", limit, 1);
	child.last_moved = time(NULL);
	child.last_done = -1;
	library->set_progress(client, debuginfod_watch);
	int fd = (request->wants_program ? library->find_executable : library->find_debuginfo)(
		client, request->id.bytes, request->id.size, &path);
	library->end(client);
	enum debuginfod_state state = DEBUGINFOD_FETCHED;
	if (fd >= 0 && path)
		state = check_file(request, path, bytes);
	else if (child.is_over_budget || fd == -EFBIG)
		state = DEBUGINFOD_OVER_BUDGET;
	else
		state = fd == -ENOENT ? DEBUGINFOD_ABSENT : DEBUGINFOD_FAILED;
	if (fd >= 0)
		close(fd);
	free(path);
	return state;
}

_Noreturn static void debuginfod_run_child(const struct debuginfod_options *options, const struct library *library,
	const struct debuginfod_request *requests, size_t count, int to)
{
	signal(SIGPIPE, SIG_IGN); /* The parent may have exited, in which case writes to the pipe fail with EPIPE. */
	alarm((unsigned)(MIN(options->seconds_max, 100000)) + GRACE_SECONDS);
	if (options->urls && *options->urls && strcmp(options->urls, "system") != 0)
		setenv("DEBUGINFOD_URLS", options->urls, 1);
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
	child.bytes_left = options->bytes_max;
	child.deadline = time(NULL) + (time_t)(MIN(options->seconds_max, INT32_MAX));
	for (size_t i = 0; i < count; i++) {
		struct message message = {.index = (uint32_t)i, .state = DEBUGINFOD_OVER_BUDGET};
		child.is_over_budget = child.bytes_left == 0 || time(NULL) >= child.deadline;
		if (!child.is_over_budget)
			message.state = debuginfod_fetch(library, &requests[i], &message.bytes);
		child.bytes_left -= MIN(message.bytes, child.bytes_left);
		(void)!write(to, &message, sizeof(message));
	}
	_exit(0);
}

/* Detaches the child from the terminal and closes all inherited files except the pipe and the lock. */
static void debuginfod_detach(int keep, int lock)
{
	int null = open("/dev/null", O_RDWR);
	setsid();
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	long last = sysconf(_SC_OPEN_MAX);
	last = last > 0 && last < 65536 ? last : 65536;
	for (int fd = 3; fd < last; fd++)
		if (fd != keep && fd != lock)
			close(fd);
	if (nice(10) == -1)
		errno = 0;
	/* libdebuginfod finds its cache by these variables, which may name another user's folders, as with sudo. */
	char home[PATH_MAX];
	if (!own_cache_home(home))
		unsetenv("XDG_CACHE_HOME");
	if (own_home(home))
		setenv("HOME", home, 1);
}

static enum tally_status take_lock(int *lock, struct tally_error *err)
{
	struct arena arena;
	arena_init(&arena);
	const char *folder = cache_folder(&arena);
	const char *path = folder ? arena_printf(&arena, "%s/" LOCK_NAME, folder) : NULL;
	enum tally_status status = path ? file_make_parents(path, err)
					: error_set(err, TALLY_NOT_FOUND, "no cache for debuginfod: HOME is not set");
	if (status == TALLY_OK) {
		*lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (*lock < 0)
			status = error_set_errno(err, TALLY_IO, errno, "cannot write %s", path);
		else if (flock(*lock, LOCK_EX | LOCK_NB) != 0) {
			close(*lock);
			status = error_set(err, TALLY_END, "an earlier report's debuginfod is still fetching");
		}
	}
	arena_deinit(&arena);
	return status;
}

/* Forks twice: the intermediate process exits at once, so that the caller need not wait for the download. */
static enum tally_status start_child(const struct debuginfod_options *options, const struct library *library,
	const struct debuginfod_job *job, const int ends[2], int lock, struct tally_error *err)
{
	(void)err;
	pid_t pid = fork();
	if (pid < 0)
		return error_set_errno(err, TALLY_IO, errno, "fork for debuginfod");
	if (pid > 0) {
		(void)wait_for_process(pid, NULL, 0);
		return TALLY_OK;
	}
	if (fork() != 0)
		_exit(0);
	debuginfod_detach(ends[1], lock);
	debuginfod_run_child(options, library, job->requests, job->count, ends[1]);
}

enum tally_status debuginfod_start(const struct debuginfod_options *options, struct debuginfod_request *requests,
	size_t count, struct debuginfod_job **out, struct tally_error *err)
{
	const char *system = getenv("DEBUGINFOD_URLS");
	bool is_named = options->urls && *options->urls && strcmp(options->urls, "system") != 0;
	struct library library;
	int ends[2];
	int lock;
	if (!is_named && (!system || !*system))
		return error_set(err, TALLY_NOT_FOUND,
			"--debuginfod: no server is named, neither by the option nor by DEBUGINFOD_URLS");
	if (!HAVE_DLOPEN)
		return error_set(err, TALLY_UNSUPPORTED, "--debuginfod needs " LIBRARY ": %s", shared_object_error());
	if (!load_library(&library))
		return error_set(err, TALLY_UNSUPPORTED,
			"--debuginfod needs " LIBRARY
			": install libdebuginfod1 (Debian, Ubuntu) or elfutils-debuginfod-client (Fedora)");
	enum tally_status status = take_lock(&lock, err);
	if (status != TALLY_OK)
		return status;
	struct debuginfod_job *job = calloc(1, sizeof(*job));
	if (!job || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
		status = job ? error_set_errno(err, TALLY_IO, errno, "pipe for debuginfod") : error_nomem(err);
	} else {
		*job = (struct debuginfod_job){.requests = requests, .count = count, .from = ends[0]};
		status = start_child(options, &library, job, ends, lock, err);
		close(ends[1]);
		if (status != TALLY_OK)
			close(ends[0]);
	}
	close(lock);
	if (status != TALLY_OK) {
		free(job);
		return status;
	}
	*out = job;
	return TALLY_OK;
}

bool debuginfod_look(struct debuginfod_job *job)
{
	struct message message;
	ssize_t n = 1;
	while (!job->is_over && (n = read(job->from, &message, sizeof(message))) == sizeof(message)) {
		if (message.index >= job->count)
			continue;
		job->requests[message.index].state = (enum debuginfod_state)message.state;
		job->requests[message.index].bytes = message.bytes;
	}
	job->is_over = job->is_over || n == 0;
	return job->is_over;
}

void debuginfod_leave(struct debuginfod_job *job)
{
	if (!job)
		return;
	close(job->from);
	free(job);
}
