/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_sampler.c - implements tally/sampler.h by the event parser, a ring and the sample decoder.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/array.h"
#include "base/error.h"
#include "kernel/events/attr_bytes.h"
#include "kernel/events/breakpoint_probe.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/privileges.h"
#include "kernel/recording/tally_ring.h"
#include "kernel/recording/tally_sample.h"

#define FREQUENCY_DEFAULT 4000

struct tally_sampler {
	const struct kernel_seam *kernel;
	struct event_list events; /* Events of the alternative that was opened. */
	struct record_layout layout;
	struct tally_ring *ring;
	int fd;
	bool is_over;
	uint64_t lost;
	char *label, *reason;
};

static void set_attr(struct perf_attr *attr, const struct event_spec *spec, const struct tally_sampler_options *o)
{
	*attr = spec->attr;
	attr->size = attr->config3 || attr->config4 ? ATTR_SIZE_KNOWN : ATTR_SIZE_VER7;
	attr->sample_type |= SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD | o->sample_type;
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
	if (o->is_overwriting)
		attr->flags |= ATTR_FLAG(ATTR_BIT_WRITE_BACKWARD);
	if (o->starts_disabled)
		attr->flags |= ATTR_FLAG(ATTR_BIT_DISABLED);
	attr->wakeup = o->wakes_at_once ? 1 : 0;
}

static enum tally_status open_attr(struct tally_sampler *s, const struct event_spec *spec, const struct perf_attr *attr,
	const struct tally_sampler_options *o, struct tally_error *err)
{
	struct tally_ring_options ring = {
		.data_bytes = o->ring_bytes, .is_overwriting = ATTR_HAS(attr, WRITE_BACKWARD)};
	int cpu = o->is_on_one_cpu ? o->one_cpu : -1;
	s->fd = event_open(s->kernel, attr, o->thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0)
		return refusal_explain(s->kernel, spec, o->thread, cpu, errno, err);
	s->layout = record_layout_make(attr, false);
	struct tally_error why;
	s->ring = tally_ring_open_on(s->kernel, s->fd, &ring, &why);
	if (!s->ring && err)
		*err = why;
	return s->ring ? TALLY_OK : why.status;
}

static enum tally_status open_event(
	struct tally_sampler *s, const struct tally_sampler_options *o, struct tally_error *err)
{
	const struct event_spec *spec = &s->events.specs[0];
	struct perf_attr attr;
	if (s->events.len != 1)
		return error_set(err, TALLY_INVALID, "a sampler takes one event, '%s' names several", s->label);
	if (spec->tool != TOOL_NONE)
		return error_set(err, TALLY_UNSUPPORTED, "'%s' is a time of tally stat, not an event", s->label);
	set_attr(&attr, spec, o);
	enum tally_status status = open_attr(s, spec, &attr, o, err);
	if (status == TALLY_OK && spec->filter &&
		s->kernel->ioctl(
			s->kernel->context, s->fd, PERF_EVENT_IOC_SET_FILTER, (void *)(uintptr_t)spec->filter) != 0)
		status = error_set_errno(err, TALLY_INVALID, errno, "cannot filter '%s'", s->label);
	return status;
}

static void close_event(struct tally_sampler *s)
{
	tally_ring_close(s->ring);
	s->ring = NULL;
	if (s->fd >= 0)
		s->kernel->close(s->kernel->context, s->fd);
	s->fd = -1;
	event_list_deinit(&s->events);
	s->events = (struct event_list){0};
	free(s->label);
	s->label = NULL;
}

/* Opens the caller's attr as it is. */
static enum tally_status open_own_attr(
	struct tally_sampler *s, const struct tally_sampler_options *o, struct tally_error *err)
{
	struct event_spec spec = {.name = "the event of the attr"};
	enum tally_status status = attr_from_bytes(o->attr, &spec.attr, err);
	s->label = strdup("attr");
	if (status == TALLY_OK && !s->label)
		status = error_nomem(err);
	return status == TALLY_OK ? open_attr(s, &spec, &spec.attr, o, err) : status;
}

static enum tally_status open_alternative(struct tally_sampler *s, struct event_catalogue *catalogue,
	struct tally_str text, const struct tally_sampler_options *o, struct tally_error *err)
{
	s->label = strndup(text.data, text.len);
	if (!s->label)
		return error_nomem(err);
	enum tally_status status = event_parse(catalogue, s->label, &s->events, err);
	if (status == TALLY_OK)
		status = open_event(s, o, err);
	if (status != TALLY_OK)
		close_event(s);
	return status;
}

static enum tally_status open_first_that_works(
	struct tally_sampler *s, const struct tally_sampler_options *o, struct tally_error *err)
{
	struct event_catalogue *catalogue;
	for (size_t i = 0; i < ARRAY_LEN(o->reserved); i++)
		if (o->reserved[i])
			return error_set(err, TALLY_INVALID, "reserved fields of the options are not 0");
	if (o->attr)
		return open_own_attr(s, o, err);
	struct tally_str rest = str_from(o->event ? o->event : ""), text;
	struct tally_error first = {.status = TALLY_INVALID}, later;
	enum tally_status status = event_catalogue_create(s->kernel, &catalogue, err);

	if (status != TALLY_OK)
		return status;
	status = error_set(&first, TALLY_INVALID, "no event to sample");
	for (bool is_first = true; status != TALLY_OK && str_next(&rest, '|', &text); is_first = false) {
		status = open_alternative(s, catalogue, text, o, is_first ? &first : &later);
		if (status == TALLY_OK && !is_first && !(s->reason = strdup(first.text)))
			status = error_nomem(&first);
	}
	event_catalogue_destroy(catalogue);
	if (status != TALLY_OK && err)
		*err = first;
	return status;
}

TALLY_API struct tally_sampler *tally_sampler_open(const struct tally_sampler_options *options, struct tally_error *err)
{
	struct tally_sampler *s = calloc(1, sizeof(*s));
	if (!s) {
		error_nomem(err);
		return NULL;
	}
	const struct tally_sampler_options none = {0};
	s->kernel = kernel_seam_linux();
	s->fd = -1;
	if (open_first_that_works(s, options ? options : &none, err) == TALLY_OK)
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

TALLY_API enum tally_status tally_sampler_next(
	struct tally_sampler *s, struct tally_sample *sample, struct tally_error *err)
{
	struct tally_record given;
	while (tally_ring_next(s->ring, &given) == TALLY_OK) {
		struct record record = tally_record_inside(&given);
		struct record_fields fields;
		if (record.type == RECORD_LOST && record_decode(&record, &fields, NULL) == TALLY_OK)
			s->lost += fields.lost.lost;
		if (record.type == RECORD_LOST_SAMPLES && record_decode(&record, &fields, NULL) == TALLY_OK)
			s->lost += fields.lost_samples.lost;
		if (record.type == RECORD_SAMPLE)
			return sample_present(&s->layout, &record, sample, err);
	}
	return TALLY_END;
}

TALLY_API uint64_t tally_sampler_lost(const struct tally_sampler *s)
{
	return s->lost;
}

TALLY_API int tally_sampler_fd(const struct tally_sampler *s)
{
	return s->fd;
}

TALLY_API const char *tally_sampler_label(const struct tally_sampler *s)
{
	return s->label;
}

TALLY_API const char *tally_sampler_fallback_reason(const struct tally_sampler *s)
{
	return s->reason;
}
