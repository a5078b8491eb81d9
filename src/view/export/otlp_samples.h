/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_samples.h - divides the chosen samples of a view by process and event, as an OTLP message has them, and joins
 * those that have the same stack and attributes there.
 *
 * Owned by the caller; borrows the view and the dictionary, which gets the stacks and attributes. One thread.
 *
 *	if (otlp_samples_init(&samples, view, &dictionary))
 *		for (size_t i = 0; i < samples.groups.len; i++) {
 *			struct otlp_group *group = &samples.groups.items[i];
 *			for (size_t k = group->begin; k < group->end; k++) use(&samples.points.items[k]);
 *		}
 *	otlp_samples_deinit(&samples);
 */
#ifndef VIEW_EXPORT_OTLP_SAMPLES_H
#define VIEW_EXPORT_OTLP_SAMPLES_H

#include "base/id_table.h"
#include "base/vec.h"
#include "view/export/export_view.h"
#include "view/export/otlp_dictionary.h"

struct otlp_process {
	int32_t pid; /* -1: not known */
	uint32_t label_set;
	uint32_t name; /* profile's string */
	uint32_t cgroup; /* profile's string; PROFILE_NONE: not known */
	uint64_t sample_count;
};

/* The samples of one event and process. Each has two profiles: what the samples stand for, and how many they are. */
enum otlp_kind { OTLP_WEIGHTS, OTLP_COUNTS, OTLP_KINDS };
struct otlp_group {
	uint32_t process, event;
	bool is_wait; /* time off the CPU */
	uint64_t process_samples; /* of all events */
	size_t begin, end; /* its points */
	uint64_t bytes[OTLP_KINDS]; /* of the profiles, for the caller */
};

struct otlp_point { /* samples with the same stack and attributes */
	uint32_t group; /* by the order in which they came */
	uint32_t stack, attributes;
	uint64_t count, period;
	uint64_t row_count;
	uint64_t times_end; /* where its times end */
};

struct otlp_samples {
	const struct export_view *view;
	struct otlp_dictionary *dictionary;
	struct id_table process_ids; /* by label set and process ID */
	struct id_table group_ids; /* process; event and is_wait */
	struct id_table point_ids; /* group and stack; attributes */
	struct list_table attribute_sets;
	VEC(struct otlp_process) processes;
	VEC(struct otlp_group) groups; /* the busiest process first, then by event, time on the CPU before waits */
	VEC(struct otlp_point) points; /* by group */
	uint32_t *thread_attributes; /* two of each thread of the profile; 0: not known yet, or none */
	uint32_t *point_of_sample; /* by the profile's samples; PROFILE_NONE: not chosen */
	struct spool times; /* of points: ns since 1970, little-endian */
	bool has_times; /* each sample has one */
};

/* False: out of memory; freed by otlp_samples_deinit in any case. */
bool otlp_samples_init(
	struct otlp_samples *samples, const struct export_view *view, struct otlp_dictionary *dictionary);
void otlp_samples_deinit(struct otlp_samples *samples);

/* As many as the point has samples. */
static inline const uint64_t *otlp_samples_times(const struct otlp_samples *samples, const struct otlp_point *point)
{
	return (const uint64_t *)(const void *)samples->times.base + point->times_end - point->count;
}
static inline struct list otlp_samples_attributes(const struct otlp_samples *samples, const struct otlp_point *point)
{
	return list_table_get(&samples->attribute_sets, point->attributes);
}

#endif
