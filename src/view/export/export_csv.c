/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/vec.h"
#include "view/export/export_formats.h"

struct csv {
	struct byte_sink *sink;
	struct text *out;
	const struct export_view *view;
	struct export_tables tables;
	struct text room;
	struct text names;
	size_t *name_ends; /* By frame: where its name begins in names; one more at the end. */
	VEC(uint32_t) path;
};

/* Makes the names of frames for the stack's field, which is always quoted; ';' becomes ':', as in folded stacks. */
static bool export_csv_make_names(struct csv *w)
{
	w->name_ends = calloc(w->tables.frame_count + 1, sizeof(*w->name_ends));
	for (size_t i = 0; w->name_ends && i < w->tables.frame_count; i++) {
		struct flame_label label = flame_label_of(w->view->profile, w->tables.frames[i], &w->room);
		size_t begin = w->names.len;
		text_utf8(&w->names, label.name);
		size_t len = w->names.len - begin, quotes = 0;
		for (size_t k = 0; k < len; k++) {
			char *c = &w->names.data[begin + k];
			*c = *c == ';' ? ':' : *c;
			quotes += *c == '"';
		}
		if (quotes && text_room(&w->names, quotes)) {
			char *to = w->names.data + begin + len + quotes, *from = w->names.data + begin + len;
			w->names.len += quotes;
			while (to > from) {
				*--to = *--from;
				if (*from == '"')
					*--to = '"';
			}
		}
		w->name_ends[i + 1] = w->names.len;
	}
	return w->name_ends && !w->names.failed && !w->room.failed;
}

/* Writes the stack, outermost frame first. */
static void export_csv_put_stack(struct csv *w, uint32_t node)
{
	w->path.len = 0;
	for (; node != PROFILE_NONE; node = w->tables.nodes.items[node].parent)
		if (!vec_push(&w->path, w->tables.nodes.items[node].frame))
			w->sink->failed = true;
	text_char(w->out, '"');
	for (size_t i = w->path.len; i-- > 0;) {
		uint32_t frame = w->path.items[i];
		text_bytes(w->out, w->names.data + w->name_ends[frame], w->name_ends[frame + 1] - w->name_ends[frame]);
		if (i > 0)
			text_char(w->out, ';');
	}
	text_char(w->out, '"');
}

static void export_csv_add_row(struct csv *w, const struct export_sample *s)
{
	const struct profile *p = w->view->profile;
	const struct profile_thread *thread = &p->threads[s->thread];
	uint32_t frame = w->tables.frames[w->tables.nodes.items[s->node].frame];
	struct text *out = w->out;
	text_u64(out, s->time);
	text_char(out, ',');
	text_csv(w->out, profile_string(p, p->events[s->event].name));
	text_char(out, ',');
	text_csv(w->out, profile_string(p, thread->comm));
	text_char(out, ',');
	text_i64(out, thread->pid);
	text_char(out, ',');
	text_i64(out, thread->tid);
	text_char(out, ',');
	if (s->cpu >= 0)
		text_i64(out, s->cpu);
	text_char(out, ',');
	text_u64(out, s->period);
	text_str(out, ",0x");
	text_hex(out, p->frames[frame].address, 0);
	text_char(out, ',');
	struct flame_label label = flame_label_of(p, frame, &w->room);
	text_csv(w->out, label.name);
	text_char(out, ',');
	text_csv(w->out, p->frames[frame].binary == PROFILE_NONE
				 ? STR("")
				 : profile_string(p, p->binaries[p->frames[frame].binary].long_name));
	text_char(out, ',');
	struct export_line line = export_frame_line(p, &p->frames[frame]);
	text_csv(w->out, line.file);
	text_char(out, ',');
	if (line.number)
		text_u64(out, line.number);
	text_char(out, ',');
	export_csv_put_stack(w, s->node);
	text_str(out, "\r\n");
	byte_sink_step(w->sink);
}

void export_csv(struct byte_sink *sink, const struct export_view *view)
{
	struct csv w = {.sink = sink, .out = &sink->text, .view = view};
	struct export_sample s;
	if (export_tables_init(&w.tables, view, NULL) != TALLY_OK || !export_csv_make_names(&w))
		sink->failed = true;
	text_str(w.out, "time_ns,event,comm,pid,tid,cpu,period,address,symbol,dso,file,line,stack\r\n");
	for (size_t at = 0; !byte_sink_is_lost(sink) && export_next_row(&w.tables, &at, &s);)
		export_csv_add_row(&w, &s);
	text_deinit(&w.room);
	text_deinit(&w.names);
	free(w.name_ends);
	vec_free(&w.path);
	export_tables_deinit(&w.tables);
}
