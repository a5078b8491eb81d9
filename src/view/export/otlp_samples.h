/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_samples.h - divides the chosen samples of a view by process and event, as an OTLP message requires, and merges
 * those with the same stack and attributes.
 *
 * Owned by the caller; borrows the view and the dictionary, to which it adds stacks and attributes. One thread.
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
	int32_t pid; /* -1 if unknown. */
	uint32_t label_set;
	uint32_t name; /* String of the profile. */
	uint32_t cgroup; /* String of the profile; PROFILE_NONE if unknown. */
	uint64_t sample_count;
};

/* The samples of one event and process make two profiles: one of their weights, and one of their number. */
enum otlp_kind { OTLP_WEIGHTS, OTLP_COUNTS, OTLP_KINDS };
struct otlp_group {
	uint32_t process, event;
	bool is_wait; /* Time off the CPU. */
	uint64_t process_samples; /* Number of samples of the process, of all events. */
	size_t begin, end; /* Range of its points. */
	uint64_t bytes[OTLP_KINDS]; /* Sizes of the encoded profiles, for the caller's use. */
};

struct otlp_point { /* Samples with the same stack and attributes. */
	uint32_t group; /* Number of the group in order of appearance. */
	uint32_t stack, attributes;
	uint64_t count, period;
	uint64_t row_count;
	uint64_t times_end; /* Index in times after its last time. */
};

struct otlp_samples {
	const struct export_view *view;
	struct otlp_dictionary *dictionary;
	struct id_table process_ids; /* Keys of label set and process ID. */
	struct id_table group_ids; /* Keys of process, event and is_wait. */
	struct id_table point_ids; /* Keys of group, stack and attributes. */
	struct list_table attribute_sets;
	VEC(struct otlp_process) processes;
	VEC(struct otlp_group) groups; /* The busiest process first, then by event, and time on the CPU before waits. */
	VEC(struct otlp_point) points; /* Sorted by group. */
	uint32_t *thread_attributes; /* Two for each of the profile's threads; 0 if there is none or not known yet. */
	uint32_t *point_of_sample; /* Indexed by the profile's samples; PROFILE_NONE if not chosen. */
	struct spool times; /* Times of points: ns since 1970, little-endian. */
	bool has_times; /* Each sample has a time. */
};

/* Returns false when out of memory; otlp_samples_deinit must be called in both cases. */
bool otlp_samples_init(
	struct otlp_samples *samples, const struct export_view *view, struct otlp_dictionary *dictionary);
void otlp_samples_deinit(struct otlp_samples *samples);

/* Returns the times of a point, one for each of its samples. Call it only if has_times is set. */
static inline const uint64_t *otlp_samples_times(const struct otlp_samples *samples, const struct otlp_point *point)
{
	return (const uint64_t *)(const void *)samples->times.base + point->times_end - point->count;
}
static inline struct list otlp_samples_attributes(const struct otlp_samples *samples, const struct otlp_point *point)
{
	return list_table_get(&samples->attribute_sets, point->attributes);
}

#endif
