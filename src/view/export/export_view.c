/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/export_view.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/id_table.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/vec.h"

bool export_wants(const struct export_view *view, const struct profile_sample *sample)
{
	if (view->event != PROFILE_NONE && sample->event != view->event)
		return false;
	return !view->filter || profile_filter_passes(view->filter, sample);
}

bool export_is_empty(const struct export_view *view)
{
	const struct profile *p = view->profile;
	for (size_t i = 0; i < p->sample_count; i++)
		if (export_wants(view, &p->samples[i]))
			return false;
	return true;
}

bool *export_event_flags(const struct export_view *view)
{
	const struct profile *p = view->profile;
	bool *flags = calloc(p->event_count + 1, sizeof(*flags));
	for (size_t i = 0; flags && i < p->sample_count; i++)
		if (!flags[p->samples[i].event] && export_wants(view, &p->samples[i]))
			flags[p->samples[i].event] = true;
	return flags;
}

struct tally_str export_trace(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_value *value = profile_facet(p, sample->facets, FACET_TRACE);
	return value && value->text != PROFILE_NONE ? profile_string(p, value->text) : STR("");
}

enum profile_state export_state(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_value *value = profile_facet(p, sample->facets, FACET_STATE);
	return value && value->number < PROFILE_STATES ? (enum profile_state)value->number : PROFILE_STATES;
}

struct tally_str export_state_name(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_value *value = profile_facet(p, sample->facets, FACET_STATE);
	return value && value->text != PROFILE_NONE ? profile_string(p, value->text) : STR("");
}

struct tally_str export_waker(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_value *value = profile_facet(p, sample->facets, FACET_WAKER);
	struct tally_str waker = value && value->text != PROFILE_NONE ? profile_string(p, value->text) : STR("");
	return str_equal(waker, STR("-")) ? STR("") : waker;
}

bool *export_trace_flags(const struct export_view *view)
{
	const struct profile *p = view->profile;
	bool *flags = calloc(p->event_count + 1, sizeof(*flags));
	for (size_t i = 0; flags && i < p->sample_count; i++)
		if (!flags[p->samples[i].event] && export_trace(p, &p->samples[i]).len > 0)
			flags[p->samples[i].event] = true;
	return flags;
}

/* By ID in the profile: the ID in the tables; PROFILE_NONE if nothing needs it. */
struct moved {
	uint32_t *stacks, *leaves, *frames;
};

static uint32_t *no_ids(size_t count)
{
	uint32_t *ids = malloc((count + 1) * sizeof(*ids));
	if (ids)
		memset(ids, 0xff, (count + 1) * sizeof(*ids));
	return ids;
}

/* Sets the IDs that are needed to 0. */
static void mark_needed(const struct export_tables *t, const struct moved *moved)
{
	const struct profile *p = t->view->profile;
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		if (!export_wants(t->view, sample))
			continue;
		if (sample->stack == PROFILE_NONE)
			moved->leaves[sample->leaf] = 0;
		else
			moved->stacks[sample->stack] = 0;
	}
	for (size_t i = 0; i < list_table_len(&p->stacks); i++) {
		struct list stack = profile_stack(p, (uint32_t)i);
		for (uint32_t k = 0; moved->stacks[i] == 0 && k < stack.count; k++)
			moved->frames[stack.items[k]] = 0;
	}
	for (size_t i = 0; i < p->frame_count; i++)
		if (moved->leaves[i] == 0)
			moved->frames[i] = 0;
}

static bool fill_nodes(struct export_tables *t, const struct moved *moved)
{
	const struct profile *p = t->view->profile;
	t->frames = malloc((p->frame_count + 1) * sizeof(*t->frames));
	if (!t->frames)
		return false;
	for (size_t i = 0; i < p->frame_count; i++) {
		if (moved->frames[i] != 0)
			continue;
		moved->frames[i] = (uint32_t)t->frame_count;
		t->frames[t->frame_count++] = (uint32_t)i;
	}
	if (!stack_nodes_init(&t->nodes, p, moved->frames, moved->stacks))
		return false;
	for (size_t i = 0; i < p->frame_count; i++) {
		if (moved->leaves[i] != 0)
			continue;
		if (!stack_nodes_add(&t->nodes, (struct stack_node){PROFILE_NONE, moved->frames[i]}))
			return false;
		moved->leaves[i] = (uint32_t)t->nodes.len - 1;
	}
	return true;
}

static bool fill_samples(struct export_tables *t, const struct moved *moved)
{
	const struct profile *p = t->view->profile;
	t->node_of_sample = no_ids(p->sample_count);
	if (!t->node_of_sample)
		return false;
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		if (export_wants(t->view, sample))
			t->node_of_sample[i] = sample->stack == PROFILE_NONE ? moved->leaves[sample->leaf]
									     : moved->stacks[sample->stack];
	}
	return true;
}

static bool fill_tracks(struct export_tables *t)
{
	const struct profile *p = t->view->profile;
	struct id_table ids = {.words = 1};
	bool is_done = true;
	t->track_of_thread = no_ids(p->thread_count);
	t->tracks = calloc(p->thread_count + 1, sizeof(*t->tracks));
	is_done = t->track_of_thread && t->tracks;
	for (size_t i = 0; is_done && i < p->sample_count; i++) {
		uint32_t thread = p->samples[i].thread;
		if (t->node_of_sample[i] == PROFILE_NONE || t->track_of_thread[thread] != PROFILE_NONE)
			continue;
		const struct profile_thread *from = &p->threads[thread];
		const uint64_t key = (uint64_t)(uint32_t)from->pid << 32 | (uint32_t)from->tid;
		uint32_t id = id_table_add(&ids, &key, NULL);
		is_done = id != ID_TABLE_NONE;
		if (!is_done)
			break;
		t->track_of_thread[thread] = id;
		t->tracks[id] = (struct export_track){.pid = from->pid, .tid = from->tid, .comm = from->last_comm};
		t->track_count = ids.len;
	}
	id_table_deinit(&ids);
	return is_done;
}

static void export_view_widen(struct export_tables *t, uint64_t time, bool *has_time)
{
	if (!*has_time || time < t->first_time)
		t->first_time = time;
	if (!*has_time || time > t->last_time)
		t->last_time = time;
	*has_time = true;
}

static void measure_rows(struct export_tables *t)
{
	struct export_sample sample;
	bool has_time = false;
	for (size_t at = 0; export_next_row(t, &at, &sample);) {
		t->tracks[sample.track].row_count++;
		export_view_widen(t, sample.time, &has_time);
	}
	for (size_t i = 0; i < export_mark_count(t->view); i++)
		if (export_mark_at(t->view, i)->time > 0) /* 0 means before the recording. */
			export_view_widen(t, export_mark_at(t->view, i)->time, &has_time);
}

enum tally_status export_tables_init(struct export_tables *t, const struct export_view *view, struct tally_error *err)
{
	const struct profile *p = view->profile;
	*t = (struct export_tables){.view = view};
	struct moved moved = {no_ids(list_table_len(&p->stacks)), no_ids(p->frame_count), no_ids(p->frame_count)};
	bool is_done = moved.stacks && moved.leaves && moved.frames;
	if (is_done) {
		mark_needed(t, &moved);
		is_done = fill_nodes(t, &moved) && fill_samples(t, &moved) && fill_tracks(t);
	}
	free(moved.stacks);
	free(moved.leaves);
	free(moved.frames);
	if (is_done) {
		measure_rows(t);
		return TALLY_OK;
	}
	export_tables_deinit(t);
	return error_nomem(err);
}

void export_tables_deinit(struct export_tables *t)
{
	stack_nodes_deinit(&t->nodes);
	free(t->frames);
	free(t->tracks);
	free(t->track_of_thread);
	free(t->node_of_sample);
	*t = (struct export_tables){0};
}

bool export_next_row(const struct export_tables *t, size_t *position, struct export_sample *out)
{
	const struct profile *p = t->view->profile;
	while (*position < p->row_count) {
		spool_walk(&p->row_spool, *position, sizeof(*p->rows));
		const struct profile_row *row = &p->rows[(*position)++];
		uint32_t node = t->node_of_sample[row->sample];
		if (node == PROFILE_NONE)
			continue;
		const struct profile_sample *sample = &p->samples[row->sample];
		*out = (struct export_sample){.time = row->time,
			.period = row->period,
			.event = sample->event,
			.thread = sample->thread,
			.track = t->track_of_thread[sample->thread],
			.node = node,
			.cpu = sample->cpu,
			.index = row->sample};
		return true;
	}
	return false;
}

static size_t export_view_group_of(const struct export_tables *t, const struct export_sample *s)
{
	return (size_t)s->track * t->view->profile->event_count + s->event;
}

const struct profile_row *export_group_row(const struct export_groups *groups, size_t index)
{
	spool_walk(&groups->rows, index, sizeof(struct profile_row));
	return (const struct profile_row *)(const void *)groups->rows.base + index;
}

size_t export_mark_count(const struct export_view *view)
{
	return view->marks ? view->marks->len / sizeof(struct export_mark) : 0;
}

const struct export_mark *export_mark_at(const struct export_view *view, size_t index)
{
	spool_walk(view->marks, index, sizeof(struct export_mark));
	return (const struct export_mark *)(const void *)view->marks->base + index;
}

bool export_groups_init(struct export_groups *groups, const struct export_tables *t)
{
	const struct profile *p = t->view->profile;
	struct export_sample s;
	*groups = (struct export_groups){.count = t->track_count * p->event_count};
	groups->begin = calloc(groups->count + 2, sizeof(*groups->begin));
	spool_init(&groups->rows);
	if (!groups->begin)
		return false;
	/* Counts are stored two indexes higher, so that filling leaves each entry at the beginning of its group. */
	for (size_t at = 0; export_next_row(t, &at, &s);)
		groups->begin[export_view_group_of(t, &s) + 2]++;
	for (size_t i = 2; i < groups->count + 2; i++)
		groups->begin[i] += groups->begin[i - 1];
	size_t bytes = groups->begin[groups->count + 1] * sizeof(struct profile_row);
	if (!spool_reserve(&groups->rows, bytes))
		return false;
	spool_commit(&groups->rows, bytes);
	struct profile_row *rows = (struct profile_row *)(void *)groups->rows.base;
	for (size_t at = 0; export_next_row(t, &at, &s);) {
		rows[groups->begin[export_view_group_of(t, &s) + 1]++] = p->rows[at - 1];
		/* The rows of one group are written in order, but groups alternate. So all written pages are dropped
		 * from memory at intervals. */
		if (++groups->put % SPOOL_WALK_ITEMS == 0)
			spool_drop(&groups->rows, spool_view(&groups->rows));
	}
	return true;
}

void export_groups_deinit(struct export_groups *groups)
{
	spool_deinit(&groups->rows);
	free(groups->begin);
	*groups = (struct export_groups){0};
}

void export_decimal(struct text *out, uint64_t ns, unsigned digits)
{
	uint64_t unit = digits == 6 ? 1000000 : 1000;
	text_u64(out, ns / unit);
	if (ns % unit == 0)
		return;
	text_char(out, '.');
	for (uint64_t rest = ns % unit; unit > 1; rest %= unit) {
		unit /= 10;
		text_char(out, (char)('0' + rest / unit));
	}
}

uint64_t export_frame_function(const struct profile *p, const struct profile_frame *frame)
{
	if (frame->function != PROFILE_NONE)
		return frame->function;
	return (uint64_t)p->function_count + (frame->binary == PROFILE_NONE ? p->binary_count : frame->binary);
}

size_t export_count_inlined(const struct profile *p, const uint32_t *frames, size_t count)
{
	size_t len = 1;
	while (len < count && len < LIMIT_INLINE_DEPTH && profile_frame_is_inlined(p, frames[len - 1]))
		len++;
	return len;
}

struct export_line export_frame_line(const struct profile *p, const struct profile_frame *frame)
{
	struct profile_line line = profile_frame_line(p, frame);
	return (struct export_line){line.file, line.number};
}

const char *export_mark_name(enum export_mark_kind kind)
{
	static const char *const names[EXPORT_MARKS] = {"comm", "exec", "fork", "exit", "lost", "switch"};
	return names[kind];
}

struct tally_str export_type_name(struct tally_str event, bool is_wait)
{
	if (is_wait)
		return STR("off_cpu");
	return profile_event_is_time(event) ? STR("cpu") : event;
}

const char *export_event_unit(struct tally_str name)
{
	return profile_event_is_time(name) ? "nanoseconds" : "count";
}

void export_json_string(struct text *out, struct tally_str s)
{
	json_text(out, s, "\"\\\b\f\n\r\t");
}

const char *export_kind_name(enum flame_kind kind)
{
	static const char *const names[FLAME_KINDS] = {[FLAME_USER] = "user",
		[FLAME_KERNEL] = "kernel",
		[FLAME_INLINED] = "inlined",
		[FLAME_GENERATED] = "jit",
		[FLAME_UNKNOWN] = "unknown",
		[FLAME_GROUP] = "group"};
	return names[kind];
}

/* The first function with a certain name in a certain binary, and whether others have the same. */
struct namesake {
	uint32_t function;
	bool has_others;
};

bool *export_namesakes(const struct export_tables *t)
{
	const struct profile *p = t->view->profile;
	struct id_table ids = {.words = 2}; /* Keys: name and binary. */
	VEC(struct namesake) firsts = {0};
	uint32_t *id_of_frame = no_ids(t->frame_count);
	bool *flags = calloc(t->frame_count + 1, sizeof(*flags));
	bool is_done = id_of_frame && flags;
	for (size_t i = 0; is_done && i < t->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[t->frames[i]];
		if (frame->function == PROFILE_NONE || p->functions[frame->function].is_inlined)
			continue;
		const uint64_t key[2] = {p->functions[frame->function].name, frame->binary};
		bool is_new;
		uint32_t id = id_of_frame[i] = id_table_add(&ids, key, &is_new);
		is_done = id != ID_TABLE_NONE &&
			  (!is_new || vec_push(&firsts, ((struct namesake){frame->function, false})));
		if (is_done && firsts.items[id].function != frame->function)
			firsts.items[id].has_others = true;
	}
	for (size_t i = 0; is_done && i < t->frame_count; i++)
		flags[i] = id_of_frame[i] != PROFILE_NONE && firsts.items[id_of_frame[i]].has_others;
	id_table_deinit(&ids);
	vec_free(&firsts);
	free(id_of_frame);
	if (!is_done) {
		free(flags);
		return NULL;
	}
	return flags;
}
