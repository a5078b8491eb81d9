/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "kernel/system/cpu_topology.h"

struct record_watch {
	struct recorder *recorder;
	int *cpus;
	size_t cpu_count;
};

enum tally_status record_watch_create(const struct kernel_seam *kernel, struct event_list *events, struct diag *diag,
	struct record_watch **watch, struct tally_error *err)
{
	static const pid_t everyone = -1;
	const uint64_t kept = ATTR_FLAG(ATTR_BIT_EXCLUDE_USER) | ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) |
			      ATTR_FLAG(ATTR_BIT_EXCLUDE_HV) | ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
	struct record_watch *w = calloc(1, sizeof(*w));
	if (!w)
		return error_nomem(err);
	/* Each event wakes the reader at once, and its sample contains only its ID. */
	for (size_t i = 0; i < events->len; i++) {
		struct perf_attr *attr = &events->specs[i].attr;
		attr->size = ATTR_SIZE_VER7;
		attr->sample_type = SAMPLE_IDENTIFIER;
		attr->read_format = READ_FORMAT_ID;
		attr->flags = (attr->flags & kept) | ATTR_FLAG(ATTR_BIT_WATERMARK);
		attr->wakeup = 1;
		if (attr->sample_period_or_freq == 0)
			attr->sample_period_or_freq = 1;
	}
	enum tally_status status = cpu_list_online(kernel, &w->cpus, &w->cpu_count, err);
	struct recorder_config config = {.kernel = kernel,
		.events = events,
		.cpus = w->cpus,
		.cpu_count = w->cpu_count,
		.threads = &everyone,
		.thread_count = 1,
		.ring_bytes = (size_t)sysconf(_SC_PAGESIZE),
		.diag = diag};
	if (status == TALLY_OK)
		status = recorder_create(&config, &w->recorder, err);
	if (status != TALLY_OK) {
		record_watch_destroy(w);
		return status;
	}
	*watch = w;
	return TALLY_OK;
}

void record_watch_destroy(struct record_watch *w)
{
	if (!w)
		return;
	recorder_destroy(w->recorder);
	free(w->cpus);
	free(w);
}

enum tally_status record_watch_add(const struct record_watch *w, int epoll_fd, uint32_t tag, struct tally_error *err)
{
	for (size_t i = 0; i < w->cpu_count; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u32 = tag};
		int fd = recorder_ring_fd(w->recorder, i);
		if (fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
			return error_set_errno(err, TALLY_IO, errno, "waiting for the switch output event");
	}
	return TALLY_OK;
}

static enum tally_status record_watch_drop(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	return TALLY_OK;
}

/* Returns whether an event has come since the last call. The result of epoll is not sufficient, because the kernel
 * clears a ring's readiness with the first poll. */
bool record_watch_has_come(struct record_watch *w)
{
	struct record_sink sink = {record_watch_drop, NULL};
	uint64_t bytes = 0;
	return recorder_drain(w->recorder, &sink, &bytes, NULL) == TALLY_OK && bytes > 0;
}
