/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_event.c - implements tally/event.h by the event parser.
 */
#include <string.h>
#include <tally/event.h>

#include "base/array.h"
#include "base/error.h"
#include "kernel/events/attr_bytes.h"
#include "kernel/events/event_parser.h"

enum tally_status tally_event_attr(const char *event, void *attr, size_t size, struct tally_error *err)
{
	struct event_catalogue *catalogue;
	struct event_list events = {0};
	struct writer w = {0};
	if (size < ATTR_SIZE_VER0 || size > ATTR_BYTES_MAX || size % sizeof(uint64_t) != 0)
		return error_set(err, TALLY_INVALID, "%zu is not a valid size of struct perf_event_attr", size);
	enum tally_status status = event_catalogue_create(kernel_seam_linux(), &catalogue, err);
	if (status != TALLY_OK)
		return status;
	status = event_parse(catalogue, event, &events, err);
	if (status == TALLY_OK && (events.len != 1 || events.specs[0].tool != TOOL_NONE))
		status = error_set(err, TALLY_INVALID, "'%s' is not the name of a single kernel event", event);
	if (status == TALLY_OK) {
		struct perf_attr *made = &events.specs[0].attr;
		made->size = (uint32_t)(MIN(size, ATTR_SIZE_KNOWN));
		made->flags |= events.specs[0].has_freq ? ATTR_FLAG(ATTR_BIT_FREQ) : 0;
		attr_encode(&w, made);
		status = w.failed ? error_nomem(err) : TALLY_OK;
	}
	if (status == TALLY_OK) {
		memset(attr, 0, size);
		memcpy(attr, w.data, MIN(w.len, size));
	}
	writer_deinit(&w);
	event_list_deinit(&events);
	event_catalogue_destroy(catalogue);
	return status;
}
