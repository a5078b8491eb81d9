/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_fd.c - implements tally/fd.h: perf_event_open and its ioctls, with an explanation of each refusal.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <tally/fd.h>
#include <unistd.h>

#include "abi/event_name.h"
#include "abi/names.h"
#include "base/array.h"
#include "base/error.h"
#include "kernel/counting/read_format.h"
#include "kernel/counting/scaling.h"
#include "kernel/events/attr_bytes.h"
#include "kernel/events/breakpoint_probe.h"
#include "kernel/events/privileges.h"

#define TRAP_OF_EVENT	 6 /* TRAP_PERF of asm-generic/siginfo.h, which the C library's header lacks. */
#define TRAP_FLAG_ASYNC	 1u
#define VALUES_ON_STACK	 32
#define BPF_IDS_MAX	 65536
#define IOC_MODIFY_ATTRS _IOW('$', 11, void *)

int tally_fd_open(const void *bytes, pid_t pid, int cpu, int group_fd, unsigned long flags, struct tally_error *err)
{
	const struct kernel_seam *kernel = kernel_seam_linux();
	struct event_spec spec = {0};
	if (attr_from_bytes(bytes, &spec.attr, err) != TALLY_OK)
		return -1;
	int fd = event_open(kernel, &spec.attr, pid, cpu, group_fd, flags);
	if (fd >= 0)
		return fd;
	int errnum = errno;
	struct text name = {0};
	if (spec.attr.type == EVENT_BREAKPOINT)
		event_name_of_attr(&name, &spec.attr);
	else
		event_name_append(&name, spec.attr.type, spec.attr.config);
	text_char(&name, '\0');
	spec.name = name.failed ? "event" : name.data;
	refusal_explain(kernel, &spec, pid, cpu, errnum, err);
	text_deinit(&name);
	return -1;
}

enum tally_status tally_fd_read(int fd, uint64_t read_format, struct tally_reading *reading,
	struct tally_reading_value *values, size_t room, struct tally_error *err)
{
	const struct kernel_seam *kernel = kernel_seam_linux();
	uint64_t on_stack[READING_WORDS(VALUES_ON_STACK)], *words = on_stack;
	size_t size = READING_WORDS(room ? room : 1) * sizeof(*words);
	if (room > VALUES_ON_STACK && !(words = malloc(size)))
		return error_nomem(err);
	ssize_t n = kernel->read(kernel->context, fd, words, size);
	enum tally_status status;
	if (n < 0 && errno == ENOSPC)
		status = error_set(err, TALLY_LIMIT, "the group has more events than there is room for (%zu)", room);
	else if (n < 0)
		status = error_set_errno(err, TALLY_IO, errno, "cannot read the event");
	else
		status = reading_decode(words, (size_t)n / sizeof(*words), read_format, reading, values, room);
	if (n >= 0 && status == TALLY_LIMIT)
		error_set(err, status, "the group has more events than there is room for (%zu)", room);
	else if (n >= 0 && status != TALLY_OK)
		error_set(err, status, "the event was not opened with read_format %#llx",
			(unsigned long long)read_format);
	if (words != on_stack)
		free(words);
	return status;
}

uint64_t tally_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	return count_scale((struct count){value, enabled_ns, running_ns});
}

/* The argument is a value or an address, depending on the request. */
static enum tally_status tally_fd_control(
	int fd, unsigned long request, uintptr_t argument, const char *what, struct tally_error *err)
{
	const struct kernel_seam *kernel = kernel_seam_linux();
	if (kernel->ioctl(kernel->context, fd, request, (void *)argument) >= 0)
		return TALLY_OK;
	enum tally_status status = errno == EINVAL		       ? TALLY_INVALID
				   : errno == EACCES || errno == EPERM ? TALLY_DENIED
								       : TALLY_IO;
	return error_set_errno(err, status, errno, "cannot %s the event", what);
}

enum tally_status tally_fd_enable(int fd, bool is_group, struct tally_error *err)
{
	return tally_fd_control(fd, PERF_EVENT_IOC_ENABLE, is_group ? PERF_IOC_FLAG_GROUP : 0, "enable", err);
}

enum tally_status tally_fd_disable(int fd, bool is_group, struct tally_error *err)
{
	return tally_fd_control(fd, PERF_EVENT_IOC_DISABLE, is_group ? PERF_IOC_FLAG_GROUP : 0, "disable", err);
}

enum tally_status tally_fd_reset(int fd, bool is_group, struct tally_error *err)
{
	return tally_fd_control(fd, PERF_EVENT_IOC_RESET, is_group ? PERF_IOC_FLAG_GROUP : 0, "reset", err);
}

enum tally_status tally_fd_refresh(int fd, unsigned overflows, struct tally_error *err)
{
	if (overflows == 0)
		return error_set(err, TALLY_INVALID, "a refresh needs at least one overflow");
	return tally_fd_control(fd, PERF_EVENT_IOC_REFRESH, overflows, "refresh", err);
}

enum tally_status tally_fd_set_period(int fd, uint64_t period, struct tally_error *err)
{
	if (period == 0)
		return error_set(err, TALLY_INVALID, "the period must not be 0");
	return tally_fd_control(fd, PERF_EVENT_IOC_PERIOD, (uintptr_t)&period, "set the period of", err);
}

enum tally_status tally_fd_set_output(int fd, int ring_fd, struct tally_error *err)
{
	return tally_fd_control(fd, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)(intptr_t)ring_fd, "redirect", err);
}

enum tally_status tally_fd_set_filter(int fd, const char *filter, struct tally_error *err)
{
	return tally_fd_control(fd, PERF_EVENT_IOC_SET_FILTER, (uintptr_t)filter, "filter", err);
}

enum tally_status tally_fd_id(int fd, uint64_t *id, struct tally_error *err)
{
	uint64_t got;
	enum tally_status status = tally_fd_control(fd, PERF_EVENT_IOC_ID, (uintptr_t)&got, "identify", err);
	if (status == TALLY_OK)
		*id = got;
	return status;
}

enum tally_status tally_fd_set_bpf(int fd, int program_fd, struct tally_error *err)
{
	return tally_fd_control(
		fd, PERF_EVENT_IOC_SET_BPF, (uintptr_t)(intptr_t)program_fd, "attach a BPF program to", err);
}

enum tally_status tally_fd_query_bpf(int fd, uint32_t *ids, size_t room, size_t *count, struct tally_error *err)
{
	room = MIN(room, BPF_IDS_MAX);
	/* Layout of struct perf_event_query_bpf: room, count, ids. */
	uint32_t *query = calloc(2 + room, sizeof(*query));
	if (!query)
		return error_nomem(err);
	query[0] = (uint32_t)room;
	enum tally_status status =
		tally_fd_control(fd, PERF_EVENT_IOC_QUERY_BPF, (uintptr_t)query, "ask for BPF programs of", err);
	bool is_short = status != TALLY_OK && errno == ENOSPC;
	if (is_short)
		status = error_set(
			err, TALLY_LIMIT, "%u BPF programs are attached, and there is room for %zu", query[1], room);
	if (status == TALLY_OK || is_short) {
		size_t given = MIN(query[1], room);
		if (given)
			memcpy(ids, query + 2, given * sizeof(*ids));
		*count = query[1];
	}
	free(query);
	return status;
}

enum tally_status tally_fd_pause_output(int fd, bool is_paused, struct tally_error *err)
{
	return tally_fd_control(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, is_paused, "pause the output of", err);
}

enum tally_status tally_fd_modify(int fd, const void *attr, struct tally_error *err)
{
	return tally_fd_control(fd, IOC_MODIFY_ATTRS, (uintptr_t)attr, "modify", err);
}

static enum tally_status task_control(int operation, const char *what, struct tally_error *err)
{
	if (prctl(operation, 0, 0, 0, 0) == 0)
		return TALLY_OK;
	return error_set_errno(
		err, errno == EINVAL ? TALLY_UNSUPPORTED : TALLY_IO, errno, "cannot %s own events", what);
}

enum tally_status tally_task_enable(struct tally_error *err)
{
	return task_control(PR_TASK_PERF_EVENTS_ENABLE, "enable", err);
}

enum tally_status tally_task_disable(struct tally_error *err)
{
	return task_control(PR_TASK_PERF_EVENTS_DISABLE, "disable", err);
}

enum tally_status tally_fd_wait(int fd, int timeout_ms, enum tally_wake *wake, struct tally_error *err)
{
	const struct kernel_seam *kernel = kernel_seam_linux();
	struct pollfd poll = {.fd = fd, .events = POLLIN};
	if (kernel->poll(kernel->context, &poll, 1, timeout_ms) < 0 && errno != EINTR)
		return error_set_errno(err, TALLY_IO, errno, "cannot wait for the event");
	if (poll.revents & POLLNVAL)
		return error_set_errno(err, TALLY_IO, EBADF, "cannot wait for the event");
	if (poll.revents & POLLIN)
		*wake = TALLY_WAKE_OVERFLOW;
	else
		*wake = poll.revents & (POLLHUP | POLLERR) ? TALLY_WAKE_HANGUP : TALLY_WAKE_TIMEOUT;
	return TALLY_OK;
}

static pid_t self_id(enum tally_owner owner)
{
	switch (owner) {
	case TALLY_OWNER_THREAD:
		return gettid();
	case TALLY_OWNER_PROCESS:
		return getpid();
	case TALLY_OWNER_GROUP:
		break;
	}
	return getpgrp();
}

enum tally_status tally_fd_signal(int fd, int signal, enum tally_owner owner, pid_t id, struct tally_error *err)
{
	static const __typeof__(((struct f_owner_ex *)NULL)->type) kinds[] = {[TALLY_OWNER_THREAD] = F_OWNER_TID,
		[TALLY_OWNER_PROCESS] = F_OWNER_PID,
		[TALLY_OWNER_GROUP] = F_OWNER_PGRP};
	if ((unsigned)owner >= ARRAY_LEN(kinds))
		return error_set(err, TALLY_INVALID, "%d is not a kind of owner", (int)owner);
	int flags = fcntl(fd, F_GETFL);
	bool ok = flags >= 0;
	if (ok && signal) {
		struct f_owner_ex who = {.type = kinds[owner], .pid = id ? id : self_id(owner)};
		ok = fcntl(fd, F_SETOWN_EX, &who) == 0 && fcntl(fd, F_SETSIG, signal) == 0;
	}
	if (ok)
		ok = fcntl(fd, F_SETFL, signal ? flags | O_ASYNC : flags & ~O_ASYNC) == 0;
	if (ok)
		return TALLY_OK;
	enum tally_status status = errno == ESRCH ? TALLY_NOT_FOUND : errno == EINVAL ? TALLY_INVALID : TALLY_IO;
	return error_set_errno(err, status, errno, "cannot have signal %d sent at overflows", signal);
}

/* Returns whether the kernel sends this signal with codes of its own, some of which equal those of events. */
static bool has_other_codes(int signal)
{
	return signal == SIGCHLD || signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP || signal == SIGSYS;
}

void tally_signal_decode(const void *siginfo, struct tally_signal *decoded)
{
	const siginfo_t *info = siginfo;
	*decoded = (struct tally_signal){.fd = -1};
	if (info->si_signo == SIGTRAP && info->si_code == TRAP_OF_EVENT) {
		/* The address is followed by unsigned long data, u32 type and u32 flags. */
		const uint8_t *at = (const uint8_t *)&info->si_addr + sizeof(info->si_addr);
		unsigned long data;
		uint32_t type, flags;
		memcpy(&data, at, sizeof(data));
		memcpy(&type, at + sizeof(data), sizeof(type));
		memcpy(&flags, at + sizeof(data) + sizeof(type), sizeof(flags));
		decoded->kind = TALLY_SIGNAL_TRAP;
		decoded->sig_data = data;
		decoded->type = type;
		decoded->address = (uintptr_t)info->si_addr;
		decoded->is_async = (flags & TRAP_FLAG_ASYNC) != 0;
	} else if (!has_other_codes(info->si_signo) && (info->si_code == POLL_IN || info->si_code == POLL_HUP)) {
		decoded->kind = info->si_code == POLL_IN ? TALLY_SIGNAL_OVERFLOW : TALLY_SIGNAL_LAST;
		decoded->fd = info->si_fd;
	}
}
