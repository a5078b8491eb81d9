/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_resource.h - writes an OpenTelemetry resource: the attributes of a process and its machine, named by the
 * semantic conventions.
 *
 * Attributes of the view (struct export_attribute) come first, and replace those from the recording.
 *
 *	otlp_resource_put(&text, view, &(struct otlp_resource){.pid = 42, .name = STR("work")});
 */
#ifndef VIEW_EXPORT_OTLP_RESOURCE_H
#define VIEW_EXPORT_OTLP_RESOURCE_H

#include "view/export/export_view.h"

struct otlp_resource {
	int32_t pid; /* -1 if unknown. */
	uint32_t label_set; /* Label set of its batch; 0 otherwise. */
	struct tally_str name; /* Name of the process. */
	struct tally_str cgroup; /* Path of the cgroup; empty if unknown. */
};

/* Appends the fields of a Resource. */
void otlp_resource_put(struct text *out, const struct export_view *view, const struct otlp_resource *resource);
/* Returns the ID of the container that a cgroup belongs to, which is 64 hexadecimal digits in its path; empty if there
 * is none. */
struct tally_str otlp_container_id(struct tally_str cgroup);

#endif
