/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/attr.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/standin/standin_refusal.h"
#include "kernel/standin/standin_ring.h"

#define STANDIN_NS_PER_S UINT64_C(1000000000)
#define POLL_MS		 20 /* Interval at which the rings are checked while a caller waits for them. */
#define HZ_MIN		 100
#define HZ_MAX		 1000

uint64_t standin_now(const struct perf_attr *attr)
{
	return clock_ns_of(attr && ATTR_HAS(attr, USE_CLOCKID) ? attr->clockid : CLOCK_MONOTONIC);
}

static struct standin_event *find_event(struct standin *s, int fd)
{
	uint32_t index = fd >= 0 && (size_t)fd < s->index_of_fd.len ? s->index_of_fd.items[fd] : 0;
	return index ? &s->events.items[index - 1] : NULL;
}

static bool is_measurable(const struct perf_attr *attr)
{
	return attr->type == EVENT_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK ||
		       attr->config == PERF_COUNT_SW_DUMMY);
}

/* The errno that the kernel would set; 0 if the event can be measured. */
static int refuse_event(const struct perf_attr *attr, pid_t pid, unsigned long flags)
{
	const uint64_t known = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID |
			       SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER |
			       SAMPLE_STACK_USER | SAMPLE_DATA_SRC | SAMPLE_WEIGHT;
	const uint64_t formats =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | READ_FORMAT_LOST;
	if (flags & ~(unsigned long)(PERF_FLAG_FD_CLOEXEC | PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT))
		return flags & PERF_FLAG_PID_CGROUP ? EACCES : EINVAL;
	if (!is_measurable(attr))
		return ENOENT;
	if (pid <= 0)
		return EACCES; /* Whole CPUs and this process itself cannot be traced. */
	if (attr->config != PERF_COUNT_SW_DUMMY && !ATTR_HAS(attr, EXCLUDE_KERNEL))
		/* This behaves like perf_event_paranoid 2: record then excludes the kernel and reports that. */
		return EACCES;
	if ((attr->sample_type & ~known) || (attr->read_format & ~formats) || ATTR_HAS(attr, WRITE_BACKWARD))
		return EINVAL;
	return 0;
}

static bool asks_for_samples(const struct perf_attr *attr)
{
	return attr->config != PERF_COUNT_SW_DUMMY && attr->sample_period_or_freq != 0;
}

/* All timers use the shortest period that an event requests. */
static void set_period(struct standin *s, const struct perf_attr *attr)
{
	if (!asks_for_samples(attr))
		return;
	uint64_t ns =
		ATTR_HAS(attr, FREQ) ? STANDIN_NS_PER_S / attr->sample_period_or_freq : attr->sample_period_or_freq;
	ns = MAX(ns, STANDIN_NS_PER_S / standin_max_hz());
	s->period_ns = s->period_ns ? MIN(ns, s->period_ns) : ns;
}

/* Returns 0 or an errno. */
static int add_event(struct standin *s, const struct standin_event *event)
{
	size_t fd = (size_t)event->fd;
	int answer = 0;
	if (!vec_reserve(&s->index_of_fd, fd + 1) || !vec_reserve(&s->events, s->events.len + 1))
		return ENOMEM;
	if (!standin_thread_find(s, event->target) || standin_thread_find(s, event->target)->target != event->target)
		answer = standin_ask(s, REQUEST_TRACE, event->target);
	if (answer != 0)
		return answer;
	while (s->index_of_fd.len <= fd)
		s->index_of_fd.items[s->index_of_fd.len++] = 0;
	s->events.items[s->events.len++] = *event;
	s->index_of_fd.items[fd] = (uint32_t)s->events.len;
	set_period(s, &event->attr);
	return event->is_enabled && asks_for_samples(&event->attr) ? standin_ask(s, REQUEST_TIMERS, 0) : 0;
}

static int standin_open(
	void *context, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	struct standin *s = context;
	(void)group_fd;
	errno = refuse_event(attr, pid, flags);
	if (errno)
		return -1;
	/* The eventfd only provides a descriptor number; nothing is read from it. */
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -1;
	pthread_mutex_lock(&s->lock);
	bool is_dummy = attr->config == PERF_COUNT_SW_DUMMY;
	struct standin_event event = {.attr = *attr,
		.layout = record_layout_make(attr, false),
		.target = pid,
		.cpu = cpu,
		.fd = fd,
		.output = s->events.len,
		.is_enabled = !ATTR_HAS(attr, DISABLED) && !is_dummy};
	if (is_dummy)
		event.attr.sample_period_or_freq = 0;
	int answer = add_event(s, &event);
	pthread_mutex_unlock(&s->lock);
	if (answer == 0)
		return fd;
	close(fd);
	errno = answer;
	return -1;
}

static void set_enabled(struct standin_event *event, bool is_enabled)
{
	uint64_t now = standin_now(NULL);
	if (event->is_enabled && !is_enabled)
		event->enabled_ns += now - event->enabled_at_ns;
	if (!event->is_enabled && is_enabled)
		event->enabled_at_ns = now;
	event->is_enabled = is_enabled;
}

static int standin_control(struct standin *s, struct standin_event *event, unsigned long request, void *argument)
{
	struct standin_event *other;
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
		set_enabled(event, request == PERF_EVENT_IOC_ENABLE);
		if (event->is_enabled && asks_for_samples(&event->attr))
			(void)standin_ask(s, REQUEST_TIMERS, 0);
		return 0;
	case PERF_EVENT_IOC_RESET:
		event->count_ns = 0;
		return 0;
	case PERF_EVENT_IOC_ID:
		*(uint64_t *)argument = standin_event_id(s, event);
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		other = find_event(s, (int)(intptr_t)argument);
		if (!other)
			break;
		event->output = other->output;
		return 0;
	default:
		break;
	}
	errno = EINVAL;
	return -1;
}

static int standin_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	struct standin *s = context;
	pthread_mutex_lock(&s->lock);
	struct standin_event *event = find_event(s, fd);
	int result = -1;
	errno = EBADF;
	if (event)
		result = standin_control(s, event, request, argument);
	pthread_mutex_unlock(&s->lock);
	return result;
}

static ssize_t standin_read(void *context, int fd, void *buffer, size_t size)
{
	struct standin *s = context;
	uint64_t words[5];
	size_t count = 0;
	pthread_mutex_lock(&s->lock);
	const struct standin_event *event = find_event(s, fd);
	if (event) {
		uint64_t enabled =
			event->enabled_ns + (event->is_enabled ? standin_now(NULL) - event->enabled_at_ns : 0);
		words[count++] = event->count_ns;
		if (event->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			words[count++] = enabled;
		if (event->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			words[count++] = enabled;
		if (event->attr.read_format & PERF_FORMAT_ID)
			words[count++] = standin_event_id(s, event);
		if (event->attr.read_format & READ_FORMAT_LOST)
			words[count++] = event->lost_total;
	}
	pthread_mutex_unlock(&s->lock);
	errno = event ? ENOSPC : EBADF;
	if (!event || size < count * sizeof(words[0]))
		return -1;
	memcpy(buffer, words, count * sizeof(words[0]));
	return (ssize_t)(count * sizeof(words[0]));
}

static void *standin_mmap(void *context, size_t size, int protection, int fd, off_t offset)
{
	struct standin *s = context;
	(void)protection;
	pthread_mutex_lock(&s->lock);
	struct standin_event *event = find_event(s, fd);
	errno = offset ? EINVAL : EBADF;
	void *memory = event && offset == 0 ? standin_ring_map(event, size) : MAP_FAILED;
	pthread_mutex_unlock(&s->lock);
	return memory;
}

static int standin_munmap(void *context, void *address, size_t size)
{
	struct standin *s = context;
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->events.len; i++)
		if (s->events.items[i].control == address)
			s->events.items[i].control = NULL;
	pthread_mutex_unlock(&s->lock);
	return munmap(address, size);
}

static int standin_close(void *context, int fd)
{
	struct standin *s = context;
	pthread_mutex_lock(&s->lock);
	struct standin_event *event = find_event(s, fd);
	if (event) {
		event->is_closed = true;
		event->is_enabled = false;
		s->index_of_fd.items[fd] = 0;
	}
	pthread_mutex_unlock(&s->lock);
	return close(fd);
}

/* Adds the state of the rings to the poll results of the kernel, which does not know these events. */
static int add_news(struct standin *s, struct pollfd *fds, size_t count)
{
	int ready = 0;
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < count; i++) {
		const struct standin_event *event = find_event(s, fds[i].fd);
		bool is_half_full = event && event->control && standin_ring_filled(event) >= event->data_bytes / 2;
		if (event)
			fds[i].revents = event->has_hung_up ? POLLHUP : 0;
		if (is_half_full)
			fds[i].revents |= (short)(fds[i].events & POLLIN);
		ready += fds[i].revents != 0;
	}
	pthread_mutex_unlock(&s->lock);
	return ready;
}

static int standin_poll(void *context, void *pollfds, size_t count, int timeout_ms)
{
	struct standin *s = context;
	int64_t end = timeout_ms < 0 ? INT64_MAX : clock_ms() + timeout_ms;
	for (;;) {
		int64_t left = end == INT64_MAX ? POLL_MS : end - clock_ms();
		int result = poll(pollfds, count, (int)(left < 0 ? 0 : MIN(left, POLL_MS)));
		if (result < 0)
			return result;
		result = add_news(s, pollfds, count);
		if (result > 0 || (end != INT64_MAX && clock_ms() >= end))
			return result;
	}
}

static bool explain(void *context, pid_t pid, int errnum, struct text *reason)
{
	const struct standin *s = context;
	return standin_refusal(&s->seam, pid, errnum, reason);
}

/* CPU-time timers expire at the kernel's ticks. The resolution of this clock is the length of a tick. */
unsigned standin_max_hz(void)
{
	struct timespec tick = {0};
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec != 0 || tick.tv_nsec <= 0)
		return HZ_MIN;
	return (unsigned)MAX(HZ_MIN, MIN(HZ_MAX, (long)STANDIN_NS_PER_S / tick.tv_nsec));
}

void standin_release(struct standin *s)
{
	pthread_mutex_lock(&s->lock);
	(void)standin_ask(s, REQUEST_RELEASE, 0);
	pthread_mutex_unlock(&s->lock);
}

struct standin_losses standin_get_losses(struct standin *s)
{
	pthread_mutex_lock(&s->lock);
	struct standin_losses losses = s->losses;
	pthread_mutex_unlock(&s->lock);
	return losses;
}

/* The signal's only purpose is to interrupt a wait. */
static void wake_up(int number)
{
	(void)number;
}

enum tally_status standin_create(struct standin **standin, struct tally_error *err)
{
	const struct sigaction action = {.sa_handler = wake_up};
	const struct arch *arch = record_host_arch();
	struct standin *s = arch && arch->general_registers ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return arch ? error_nomem(err)
			    : error_set(err, TALLY_UNSUPPORTED, "the registers of this architecture are not known");
	s->arch = arch;
	s->random = clock_ns_of(CLOCK_MONOTONIC) | 1;
	s->stack = malloc(STANDIN_STACK_MAX);
	s->seam = (struct kernel_seam){.context = s,
		.root = "",
		.perf_event_open = standin_open,
		.ioctl = standin_ioctl,
		.read = standin_read,
		.mmap = standin_mmap,
		.munmap = standin_munmap,
		.close = standin_close,
		.poll = standin_poll,
		.explain = explain};
	struct thread_status own;
	if (thread_status_read(&s->seam, getpid(), &own))
		s->own_filters = own.filters;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->answered, NULL);
	pthread_cond_init(&s->asked, NULL);
	if (sigaction(STANDIN_SIGNAL, &action, NULL) != 0) {
		int errnum = errno;
		standin_destroy(s);
		return error_set_errno(err, TALLY_DENIED, errnum, "cannot handle a signal (rt_sigaction)");
	}
	s->has_engine = s->stack && pthread_create(&s->engine, NULL, standin_engine_run, s) == 0;
	if (!s->has_engine) {
		standin_destroy(s);
		return error_set(err, TALLY_LIMIT, "no thread or memory is left to trace a program with");
	}
	*standin = s;
	return TALLY_OK;
}

const struct kernel_seam *standin_seam(struct standin *s)
{
	return &s->seam;
}

void standin_destroy(struct standin *s)
{
	if (!s)
		return;
	if (s->has_engine) {
		pthread_mutex_lock(&s->lock);
		bool is_released = s->is_ending || s->is_broken; /* The engine's thread has already ended. */
		s->is_ending = true;
		pthread_cond_signal(&s->asked);
		if (!is_released)
			(void)pthread_kill(s->engine, STANDIN_SIGNAL);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->engine, NULL);
	}
	for (size_t i = 0; i < s->processes.len; i++)
		vec_free(&s->processes.items[i].stale_timers);
	vec_free(&s->events);
	vec_free(&s->index_of_fd);
	vec_free(&s->threads);
	vec_free(&s->processes);
	vec_free(&s->code);
	writer_deinit(&s->record);
	free(s->stack);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->answered);
	pthread_cond_destroy(&s->asked);
	free(s);
}
