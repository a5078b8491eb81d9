/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/order.h"
#include "view/export/firefox_writer.h"

#define BINS 2000 /* Number of bins of a counter: more than a screen has columns. */

/* Lost events belong to no thread: the first track shows them. */
bool firefox_list_marks(struct firefox *w)
{
	const struct export_view *view = w->view;
	struct id_table ids = {.words = 1};
	w->first_mark = malloc((w->tables.track_count + 1) * sizeof(*w->first_mark));
	w->next_mark = malloc((export_mark_count(view) + 1) * sizeof(*w->next_mark));
	bool is_done = w->first_mark && w->next_mark;
	for (size_t i = 0; is_done && i < w->tables.track_count; i++) {
		const struct export_track *track = &w->tables.tracks[i];
		const uint64_t key = (uint64_t)(uint32_t)track->pid << 32 | (uint32_t)track->tid;
		w->first_mark[i] = PROFILE_NONE;
		is_done = id_table_add(&ids, &key, NULL) != ID_TABLE_NONE;
	}
	for (size_t i = export_mark_count(view); is_done && w->tables.track_count && i-- > 0;) {
		const struct export_mark *mark = export_mark_at(view, i);
		const uint64_t key = (uint64_t)(uint32_t)mark->pid << 32 | (uint32_t)mark->tid;
		uint32_t track = mark->kind == EXPORT_LOST ? 0 : id_table_find(&ids, &key);
		if (track == ID_TABLE_NONE || mark->kind == EXPORT_SWITCH)
			continue;
		w->next_mark[i] = w->first_mark[track];
		w->first_mark[track] = (uint32_t)i;
	}
	id_table_deinit(&ids);
	return is_done;
}

struct marker {
	uint64_t time;
	struct tally_str name;
	struct tally_str text; /* Empty: number is shown instead. */
	int64_t number;
};

struct markers {
	VEC(struct marker) items;
};

static void firefox_markers_add_marks(struct firefox *w, size_t track, struct markers *markers)
{
	for (uint32_t i = w->first_mark[track]; i != PROFILE_NONE; i = w->next_mark[i]) {
		const struct export_mark *mark = export_mark_at(w->view, i);
		struct marker marker = {mark->time, str_from(export_mark_name(mark->kind)), STR(""), mark->number};
		if (mark->text != INTERN_NONE)
			marker.text = intern_get(w->view->mark_texts, mark->text);
		if (!vec_push(&markers->items, marker))
			w->sink->failed = true;
	}
}

static void add_traces(struct firefox *w, size_t group, struct markers *markers)
{
	const struct profile *p = w->view->profile;
	struct tally_str name = profile_string(p, p->events[group % p->event_count].name);
	for (size_t i = w->groups.begin[group]; i < w->groups.begin[group + 1]; i++) {
		const struct profile_row *row = export_group_row(&w->groups, i);
		struct marker marker = {row->time, name, export_trace(p, &p->samples[row->sample]), 0};
		if (marker.text.len > 0 && !vec_push(&markers->items, marker))
			w->sink->failed = true;
	}
}

static int firefox_markers_by_time(const void *left, const void *right)
{
	const struct marker *a = left, *b = right;
	return COMPARE(a->time, b->time);
}

static void put_data(struct firefox *w, const struct marker *marker)
{
	text_str(w->out, "{\"type\":\"tally\",\"text\":");
	if (marker->text.len > 0)
		export_json_string(w->out, marker->text);
	else
		text_printf(w->out, "\"%lld\"", (long long)marker->number);
	text_char(w->out, '}');
}

void firefox_add_markers(struct firefox *w, size_t group)
{
	struct markers markers = {0};
	firefox_markers_add_marks(w, group / w->view->profile->event_count, &markers);
	add_traces(w, group, &markers);
	const struct marker *items = markers.items.items;
	size_t count = markers.items.len;
	if (count > 1)
		qsort(markers.items.items, count, sizeof(*items), firefox_markers_by_time);
	text_printf(w->out, ",\n\"markers\":{\"length\":%zu", count);
	FIREFOX_COLUMN(w, "name", count, firefox_put_id(w->out, firefox_text(w, items[at].name)));
	FIREFOX_COLUMN(w, "startTime", count, {
		uint64_t time = items[at].time;
		export_decimal(w->out, time > w->tables.first_time ? time - w->tables.first_time : 0, 6);
	});
	FIREFOX_COLUMN(w, "endTime", count, text_str(w->out, "null"));
	FIREFOX_COLUMN(w, "phase", count, text_char(w->out, '0'));
	FIREFOX_COLUMN(w, "category", count, text_str(w->out, FIREFOX_CATEGORY_OTHER));
	FIREFOX_COLUMN(w, "data", count, put_data(w, &items[at]));
	text_char(w->out, '}');
	vec_free(&markers.items);
}

struct firefox_markers_counter {
	uint32_t event;
	int32_t pid;
	uint64_t sums[BINS];
	uint64_t each_ns; /* Duration of a bin. */
	size_t used; /* Number of bins up to the last one that is not empty. */
	size_t thread; /* The first entry of the process in the list of threads. */
	bool has_any; /* A counter was written already. */
};

struct process_track {
	int32_t pid;
	uint32_t track;
	size_t thread; /* Its first entry in the list of threads, which has one for each group of samples. */
};

static bool firefox_markers_is_counted(const struct firefox *w, uint32_t event)
{
	const struct profile *p = w->view->profile;
	return !w->is_trace[event] && strcmp(export_event_unit(profile_string(p, p->events[event].name)), "count") == 0;
}

static void firefox_markers_add_up(const struct firefox *w, const struct process_track *tracks, size_t count,
	struct firefox_markers_counter *counter)
{
	const struct profile *p = w->view->profile;
	memset(counter->sums, 0, sizeof(counter->sums));
	counter->used = 0;
	for (size_t t = 0; t < count; t++) {
		size_t group = tracks[t].track * p->event_count + counter->event;
		for (size_t i = w->groups.begin[group]; i < w->groups.begin[group + 1]; i++) {
			const struct profile_row *row = export_group_row(&w->groups, i);
			size_t bin = (size_t)((row->time - w->tables.first_time) / counter->each_ns);
			counter->sums[bin] += row->period;
			counter->used = bin >= counter->used ? bin + 1 : counter->used;
		}
	}
}

static void put_counter(struct firefox *w, struct firefox_markers_counter *counter)
{
	const struct profile *p = w->view->profile;
	text_str(w->out, counter->has_any ? ",\n{\"name\":" : "\n{\"name\":");
	export_json_string(w->out, profile_string(p, p->events[counter->event].name));
	text_printf(w->out,
		",\"category\":\"events\",\"description\":\"counted between samples\",\"pid\":\"%d\","
		"\"mainThreadIndex\":%zu,\"samples\":{\"length\":%zu",
		counter->pid, counter->thread, counter->used);
	FIREFOX_COLUMN(w, "time", counter->used, export_decimal(w->out, at * counter->each_ns, 6));
	FIREFOX_COLUMN(w, "count", counter->used, text_u64(w->out, counter->sums[at]));
	text_str(w->out, "}}");
	counter->has_any = true;
}

static int by_process(const void *left, const void *right)
{
	const struct process_track *a = left, *b = right;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return COMPARE(a->thread, b->thread);
}

/* Lists the tracks; those of a process are adjacent. */
static struct process_track *list_tracks(const struct firefox *w)
{
	size_t events = w->view->profile->event_count, threads = 0;
	struct process_track *tracks = calloc(w->tables.track_count + 1, sizeof(*tracks));
	for (size_t i = 0; tracks && i < w->tables.track_count; i++) {
		tracks[i] = (struct process_track){w->tables.tracks[i].pid, (uint32_t)i, threads};
		for (size_t group = i * events; group < (i + 1) * events; group++)
			threads += w->groups.begin[group] < w->groups.begin[group + 1];
	}
	if (tracks && w->tables.track_count > 1)
		qsort(tracks, w->tables.track_count, sizeof(*tracks), by_process);
	return tracks;
}

static void firefox_markers_add_process(
	struct firefox *w, const struct process_track *tracks, size_t count, struct firefox_markers_counter *counter)
{
	counter->pid = tracks->pid;
	counter->thread = tracks->thread;
	for (uint32_t event = 0; event < w->view->profile->event_count; event++) {
		counter->event = event;
		if (!firefox_markers_is_counted(w, event))
			continue;
		firefox_markers_add_up(w, tracks, count, counter);
		if (counter->used > 0)
			put_counter(w, counter);
	}
}

void firefox_add_counters(struct firefox *w)
{
	struct firefox_markers_counter *counter = calloc(1, sizeof(*counter));
	struct process_track *tracks = list_tracks(w);
	size_t count = counter && tracks ? w->tables.track_count : 0, end = 0;
	w->sink->failed = w->sink->failed || !counter || !tracks;
	if (counter)
		counter->each_ns = (w->tables.last_time - w->tables.first_time) / BINS + 1;
	for (size_t first = 0; first < count && !byte_sink_is_lost(w->sink); first = end) {
		while (end < count && tracks[end].pid == tracks[first].pid)
			end++;
		firefox_markers_add_process(w, tracks + first, end - first, counter);
	}
	free(counter);
	free(tracks);
}
