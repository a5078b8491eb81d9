/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/sample.h"
#include "base/checked.h"
#include "base/error.h"
#include "kernel/events/breakpoint_probe.h"
#include "kernel/events/event_filter.h"
#include "kernel/events/event_gates.h"
#include "kernel/events/privileges.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/recording/record_fallback.h"
#include "kernel/recording/ring_set.h"
#include "kernel/system/cpu_topology.h"
#include "kernel/system/fd_limit.h"
#include "kernel/system/surroundings.h"

#define READ_BYTES_MAX	     4096
#define RECORDER_FDS_OF_OURS 64 /* Number of descriptors to leave for the program's other files. */
#define RECORDER_NS_PER_S    UINT64_C(1000000000)

struct recorder {
	struct recorder_config config;
	const struct kernel_seam *kernel;
	/* Ordered by event, then CPU, then thread; fd is -1 if the thread had ended. */
	struct recorder_source *sources;
	size_t source_count, first_count; /* Sources after the first_count first ones were added by recorder_join. */
	bool is_stopped; /* Whether recorder_set_running has stopped all events. */
	int *cgroup_fds; /* One per event, -1 if it has no cgroup; present only while events are opened. */
	struct ring_set rings;
	struct affinity affinity;
	struct pollfd *polls; /* The last one is the caller's other_fd. */
	size_t poll_count;
	size_t live_count; /* Number of polls with a target that has not ended; SIZE_MAX in a system-wide recording. */
	bool has_news; /* Whether the last wait found data in the rings. */
	uint64_t *looked; /* Position in each ring up to which config.look has seen the data. */
};

static size_t source_index(const struct recorder *r, size_t event, size_t cpu, size_t thread)
{
	return (event * r->config.cpu_count + cpu) * r->config.thread_count + thread;
}

static void close_sources(struct recorder *r)
{
	for (size_t i = 0; i < r->source_count; i++) {
		if (r->sources[i].fd >= 0)
			r->kernel->close(r->kernel->context, r->sources[i].fd);
		r->sources[i].fd = -1;
	}
}

static enum tally_status explain_open(struct recorder *r, const struct event_spec *spec,
	const struct recorder_source *source, int errnum, struct tally_error *err)
{
	if (errnum != EMFILE)
		return refusal_explain(r->kernel, spec, source->thread, source->cpu, errnum, err);
	struct text remedy = {0};
	remedy_files(surroundings_find(r->kernel), r->source_count + RECORDER_FDS_OF_OURS, &remedy);
	enum tally_status status = error_set_errno(err, TALLY_LIMIT, errnum,
		"recording needs %zu open files (%zu events on %zu CPUs and %zu threads); try %.*s first",
		r->source_count + RECORDER_FDS_OF_OURS, r->config.events->len, r->config.cpu_count,
		r->config.thread_count, (int)remedy.len, remedy.data ? remedy.data : "");
	text_deinit(&remedy);
	return status;
}

/* Events of one kind of core, or of an uncore PMU, exist on some CPUs only. */
static bool has_cpu(const struct recorder_config *config, const struct event_spec *spec, size_t index)
{
	int *cpus, cpu = config->cpus[index];
	size_t count;
	if (config->measured_count && index >= config->measured_count && !spec->is_everywhere)
		return false;
	if (!spec->cpus || cpu < 0 || cpu_list_parse(str_from(spec->cpus), &cpus, &count, NULL) != TALLY_OK)
		return true;
	bool has = cpu_list_has(cpus, count, cpu);
	free(cpus);
	return has;
}

static void close_cgroups(struct recorder *r)
{
	for (size_t i = 0; r->cgroup_fds && i < r->config.events->len; i++)
		if (r->cgroup_fds[i] >= 0)
			close(r->cgroup_fds[i]);
	free(r->cgroup_fds);
	r->cgroup_fds = NULL;
}

static enum tally_status open_cgroups(struct recorder *r, struct tally_error *err)
{
	const struct event_list *events = r->config.events;
	r->cgroup_fds = malloc((events->len + 1) * sizeof(*r->cgroup_fds));
	if (!r->cgroup_fds)
		return error_nomem(err);
	for (size_t i = 0; i < events->len; i++)
		r->cgroup_fds[i] = -1;
	for (size_t i = 0; i < events->len; i++) {
		const char *path = events->specs[i].cgroup_path;
		if (!path)
			continue;
		r->cgroup_fds[i] = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
		if (r->cgroup_fds[i] < 0)
			return error_set_errno(err, errno == ENOENT ? TALLY_NOT_FOUND : TALLY_IO, errno,
				"cannot open cgroup %s", path);
	}
	return TALLY_OK;
}

static int call_open(const struct recorder *r, const struct recorder_source *source, int group_fd)
{
	const struct event_spec *spec = &r->config.events->specs[source->event];
	int cgroup_fd = r->cgroup_fds[source->event];
	return event_open(r->kernel, &spec->attr, cgroup_fd >= 0 ? cgroup_fd : source->thread, source->cpu, group_fd,
		PERF_FLAG_FD_CLOEXEC | (cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0));
}

/* Performs what must precede the first sample of an event. */
static enum tally_status recorder_prepare_source(
	const struct recorder *r, const struct recorder_source *source, struct tally_error *err)
{
	enum tally_status status =
		event_filter_set(r->kernel, &r->config.events->specs[source->event], source->fd, err);

	if (status == TALLY_OK && r->config.opened)
		status = r->config.opened(r->config.opened_context, source->event, source->fd, err);
	return status;
}

/* Opens one source; TALLY_END means that a fallback changed the events and all must be opened again. */
static enum tally_status recorder_open_source(struct recorder *r, size_t event, size_t cpu, size_t thread,
	struct record_fallback *fallback, struct tally_error *err)
{
	struct event_spec *spec = &r->config.events->specs[event];
	struct recorder_source *source = &r->sources[source_index(r, event, cpu, thread)];
	int group_fd = -1;
	source->event = (uint32_t)event;
	source->cpu = r->config.cpus[cpu];
	source->thread = spec->is_of_cpu ? -1 : r->config.threads[thread];
	source->ring = (uint32_t)(r->config.per_thread ? thread : cpu);
	if (!has_cpu(&r->config, spec, cpu) || (spec->is_of_cpu && thread > 0))
		return TALLY_OK;
	if (spec->leader != event) {
		group_fd = r->sources[source_index(r, spec->leader, cpu, thread)].fd;
		if (group_fd < 0)
			return TALLY_OK; /* The leader's thread has ended. */
	}
	source->fd = call_open(r, source, group_fd);
	if (source->fd >= 0)
		return recorder_prepare_source(r, source, err);

	int errnum = errno;
	enum refusal refusal = refusal_of(r->kernel, spec, errnum);
	if (refusal == REFUSAL_GONE && r->config.thread_count > 1)
		return TALLY_OK;
	if (refusal != REFUSAL_FDS && record_fallback_next(fallback, event, refusal, errnum))
		return TALLY_END;
	return explain_open(r, &r->config.events->specs[event], source, errnum, err);
}

static enum tally_status recorder_open_each(
	struct recorder *r, struct record_fallback *fallback, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t e = 0; e < r->config.events->len && status == TALLY_OK; e++)
		for (size_t c = 0; c < r->config.cpu_count && status == TALLY_OK; c++)
			for (size_t t = 0; t < r->config.thread_count && status == TALLY_OK; t++)
				status = recorder_open_source(r, e, c, t, fallback, err);
	return status;
}

/* Removed features are reported only after the opening has succeeded. */
static enum tally_status recorder_open_giving_way(
	struct recorder *r, struct record_fallback *fallback, struct tally_error *err)
{
	enum tally_status status;
	/* Each fallback removes one feature, so the loop ends. */
	while ((status = recorder_open_each(r, fallback, err)) == TALLY_END)
		close_sources(r);
	if (status == TALLY_OK)
		diag_add_all(r->config.diag, fallback->diag);
	return status;
}

static enum tally_status open_sources(struct recorder *r, struct tally_error *err)
{
	if (r->config.thread_count == 0)
		return error_set(err, TALLY_NOT_FOUND, "all threads to record have exited");
	/* A user who may not measure all processes of a CPU may not do so without the kernel either. */
	bool is_kept = r->config.keeps_kernel || r->config.threads[0] == -1;
	struct diag given_up;
	struct record_fallback fallback = {
		.kernel = r->kernel, .events = r->config.events, .keeps_kernel = is_kept, .diag = &given_up};
	size_t open_count = 0;

	diag_init(&given_up);
	enum tally_status status = recorder_open_giving_way(r, &fallback, err);
	diag_deinit(&given_up);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < r->source_count; i++)
		open_count += r->sources[i].fd >= 0;
	if (open_count == 0)
		return error_set(err, TALLY_NOT_FOUND, "all threads to record have exited");
	return TALLY_OK;
}

/* The first source of each ring is mapped, and the other sources write into that ring. */
static enum tally_status map_rings_of(struct recorder *r, size_t data_bytes, struct tally_error *err)
{
	size_t slots = r->config.per_thread ? r->config.thread_count : r->config.cpu_count;
	enum tally_status status = ring_set_init(&r->rings, r->kernel, slots, data_bytes, err);
	r->rings.is_backward = r->config.overwrites;
	for (size_t i = 0; status == TALLY_OK && i < r->source_count; i++)
		if (r->sources[i].fd >= 0)
			status = ring_set_add(&r->rings, r->sources[i].ring, r->sources[i].fd, err);
	if (status != TALLY_OK)
		ring_set_deinit(&r->rings);
	return status;
}

static enum tally_status map_rings(struct recorder *r, struct tally_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = r->config.ring_bytes;
	struct tally_error refused = {0};
	enum tally_status status;
	while ((status = map_rings_of(r, bytes, &refused)) == TALLY_LIMIT && bytes > page)
		bytes /= 2;
	if (status != TALLY_OK && status != TALLY_LIMIT) {
		if (err)
			*err = refused;
		return status;
	}
	struct text remedy = {0};
	remedy_locked_memory(surroundings_find(r->kernel), &remedy);
	if (status == TALLY_LIMIT)
		status = error_set_errno(err, TALLY_LIMIT, refused.errnum,
			"cannot map even one-page ring buffers: the limit of locked memory is too low; raise it with "
			"%.*s",
			(int)remedy.len, remedy.data ? remedy.data : "");
	else if (bytes != r->config.ring_bytes && !r->config.ring_may_shrink)
		diag_add(r->config.diag, DIAG_WARNING,
			"rings of %zu KiB instead of %zu KiB: the limit of locked memory allows no more; raise it with "
			"%.*s, or ask for less with -m",
			bytes / 1024, r->config.ring_bytes / 1024, (int)remedy.len, remedy.data ? remedy.data : "");
	text_deinit(&remedy);
	return status;
}

static enum tally_status recorder_read_ids(struct recorder *r, struct tally_error *err)
{
	for (size_t i = 0; i < r->source_count; i++) {
		struct recorder_source *s = &r->sources[i];
		if (s->fd >= 0 && r->kernel->ioctl(r->kernel->context, s->fd, PERF_EVENT_IOC_ID, &s->id) != 0)
			return error_set_errno(err, TALLY_IO, errno, "the kernel returned no ID for an open event");
	}
	return TALLY_OK;
}

/* A system-wide recording waits for its rings; a recording of threads also waits for their end, which each descriptor
 * of the first event reports. */
static enum tally_status make_polls(struct recorder *r, struct tally_error *err)
{
	bool is_system_wide = r->config.threads[0] == -1;
	r->polls = calloc(r->source_count + 1, sizeof(*r->polls));
	if (!r->polls)
		return error_nomem(err);
	for (size_t i = 0; i < r->source_count; i++) {
		const struct recorder_source *s = &r->sources[i];
		if (s->fd >= 0 && (s->event == 0 || s->fd == r->rings.slots[s->ring].fd))
			r->polls[r->poll_count++] = (struct pollfd){
				.fd = s->fd, .events = r->config.overwrites || r->config.drains_apart ? 0 : POLLIN};
	}
	r->live_count = is_system_wide ? SIZE_MAX : r->poll_count;
	return TALLY_OK;
}

enum tally_status recorder_create(
	const struct recorder_config *config, struct recorder **recorder, struct tally_error *err)
{
	struct recorder *r = calloc(1, sizeof(*r));
	enum tally_status status;
	if (!r)
		return error_nomem(err);
	r->config = *config;
	r->kernel = config->kernel;
	if (!checked_mul(config->events->len, config->cpu_count, &r->source_count) ||
		!checked_mul(r->source_count, config->thread_count, &r->source_count)) {
		free(r);
		return error_nomem(err);
	}
	r->sources = calloc(r->source_count ? r->source_count : 1, sizeof(*r->sources));
	if (!r->sources) {
		free(r);
		return error_nomem(err);
	}
	r->first_count = r->source_count;
	for (size_t i = 0; i < r->source_count; i++)
		r->sources[i].fd = -1;
	(void)fd_limit_make_room(r->source_count + RECORDER_FDS_OF_OURS);
	status = open_cgroups(r, err);
	if (status == TALLY_OK)
		status = open_sources(r, err);
	close_cgroups(r);
	if (status == TALLY_OK)
		status = map_rings(r, err);
	r->looked = status == TALLY_OK ? calloc(r->rings.len + 1, sizeof(*r->looked)) : NULL;
	if (status == TALLY_OK)
		status = r->looked ? recorder_read_ids(r, err) : error_nomem(err);
	if (status == TALLY_OK)
		status = make_polls(r, err);
	if (status == TALLY_OK)
		status = affinity_init(&r->affinity, r->kernel, config->per_thread ? AFFINITY_NONE : config->affinity,
			config->cpus, config->cpu_count, err);
	if (status != TALLY_OK) {
		recorder_destroy(r);
		return status;
	}
	*recorder = r;
	return TALLY_OK;
}

/* ---- threads that start later ---- */

/* Returns an element of sources that an ended thread has left, or a new one; NULL if memory allocation fails. */
static struct recorder_source *free_source(struct recorder *r)
{
	for (size_t i = r->first_count; i < r->source_count; i++)
		if (r->sources[i].fd < 0)
			return &r->sources[i];
	struct recorder_source *more = reallocarray(r->sources, r->source_count + 1, sizeof(*more));
	if (!more)
		return NULL;
	r->sources = more;
	return &more[r->source_count++];
}

static enum tally_status join_source(
	struct recorder *r, struct recorder_source *made, int group_fd, struct tally_error *err)
{
	const struct perf_attr *attr = &r->config.events->specs[made->event].attr;
	made->fd = call_open(r, made, group_fd);
	if (made->fd < 0)
		return TALLY_OK;
	enum tally_status status = recorder_prepare_source(r, made, err);
	if (status == TALLY_OK)
		status = ring_set_add(&r->rings, made->ring, made->fd, err);
	if (status == TALLY_OK && r->kernel->ioctl(r->kernel->context, made->fd, PERF_EVENT_IOC_ID, &made->id) != 0)
		status = error_set_errno(err, TALLY_IO, errno, "the kernel returned no ID for an open event");
	if (status == TALLY_OK && ATTR_HAS(attr, DISABLED) &&
		(!r->is_stopped || event_is_dummy(&r->config.events->specs[made->event])) &&
		r->kernel->ioctl(r->kernel->context, made->fd, PERF_EVENT_IOC_ENABLE, NULL) != 0)
		status = error_set_errno(err, TALLY_IO, errno, "an event cannot be enabled");
	struct recorder_source *place = status == TALLY_OK ? free_source(r) : NULL;
	if (place) {
		*place = *made;
		return TALLY_OK;
	}
	r->kernel->close(r->kernel->context, made->fd);
	made->fd = -1;
	return status == TALLY_OK ? error_nomem(err) : status;
}

/* Opens all events on one CPU; members of a group need its leader. */
static enum tally_status join_on_cpu(
	struct recorder *r, pid_t thread, size_t cpu, size_t *opened, struct tally_error *err)
{
	const struct event_list *events = r->config.events;
	int *fds = malloc((events->len + 1) * sizeof(*fds));
	enum tally_status status = fds ? TALLY_OK : error_nomem(err);
	for (size_t e = 0; status == TALLY_OK && e < events->len; e++) {
		const struct event_spec *spec = &events->specs[e];
		struct recorder_source made = {.event = (uint32_t)e,
			.cpu = r->config.cpus[cpu],
			.thread = thread,
			.ring = (uint32_t)cpu,
			.fd = -1};
		int leader = spec->leader == e ? -1 : fds[spec->leader];
		bool is_wanted = !spec->is_of_cpu && !spec->cgroup_path && has_cpu(&r->config, spec, cpu);
		if (is_wanted && (spec->leader == e || leader >= 0))
			status = join_source(r, &made, leader, err);
		fds[e] = made.fd;
		*opened += made.fd >= 0;
	}
	free(fds);
	return status;
}

enum tally_status recorder_join(
	struct recorder *r, const pid_t *threads, size_t thread_count, size_t *joined, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	*joined = 0;
	r->cgroup_fds = malloc((r->config.events->len + 1) * sizeof(*r->cgroup_fds));
	if (!r->cgroup_fds)
		return error_nomem(err);
	for (size_t e = 0; e < r->config.events->len; e++)
		r->cgroup_fds[e] = -1;
	for (size_t t = 0; t < thread_count && status == TALLY_OK; t++) {
		size_t opened = 0;
		for (size_t c = 0; c < r->config.cpu_count && status == TALLY_OK; c++)
			status = join_on_cpu(r, threads[t], c, &opened, err);
		*joined += opened > 0;
	}
	free(r->cgroup_fds);
	r->cgroup_fds = NULL;
	return status;
}

void recorder_forget_ended(struct recorder *r)
{
	for (size_t i = r->first_count; i < r->source_count; i++) {
		struct pollfd poll_fd = {.fd = r->sources[i].fd};
		if (poll_fd.fd < 0 || r->kernel->poll(r->kernel->context, &poll_fd, 1, 0) < 1 ||
			!(poll_fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
			continue;
		r->kernel->close(r->kernel->context, poll_fd.fd);
		r->sources[i].fd = -1;
	}
}

void recorder_destroy(struct recorder *r)
{
	if (!r)
		return;
	ring_set_deinit(&r->rings);
	affinity_deinit(&r->affinity);
	close_sources(r);
	free(r->sources);
	free(r->polls);
	free(r->looked);
	free(r);
}

const struct recorder_source *recorder_sources(const struct recorder *r, size_t *count)
{
	*count = r->source_count;
	return r->sources;
}

size_t recorder_ring_bytes(const struct recorder *r)
{
	return r->rings.data_bytes;
}

bool recorder_clock(const struct recorder *r, struct ring_clock *clock)
{
	for (size_t i = 0; i < r->rings.len; i++)
		if (r->rings.slots[i].fd >= 0)
			return ring_clock_read(&r->rings.slots[i].ring, clock);
	return false;
}

enum tally_status recorder_enable(struct recorder *r, struct tally_error *err)
{
	for (size_t i = 0; i < r->source_count; i++) {
		const struct recorder_source *s = &r->sources[i];
		const struct perf_attr *attr = &r->config.events->specs[s->event].attr;
		if (s->fd < 0 || !ATTR_HAS(attr, DISABLED) || ATTR_HAS(attr, ENABLE_ON_EXEC))
			continue;
		if (r->kernel->ioctl(r->kernel->context, s->fd, PERF_EVENT_IOC_ENABLE, NULL) != 0)
			return error_set_errno(err, TALLY_IO, errno, "an event cannot be enabled");
	}
	return TALLY_OK;
}

enum tally_status recorder_set_running(struct recorder *r, size_t event, bool is_running, struct tally_error *err)
{
	unsigned long request = is_running ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	if (event == RECORDER_ALL)
		r->is_stopped = !is_running;
	for (size_t i = 0; i < r->source_count; i++) {
		const struct recorder_source *s = &r->sources[i];
		bool is_meant =
			event == RECORDER_ALL ? !event_is_dummy(&r->config.events->specs[s->event]) : s->event == event;
		if (s->fd >= 0 && is_meant && r->kernel->ioctl(r->kernel->context, s->fd, request, NULL) != 0)
			return error_set_errno(
				err, TALLY_IO, errno, "an event cannot be %s", is_running ? "enabled" : "disabled");
	}
	return TALLY_OK;
}

void recorder_disable(struct recorder *r)
{
	r->config.flush_bytes = 0;
	for (size_t i = 0; i < r->source_count; i++)
		if (r->sources[i].fd >= 0)
			(void)r->kernel->ioctl(r->kernel->context, r->sources[i].fd, PERF_EVENT_IOC_DISABLE, NULL);
}

enum tally_status recorder_wait(
	struct recorder *r, int other_fd, int timeout_ms, bool *other_ready, struct tally_error *err)
{
	r->polls[r->poll_count] = (struct pollfd){.fd = other_fd, .events = POLLIN};
	r->has_news = false;
	if (r->kernel->poll(r->kernel->context, r->polls, r->poll_count + 1, timeout_ms) < 0) {
		/* The caller checks other_fd itself, because a sandbox may answer each wait with EINTR. */
		*other_ready = true;
		if (errno == EINTR)
			return TALLY_OK;
		return error_set_errno(err, TALLY_IO, errno, "cannot wait for samples (poll)");
	}
	*other_ready = (r->polls[r->poll_count].revents & POLLIN) != 0;
	for (size_t i = 0; i < r->poll_count; i++) {
		r->has_news |= r->polls[i].fd >= 0 && r->polls[i].revents != 0;
		if (r->polls[i].fd >= 0 && (r->polls[i].revents & (POLLHUP | POLLERR | POLLNVAL))) {
			r->polls[i].fd = -1;
			r->live_count -= r->live_count != SIZE_MAX;
		}
	}
	return TALLY_OK;
}

bool recorder_has_news(const struct recorder *r)
{
	return r->has_news;
}

/* Returns the contents of a ring after config.look has seen them all. */
static size_t peek_and_look(struct recorder *r, size_t index, struct tally_bytes slices[2])
{
	struct ring *ring = &r->rings.slots[index].ring;
	size_t n = ring_peek(ring, slices);
	uint64_t bytes = n == 0 ? 0 : slices[0].len + (n == 2 ? slices[1].len : 0);
	struct tally_bytes fresh[2];
	if (!r->config.look || bytes == 0)
		return n;
	if (ring->is_backward) {
		r->config.look(r->config.look_context, slices, n);
		return n;
	}
	uint64_t seen = r->looked[index] > ring->tail ? r->looked[index] - ring->tail : 0;
	if (seen >= bytes)
		return n;
	r->looked[index] = ring->tail + bytes;
	memcpy(fresh, slices, n * sizeof(*fresh));
	size_t first = seen >= slices[0].len ? 1 : 0;
	size_t skipped = (size_t)seen - (first ? slices[0].len : 0);
	fresh[first].data += skipped;
	fresh[first].len -= skipped;
	r->config.look(r->config.look_context, fresh + first, n - first);
	return n;
}

void recorder_look(struct recorder *r)
{
	struct tally_bytes slices[2];
	bool is_apart = r->config.overwrites || r->config.drains_apart;
	for (size_t i = 0; r->config.look && !is_apart && i < r->rings.len; i++)
		if (r->rings.slots[i].fd >= 0)
			(void)peek_and_look(r, i, slices);
}

static enum tally_status empty_ring(
	struct recorder *r, size_t index, const struct record_sink *sink, uint64_t *taken, struct tally_error *err)
{
	struct tally_bytes slices[2];
	struct ring *ring = &r->rings.slots[index].ring;
	size_t n = peek_and_look(r, index, slices);
	uint64_t bytes = n == 0 ? 0 : slices[0].len + (n == 2 ? slices[1].len : 0);
	if (bytes == 0 || bytes < r->config.flush_bytes)
		return TALLY_OK;
	affinity_move(&r->affinity, index);
	enum tally_status status = sink->take(sink->context, slices, n, err);
	ring_consume(ring);
	*taken += bytes;
	return status;
}

enum tally_status recorder_drain(
	struct recorder *r, const struct record_sink *sink, uint64_t *bytes, struct tally_error *err)
{
	uint64_t taken = 0;
	bool is_apart = r->config.overwrites || r->config.drains_apart;
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && !is_apart && i < r->rings.len; i++)
		if (r->rings.slots[i].fd >= 0)
			status = empty_ring(r, i, sink, &taken, err);
	if (status == TALLY_OK)
		*bytes = taken;
	return status;
}

enum tally_status recorder_drain_ring(
	struct recorder *r, size_t ring, const struct record_sink *sink, uint64_t *bytes, struct tally_error *err)
{
	return r->rings.slots[ring].fd >= 0 ? empty_ring(r, ring, sink, bytes, err) : TALLY_OK;
}

size_t recorder_ring_count(const struct recorder *r)
{
	return r->rings.len;
}

size_t recorder_ring_peek(struct recorder *r, size_t ring, struct tally_bytes slices[2])
{
	return r->rings.slots[ring].fd >= 0 ? peek_and_look(r, ring, slices) : 0;
}

void recorder_ring_release(struct recorder *r, size_t ring, uint64_t bytes)
{
	ring_release(&r->rings.slots[ring].ring, bytes);
}

bool recorder_set_freq(struct recorder *r, uint64_t freq)
{
	bool is_taken = false;
	for (size_t i = 0; i < r->source_count && freq > 0; i++) {
		const struct recorder_source *s = &r->sources[i];
		const struct perf_attr *attr = &r->config.events->specs[s->event].attr;
		bool is_clock =
			attr->type == EVENT_SOFTWARE && (attr->config == SW_CPU_CLOCK || attr->config == SW_TASK_CLOCK);
		/* Clock events convert their frequency into a period in nanoseconds when they are opened. */
		uint64_t value = is_clock ? RECORDER_NS_PER_S / freq : freq;
		if (s->fd >= 0 && ATTR_HAS(attr, FREQ))
			is_taken |= r->kernel->ioctl(r->kernel->context, s->fd, PERF_EVENT_IOC_PERIOD, &value) == 0;
	}
	return is_taken;
}

int recorder_ring_fd(const struct recorder *r, size_t ring)
{
	return r->rings.slots[ring].fd;
}

enum tally_status recorder_snapshot(
	struct recorder *r, const struct record_sink *sink, uint64_t *bytes, struct tally_error *err)
{
	uint64_t taken = 0;
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < r->rings.len; i++) {
		struct ring_slot *slot = &r->rings.slots[i];
		if (slot->fd < 0)
			continue;
		if (r->kernel->ioctl(r->kernel->context, slot->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, (void *)1) != 0)
			return error_set_errno(err, TALLY_IO, errno, "a ring cannot be stopped to be read");
		status = empty_ring(r, i, sink, &taken, err);
		(void)r->kernel->ioctl(r->kernel->context, slot->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, NULL);
	}
	if (status == TALLY_OK)
		*bytes = taken;
	return status;
}

bool recorder_target_is_over(const struct recorder *r)
{
	return r->live_count == 0;
}

uint64_t recorder_lost(const struct recorder *r, const struct recorder_source *source)
{
	const struct perf_attr *attr = &r->config.events->specs[source->event].attr;
	_Alignas(8) uint8_t buffer[READ_BYTES_MAX];
	struct read_values values;

	if (source->fd < 0 || !(attr->read_format & READ_FORMAT_LOST))
		return 0;
	ssize_t n = r->kernel->read(r->kernel->context, source->fd, buffer, sizeof(buffer));
	if (n <= 0)
		return 0;
	struct cursor c = cursor_make((struct tally_bytes){buffer, (size_t)n}, false);
	if (read_values_decode(&c, attr->read_format, &values, NULL) != TALLY_OK)
		return 0;
	for (uint64_t i = 0; i < values.count; i++) {
		struct read_value v = read_value_get(&values, i);
		if (values.count == 1 || v.id == source->id)
			return v.lost;
	}
	return 0;
}
