/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/tracepoint_hold.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/privileges.h"
#include "kernel/system/fd_limit.h"
#include "kernel/system/kernel_seam.h"

#define HOLD_LEAST 8 /* Closing fewer events than this takes less time than starting a process for it. */
#define NAMES_MAX  4 /* Maximum number of omitted events that a line names. */

struct holding {
	struct tracepoint_hold *hold;
	bool is_sampling;
	struct event_list *events;
	int *refusals; /* One errno per event, 0 if it opened or was not tried. */
	bool *left_out;
};

static bool is_tracepoint(const struct event_spec *spec)
{
	return spec->tracepoint_name != NULL;
}

static bool is_alone(const struct event_list *events, size_t index)
{
	return events->specs[index].leader == index && events->specs[index].member_count <= 1;
}

static bool is_worth_it(const struct event_list *events, size_t *count)
{
	bool has_pattern = false;
	*count = 0;
	for (size_t i = 0; i < events->len; i++) {
		*count += is_tracepoint(&events->specs[i]);
		has_pattern |= events->specs[i].pattern != NULL;
	}
	return has_pattern || *count >= HOLD_LEAST;
}

static struct event_spec spec_to_try(const struct holding *h, size_t index)
{
	struct event_spec spec = h->events->specs[index];
	spec.attr.flags |= ATTR_FLAG(ATTR_BIT_DISABLED);
	if (h->is_sampling) {
		spec.attr.sample_type |= SAMPLE_RAW;
		spec.attr.sample_period_or_freq = 1;
	}
	return spec;
}

static enum tally_status hold_all(struct holding *h, struct tally_error *err)
{
	const struct kernel_seam *kernel = h->hold->kernel;
	for (size_t i = 0; i < h->events->len; i++) {
		if (!is_tracepoint(&h->events->specs[i]))
			continue;
		struct event_spec spec = spec_to_try(h, i);
		int fd = kernel->perf_event_open(kernel->context, &spec.attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			h->refusals[i] = errno == EMFILE || errno == ENFILE || errno == ENOMEM ? 0 : errno;
		else if (!vec_push(h->hold, fd)) {
			kernel->close(kernel->context, fd);
			return error_nomem(err);
		}
	}
	return TALLY_OK;
}

/* Counts a pattern's events, all and refused. Events of one -e share its text, so the address identifies the
 * pattern. */
static void pattern_count(const struct holding *h, const char *pattern, size_t *total, size_t *refused)
{
	*total = *refused = 0;
	for (size_t i = 0; i < h->events->len; i++) {
		if (h->events->specs[i].pattern != pattern)
			continue;
		++*total;
		*refused += h->refusals[i] != 0;
	}
}

static bool is_of_line(const struct holding *h, size_t index, size_t first)
{
	return h->left_out[index] && h->events->specs[index].pattern == h->events->specs[first].pattern &&
	       h->refusals[index] == h->refusals[first];
}

static void tracepoint_hold_line_add(const struct holding *h, size_t first, struct text *lines)
{
	const struct event_list *events = h->events;
	struct event_spec spec = spec_to_try(h, first);
	size_t total, refused, count = 0;
	pattern_count(h, spec.pattern, &total, &refused);
	for (size_t i = first; i < events->len; i++)
		count += is_of_line(h, i, first);
	text_printf(lines, "%zu of the %zu events of '%s' left out: ", count, total, spec.pattern);
	size_t named = 0;
	for (size_t i = first; i < events->len && named < NAMES_MAX; i++)
		if (is_of_line(h, i, first))
			text_printf(lines, "%s%s", named++ ? ", " : "", events->specs[i].name);
	if (count > named)
		text_printf(lines, " and %zu more", count - named);
	text_str(lines, ": ");
	refusal_reason(h->hold->kernel, &spec, 0, -1, h->refusals[first], lines);
	text_char(lines, '\n');
}

static void tracepoint_hold_leave_out(struct holding *h, struct text *lines)
{
	size_t total, refused;
	const char *last = NULL;
	bool has_others = false;
	for (size_t i = 0; i < h->events->len; i++) {
		const char *pattern = h->events->specs[i].pattern;
		if (!pattern)
			continue;
		if (pattern != last) {
			pattern_count(h, pattern, &total, &refused);
			has_others = refused < total;
			last = pattern;
		}
		h->left_out[i] = has_others && h->refusals[i] != 0 && is_alone(h->events, i);
	}
	for (size_t i = 0; i < h->events->len; i++) {
		bool is_first = h->left_out[i];
		for (size_t k = 0; k < i && is_first; k++)
			is_first = !is_of_line(h, k, i);
		if (is_first)
			tracepoint_hold_line_add(h, i, lines);
	}
	event_list_drop(h->events, h->left_out);
}

enum tally_status tracepoint_hold_open(struct tracepoint_hold *hold, const struct kernel_seam *kernel, bool is_sampling,
	struct event_list *events, struct text *left_out, struct tally_error *err)
{
	size_t count;
	if (!is_worth_it(events, &count))
		return TALLY_OK;
	hold->kernel = kernel;
	struct holding h = {.hold = hold, .is_sampling = is_sampling, .events = events};
	h.refusals = calloc(events->len, sizeof(*h.refusals));
	h.left_out = calloc(events->len, sizeof(*h.left_out));
	(void)fd_limit_make_room(count);
	enum tally_status status = h.refusals && h.left_out ? hold_all(&h, err) : error_nomem(err);
	if (status == TALLY_OK)
		tracepoint_hold_leave_out(&h, left_out);
	free(h.refusals);
	free(h.left_out);
	return status == TALLY_OK && left_out->failed ? error_nomem(err) : status;
}

/* Not every C library has close_range. */
static void close_from_to(unsigned first, unsigned last)
{
	(void)syscall(SYS_close_range, (unsigned long)first, (unsigned long)last, 0ul);
}

/* Runs in the child that closes the events. No other descriptor may remain open there, least of all a pipe. */
_Noreturn static void close_alone(const struct tracepoint_hold *hold)
{
	unsigned next = 0;
	(void)setsid();
	for (size_t i = 0; i < hold->len; i++) { /* The events were opened in ascending order. */
		unsigned fd = (unsigned)hold->items[i];
		if (fd > next)
			close_from_to(next, fd - 1);
		next = fd >= next ? fd + 1 : next;
	}
	close_from_to(next, ~0u);
	/* Closes from the last on: a process that meanwhile opens the same events begins with the first, still in
	 * use. */
	for (size_t i = hold->len; i > 0; i--)
		(void)close(hold->items[i - 1]);
	_exit(0);
}

void tracepoint_hold_release(struct tracepoint_hold *hold)
{
	if (hold->len >= HOLD_LEAST && hold->kernel == kernel_seam_linux() && fork() == 0)
		close_alone(hold);
	for (size_t i = 0; i < hold->len; i++)
		hold->kernel->close(hold->kernel->context, hold->items[i]);
	vec_free(hold);
}
