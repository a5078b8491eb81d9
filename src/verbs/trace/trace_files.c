/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"

#define PATH_ROOM		 4096
#define KERNEL_DEVICE_MINOR_BITS 20
#define FCNTL_DUP		 0 /* F_DUPFD */
#define FCNTL_DUP_CLO		 1030 /* F_DUPFD_CLOEXEC */

enum file_change { CHANGE_NONE, CHANGE_OPEN, CHANGE_CLOSE, CHANGE_CLOSE_RANGE, CHANGE_COPY, CHANGE_FCNTL, CHANGE_NEW };

/* Effects of calls on descriptors. of is the index of the argument with the path or the descriptor. */
static const struct {
	const char *name;
	enum file_change change;
	unsigned of;
} changes[] = {
	{"open", CHANGE_OPEN, 0},
	{"openat", CHANGE_OPEN, 1},
	{"openat2", CHANGE_OPEN, 1},
	{"creat", CHANGE_OPEN, 0},
	{"close", CHANGE_CLOSE, 0},
	{"close_range", CHANGE_CLOSE_RANGE, 0},
	{"dup", CHANGE_COPY, 0},
	{"dup2", CHANGE_COPY, 0},
	{"dup3", CHANGE_COPY, 0},
	{"fcntl", CHANGE_FCNTL, 0},
	{"fcntl64", CHANGE_FCNTL, 0},
	{"socket", CHANGE_NEW, 0},
	{"accept", CHANGE_NEW, 0},
	{"accept4", CHANGE_NEW, 0},
	{"epoll_create", CHANGE_NEW, 0},
	{"epoll_create1", CHANGE_NEW, 0},
	{"eventfd", CHANGE_NEW, 0},
	{"eventfd2", CHANGE_NEW, 0},
	{"timerfd_create", CHANGE_NEW, 0},
	{"signalfd4", CHANGE_NEW, 0},
	{"memfd_create", CHANGE_NEW, 0},
	{"inotify_init1", CHANGE_NEW, 0},
	{"perf_event_open", CHANGE_NEW, 0},
	{"pidfd_open", CHANGE_NEW, 0},
	{"userfaultfd", CHANGE_NEW, 0},
	{"io_uring_setup", CHANGE_NEW, 0},
};

/* Fills the table that maps numbers to an index in changes, plus 1. */
static void make_changes(struct trace_job *job, enum syscall_abi abi)
{
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		uint32_t number = syscall_number(abi, str_from(changes[i].name));
		if (number < SYSCALL_NUMBERS)
			job->file_changes[abi][number] = (uint8_t)(i + 1);
	}
	job->has_file_changes[abi] = true;
}

static struct tally_str read_link(struct trace_job *job, int32_t pid, int fd, char *room)
{
	char name[64];
	snprintf(name, sizeof(name), "/proc/%" PRId32 "/fd/%d", pid, fd);
	ssize_t len = readlink(name, room, PATH_ROOM);
	job->files_read += len > 0;
	return (struct tally_str){room, len > 0 ? (size_t)len : 0};
}

/* /proc is not read when a line is printed, because the descriptor may refer to another file by then. */
struct tally_str trace_files_find(void *context, uint32_t process, int fd)
{
	const struct trace_job *job = context;
	const char *known = job->follows_files ? trace_threads_file(&job->threads, (int32_t)process, fd) : NULL;
	return str_from(known ? known : "");
}

static bool is_that_file(int fd, const struct syscall_file *file)
{
	struct stat found;
	return fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_ino == file->inode &&
	       found.st_dev == makedev(file->device >> KERNEL_DEVICE_MINOR_BITS,
				       file->device & ((1u << KERNEL_DEVICE_MINOR_BITS) - 1));
}

bool trace_files_text(void *context, uint32_t pid, const struct syscall_named_file *named, char *room, size_t bytes,
	struct tally_str *text)
{
	const struct syscall_file *file = &named->file;
	char *beside = NULL;
	int fd = open(named->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && !is_that_file(fd, file)) {
		close(fd);
		fd = -1;
	}
	/* The path may be that of a container. */
	if (fd < 0 && asprintf(&beside, "/proc/%" PRIu32 "/root%s", pid, named->path) >= 0) {
		fd = open(beside, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		free(beside);
	}
	if (fd < 0)
		return false;
	ssize_t got =
		is_that_file(fd, file) && file->offset <= INT64_MAX ? pread(fd, room, bytes, (off_t)file->offset) : -1;
	close(fd);
	*text = (struct tally_str){room, got > 0 ? strnlen(room, (size_t)got) : 0};
	return got > 0 && text->len < (size_t)got;
}

static bool copy_file(struct trace_job *job, int32_t pid, int from, int to)
{
	const char *path = trace_threads_file(&job->threads, pid, from);
	return trace_threads_set_file(&job->threads, pid, to, path ? str_from(path) : (struct tally_str){NULL, 0});
}

static bool learn_open(struct trace_job *job, int32_t pid, const struct syscall_call *call, unsigned of)
{
	struct syscall_copied copied;
	struct tally_str path = {NULL, 0}; /* Without data, the path is unknown. */
	if (syscall_part_find(call, of, SYSCALL_ITEM_SELF, false, &copied) && !copied.is_truncated)
		path = (struct tally_str){
			(const char *)copied.bytes.data, strnlen((const char *)copied.bytes.data, copied.bytes.len)};
	return trace_threads_set_file(&job->threads, pid, (int)call->result, path);
}

bool trace_files_learn(struct trace_job *job, int32_t pid, const struct syscall_call *call)
{
	unsigned error;
	if (!job->follows_files || call->number >= SYSCALL_NUMBERS || !call->has_result || !call->has_args)
		return true;
	if (!job->has_file_changes[call->abi])
		make_changes(job, call->abi);
	unsigned index = job->file_changes[call->abi][call->number];
	if (index == 0)
		return true;
	enum file_change change = changes[index - 1].change;
	bool has_failed = syscall_result_failed(call->result, &error);
	if (change == CHANGE_CLOSE) /* Linux closes the descriptor even if the call fails. */
		trace_threads_forget_files(&job->threads, pid, (uint32_t)call->args[0], (uint32_t)call->args[0]);
	if (has_failed)
		return true;
	switch (change) {
	case CHANGE_OPEN:
		return learn_open(job, pid, call, changes[index - 1].of);
	case CHANGE_CLOSE_RANGE:
		trace_threads_forget_files(&job->threads, pid, (uint32_t)call->args[0], (uint32_t)call->args[1]);
		return true;
	case CHANGE_COPY:
		return copy_file(job, pid, (int)call->args[0], (int)call->result);
	case CHANGE_FCNTL:
		return (call->args[1] != FCNTL_DUP && call->args[1] != FCNTL_DUP_CLO) ||
		       copy_file(job, pid, (int)call->args[0], (int)call->result);
	case CHANGE_NEW:
		return trace_threads_set_file(&job->threads, pid, (int)call->result, (struct tally_str){"", 0});
	case CHANGE_NONE:
	case CHANGE_CLOSE:
		break;
	}
	return true;
}

/* True if an exec closes the descriptor. */
static bool is_close_on_exec(int32_t pid, const char *fd)
{
	char name[64 + 256], text[512];
	snprintf(name, sizeof(name), "/proc/%" PRId32 "/fdinfo/%.255s", pid, fd);
	FILE *file = fopen(name, "re");
	if (!file)
		return true;
	size_t len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = 0;
	const char *flags = strstr(text, "flags:");
	return !flags || (strtoul(flags + sizeof("flags:") - 1, NULL, 8) & O_CLOEXEC);
}

static bool trace_files_read(struct trace_job *job, int32_t pid, bool is_to_exec)
{
	char name[64], room[PATH_ROOM];
	bool is_done = true;
	snprintf(name, sizeof(name), "/proc/%" PRId32 "/fd", pid);
	DIR *folder = job->follows_files ? opendir(name) : NULL;
	const struct dirent *entry;
	while (folder && is_done && (entry = readdir(folder))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
			(is_to_exec && is_close_on_exec(pid, entry->d_name)))
			continue;
		int fd = atoi(entry->d_name);
		is_done = trace_threads_set_file(&job->threads, pid, fd, read_link(job, pid, fd, room));
	}
	if (folder)
		closedir(folder);
	return is_done;
}

bool trace_files_expect(struct trace_job *job, int32_t pid)
{
	bool is_done = trace_files_read(job, pid, true);
	struct trace_thread *process = trace_threads_find(&job->threads, pid);
	if (process)
		process->keeps_files = true;
	return is_done;
}

bool trace_files_begin(struct trace_job *job, const pid_t *tids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct trace_thread *thread = trace_threads_find(&job->threads, tids[i]);
		if (thread && thread->tid == thread->pid && !trace_files_read(job, thread->pid, false))
			return false;
	}
	return true;
}
