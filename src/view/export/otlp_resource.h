/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_resource.h - writes what OpenTelemetry calls a resource: the attributes of a process and its machine, by the
 * names of the semantic conventions.
 *
 * Attributes of the view (struct export_attribute) come first, and take the place of those that the recording gives.
 *
 *	otlp_resource_put(&text, view, &(struct otlp_resource){.pid = 42, .name = STR("work")});
 */
#ifndef VIEW_EXPORT_OTLP_RESOURCE_H
#define VIEW_EXPORT_OTLP_RESOURCE_H

#include "view/export/export_view.h"

struct otlp_resource {
	int32_t pid; /* -1: not known */
	uint32_t label_set; /* of its batch; otherwise 0 */
	struct tally_str name; /* of the process */
	struct tally_str cgroup; /* its path; empty: not known */
};

/* The fields of a Resource. */
void otlp_resource_put(struct text *out, const struct export_view *view, const struct otlp_resource *resource);
/* The ID of the container that a cgroup belongs to: 64 hexadecimal digits in its path. Empty: there is none. */
struct tally_str otlp_container_id(struct tally_str cgroup);

#endif
