/*
 * tally_counter.c - the public counter over counter_set: alternatives, one target, values with names.
 */
#include <errno.h>
#include <stdlib.h>
#include <tally/counter.h>
#include <tally/event.h>

#include "base/error.h"
#include "kernel/counting/reading.h"
#include "kernel/counting/scaling.h"
#include "kernel/events/event_parser.h"

#define ATTR_BYTES_MAX 4096u

struct tally_counter {
	struct event_list events;
	struct counter_set *set;
	char *label;
	char *fallback_reason; /* NULL if the first alternative counts */
};

/* The first event that the machine lacks, as an error. */
static enum tally_status support_check(const struct counter_set *set, struct tally_error *err)
{
	for (size_t i = 0; i < set->len; i++) {
		const struct counter *counter = &set->counters[i];
		if (counter_is_supported(counter))
			continue;
		bool is_gone = counter->refused_errnum == ESRCH;
		enum tally_status status = error_set(err, is_gone ? TALLY_NOT_FOUND : TALLY_UNSUPPORTED,
			"cannot count '%s': %s", counter->spec->name, counter->reason);
		if (err)
			err->errnum = counter->refused_errnum;
		return status;
	}
	return TALLY_OK;
}

static enum tally_status alternative_open(struct event_catalogue *catalogue, const char *text,
	const struct tally_counter_options *options, struct tally_counter *counter, struct tally_error *err)
{
	int cpu = options->cpu;
	pid_t pid = options->pid;
	struct target target = {.cpus = &cpu, .cpu_count = 1, .threads = &pid, .thread_count = 1};
	struct counter_options how = {.inherit = options->inherit};
	struct event_list events = {0};
	struct counter_set *set = NULL;
	char *label = strdup(text);
	enum tally_status status = label ? event_parse(catalogue, text, &events, err) : error_nomem(err);
	for (size_t i = 0; i < events.len && status == TALLY_OK; i++)
		if (events.specs[i].tool != TOOL_NONE)
			status = error_set(err, TALLY_UNSUPPORTED, "'%s' is a time of tally stat, not an event", text);
	if (status == TALLY_OK) {
		/* The list lives in the counter from here on: the set keeps pointers into it. */
		counter->events = events;
		events = (struct event_list){0};
		status = counter_set_open(catalogue->kernel, &counter->events, &target, &how, &set, err);
	}
	if (status == TALLY_OK)
		status = support_check(set, err);
	if (status != TALLY_OK) {
		counter_set_close(set);
		event_list_deinit(&counter->events);
		event_list_deinit(&events);
		free(label);
		return status;
	}
	counter->set = set;
	counter->label = label;
	return TALLY_OK;
}

/* Tries one alternative after the other; *first keeps why the first failed. */
static enum tally_status alternatives_open(struct event_catalogue *catalogue, char *text,
	const struct tally_counter_options *options, struct tally_counter *counter, struct tally_error *first)
{
	char *rest = text, *alternative;
	bool is_first = true;
	while ((alternative = strsep(&rest, "|"))) {
		struct tally_error why = {.offset = TALLY_NO_OFFSET};
		enum tally_status status = alternative_open(catalogue, alternative, options, counter, &why);
		if (status == TALLY_OK) {
			if (!is_first && !(counter->fallback_reason = strdup(first->text)))
				return error_nomem(first);
			return TALLY_OK;
		}
		if (is_first)
			*first = why;
		is_first = false;
	}
	return first->status;
}

struct tally_counter *tally_counter_open(
	const char *events, const struct tally_counter_options *options, struct tally_error *err)
{
	static const struct tally_counter_options usual = {.cpu = -1};
	struct event_catalogue *catalogue = NULL;
	struct tally_error why = {.offset = TALLY_NO_OFFSET};
	struct tally_counter *counter = calloc(1, sizeof(*counter));
	char *text = strdup(events);
	enum tally_status status =
		counter && text ? event_catalogue_create(kernel_seam_linux(), &catalogue, &why) : error_nomem(&why);
	options = options ? options : &usual;
	if (status == TALLY_OK)
		status = alternatives_open(catalogue, text, options, counter, &why);
	if (status == TALLY_OK && !options->starts_disabled)
		counter_set_enable(counter->set);
	event_catalogue_destroy(catalogue);
	free(text);
	if (status == TALLY_OK)
		return counter;
	tally_counter_close(counter);
	if (err)
		*err = why;
	return NULL;
}

void tally_counter_close(struct tally_counter *counter)
{
	if (!counter)
		return;
	counter_set_close(counter->set);
	event_list_deinit(&counter->events);
	free(counter->label);
	free(counter->fallback_reason);
	free(counter);
}

uint64_t tally_counter_value(struct tally_counter *counter)
{
	if (!counter || counter_set_read(counter->set, NULL) != TALLY_OK)
		return 0;
	return count_scale(counter_count(&counter->set->counters[0], 0, 0));
}

const char *tally_counter_label(const struct tally_counter *counter)
{
	return counter ? counter->label : "nothing";
}

const char *tally_counter_fallback_reason(const struct tally_counter *counter)
{
	return counter ? counter->fallback_reason : NULL;
}

size_t tally_counter_len(const struct tally_counter *counter)
{
	return counter ? counter->set->len : 0;
}

enum tally_status tally_counter_read(
	struct tally_counter *counter, struct tally_count *counts, size_t len, struct tally_error *err)
{
	if (len != tally_counter_len(counter))
		return error_set(
			err, TALLY_INVALID, "room for %zu counts, but there are %zu", len, tally_counter_len(counter));
	if (!counter)
		return TALLY_OK;
	enum tally_status status = counter_set_read(counter->set, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < len; i++) {
		struct count count = counter_count(&counter->set->counters[i], 0, 0);
		counts[i] = (struct tally_count){
			.name = counter->set->counters[i].spec->name,
			.value = count_scale(count),
			.raw_value = count.value,
			.enabled_ns = count.enabled_ns,
			.running_ns = count.running_ns,
		};
	}
	return TALLY_OK;
}

void tally_counter_enable(struct tally_counter *counter)
{
	if (counter)
		counter_set_enable(counter->set);
}

void tally_counter_disable(struct tally_counter *counter)
{
	if (counter)
		counter_set_disable(counter->set);
}

void tally_counter_reset(struct tally_counter *counter)
{
	if (counter)
		counter_set_reset(counter->set);
}

enum tally_status tally_event_attr(const char *event, void *attr, size_t size, struct tally_error *err)
{
	struct event_catalogue *catalogue;
	struct event_list events = {0};
	struct writer w = {0};
	if (size < ATTR_SIZE_VER0 || size > ATTR_BYTES_MAX || size % sizeof(uint64_t) != 0)
		return error_set(err, TALLY_INVALID, "%zu is no size of a struct perf_event_attr", size);
	enum tally_status status = event_catalogue_create(kernel_seam_linux(), &catalogue, err);
	if (status != TALLY_OK)
		return status;
	status = event_parse(catalogue, event, &events, err);
	if (status == TALLY_OK && (events.len != 1 || events.specs[0].tool != TOOL_NONE))
		status = error_set(err, TALLY_INVALID, "'%s' is not one event of the kernel", event);
	if (status == TALLY_OK) {
		struct perf_attr *made = &events.specs[0].attr;
		made->size = (uint32_t)(size < ATTR_SIZE_KNOWN ? size : ATTR_SIZE_KNOWN);
		made->flags |= events.specs[0].has_freq ? ATTR_FLAG(ATTR_BIT_FREQ) : 0;
		attr_encode(&w, made);
		status = w.failed ? error_nomem(err) : TALLY_OK;
	}
	if (status == TALLY_OK) {
		memset(attr, 0, size);
		memcpy(attr, w.data, w.len < size ? w.len : size);
	}
	writer_deinit(&w);
	event_list_deinit(&events);
	event_catalogue_destroy(catalogue);
	return status;
}
