/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/export/export_formats.h"

struct speedscope {
	struct byte_sink *sink;
	struct text *out;
	const struct export_view *view;
	struct export_tables tables;
	struct export_groups groups;
	uint32_t *path;
	bool *namesakes; /* By frame of the tables: another function has the same name in the same binary. */
};

static void export_speedscope_add_name(struct speedscope *w, const struct export_track *track, uint32_t event)
{
	const struct profile *p = w->view->profile;
	struct tally_str comm = profile_string(p, track->comm), name = profile_string(p, p->events[event].name);
	struct text room = {0};
	text_bytes(&room, comm.data, comm.len);
	if (track->tid >= 0)
		text_printf(&room, " %d/%d", track->pid, track->tid);
	text_str(&room, ": ");
	text_bytes(&room, name.data, name.len);
	export_json_string(w->out, (struct tally_str){room.data, room.len});
	w->out->failed = w->out->failed || room.failed;
	text_deinit(&room);
}

/* Writes the frames of a sample, outermost first. A wait ends with a frame for its state; these are numbered after
 * all other frames. */
static void add_stack(struct speedscope *w, uint32_t sample)
{
	const struct profile *p = w->view->profile;
	enum profile_state state = export_state(p, &p->samples[sample]);
	uint32_t node = w->tables.node_of_sample[sample];
	size_t depth = 0;
	for (; node != PROFILE_NONE; node = w->tables.nodes.items[node].parent)
		w->path[depth++] = w->tables.nodes.items[node].frame;
	text_char(w->out, '[');
	while (depth > 0) {
		text_u64(w->out, w->path[--depth]);
		if (depth > 0)
			text_char(w->out, ',');
	}
	if (state != PROFILE_STATE_RUNNING && state != PROFILE_STATES)
		text_printf(w->out, ",%zu", w->tables.frame_count + state);
	text_char(w->out, ']');
}

static void add_profile(struct speedscope *w, size_t group)
{
	const struct profile *p = w->view->profile;
	uint32_t event = (uint32_t)(group % p->event_count);
	size_t first = w->groups.begin[group], last = w->groups.begin[group + 1];
	uint64_t total = 0;
	struct tally_str name = profile_string(p, p->events[event].name);
	text_str(w->out, "{\"type\":\"sampled\",\"name\":");
	export_speedscope_add_name(w, &w->tables.tracks[group / p->event_count], event);
	text_printf(w->out, ",\"unit\":\"%s\",\"samples\":[",
		strcmp(export_event_unit(name), "nanoseconds") == 0 ? "nanoseconds" : "none");
	for (size_t i = first; i < last && !byte_sink_is_lost(w->sink); i++) {
		text_str(w->out, i > first ? ",\n" : "\n");
		add_stack(w, export_group_row(&w->groups, i)->sample);
		byte_sink_step(w->sink);
	}
	text_str(w->out, "],\n\"weights\":[");
	for (size_t i = first; i < last && !byte_sink_is_lost(w->sink); i++) {
		uint64_t period = export_group_row(&w->groups, i)->period;
		if (i > first)
			text_char(w->out, ',');
		text_u64(w->out, period);
		total += period;
		byte_sink_step(w->sink);
	}
	text_printf(w->out, "],\"startValue\":0,\"endValue\":%llu}", (unsigned long long)total);
}

/* The viewer identifies frames by name, file and line. If functions share these, the address is added to the file. */
static void export_speedscope_put_file(
	struct speedscope *w, const struct flame_label *label, struct tally_str source, bool has_namesake)
{
	struct text file = {0};
	struct tally_str name = source.len > 0 ? source : label->object;
	text_bytes(&file, name.data, name.len);
	if (has_namesake && source.len == 0 && label->function != PROFILE_NONE)
		text_printf(&file, " 0x%" PRIx64, label->address);
	export_json_string(w->out, (struct tally_str){file.data, file.len});
	w->out->failed = w->out->failed || file.failed;
	text_deinit(&file);
}

static void export_speedscope_add_frames(struct speedscope *w)
{
	const struct profile *p = w->view->profile;
	struct text room = {0};
	for (size_t i = 0; i < w->tables.frame_count; i++) {
		struct flame_label label = flame_label_of(p, w->tables.frames[i], &room);
		struct export_line line = export_frame_line(p, &p->frames[w->tables.frames[i]]);
		text_str(w->out, i ? ",\n{\"name\":" : "\n{\"name\":");
		export_json_string(w->out, label.name);
		/* The source file, or else the file that contains the code. */
		if (line.file.len > 0 || label.object.len > 0) {
			text_str(w->out, ",\"file\":");
			export_speedscope_put_file(w, &label, line.file, w->namesakes[i]);
		}
		if (line.number)
			text_printf(w->out, ",\"line\":%llu", (unsigned long long)line.number);
		text_char(w->out, '}');
		byte_sink_step(w->sink);
	}
	w->out->failed = w->out->failed || room.failed;
	text_deinit(&room);
}

/* Adds a frame for each state, in the order of states. */
static void export_speedscope_add_states(struct speedscope *w)
{
	const struct profile *p = w->view->profile;
	struct tally_str names[PROFILE_STATES] = {0};
	if (!(p->facets >> FACET_STATE & 1))
		return;
	for (size_t i = 0; i < p->sample_count; i++)
		if (export_state(p, &p->samples[i]) != PROFILE_STATES)
			names[export_state(p, &p->samples[i])] = export_state_name(p, &p->samples[i]);
	for (unsigned s = 0; s < PROFILE_STATES; s++)
		text_printf(w->out, "%s\n{\"name\":\"[%.*s]\"}", s || w->tables.frame_count ? "," : "",
			(int)names[s].len, names[s].len ? names[s].data : "");
}

/* Viewers show no other text about the whole recording. */
static void export_speedscope_put_title(struct text *out, const struct export_about *about)
{
	struct text title = {0};
	text_bytes(&title, about->title.data, about->title.len);
	if (about->origin.kind.len > 0)
		text_printf(&title, " (%.*s)", (int)about->origin.kind.len, about->origin.kind.data);
	export_json_string(out, text_view(&title));
	out->failed |= title.failed;
	text_deinit(&title);
}

static void export_speedscope_write_all(struct speedscope *w)
{
	const struct export_about *about = &w->view->about;
	bool has_profile = false;
	text_str(w->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":");
	struct text exporter = {0};
	text_printf(&exporter, "%.*s@%.*s", (int)about->program.len, about->program.data, (int)about->version.len,
		about->version.data);
	w->out->failed |= exporter.failed;
	export_json_string(w->out, (struct tally_str){exporter.data, exporter.len});
	text_deinit(&exporter);
	text_str(w->out, ",\"name\":");
	export_speedscope_put_title(w->out, about);
	text_str(w->out, ",\"activeProfileIndex\":0,\n\"profiles\":[");
	for (size_t i = 0; i < w->groups.count; i++) {
		if (w->groups.begin[i] == w->groups.begin[i + 1])
			continue;
		text_str(w->out, has_profile ? ",\n" : "\n");
		has_profile = true;
		add_profile(w, i);
	}
	text_str(w->out, "],\n\"shared\":{\"frames\":[");
	export_speedscope_add_frames(w);
	export_speedscope_add_states(w);
	text_str(w->out, "]}}\n");
}

void export_speedscope(struct byte_sink *sink, const struct export_view *view)
{
	struct speedscope w = {.sink = sink, .out = &sink->text, .view = view};
	bool is_ready =
		export_tables_init(&w.tables, view, NULL) == TALLY_OK && export_groups_init(&w.groups, &w.tables);
	w.path = malloc((w.tables.nodes.len + 1) * sizeof(*w.path));
	w.namesakes = is_ready ? export_namesakes(&w.tables) : NULL;
	if (is_ready && w.path && w.namesakes)
		export_speedscope_write_all(&w);
	else
		sink->failed = true;
	export_tables_deinit(&w.tables);
	export_groups_deinit(&w.groups);
	free(w.path);
	free(w.namesakes);
}
