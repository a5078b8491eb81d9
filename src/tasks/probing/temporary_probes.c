/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/temporary_probes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/interrupts.h"
#include "kernel/events/tracepoints.h"
#include "kernel/system/kernel_files.h"

#ifdef SYS_close_range
#define CLOSE_RANGE SYS_close_range
#else
#define CLOSE_RANGE 436 /* The number of the system call on every architecture. */
#endif
#define TEMPORARY_PROBES_PREFIX "tally_"
/* Maximum number of groups of one process: it makes one for each probe on its command line. */
#define TEMPORARY_PROBES_GROUPS 256
/* The guard retries for 20 seconds, within which the kernel closes the events of the process. */
#define TEMPORARY_PROBES_TRIES	  400
#define TEMPORARY_PROBES_WAIT_US  50000
#define TEMPORARY_PROBES_ALL_GONE '!' /* Message to the guard that all probes have been removed. */

static struct {
	const struct kernel_seam *kernel;
	pid_t owner;
	int guard_fd; /* Socket to the guard process. */
	char groups[TEMPORARY_PROBES_GROUPS][PROBE_EVENT_NAME_BYTES];
	size_t group_count;
	struct arena arena; /* Memory for the names of events. */
	VEC(struct probe_event) events;
} temporary_probes;

struct temporary_probes_owner {
	uint64_t pid, started, space; /* PID, start time in clock ticks, and inode number of the PID namespace. */
};

/* Returns the start time of a process in clock ticks, or 0 if no process has this PID. */
static uint64_t temporary_probes_started(const struct kernel_seam *kernel, uint64_t pid)
{
	char *text;
	uint64_t started = 0;
	if (kernel_text(kernel, &text, NULL, "/proc/%llu/stat", (unsigned long long)pid) != TALLY_OK)
		return 0;
	const char *behind = strrchr(text, ')'); /* The process name may contain blanks and parentheses. */
	struct tally_str rest = str_from(behind ? behind : ""), field = {0};
	for (int i = 0; i < 21; i++) /* Field 22 is the start time; ")" ends the second field. */
		if (!str_next(&rest, ' ', &field))
			break;
	if (!str_to_u64(field, 10, &started))
		started = 0;
	free(text);
	return started;
}

static uint64_t temporary_probes_space(void)
{
	struct stat st;
	return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Parses "tally_PID_STARTED_SPACE_NUMBER". */
static bool temporary_probes_parse(struct tally_str group, struct temporary_probes_owner *owner)
{
	uint64_t numbers[4];
	struct tally_str rest = group, part;
	if (!str_starts_with(group, STR(TEMPORARY_PROBES_PREFIX)))
		return false;
	rest = (struct tally_str){
		group.data + strlen(TEMPORARY_PROBES_PREFIX), group.len - strlen(TEMPORARY_PROBES_PREFIX)};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (!str_next(&rest, '_', &part) || !str_to_u64(part, 10, &numbers[i]))
			return false;
	*owner = (struct temporary_probes_owner){numbers[0], numbers[1], numbers[2]};
	return rest.len == 0;
}

size_t temporary_probes_sweep(const struct kernel_seam *kernel)
{
	struct probe_list list;
	size_t swept = 0;
	uint64_t space = temporary_probes_space();
	if (probe_list_read(kernel, &list, NULL) != TALLY_OK)
		return 0;
	for (size_t i = 0; i < list.events.len; i++) {
		struct temporary_probes_owner owner;
		const struct probe_event *event = &list.events.items[i];
		if (!event->is_user || !temporary_probes_parse(event->group, &owner) || owner.space != space ||
			temporary_probes_started(kernel, owner.pid) == owner.started)
			continue;
		swept += probe_files_remove(kernel, event, 1, NULL, NULL) == TALLY_OK;
	}
	probe_list_deinit(&list);
	return swept;
}

/* Runs in the guard. Each line ("-:group/event") is a separate write, so that a probe that no longer exists does not
 * prevent the removal of the others. */
static void temporary_probes_guard_remove(const char *file, char *lines)
{
	for (int tries = 0; tries < TEMPORARY_PROBES_TRIES; tries++) {
		bool is_busy = false;
		int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
		if (fd < 0)
			return;
		for (char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1)
			is_busy |= write(fd, line, (size_t)(end + 1 - line)) < 0 && errno == EBUSY;
		close(fd);
		if (!is_busy)
			return;
		usleep(TEMPORARY_PROBES_WAIT_US);
	}
}

/* Collects lines, each of which removes a probe, until the other end of the socket is closed, which happens when the
 * process ends; then removes the probes. */
static _Noreturn void temporary_probes_guard_run(int fd, const char *file)
{
	char *lines = NULL;
	size_t len = 0;
	unsigned interrupts = 0;
	for (;;) {
		char room[4096];
		ssize_t got = read(fd, room, sizeof(room));
		if (got < 0 && is_interrupted(&interrupts))
			continue;
		if (got <= 0)
			break;
		if (room[got - 1] == TEMPORARY_PROBES_ALL_GONE)
			_exit(0);
		char *more = realloc(lines, len + (size_t)got + 1);
		if (!more)
			break;
		lines = more;
		memcpy(lines + len, room, (size_t)got);
		len += (size_t)got;
		lines[len] = '\0';
	}
	if (lines)
		temporary_probes_guard_remove(file, lines);
	_exit(0);
}

/* Calls close_range(2), which not every C library has; Linux before 5.9 lacks it. */
static void temporary_probes_close(unsigned first, unsigned last)
{
	long limit = sysconf(_SC_OPEN_MAX);
	if (syscall(CLOSE_RANGE, first, last, 0) == 0)
		return;
	for (unsigned fd = first; fd <= last && (long)fd < limit; fd++)
		close((int)fd);
}

/* The guard keeps no descriptor of the caller open, because a reader of the caller's output waits until all of them
 * are closed. */
static void temporary_probes_guard_leave(int kept)
{
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		if (fd != kept)
			dup2(null, fd);
	if (kept > 3)
		temporary_probes_close(3, (unsigned)kept - 1);
	temporary_probes_close((unsigned)MAX(kept, 2) + 1, UINT_MAX);
	if (chdir("/") != 0)
		_exit(1);
	setsid(); /* The guard must not receive signals to the caller's process group. */
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

static enum tally_status temporary_probes_guard_start(const struct kernel_seam *kernel, struct tally_error *err)
{
	char file[PATH_MAX];
	int ends[2];
	snprintf(file, sizeof(file), "%s%s/uprobe_events", kernel->root, tracefs_directory(kernel));
	/* A pipe is not used, because a write to it raises SIGPIPE if the guard has ended. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot watch over temporary probes: socketpair");
	pid_t child = fork();
	/* A double fork makes init the parent of the guard, so this process does not have to wait for it. */
	if (child == 0) {
		pid_t guard = fork();
		if (guard != 0)
			_exit(guard < 0);
		close(ends[1]);
		temporary_probes_guard_leave(ends[0]);
		temporary_probes_guard_run(ends[0], file);
	}
	close(ends[0]);
	int status = 1;
	if (child < 0 || wait_for_process(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		close(ends[1]);
		return error_set(err, TALLY_IO, "cannot watch over temporary probes: no process can be started");
	}
	temporary_probes.guard_fd = ends[1];
	return TALLY_OK;
}

static enum tally_status temporary_probes_tell(struct tally_str text, struct tally_error *err)
{
	unsigned interrupts = 0;
	while (text.len > 0) {
		ssize_t sent = send(temporary_probes.guard_fd, text.data, text.len, MSG_NOSIGNAL);
		if (sent < 0 && is_interrupted(&interrupts))
			continue;
		if (sent <= 0)
			return error_set_errno(
				err, TALLY_IO, errno, "the process that watches over temporary probes is gone");
		text = (struct tally_str){text.data + sent, text.len - (size_t)sent};
	}
	return TALLY_OK;
}

void temporary_probes_remove(void)
{
	if (temporary_probes.owner != getpid())
		return; /* The process has no probes, or it is a child that has not called exec. */
	size_t count = temporary_probes.events.len;
	bool is_done = probe_files_remove(temporary_probes.kernel, temporary_probes.events.items, count, NULL, NULL) ==
		       TALLY_OK;
	char gone = TEMPORARY_PROBES_ALL_GONE;
	if (is_done)
		(void)!temporary_probes_tell((struct tally_str){&gone, 1}, NULL);
	close(temporary_probes.guard_fd);
	temporary_probes.owner = 0;
	vec_free(&temporary_probes.events);
	arena_deinit(&temporary_probes.arena);
}

static enum tally_status temporary_probes_start(const struct kernel_seam *kernel, struct tally_error *err)
{
	if (temporary_probes.owner == getpid())
		return TALLY_OK;
	(void)temporary_probes_sweep(kernel);
	enum tally_status status = temporary_probes_guard_start(kernel, err);
	if (status != TALLY_OK)
		return status;
	temporary_probes.kernel = kernel;
	temporary_probes.owner = getpid();
	arena_init(&temporary_probes.arena);
	return atexit(temporary_probes_remove) == 0 ? TALLY_OK : error_nomem(err);
}

static enum tally_status temporary_probes_keep(const struct probe_event *events, size_t count, struct tally_error *err)
{
	for (size_t i = 0; i < count; i++) {
		bool is_kept = false; /* Several places may share an event. */
		for (size_t k = 0; k < i && !is_kept; k++)
			is_kept = str_equal(events[k].event, events[i].event);
		if (is_kept)
			continue;
		struct probe_event event = {.kind = events[i].kind, .is_user = true, .group = events[i].group};
		event.event = (struct tally_str){
			arena_string(&temporary_probes.arena, events[i].event.data, events[i].event.len),
			events[i].event.len};
		if (!event.event.data || !vec_push(&temporary_probes.events, event))
			return error_nomem(err);
	}
	return TALLY_OK;
}

enum tally_status temporary_probes_add(
	const struct kernel_seam *kernel, struct probe_event *events, size_t count, struct tally_error *err)
{
	enum tally_status status = temporary_probes_start(kernel, err);
	if (status != TALLY_OK)
		return status;
	if (temporary_probes.group_count == TEMPORARY_PROBES_GROUPS)
		return error_set(err, TALLY_LIMIT, "more than %d probes of user programs in one command line",
			TEMPORARY_PROBES_GROUPS);
	char *group = temporary_probes.groups[temporary_probes.group_count];
	int pid = (int)getpid();
	snprintf(group, PROBE_EVENT_NAME_BYTES, TEMPORARY_PROBES_PREFIX "%d_%llu_%llu_%zu", pid,
		(unsigned long long)temporary_probes_started(kernel, (uint64_t)pid),
		(unsigned long long)temporary_probes_space(), temporary_probes.group_count);
	struct text lines = {0};
	for (size_t i = 0; i < count; i++) {
		events[i].group = str_from(group);
		text_printf(&lines, "-:%s/%.*s\n", group, (int)events[i].event.len, events[i].event.data);
	}
	/* The guard is informed before the probes are created, because this process may be killed at any time. */
	status = lines.failed ? error_nomem(err) : temporary_probes_tell(text_view(&lines), err);
	text_deinit(&lines);
	if (status == TALLY_OK)
		status = probe_files_add(kernel, events, count, 0, err);
	if (status != TALLY_OK)
		return status;
	temporary_probes.group_count++;
	return temporary_probes_keep(events, count, err);
}
