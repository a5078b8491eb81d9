/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupts.h"
#include "kernel/system/cpu_topology.h"

/* Maximum age of a record in its ring, and the interval at which new mappings are noticed; less than
 * RECORD_SYNC_MS. */
#define POLL_MS	  100
#define SLICE_MAX 2 /* The contents of a ring have at most two parts. */

struct stream { /* The file of one ring. */
	int fd;
	_Atomic uint64_t bytes;
	struct compressor *compressor;
	struct writer packed;
};

struct worker {
	struct record_threads *all;
	size_t *rings;
	size_t ring_count;
	pthread_t thread;
	bool is_running;
	enum tally_status status;
	struct tally_error error;
};

struct record_threads {
	struct record_threads_config config;
	struct stream *streams; /* One for each ring. */
	struct cpu_place *places; /* One for each ring. */
	size_t *rings; /* Ring numbers of all workers, grouped by worker. */
	struct worker *workers;
	size_t worker_count;
	int stop_fd;
	_Atomic bool has_failed;
};

static bool is_same_group(enum record_thread_groups groups, const struct cpu_place *a, const struct cpu_place *b)
{
	switch (groups) {
	case THREADS_PER_CORE:
		return a->socket == b->socket && a->die == b->die && a->core == b->core;
	case THREADS_PER_PACKAGE:
		return a->socket == b->socket;
	case THREADS_PER_NODE:
		return a->node == b->node;
	case THREADS_NONE:
	case THREADS_PER_CPU:
	default:
		return a->cpu == b->cpu;
	}
}

static void make_groups(struct record_threads *t)
{
	size_t used = 0;
	for (size_t first = 0; first < t->config.cpu_count; first++) {
		bool is_known = false;
		for (size_t i = 0; i < first; i++)
			is_known |= is_same_group(t->config.groups, &t->places[i], &t->places[first]);
		if (is_known)
			continue;
		struct worker *w = &t->workers[t->worker_count++];
		*w = (struct worker){.all = t, .rings = t->rings + used};
		for (size_t i = first; i < t->config.cpu_count; i++)
			if (is_same_group(t->config.groups, &t->places[i], &t->places[first]))
				t->rings[used++] = i;
		w->ring_count = (size_t)(t->rings + used - w->rings);
	}
}

static enum tally_status record_threads_open_stream(struct record_threads *t, size_t ring, struct tally_error *err)
{
	char path[PATH_MAX];
	struct stream *s = &t->streams[ring];
	if ((size_t)snprintf(path, sizeof(path), "%s/data.%zu", t->config.directory, ring) >= sizeof(path))
		return error_set(err, TALLY_INVALID, "the path '%s' is too long", t->config.directory);
	s->fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	if (s->fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "failed to open %s", path);
	return t->config.compression_level ? compressor_create(t->config.compression_level, &s->compressor, err)
					   : TALLY_OK;
}

enum tally_status record_threads_create(
	const struct record_threads_config *config, struct record_threads **threads, struct tally_error *err)
{
	struct record_threads *t = calloc(1, sizeof(*t));
	if (!t)
		return error_nomem(err);
	t->config = *config;
	t->streams = calloc(config->cpu_count, sizeof(*t->streams));
	t->rings = calloc(config->cpu_count, sizeof(*t->rings));
	t->workers = calloc(config->cpu_count, sizeof(*t->workers));
	t->stop_fd = eventfd(0, EFD_CLOEXEC);
	enum tally_status status =
		t->streams && t->rings && t->workers && t->stop_fd >= 0 ? TALLY_OK : error_nomem(err);
	for (size_t i = 0; t->streams && i < config->cpu_count; i++)
		t->streams[i].fd = -1;
	if (status == TALLY_OK)
		status = cpu_places(config->kernel, config->cpus, config->cpu_count, &t->places, err);
	for (size_t i = 0; status == TALLY_OK && i < config->cpu_count; i++)
		status = record_threads_open_stream(t, i, err);
	if (status != TALLY_OK) {
		record_threads_destroy(t);
		return status;
	}
	make_groups(t);
	*threads = t;
	return TALLY_OK;
}

static enum tally_status record_threads_write_all(
	struct stream *s, struct iovec *vec, int count, struct tally_error *err)
{
	uint64_t before = atomic_load(&s->bytes);
	uint64_t done = 0;
	unsigned interrupts = 0;
	while (count > 0) {
		ssize_t n = writev(s->fd, vec, count);
		if (n < 0 && is_interrupted(&interrupts))
			continue;
		if (n < 0) {
			int errnum = errno;
			(void)!ftruncate(s->fd, (off_t)before); /* Truncates the file to complete records. */
			return error_set_errno(err, TALLY_IO, errnum, "writing samples");
		}
		done += (uint64_t)n;
		while (count > 0 && (size_t)n >= vec->iov_len) {
			n -= (ssize_t)vec->iov_len;
			vec++;
			count--;
		}
		if (count > 0) {
			vec->iov_base = (uint8_t *)vec->iov_base + n;
			vec->iov_len -= (size_t)n;
		}
	}
	atomic_store(&s->bytes, before + done);
	return TALLY_OK;
}

static enum tally_status to_stream(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct stream *s = context;
	struct iovec vec[SLICE_MAX];
	if (s->compressor) {
		writer_clear(&s->packed);
		enum tally_status status = compressor_pack(s->compressor, slices, slice_count, &s->packed, err);
		if (status != TALLY_OK)
			return status;
		vec[0] = (struct iovec){s->packed.data, s->packed.len};
		return record_threads_write_all(s, vec, 1, err);
	}
	for (size_t i = 0; i < slice_count && i < SLICE_MAX; i++)
		vec[i] = (struct iovec){(void *)(uintptr_t)slices[i].data, slices[i].len};
	return record_threads_write_all(s, vec, (int)slice_count, err);
}

static enum tally_status drain_rings(struct worker *w, uint64_t *bytes, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	*bytes = 0;
	for (size_t i = 0; status == TALLY_OK && i < w->ring_count; i++) {
		struct record_sink sink = {to_stream, &w->all->streams[w->rings[i]]};
		status = recorder_drain_ring(w->all->config.recorder, w->rings[i], &sink, bytes, err);
	}
	return status;
}

/* Pins the thread to the CPUs of its rings. If that is not allowed, it runs anywhere. */
static void record_threads_settle(const struct worker *w)
{
	const struct cpu_place *places = w->all->places;
	int cpu_max = 0;
	for (size_t i = 0; i < w->ring_count; i++)
		cpu_max = places[w->rings[i]].cpu > cpu_max ? places[w->rings[i]].cpu : cpu_max;
	cpu_set_t *set = CPU_ALLOC((size_t)cpu_max + 1);
	size_t bytes = CPU_ALLOC_SIZE((size_t)cpu_max + 1);
	if (!set)
		return;
	CPU_ZERO_S(bytes, set);
	for (size_t i = 0; i < w->ring_count; i++)
		CPU_SET_S((size_t)places[w->rings[i]].cpu, bytes, set);
	(void)sched_setaffinity(0, bytes, set);
	CPU_FREE(set);
}

static void *record_threads_work(void *context)
{
	struct worker *w = context;
	const struct kernel_seam *kernel = w->all->config.kernel;
	struct pollfd *polls = calloc(w->ring_count + 1, sizeof(*polls));
	uint64_t bytes;
	unsigned interrupts = 0;
	record_threads_settle(w);
	w->status = polls ? TALLY_OK : error_nomem(&w->error);
	for (size_t i = 0; polls && i < w->ring_count; i++)
		polls[i] = (struct pollfd){recorder_ring_fd(w->all->config.recorder, w->rings[i]), POLLIN, 0};
	if (polls)
		polls[w->ring_count] = (struct pollfd){w->all->stop_fd, POLLIN, 0};
	while (w->status == TALLY_OK && polls[w->ring_count].revents == 0) {
		if (kernel->poll(kernel->context, polls, w->ring_count + 1, POLL_MS) >= 0)
			interrupts = 0;
		else if (!is_interrupted(&interrupts))
			w->status = error_set_errno(&w->error, TALLY_IO, errno, "waiting for samples");
		for (size_t i = 0; i < w->ring_count; i++)
			if (polls[i].revents & (POLLHUP | POLLERR | POLLNVAL))
				/* The target has ended, and poll would return at once; the rest is read at each
				 * timeout. */
				polls[i].fd = -1;
		if (w->status == TALLY_OK)
			w->status = drain_rings(w, &bytes, &w->error);
	}
	if (w->status != TALLY_OK)
		atomic_store(&w->all->has_failed, true);
	free(polls);
	return NULL;
}

enum tally_status record_threads_start(struct record_threads *t, struct tally_error *err)
{
	for (size_t i = 0; i < t->worker_count; i++) {
		struct worker *w = &t->workers[i];
		int errnum = pthread_create(&w->thread, NULL, record_threads_work, w);
		if (errnum != 0)
			return error_set_errno(err, TALLY_LIMIT, errnum, "a thread cannot be started");
		w->is_running = true;
	}
	return TALLY_OK;
}

static void join_all(struct record_threads *t)
{
	uint64_t one = 1;
	(void)!write(t->stop_fd, &one, sizeof(one));
	for (size_t i = 0; i < t->worker_count; i++)
		if (t->workers[i].is_running) {
			(void)pthread_join(t->workers[i].thread, NULL);
			t->workers[i].is_running = false;
		}
}

enum tally_status record_threads_check(struct record_threads *t, struct tally_error *err)
{
	if (!atomic_load(&t->has_failed))
		return TALLY_OK;
	join_all(t);
	for (size_t i = 0; i < t->worker_count; i++)
		if (t->workers[i].status != TALLY_OK) {
			if (err)
				*err = t->workers[i].error;
			return t->workers[i].status;
		}
	return TALLY_OK;
}

enum tally_status record_threads_stop(struct record_threads *t, struct tally_error *err)
{
	join_all(t);
	enum tally_status status = record_threads_check(t, err);
	for (size_t i = 0; status == TALLY_OK && i < t->worker_count; i++) {
		uint64_t bytes = 1;
		while (status == TALLY_OK && bytes > 0)
			status = drain_rings(&t->workers[i], &bytes, err);
	}
	return status;
}

size_t record_threads_parts(const struct record_threads *t)
{
	return t->config.cpu_count;
}

uint64_t record_threads_part_bytes(const struct record_threads *t, size_t part)
{
	return atomic_load(&t->streams[part].bytes);
}

uint64_t record_threads_bytes(const struct record_threads *t)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < t->config.cpu_count; i++)
		bytes += atomic_load(&t->streams[i].bytes);
	return bytes;
}

struct compressor_totals record_threads_totals(const struct record_threads *t)
{
	struct compressor_totals sum = {0};
	for (size_t i = 0; i < t->config.cpu_count; i++)
		if (t->streams[i].compressor) {
			struct compressor_totals one = compressor_totals(t->streams[i].compressor);
			sum.bytes += one.bytes;
			sum.packed_bytes += one.packed_bytes;
		}
	return sum;
}

void record_threads_destroy(struct record_threads *t)
{
	if (!t)
		return;
	if (t->stop_fd >= 0) {
		join_all(t);
		close(t->stop_fd);
	}
	for (size_t i = 0; t->streams && i < t->config.cpu_count; i++) {
		if (t->streams[i].fd >= 0)
			close(t->streams[i].fd);
		compressor_destroy(t->streams[i].compressor);
		writer_deinit(&t->streams[i].packed);
	}
	free(t->streams);
	free(t->places);
	free(t->rings);
	free(t->workers);
	free(t);
}
