/*
 * tally_sampler.c - tally/sampler.h over the event parser, one ring and the sample decoder.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <tally/sampler.h>
#include <unistd.h>

#include "abi/sample.h"
#include "base/error.h"
#include "kernel/recording/ring_set.h"
#include "kernel/system/privileges.h"

#define FREQUENCY_DEFAULT   4000
#define RING_BYTES_DEFAULT  (128u << 10)
#define RECORD_BYTES_MAX    65536
#define BRANCHES_MAX	    1024
#define BRANCH_WORDS	    3
#define BRANCH_MISPREDICTED 1u
#define BRANCH_PREDICTED    2u

struct tally_sampler {
	const struct kernel_seam *kernel;
	struct event_list events; /* of the alternative that samples */
	struct record_layout layout;
	struct ring_set rings;
	int fd;
	struct tally_bytes slices[2]; /* of the pass that is being handed out */
	size_t slice_count;
	size_t position; /* in the two slices together */
	bool has_pass, is_over;
	uint64_t lost;
	char *label, *reason;
	struct tally_branch branches[BRANCHES_MAX];
	uint8_t record[RECORD_BYTES_MAX]; /* one that wraps around the ring's end */
};

static void set_attr(struct perf_attr *attr, const struct event_spec *spec, const struct tally_sampler_options *o)
{
	*attr = spec->attr;
	attr->size = attr->config3 || attr->config4 ? ATTR_SIZE_KNOWN : ATTR_SIZE_VER7;
	attr->sample_type |= SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD;
	if (o->with_branches) {
		attr->sample_type |= SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = BRANCH_ANY;
	}
	if (o->period) {
		attr->sample_period_or_freq = o->period;
		attr->flags &= ~ATTR_FLAG(ATTR_BIT_FREQ);
	} else if (!spec->has_period && !spec->has_freq) {
		attr->sample_period_or_freq = o->frequency ? o->frequency : FREQUENCY_DEFAULT;
		attr->flags |= ATTR_FLAG(ATTR_BIT_FREQ);
	}
	if (o->starts_disabled)
		attr->flags |= ATTR_FLAG(ATTR_BIT_DISABLED);
	attr->wakeup = o->wakes_at_once ? 1 : 0;
}

static size_t ring_bytes(const struct tally_sampler_options *o)
{
	size_t wanted = o->ring_bytes ? o->ring_bytes : RING_BYTES_DEFAULT;
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);

	while (bytes < wanted && bytes < SIZE_MAX / 2)
		bytes *= 2;
	return bytes;
}

static enum tally_status open_event(
	struct tally_sampler *s, const struct tally_sampler_options *o, struct tally_error *err)
{
	const struct event_spec *spec = &s->events.specs[0];
	struct perf_attr attr;

	if (s->events.len != 1)
		return error_set(err, TALLY_INVALID, "a sampler takes one event, '%s' names several", s->label);
	set_attr(&attr, spec, o);
	s->fd = s->kernel->perf_event_open(s->kernel->context, &attr, o->thread, o->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0) {
		struct event_spec asked = *spec;
		asked.attr = attr;
		return refusal_explain(s->kernel, &asked, o->thread, o->cpu, errno, err);
	}
	s->layout = record_layout_make(&attr, false);
	enum tally_status st = ring_set_init(&s->rings, s->kernel, 1, ring_bytes(o), err);
	return st == TALLY_OK ? ring_set_add(&s->rings, 0, s->fd, err) : st;
}

static void close_event(struct tally_sampler *s)
{
	ring_set_deinit(&s->rings);
	if (s->fd >= 0)
		s->kernel->close(s->kernel->context, s->fd);
	s->fd = -1;
	event_list_deinit(&s->events);
	s->events = (struct event_list){0};
	free(s->label);
	s->label = NULL;
}

static enum tally_status open_alternative(struct tally_sampler *s, struct event_catalogue *catalogue,
	struct tally_str text, const struct tally_sampler_options *o, struct tally_error *err)
{
	s->label = strndup(text.data, text.len);
	if (!s->label)
		return error_nomem(err);
	enum tally_status st = event_parse(catalogue, s->label, &s->events, err);
	if (st == TALLY_OK)
		st = open_event(s, o, err);
	if (st != TALLY_OK)
		close_event(s);
	return st;
}

static enum tally_status open_first_that_works(
	struct tally_sampler *s, const struct tally_sampler_options *o, struct tally_error *err)
{
	struct event_catalogue *catalogue;
	struct tally_str rest = str_from(o->event ? o->event : ""), text;
	struct tally_error first = {.status = TALLY_INVALID}, later;
	enum tally_status st = event_catalogue_create(s->kernel, &catalogue, err);

	if (st != TALLY_OK)
		return st;
	st = error_set(&first, TALLY_INVALID, "no event to sample");
	for (bool is_first = true; st != TALLY_OK && str_next(&rest, '|', &text); is_first = false) {
		st = open_alternative(s, catalogue, text, o, is_first ? &first : &later);
		if (st == TALLY_OK && !is_first)
			s->reason = strdup(first.text);
	}
	event_catalogue_destroy(catalogue);
	if (st != TALLY_OK && err)
		*err = first;
	return st;
}

TALLY_API struct tally_sampler *tally_sampler_open(const struct tally_sampler_options *options, struct tally_error *err)
{
	struct tally_sampler *s = calloc(1, sizeof(*s));

	if (!s) {
		error_nomem(err);
		return NULL;
	}
	s->kernel = kernel_seam_linux();
	s->fd = -1;
	if (open_first_that_works(s, options, err) == TALLY_OK)
		return s;
	tally_sampler_close(s);
	return NULL;
}

TALLY_API void tally_sampler_close(struct tally_sampler *s)
{
	if (!s)
		return;
	close_event(s);
	free(s->reason);
	free(s);
}

TALLY_API void tally_sampler_enable(struct tally_sampler *s)
{
	(void)s->kernel->ioctl(s->kernel->context, s->fd, PERF_EVENT_IOC_ENABLE, NULL);
}

TALLY_API void tally_sampler_disable(struct tally_sampler *s)
{
	(void)s->kernel->ioctl(s->kernel->context, s->fd, PERF_EVENT_IOC_DISABLE, NULL);
}

TALLY_API enum tally_status tally_sampler_wait(struct tally_sampler *s, int timeout_ms, struct tally_error *err)
{
	struct pollfd poll = {.fd = s->fd, .events = POLLIN};

	if (s->is_over)
		return TALLY_END;
	if (s->kernel->poll(s->kernel->context, &poll, 1, timeout_ms) < 0 && errno != EINTR)
		return error_set_errno(err, TALLY_IO, errno, "waiting for samples");
	s->is_over = (poll.revents & (POLLHUP | POLLERR)) != 0;
	return s->is_over ? TALLY_END : TALLY_OK;
}

/* Copies what lies at a position of the two slices; false if it is not all there. */
static bool copy_at(const struct tally_sampler *s, size_t position, void *to, size_t len)
{
	uint8_t *out = to;

	for (size_t i = 0; i < s->slice_count && len; i++) {
		const struct tally_bytes *slice = &s->slices[i];
		if (position >= slice->len) {
			position -= slice->len;
			continue;
		}
		size_t n = slice->len - position < len ? slice->len - position : len;
		memcpy(out, slice->data + position, n);
		out += n;
		len -= n;
		position = 0;
	}
	return len == 0;
}

static bool next_record(struct tally_sampler *s, struct record *record)
{
	struct ring *ring = &s->rings.slots[0].ring;
	uint16_t size;

	if (!s->has_pass) {
		s->slice_count = ring_peek(ring, s->slices);
		s->position = 0;
		s->has_pass = s->slice_count > 0;
	}
	/* The ring is the kernel's, but a record of no size would be read for ever. */
	if (s->has_pass && copy_at(s, s->position + 6, &size, sizeof(size)) && size >= RECORD_HEADER_BYTES &&
		copy_at(s, s->position, s->record, size) &&
		record_at((struct tally_bytes){s->record, size}, false, 0, record, NULL) == TALLY_OK) {
		s->position += size;
		return true;
	}
	if (s->has_pass)
		ring_consume(ring);
	s->has_pass = false;
	return false;
}

static void fill_branches(struct tally_sampler *s, const struct sample *from, struct tally_sample *to)
{
	size_t count = from->branches.entries.count / BRANCH_WORDS;
	const uint8_t *words = from->branches.entries.data;

	if (count > BRANCHES_MAX)
		count = BRANCHES_MAX;
	for (size_t i = 0; i < count; i++) {
		uint64_t flags = sample_u64_at(words, i * BRANCH_WORDS + 2, false);
		s->branches[i] = (struct tally_branch){sample_u64_at(words, i * BRANCH_WORDS, false),
			sample_u64_at(words, i * BRANCH_WORDS + 1, false), (flags & BRANCH_MISPREDICTED) != 0,
			(flags & BRANCH_PREDICTED) != 0};
	}
	to->branches = s->branches;
	to->branch_count = count;
}

TALLY_API enum tally_status tally_sampler_next(
	struct tally_sampler *s, struct tally_sample *sample, struct tally_error *err)
{
	struct record record;

	while (next_record(s, &record)) {
		struct record_fields fields;
		struct sample decoded;
		if (record.type == RECORD_LOST && record_decode(&record, &fields, NULL) == TALLY_OK)
			s->lost += fields.lost.lost;
		if (record.type != RECORD_SAMPLE)
			continue;
		enum tally_status st = sample_decode(&s->layout, &record, &decoded, err);
		if (st != TALLY_OK)
			return st;
		*sample = (struct tally_sample){.ip = decoded.ip,
			.time_ns = decoded.time,
			.period = decoded.period,
			.pid = (pid_t)decoded.pid,
			.tid = (pid_t)decoded.tid,
			.cpu = decoded.cpu,
			.is_kernel = (record.misc & MISC_CPUMODE_MASK) == MISC_CPUMODE_KERNEL};
		fill_branches(s, &decoded, sample);
		return TALLY_OK;
	}
	return TALLY_END;
}

TALLY_API uint64_t tally_sampler_lost(const struct tally_sampler *s)
{
	return s->lost;
}

TALLY_API const char *tally_sampler_label(const struct tally_sampler *s)
{
	return s->label;
}

TALLY_API const char *tally_sampler_fallback_reason(const struct tally_sampler *s)
{
	return s->reason;
}
