/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/otlp_samples.h"

#include <endian.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/key_sort.h"

#define SAMPLE_ATTRIBUTES_MAX 4 /* Thread ID, thread name, state, waker. */

static uint32_t otlp_samples_process_of(struct otlp_samples *s, const struct profile_sample *sample)
{
	const struct profile_thread *thread = &s->view->profile->threads[sample->thread];
	const uint64_t key = (uint64_t)thread->label_set << 32 | (uint32_t)thread->pid;
	bool is_new;
	uint32_t id = id_table_add(&s->process_ids, &key, &is_new);
	const struct otlp_process process = {thread->pid, thread->label_set, thread->process_comm, PROFILE_NONE, 0};
	if (id == ID_TABLE_NONE || (is_new && !vec_push(&s->processes, process)))
		return ID_TABLE_NONE;
	const struct profile_value *cgroup = profile_facet(s->view->profile, sample->facets, FACET_CGROUP);
	if (cgroup && s->processes.items[id].cgroup == PROFILE_NONE)
		s->processes.items[id].cgroup = cgroup->text;
	s->processes.items[id].sample_count += sample->count;
	return id;
}

static uint32_t otlp_samples_group_of(struct otlp_samples *s, const struct profile_sample *sample)
{
	const struct profile *p = s->view->profile;
	uint32_t process = otlp_samples_process_of(s, sample);
	struct tally_str event = profile_string(p, p->events[sample->event].name);
	bool is_wait = str_starts_with(event, STR("offcpu-time")) ||
		       (str_equal(event, STR("wall-clock")) && export_state(p, sample) != PROFILE_STATE_RUNNING);
	const uint64_t key[2] = {process, (uint64_t)sample->event << 1 | is_wait};
	bool is_new;
	uint32_t id = process == ID_TABLE_NONE ? ID_TABLE_NONE : id_table_add(&s->group_ids, key, &is_new);
	const struct otlp_group group = {.process = process, .event = sample->event, .is_wait = is_wait};
	if (id == ID_TABLE_NONE || (is_new && !vec_push(&s->groups, group)))
		return ID_TABLE_NONE;
	return id;
}

static uint32_t otlp_samples_attributes_of(struct otlp_samples *s, const struct profile_sample *sample)
{
	const struct profile *p = s->view->profile;
	const struct profile_thread *thread = &p->threads[sample->thread];
	uint32_t *known = &s->thread_attributes[2 * sample->thread];
	if (known[0] == 0 && thread->tid >= 0) {
		known[0] = otlp_number_attribute(s->dictionary, "thread.id", thread->tid);
		known[1] = otlp_text_attribute(s->dictionary, "thread.name", profile_string(p, thread->comm));
	}
	uint32_t ids[SAMPLE_ATTRIBUTES_MAX];
	size_t count = 0;
	for (unsigned i = 0; i < 2; i++)
		if (known[i])
			ids[count++] = known[i];
	struct tally_str state = export_state_name(p, sample), waker = export_waker(p, sample);
	if (state.len > 0)
		ids[count++] = otlp_text_attribute(s->dictionary, "tally.state", state);
	if (waker.len > 0)
		ids[count++] = otlp_text_attribute(s->dictionary, "tally.waker", waker);
	return list_table_add(&s->attribute_sets, ids, count);
}

/* Adds a sample to the point with the same group, stack and attributes. Returns false if out of memory. */
static bool otlp_samples_add(struct otlp_samples *s, size_t index)
{
	const struct profile_sample *sample = &s->view->profile->samples[index];
	uint32_t group = otlp_samples_group_of(s, sample);
	uint32_t attributes = otlp_samples_attributes_of(s, sample);
	if (group == ID_TABLE_NONE || attributes == LIST_TABLE_NONE)
		return false;
	uint32_t stack = otlp_stack(s->dictionary, sample);
	const uint64_t key[2] = {(uint64_t)group << 32 | stack, attributes};
	bool is_new;
	uint32_t id = id_table_add(&s->point_ids, key, &is_new);
	const struct otlp_point point = {.group = group, .stack = stack, .attributes = attributes};
	if (id == ID_TABLE_NONE || (is_new && !vec_push(&s->points, point)))
		return false;
	s->points.items[id].count += sample->count;
	s->points.items[id].period += sample->period;
	s->point_of_sample[index] = id;
	return true;
}

static bool otlp_samples_add_all(struct otlp_samples *s)
{
	const struct profile *p = s->view->profile;
	for (size_t i = 0; i < p->sample_count; i++) {
		s->point_of_sample[i] = PROFILE_NONE;
		if (export_wants(s->view, &p->samples[i]) && !otlp_samples_add(s, i))
			return false;
	}
	return !s->dictionary->failed;
}

static const struct profile_row *otlp_samples_row(const struct otlp_samples *s, size_t index)
{
	spool_walk(&s->view->profile->row_spool, index, sizeof(struct profile_row));
	return &s->view->profile->rows[index];
}

/* Times are written only if every sample has one. */
static bool otlp_samples_count_times(struct otlp_samples *s, uint64_t *total)
{
	const struct profile *p = s->view->profile;
	if (!s->view->has_times || !s->view->about.has_wall_clock || p->row_count == 0)
		return false;
	for (size_t i = 0; i < p->row_count; i++) {
		uint32_t point = s->point_of_sample[otlp_samples_row(s, i)->sample];
		if (point != PROFILE_NONE)
			s->points.items[point].row_count++;
	}
	*total = 0;
	for (size_t i = 0; i < s->points.len; i++) {
		struct otlp_point *point = &s->points.items[i];
		if (point->row_count != point->count)
			return false;
		point->times_end = *total;
		*total += point->row_count;
	}
	return true;
}

static bool otlp_samples_find_times(struct otlp_samples *s)
{
	uint64_t total, offset = (uint64_t)s->view->about.wall_clock_offset_ns;
	if (!otlp_samples_count_times(s, &total))
		return true;
	if (!spool_reserve(&s->times, total * sizeof(uint64_t)))
		return false;
	spool_commit(&s->times, total * sizeof(uint64_t));
	uint64_t *times = (uint64_t *)(void *)s->times.base;
	for (size_t i = 0; i < s->view->profile->row_count; i++) {
		const struct profile_row *row = otlp_samples_row(s, i);
		uint32_t point = s->point_of_sample[row->sample];
		if (point != PROFILE_NONE)
			times[s->points.items[point].times_end++] = htole64(row->time + offset);
		if (i % SPOOL_WALK_ITEMS == 0)
			spool_drop(&s->times, spool_view(&s->times));
	}
	s->has_times = true;
	return true;
}

static uint64_t otlp_samples_point_group(const void *item)
{
	return ((const struct otlp_point *)item)->group;
}

static uint64_t otlp_samples_group_rank(const void *item)
{
	return ~((const struct otlp_group *)item)->process_samples;
}

static uint64_t otlp_samples_group_process(const void *item)
{
	return ((const struct otlp_group *)item)->process;
}

static uint64_t otlp_samples_group_event(const void *item)
{
	const struct otlp_group *group = item;
	return (uint64_t)group->event << 1 | group->is_wait;
}

/* Orders the points by group, and sets the range of each group. Returns false if out of memory. */
static bool otlp_samples_order(struct otlp_samples *s)
{
	if (!key_sort_items(s->points.items, s->points.len, sizeof(*s->points.items),
		    (key_of_item[]){otlp_samples_point_group}, 1))
		return false;
	for (size_t i = 0; i < s->points.len; i++) {
		struct otlp_group *group = &s->groups.items[s->points.items[i].group];
		if (group->end == 0)
			group->begin = i;
		group->end = i + 1;
	}
	for (size_t i = 0; i < s->groups.len; i++)
		s->groups.items[i].process_samples = s->processes.items[s->groups.items[i].process].sample_count;
	const key_of_item keys[] = {otlp_samples_group_rank, otlp_samples_group_process, otlp_samples_group_event};
	return key_sort_items(s->groups.items, s->groups.len, sizeof(*s->groups.items), keys, ARRAY_LEN(keys));
}

bool otlp_samples_init(struct otlp_samples *s, const struct export_view *view, struct otlp_dictionary *dictionary)
{
	*s = (struct otlp_samples){.view = view, .dictionary = dictionary};
	s->process_ids.words = 1;
	s->group_ids.words = 2;
	s->point_ids.words = 2;
	spool_init(&s->times);
	const struct profile *p = view->profile;
	s->thread_attributes = calloc(2 * p->thread_count + 1, sizeof(*s->thread_attributes));
	s->point_of_sample = malloc((p->sample_count + 1) * sizeof(*s->point_of_sample));
	return s->thread_attributes && s->point_of_sample && otlp_samples_add_all(s) && otlp_samples_find_times(s) &&
	       otlp_samples_order(s);
}

void otlp_samples_deinit(struct otlp_samples *s)
{
	id_table_deinit(&s->process_ids);
	id_table_deinit(&s->group_ids);
	id_table_deinit(&s->point_ids);
	list_table_deinit(&s->attribute_sets);
	vec_free(&s->processes);
	vec_free(&s->groups);
	vec_free(&s->points);
	free(s->thread_attributes);
	free(s->point_of_sample);
	spool_deinit(&s->times);
}
