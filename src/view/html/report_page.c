/* SPDX-License-Identifier: Apache-2.0 */
#include "view/html/report_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/id_table.h"
#include "base/vec.h"
#include "view/html/page_counts.h"
#include "view/page/page_data.h"
#include "view/report_html.h"

#define TEXT_BYTES_MOST (8U << 20) /* Limit for texts of tracepoints, so that browsers can still open the page. */

struct report_page_page {
	struct byte_sink *sink;
	const struct export_view *view;
	struct export_tables tables;
	struct text *out; /* Points to sink->text. */
	/* By string of the profile: the number, from 1 on, of the waker with this name; 0 if none has it. NULL if
	 * samples have no states of threads. */
	uint32_t *waker_ids;
	bool *is_trace; /* By event: its samples have a text. */
	/* By sample of the profile: number of its tracepoint's text, or of its place in a listing; PROFILE_NONE if it
	 * has neither. */
	uint32_t *detail_of_sample;
};

static void report_page_add_member(struct report_page_page *page, const char *name, struct tally_str value)
{
	text_printf(page->out, "\"%s\":", name);
	page_string(page->out, value);
	text_str(page->out, ",\n");
}

static void report_page_add_about(struct report_page_page *page)
{
	const struct export_about *about = &page->view->about;
	report_page_add_member(page, "program", about->program);
	report_page_add_member(page, "version", about->version);
	report_page_add_member(page, "title", about->title);
	report_page_add_member(page, "quality", about->quality);
	report_page_add_member(page, "origin", about->origin.sentence);
	report_page_add_member(page, "originKind", about->origin.kind);
	report_page_add_member(page, "host", about->hostname);
	report_page_add_member(page, "os", about->os);
	report_page_add_member(page, "arch", about->arch);
	report_page_add_member(page, "cpu", about->cpu);
	report_page_add_member(page, "command", about->command);
	text_printf(page->out, "\"cpus\":%" PRIu64 ",\n\"times\":%d,\n", about->cpus, page->view->has_times);
	if (about->has_wall_clock)
		text_printf(page->out, "\"wall\":%.3f,\n",
			((double)page->tables.first_time + (double)about->wall_clock_offset_ns) / 1e9);
	text_printf(page->out, "\"start\":%" PRIu64 ",\n\"span\":%" PRIu64 ",\n", page->tables.first_time,
		page->tables.last_time - page->tables.first_time);
}

static void report_page_add_events(struct report_page_page *page)
{
	const struct profile *p = page->view->profile;
	text_str(page->out, "\"events\":[");
	for (size_t i = 0; i < p->event_count; i++) {
		struct tally_str name = profile_string(p, p->events[i].name);
		text_str(page->out, i ? ",[" : "[");
		page_string(page->out, name);
		text_printf(page->out, ",\"%s\",%" PRIu64 ",%d]", export_event_unit(name), p->events[i].lost_count,
			page->is_trace[i]);
	}
	text_str(page->out, "],\n");
}

/* A label is a function; frames without function share a label if they look the same. */
struct label_table {
	struct intern looks; /* Kind, object and name. */
	struct intern labels; /* Keys: look and function. */
	VEC(uint32_t) frames; /* By label: its first frame. */
	VEC(uint32_t) look_of_label;
	VEC(uint32_t) counts; /* By look: number of its labels. */
	struct text room, key;
};

static void label_table_init(struct label_table *t)
{
	*t = (struct label_table){0};
	intern_init(&t->looks);
	intern_init(&t->labels);
}

static void label_table_deinit(struct label_table *t)
{
	intern_deinit(&t->looks);
	intern_deinit(&t->labels);
	vec_free(&t->frames);
	vec_free(&t->look_of_label);
	vec_free(&t->counts);
	text_deinit(&t->room);
	text_deinit(&t->key);
}

/* Returns false if out of memory. */
static bool report_page_add_label(
	const struct report_page_page *page, struct label_table *t, uint32_t frame, uint32_t *id)
{
	struct flame_label label = flame_label_of(page->view->profile, frame, &t->room);
	uint32_t look;
	text_clear(&t->key);
	text_char(&t->key, (char)label.kind);
	text_char(&t->key, label.is_start ? 's' : '-');
	text_bytes(&t->key, label.object.data, label.object.len);
	text_char(&t->key, '\0');
	text_bytes(&t->key, label.name.data, label.name.len);
	size_t looks = t->looks.len, before = t->labels.len;
	if (t->key.failed || t->room.failed || !intern_add(&t->looks, t->key.data, t->key.len, &look) ||
		(t->looks.len > looks && !vec_push(&t->counts, 0)))
		return false;
	const uint32_t key[2] = {look, label.function};
	if (!intern_add(&t->labels, (const char *)key, sizeof(key), id))
		return false;
	if (t->labels.len == before)
		return true;
	t->counts.items[look]++;
	return vec_push(&t->frames, frame) && vec_push(&t->look_of_label, look);
}

/* Writes name, object, kind; whether threads begin there; its address, if other labels look the same; its listing, if
 * it has one. */
static void report_page_put_label(struct report_page_page *page, struct label_table *t, uint32_t id)
{
	const struct profile *p = page->view->profile;
	struct flame_label label = flame_label_of(p, t->frames.items[id], &t->room);
	uint32_t function = p->frames[t->frames.items[id]].function;
	const uint32_t *listings = page->view->listing_of_function;
	uint32_t listing = listings && function != PROFILE_NONE ? listings[function] : PROFILE_NONE;
	bool has_namesake = t->counts.items[t->look_of_label.items[id]] > 1, has_code = listing != PROFILE_NONE;
	text_str(page->out, id ? ",\n[" : "\n[");
	page_string(page->out, label.name);
	text_char(page->out, ',');
	page_string(page->out, label.object);
	text_printf(page->out, ",%d", (int)label.kind);
	if (label.is_start || has_namesake || has_code)
		text_printf(page->out, ",%d", label.is_start);
	if (has_namesake)
		text_printf(page->out, ",\"0x%" PRIx64 "\"", label.address);
	else if (has_code)
		text_str(page->out, ",\"\"");
	if (has_code)
		text_printf(page->out, ",%" PRIu32, listing);
	text_char(page->out, ']');
	byte_sink_step(page->sink);
}

/* Writes labels, and nodes: the distance back to the caller's node, or 0 if there is none, and the label. */
static void report_page_add_nodes(struct report_page_page *page)
{
	const struct export_tables *t = &page->tables;
	struct label_table labels;
	uint32_t *label_of = calloc(t->frame_count + 1, sizeof(*label_of));
	bool is_done = label_of != NULL;
	label_table_init(&labels);
	for (size_t i = 0; is_done && i < t->frame_count; i++)
		is_done = report_page_add_label(page, &labels, t->frames[i], &label_of[i]);
	text_str(page->out, "\"labels\":[");
	for (uint32_t i = 0; is_done && i < labels.labels.len; i++)
		report_page_put_label(page, &labels, i);
	text_printf(page->out, "],\n\"nodeCount\":%zu,\n\"nodes\":\"", t->nodes.len);
	struct page_bytes b = {.out = page->out};
	for (size_t i = 0; is_done && i < t->nodes.len; i++) {
		const struct stack_node *node = &t->nodes.items[i];
		page_number(&b, node->parent == PROFILE_NONE ? 0 : i - node->parent);
		page_number(&b, label_of[node->frame]);
		byte_sink_step(page->sink);
	}
	page_bytes_end(&b);
	text_str(page->out, "\",\n");
	page->sink->failed = page->sink->failed || !is_done || labels.room.failed;
	free(label_of);
	label_table_deinit(&labels);
}

static void add_tracks(struct report_page_page *page)
{
	text_str(page->out, "\"tracks\":[");
	for (size_t i = 0; i < page->tables.track_count; i++) {
		const struct export_track *track = &page->tables.tracks[i];
		text_printf(page->out, "%s[%" PRId32 ",%" PRId32 ",", i ? "," : "", track->pid, track->tid);
		page_string(page->out, profile_string(page->view->profile, track->comm));
		text_char(page->out, ']');
		byte_sink_step(page->sink);
	}
	text_str(page->out, "],\n");
}

/* Writes the texts of tracepoints' samples, and how many samples have none because of the limit. */
static void add_texts(struct report_page_page *page)
{
	const struct profile *p = page->view->profile;
	struct id_table ids = {.words = 1}; /* Numbers strings of the profile. */
	size_t bytes = 0, left_out = 0;
	text_str(page->out, "\"texts\":[");
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		bool is_new;
		page->detail_of_sample[i] = PROFILE_NONE;
		if (page->tables.node_of_sample[i] == PROFILE_NONE || export_trace(p, sample).len == 0)
			continue;
		const uint64_t key = profile_facet(p, sample->facets, FACET_TRACE)->text;
		bool has_room = bytes < TEXT_BYTES_MOST;
		uint32_t id = has_room ? id_table_add(&ids, &key, &is_new) : id_table_find(&ids, &key);
		left_out += id == ID_TABLE_NONE;
		page->sink->failed = page->sink->failed || (has_room && id == ID_TABLE_NONE);
		page->detail_of_sample[i] = id == ID_TABLE_NONE ? PROFILE_NONE : id;
		if (!has_room || !is_new || id == ID_TABLE_NONE)
			continue;
		text_str(page->out, id ? ",\n" : "\n");
		page_string(page->out, export_trace(p, sample));
		bytes += export_trace(p, sample).len;
		byte_sink_step(page->sink);
	}
	text_printf(page->out, "],\n\"textsLeftOut\":%zu,\n", left_out);
	id_table_deinit(&ids);
}

/* Writes the samples' places in listings: the listing, and the offset from the start of the function. */
static void report_page_add_places(struct report_page_page *page)
{
	const struct profile *p = page->view->profile;
	struct id_table ids = {.words = 2};
	struct page_bytes b = {.out = page->out};
	text_str(page->out, "\"places\":\"");
	for (size_t i = 0; page->view->listing_of_function && i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		uint32_t function = p->frames[sample->leaf].function;
		const struct profile_value *value = profile_facet(p, sample->facets, FACET_PLACE);
		bool is_new = false;
		if (page->tables.node_of_sample[i] == PROFILE_NONE || page->is_trace[sample->event] || !value ||
			function == PROFILE_NONE || page->view->listing_of_function[function] == PROFILE_NONE ||
			value->number < p->functions[function].start)
			continue;
		const uint64_t key[2] = {
			page->view->listing_of_function[function], value->number - p->functions[function].start};
		uint32_t id = id_table_add(&ids, key, &is_new);
		page->detail_of_sample[i] = id == ID_TABLE_NONE ? PROFILE_NONE : id;
		page->sink->failed = page->sink->failed || id == ID_TABLE_NONE;
		if (is_new) {
			page_number(&b, key[0]);
			page_number(&b, key[1]);
			byte_sink_step(page->sink);
		}
	}
	page_bytes_end(&b);
	text_printf(page->out, "\",\n\"placeCount\":%zu,\n", (size_t)ids.len);
	id_table_deinit(&ids);
}

/* Writes what the samples' threads waited for: names of states by number, and names of wakers by number - 1. */
static void report_page_add_waits(struct report_page_page *page)
{
	const struct profile *p = page->view->profile;
	struct tally_str states[PROFILE_STATES] = {0};
	uint32_t count = 0;
	if (!(p->facets >> FACET_STATE & 1) || !(p->facets >> FACET_WAKER & 1))
		return;
	page->waker_ids = calloc(p->strings.len + 1, sizeof(*page->waker_ids));
	page->sink->failed = page->sink->failed || !page->waker_ids;
	text_str(page->out, "\"wakers\":[");
	for (size_t i = 0; page->waker_ids && i < p->sample_count; i++) {
		const struct profile_value *waker = profile_facet(p, p->samples[i].facets, FACET_WAKER);
		if (export_state(p, &p->samples[i]) < PROFILE_STATES)
			states[export_state(p, &p->samples[i])] = export_state_name(p, &p->samples[i]);
		if (export_waker(p, &p->samples[i]).len == 0 || page->waker_ids[waker->text])
			continue;
		text_str(page->out, count ? "," : "");
		page_string(page->out, profile_string(p, waker->text));
		page->waker_ids[waker->text] = ++count;
	}
	text_str(page->out, "],\n\"states\":[");
	for (unsigned s = 0; s < PROFILE_STATES; s++) {
		text_str(page->out, s ? "," : "");
		page_string(page->out, states[s]);
	}
	text_str(page->out, "],\n");
}

/* Writes each sample: time since the previous one, node, track, CPU + 1, event, period + 1 or 0 if it is that of the
 * event's previous sample, and 1 + the number of its text or place, or 0 if it has none. If there are waits, two more
 * numbers follow: the state, and 2 * the number of the waker, or 0 if it has none; 1 is added if the sample stands for
 * several waits. */
static void report_page_add_rows(struct report_page_page *page)
{
	struct export_sample s;
	size_t count = 0;
	uint64_t before = page->tables.first_time;
	uint64_t *periods = calloc(page->view->profile->event_count + 1, sizeof(*periods));
	struct page_bytes b = {.out = page->out};
	text_str(page->out, "\"rows\":\"");
	for (size_t at = 0; periods && export_next_row(&page->tables, &at, &s); count++) {
		page_number(&b, s.time - before);
		page_number(&b, s.node);
		page_number(&b, s.track);
		page_number(&b, (uint64_t)((int64_t)s.cpu + 1));
		page_number(&b, s.event);
		page_number(&b, count > 0 && s.period == periods[s.event] ? 0 : s.period + 1);
		page_number(
			&b, page->detail_of_sample[s.index] == PROFILE_NONE ? 0 : page->detail_of_sample[s.index] + 1);
		if (page->waker_ids) {
			const struct profile *p = page->view->profile;
			const struct profile_sample *sample = &p->samples[s.index];
			const struct profile_value *waker = profile_facet(p, sample->facets, FACET_WAKER);
			page_number(&b, export_state(p, sample));
			page_number(&b, waker ? 2 * (uint64_t)page->waker_ids[waker->text] + (waker->number & 1) : 0);
		}
		periods[s.event] = s.period;
		before = s.time;
		byte_sink_step(page->sink);
	}
	page_bytes_end(&b);
	text_printf(page->out, "\",\n\"rowCount\":%zu,\n", count);
	page->sink->failed = page->sink->failed || !periods;
	free(periods);
}

/* Writes each switch: time since the previous one, CPU + 1 or 0 if it is unknown, the thread that leaves, and the one
 * that comes; 0 is the idle thread. The exit of a thread also counts as leaving, because its last switch may not be
 * recorded. */
static void add_switches(struct report_page_page *page)
{
	size_t count = 0;
	bool has_switches = false;
	for (size_t i = 0; i < export_mark_count(page->view); i++)
		has_switches = has_switches || export_mark_at(page->view, i)->kind == EXPORT_SWITCH;
	uint64_t before = page->tables.first_time;
	struct page_bytes b = {.out = page->out};
	text_str(page->out, "\"switches\":\"");
	for (size_t i = 0; i < export_mark_count(page->view); i++) {
		const struct export_mark *mark = export_mark_at(page->view, i);
		bool is_exit = mark->kind == EXPORT_EXIT && has_switches;
		if ((mark->kind != EXPORT_SWITCH && !is_exit) || mark->time < before)
			continue;
		page_number(&b, mark->time - before);
		page_number(&b, mark->cpu < 0 ? 0 : (uint64_t)mark->cpu + 1);
		page_number(&b, mark->tid > 0 ? (uint64_t)mark->tid : 0);
		page_number(&b, !is_exit && mark->number > 0 ? (uint64_t)mark->number : 0);
		before = mark->time;
		count++;
		byte_sink_step(page->sink);
	}
	page_bytes_end(&b);
	text_printf(page->out, "\",\n\"switchCount\":%zu,\n", count);
}

static void report_page_add_code(struct report_page_page *page, struct tally_str code)
{
	text_str(page->out, "\"code\":[");
	for (size_t i = 0; i < code.len; i++) {
		text_char(page->out, code.data[i]);
		byte_sink_step(page->sink);
	}
	text_str(page->out, "]\n}");
}

static void report_page_add_data(struct report_page_page *page)
{
	text_str(page->out, "{\n");
	report_page_add_about(page);
	report_page_add_events(page);
	report_page_add_nodes(page);
	add_tracks(page);
	add_texts(page);
	report_page_add_places(page);
	report_page_add_waits(page);
	report_page_add_rows(page);
	add_switches(page);
	text_str(page->out, "\"counts\":");
	page_counts(page->out, page->view->counts);
	text_str(page->out, ",\n");
	report_page_add_code(page, page->view->code);
}

void report_page_write(struct byte_sink *sink, const struct export_view *view)
{
	static const char mark[] = "@DATA@";
	const char *at = strstr(report_html, mark);
	struct report_page_page page = {.sink = sink, .view = view, .out = &sink->text};
	struct tally_error err;
	if (export_tables_init(&page.tables, view, &err) != TALLY_OK) {
		sink->failed = true;
		return;
	}
	page.is_trace = export_trace_flags(view);
	page.detail_of_sample = malloc((view->profile->sample_count + 1) * sizeof(*page.detail_of_sample));
	if (page.is_trace && page.detail_of_sample) {
		text_bytes(page.out, report_html, (size_t)(at - report_html));
		report_page_add_data(&page);
		text_str(page.out, at + sizeof(mark) - 1);
		byte_sink_step(sink);
	} else {
		sink->failed = true;
	}
	free(page.is_trace);
	free(page.waker_ids);
	free(page.detail_of_sample);
	export_tables_deinit(&page.tables);
}
