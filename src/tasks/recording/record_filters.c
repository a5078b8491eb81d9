/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_filters.h"

#include <stdlib.h>

#include "base/error.h"
#include "bpf/bpf_sample_filter.h"

struct record_filters {
	const struct event_list *events;
	size_t count;
	struct bpf_sample_filter *programs[]; /* Indexed by event; NULL if the event has no filter. */
};

static bool record_filters_are_wanted(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (events->specs[i].sample_filter)
			return true;
	return false;
}

enum tally_status record_filters_create(const struct kernel_seam *kernel, const struct event_list *events,
	struct record_filters **filters, struct tally_error *err)
{
	*filters = NULL;
	if (!record_filters_are_wanted(events))
		return TALLY_OK;
	struct record_filters *made = calloc(1, sizeof(*made) + events->len * sizeof(made->programs[0]));
	if (!made)
		return error_nomem(err);
	made->events = events;
	made->count = events->len;
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < events->len; i++) {
		const struct event_spec *spec = &events->specs[i];
		if (!spec->sample_filter)
			continue;
		status = sample_filter_check(spec->sample_filter, &spec->attr, spec->name, err);
		if (status == TALLY_OK)
			status = bpf_sample_filter_create(kernel, spec->sample_filter, &made->programs[i], err);
	}
	if (status == TALLY_OK)
		*filters = made;
	else
		record_filters_destroy(made);
	return status;
}

enum tally_status record_filters_attach(void *context, size_t event, int fd, struct tally_error *err)
{
	const struct record_filters *filters = context;
	if (event >= filters->count || !filters->programs[event])
		return TALLY_OK;
	enum tally_status status = bpf_sample_filter_attach(filters->programs[event], fd, err);
	return status == TALLY_OK ? status : error_prefix(err, "%s", filters->events->specs[event].name);
}

uint64_t record_filters_dropped(const struct record_filters *filters, size_t event)
{
	if (!filters || event >= filters->count || !filters->programs[event])
		return 0;
	return bpf_sample_filter_dropped(filters->programs[event]);
}

void record_filters_destroy(struct record_filters *filters)
{
	for (size_t i = 0; filters && i < filters->count; i++)
		bpf_sample_filter_destroy(filters->programs[i]);
	free(filters);
}
