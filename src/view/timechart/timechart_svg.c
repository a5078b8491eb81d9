/* SPDX-License-Identifier: Apache-2.0 */
#include "view/timechart/timechart_svg.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "view/page/xml_text.h"
#include "view/timechart/timechart_words.h"

#define GUTTER			      190 /* For the names left of the chart. */
#define TIMECHART_SVG_MARGIN	      8
#define TIMECHART_SVG_TOP	      62 /* For title, legend and axis. */
#define FOOT			      24
#define CPU_HEIGHT		      30
#define TASK_HEIGHT		      16
#define IO_HEIGHT		      16 /* Added below a task that did I/O. */
#define TIMECHART_SVG_GAP	      3
#define TICK_PIXELS		      90
#define CHARACTER_PIXELS	      6.9
#define TIMECHART_SVG_NAME_CHARACTERS 18
/* Spans per group: browsers need time proportional to the square of an element's children. */
#define GROUP 128
/* Spans are ordered by time, so simultaneous ones are only a few positions apart. */
#define NEIGHBOURS  3
#define MAX_ARROWS  400 /* More arrows would only be a blur. */
#define ARROW_SHARE 1024 /* Bytes of the picture's limit per arrow, which has some 150. */
/* The first resolution that is tried is the whole time divided by this power of two. */
#define FIRST_RESOLUTION 20

struct timechart_svg_drawing {
	const struct timechart_picture *picture;
	const struct timechart_svg *svg;
	struct text *out;
	uint64_t resolution_ns;
	double pixels_per_ns;
	size_t row_count; /* How many of the picture's rows are drawn. */
	double *tops; /* By track: the top of its row; -1 if it has none. */
	double height;
	uint64_t max_level;
	struct track_spans spans; /* Merged spans of the current row. */
	bool failed;
};

static const char style[] =
	"text{font:11px system-ui,sans-serif;fill:#1a1a1a}.dim{fill:#666}.small{font-size:9px}"
	".back{fill:#fff}.grid{stroke:#888;stroke-opacity:.25}.cpu{fill:#888;fill-opacity:.13}"
	".process{fill:#999;fill-opacity:.28}.sample{fill:#2f6fb7}.odd{fill:#255a96}.sample_hi{fill:#d9480f}.waiting{"
	"fill:#e8c400}"
	".blocked{fill:#c92a2a}.c1{fill:#e7d6f2}.c2{fill:#d3b6e6}.c3{fill:#bd94d8}.c4{fill:#a673c9}.c5{fill:#8e54b8}"
	".c6{fill:#7436a3}.pstate{fill:none;stroke:#087f5b;stroke-width:1.5}.disk{fill:#1c7ed6}.net{fill:#2f9e44}"
	".lock{fill:#c2255c}.sleep{fill:#999;fill-opacity:.5}"
	".sync{fill:#b08900}.poll{fill:#0c8599;fill-opacity:.35}.error{fill:#e03131}"
	".wake{fill:none;stroke:#2b8a3e;stroke-opacity:.5;stroke-width:.6}.wake:hover{stroke-width:2;stroke-opacity:1}"
	".dot{fill:#2b8a3e;fill-opacity:.6}.in{fill:#fff;pointer-events:none}rect:hover{stroke:#000;stroke-width:.5}"
	"@media(prefers-color-scheme:dark){text{fill:#ececec}.dim{fill:#a0a4aa}.back{fill:#17181a}.sample{fill:#4a90d9}"
	".odd{fill:#3b7cc0}"
	".c1{fill:#3a2d47}.c2{fill:#4c3860}.c3{fill:#5f447a}.c4{fill:#755297}.c5{fill:#8e64b5}.c6{fill:#aa7ad6}"
	".wake{stroke:#69db7c}.dot{fill:#69db7c}.pstate{stroke:#38d9a9}.in{fill:#fff}rect:hover{stroke:#fff}}";

static double x_of(const struct timechart_svg_drawing *d, uint64_t time_ns)
{
	return GUTTER + (double)(time_ns - d->picture->tracks->start_ns) * d->pixels_per_ns;
}

static const char *timechart_svg_class_of(
	const struct timechart_svg_drawing *d, uint32_t track, const struct track_span *span)
{
	static const char *const depths[] = {"c1", "c1", "c2", "c3", "c4", "c5", "c6"};
	static const char *const classes[SPAN_KINDS] = {"sample", "waiting", "blocked", "c1", "disk", "disk", "net",
		"net", "sync", "poll", "lock", "net", "sleep"};
	if (span->error)
		return "error";
	if (span->kind == SPAN_IDLE)
		return depths[span->detail < 6 ? span->detail : span->detail == TRACK_MIXED ? 1 : 6];
	if (span->kind != SPAN_RUNNING)
		return classes[span->kind];
	bool is_cpu = d->picture->tracks->tracks.items[track].kind == TRACK_CPU;
	if (timechart_is_highlighted(d->picture, is_cpu ? span->detail : track, span))
		return "sample_hi";
	/* Adjacent tasks on a CPU are distinguished by two shades. */
	return is_cpu && span->detail % 2 ? "sample odd" : "sample";
}

struct box {
	double x, width, y, height;
};

static void timechart_svg_add_box(struct timechart_svg_drawing *d, const struct box *box, const char *class)
{
	struct text *out = d->out;
	text_str(out, "<rect x=\"");
	text_fixed(out, box->x, 2);
	text_str(out, "\" width=\"");
	text_fixed(out, MAX(0.01, box->width), 2);
	text_str(out, "\" y=\"");
	text_fixed(out, box->y, 1);
	text_str(out, "\" height=\"");
	text_fixed(out, box->height, 1);
	text_printf(out, "\" class=\"%s\"", class);
}

static double timechart_svg_share_of(const struct track_span *span)
{
	return (double)span->held_ns / (double)(span->end_ns - span->start_ns);
}

/* Returns the part of a merged bar's height that is taken by a simultaneous bar of waiting for a CPU. */
static double waiting_beside(const struct timechart_svg_drawing *d, size_t index)
{
	const struct track_span *span = &d->spans.items[index];
	uint64_t middle_ns = span->start_ns + (span->end_ns - span->start_ns) / 2;
	size_t last = index + NEIGHBOURS < d->spans.len ? index + NEIGHBOURS : d->spans.len - 1;
	for (size_t i = index > NEIGHBOURS ? index - NEIGHBOURS : 0; i <= last; i++) {
		const struct track_span *other = &d->spans.items[i];
		if (other->kind == SPAN_WAITING && other->start_ns <= middle_ns && middle_ns < other->end_ns)
			return fmax(fmin(timechart_svg_share_of(other), 1 - timechart_svg_share_of(span)), 0);
	}
	return 0;
}

/* Makes the height of a merged bar its share of the time: running grows from the bottom, waiting from the top, and
 * blocked is below waiting. */
static void timechart_svg_shrink(const struct timechart_svg_drawing *d, size_t index, struct box *box)
{
	const struct track_span *span = &d->spans.items[index];
	double height = box->height * timechart_svg_share_of(span);
	height = MAX(height, 1);
	if (height >= box->height)
		return;
	if (span->kind == SPAN_BLOCKED)
		box->y += box->height * waiting_beside(d, index);
	else if (span->kind != SPAN_WAITING)
		box->y += box->height - height;
	box->height = height;
}

static bool has_io(const struct track *of)
{
	for (size_t kind = SPAN_IO_FIRST; kind < SPAN_KINDS; kind++)
		if (of->sums[kind].count > 0)
			return true;
	return false;
}

/* Appends how long it ran; for a thread that only did I/O, the bytes; for one that only waited, nothing. */
static void timechart_svg_add_amount(struct text *out, const struct track *of)
{
	uint64_t bytes = 0, calls = 0;
	for (size_t kind = SPAN_IO_FIRST; kind < SPAN_POLL; kind++) {
		bytes += of->sums[kind].bytes;
		calls += of->sums[kind].count;
	}
	if (of->sums[SPAN_RUNNING].count > 0 || (calls == 0 && of->kind == TRACK_TASK))
		timechart_add_time(out, of->sums[SPAN_RUNNING].ns);
	else if (calls > 0)
		timechart_add_bytes(out, bytes);
}

/* Returns the height of the scheduler's part of a row, which is missing if only I/O was recorded. */
static double upper_height(const struct track *of)
{
	if (of->kind == TRACK_CPU)
		return CPU_HEIGHT;
	bool has_sched = of->sums[SPAN_RUNNING].count + of->sums[SPAN_WAITING].count + of->sums[SPAN_BLOCKED].count > 0;
	return has_sched || !has_io(of) ? TASK_HEIGHT : 0;
}

static double height_of(const struct track *of)
{
	return upper_height(of) + (of->kind == TRACK_TASK && has_io(of) ? IO_HEIGHT : 0);
}

static void timechart_svg_place(
	const struct timechart_svg_drawing *d, const struct track *of, size_t index, struct box *box)
{
	const struct track_span *span = &d->spans.items[index];
	box->height = upper_height(of);
	if (span->kind >= SPAN_IO_FIRST) {
		box->y += box->height;
		box->height = IO_HEIGHT;
		if (span->kind == SPAN_READ || span->kind == SPAN_RECEIVE)
			box->height = IO_HEIGHT / 2.0;
		if (span->kind == SPAN_WRITE || span->kind == SPAN_SEND) {
			box->y += IO_HEIGHT / 2.0;
			box->height = IO_HEIGHT / 2.0;
		}
	} else if (d->resolution_ns || d->picture->tracks->resolution_ns) {
		timechart_svg_shrink(d, index, box);
	}
}

static void timechart_svg_add_span(struct timechart_svg_drawing *d, uint32_t track, size_t index)
{
	const struct track_span *span = &d->spans.items[index];
	const struct track *of = &d->picture->tracks->tracks.items[track];
	uint64_t end_ns = span->end_ns;
	if (span->kind >= SPAN_IO_FIRST && end_ns - span->start_ns < d->picture->io_min_ns) {
		end_ns = span->start_ns + d->picture->io_min_ns;
		if (index + 1 < d->spans.len && d->spans.items[index + 1].start_ns < end_ns)
			end_ns = d->spans.items[index + 1].start_ns;
		end_ns = MAX(end_ns, span->end_ns);
		end_ns = MIN(end_ns, d->picture->tracks->end_ns);
	}
	struct box box = {.x = x_of(d, span->start_ns), .y = d->tops[track]};
	box.width = x_of(d, end_ns) - box.x;
	timechart_svg_place(d, of, index, &box);
	timechart_svg_add_box(d, &box, timechart_svg_class_of(d, track, span));
	text_str(d->out, "><title>");
	timechart_add_span(d->out, d->picture, track, span);
	text_str(d->out, "</title></rect>\n");
	if (of->kind != TRACK_CPU || span->kind != SPAN_RUNNING || span->count > 1 || span->detail == TRACK_MIXED)
		return;
	struct tally_str name = tracks_last_name(d->picture->tracks, &d->picture->tracks->tracks.items[span->detail]);
	size_t fits = (size_t)((box.width - 4) / CHARACTER_PIXELS);
	if (box.width < 4 + 3 * CHARACTER_PIXELS || name.len == 0)
		return;
	text_str(d->out, "<text class=\"in\" x=\"");
	text_fixed(d->out, box.x + 2, 1);
	text_str(d->out, "\" y=\"");
	text_fixed(d->out, d->tops[track] + CPU_HEIGHT / 2.0 + 4, 1);
	text_str(d->out, "\">");
	xml_text_cut(d->out, name, fits);
	text_str(d->out, "</text>\n");
}

static void timechart_svg_add_levels(struct timechart_svg_drawing *d, uint32_t track)
{
	const struct track *of = &d->picture->tracks->tracks.items[track];
	struct text *out = d->out;
	if (of->levels.len == 0 || d->max_level == 0)
		return;
	text_str(out, "<path class=\"pstate\" d=\"M");
	uint64_t last_ns = UINT64_MAX;
	for (size_t i = 0; i < of->levels.len; i++) {
		const struct track_level *level = &of->levels.items[i];
		if (d->resolution_ns && last_ns != UINT64_MAX &&
			last_ns / d->resolution_ns == level->time_ns / d->resolution_ns)
			continue;
		last_ns = level->time_ns;
		text_str(out, i ? "H" : "");
		text_fixed(out, x_of(d, level->time_ns), 1);
		text_str(out, i ? "V" : " ");
		text_fixed(out,
			d->tops[track] + CPU_HEIGHT - 1 -
				(CPU_HEIGHT - 3) * (double)level->value / (double)d->max_level,
			1);
	}
	text_str(out, "H");
	text_fixed(out, x_of(d, d->picture->tracks->end_ns), 1);
	text_str(out, "\"><title>frequency, up to ");
	text_fixed(out, (double)d->max_level / 1e6, 2);
	text_str(out, " GHz</title></path>\n");
}

static void timechart_svg_add_label(struct timechart_svg_drawing *d, uint32_t track)
{
	const struct timechart_picture *picture = d->picture;
	const struct track *of = &picture->tracks->tracks.items[track];
	struct text *out = d->out;
	bool is_cpu = of->kind == TRACK_CPU;
	double y = d->tops[track] + (is_cpu ? CPU_HEIGHT / 2.0 + 4 : 12);
	text_printf(out, "<text x=\"%d\" y=\"",
		is_cpu || of->id == of->pid ? TIMECHART_SVG_MARGIN : TIMECHART_SVG_MARGIN + 10);
	text_fixed(out, y, 1);
	text_str(out, "\">");
	timechart_add_track(out, picture, track, TIMECHART_SVG_NAME_CHARACTERS);
	text_printf(out, "<title>");
	timechart_add_track(out, picture, track, 1000);
	text_printf(out, "%s%" PRId32 "</title></text>\n", is_cpu ? "" : " of process ", is_cpu ? of->id : of->pid);
	text_printf(out, "<text class=\"dim small\" text-anchor=\"end\" x=\"%d\" y=\"", GUTTER - 6);
	text_fixed(out, y, 1);
	text_str(out, "\">");
	timechart_svg_add_amount(out, of);
	text_str(out, "</text>\n");
}

static void timechart_svg_add_row(struct timechart_svg_drawing *d, uint32_t track)
{
	const struct track *of = &d->picture->tracks->tracks.items[track];
	const struct tracks *all = d->picture->tracks;
	if (!track_merge(&of->spans, d->resolution_ns, &d->spans)) {
		d->failed = true;
		return;
	}
	bool is_cpu = of->kind == TRACK_CPU;
	uint64_t first_ns = is_cpu || of->last_ns == 0 ? all->start_ns : of->first_ns;
	uint64_t last_ns = is_cpu || of->last_ns == 0 ? all->end_ns : of->last_ns;
	const struct box back = {
		x_of(d, first_ns), x_of(d, last_ns) - x_of(d, first_ns), d->tops[track], height_of(of)};
	timechart_svg_add_label(d, track);
	timechart_svg_add_box(d, &back, is_cpu ? "cpu" : "process");
	text_str(d->out, "/>\n");
	text_str(d->out, "<g>\n");
	for (size_t i = 0; i < d->spans.len && d->out->len < d->svg->max_bytes; i++) {
		if (i % GROUP == GROUP - 1)
			text_str(d->out, "</g><g>\n");
		timechart_svg_add_span(d, track, i);
	}
	text_str(d->out, "</g>\n");
	timechart_svg_add_levels(d, track);
}

/* Draws an arrow between the nearer edges of two rows. */
static void add_arrow(struct timechart_svg_drawing *d, const struct track_arrow *arrow)
{
	double to = d->tops[arrow->to], from = arrow->from == TRACK_NONE ? -1 : d->tops[arrow->from];
	double x = x_of(d, arrow->time_ns);
	struct text *out = d->out;
	if (from < 0) {
		text_str(out, "<circle class=\"dot\" r=\"1.5\" cx=\"");
		text_fixed(out, x, 2);
		text_str(out, "\" cy=\"");
		text_fixed(out, to, 1);
		text_str(out, "\">");
	} else {
		double end = from < to ? to : to + TASK_HEIGHT, tip = from < to ? -3 : 3;
		text_str(out, "<path class=\"wake\" d=\"M");
		text_fixed(out, x, 2);
		text_char(out, ' ');
		text_fixed(out, from < to ? from + TASK_HEIGHT : from, 1);
		text_char(out, 'V');
		text_fixed(out, end, 1);
		text_str(out, "m-1.5 ");
		text_fixed(out, tip, 0);
		text_str(out, "l1.5 ");
		text_fixed(out, -tip, 0);
		text_str(out, "l1.5 ");
		text_fixed(out, tip, 0);
		text_str(out, "\">");
	}
	text_str(out, "<title>");
	timechart_add_arrow(out, d->picture, arrow);
	text_printf(out, "</title></%s>\n", from < 0 ? "circle" : "path");
}

static bool timechart_svg_is_shown(const struct timechart_svg_drawing *d, const struct track_arrow *arrow)
{
	return d->tops[arrow->to] >= 0;
}

/* Draws arrows spread evenly over the recording, but not so many that no room is left for rows. Returns how many are
 * left out. */
static size_t timechart_svg_add_arrows(struct timechart_svg_drawing *d)
{
	const struct tracks *all = d->picture->tracks;
	size_t count = 0, seen = 0, fitting = d->svg->max_bytes / ARROW_SHARE;
	size_t most = MIN(fitting, MAX_ARROWS);
	for (size_t i = 0; i < all->arrows.len; i++)
		count += timechart_svg_is_shown(d, &all->arrows.items[i]);
	for (size_t i = 0; i < all->arrows.len && d->out->len < d->svg->max_bytes; i++) {
		if (!timechart_svg_is_shown(d, &all->arrows.items[i]))
			continue;
		if (count <= most || seen * most / count != (seen + 1) * most / count)
			add_arrow(d, &all->arrows.items[i]);
		seen++;
	}
	return count > most ? count - most : 0;
}

static void add_axis(struct timechart_svg_drawing *d)
{
	const struct tracks *all = d->picture->tracks;
	double ticks = ((double)d->svg->width - GUTTER - TIMECHART_SVG_MARGIN) / TICK_PIXELS;
	uint64_t whole_ns = all->end_ns - all->start_ns, step_ns = 1;
	static const uint64_t factors[] = {2, 5, 10};
	for (size_t i = 0; (double)whole_ns / (double)step_ns > ticks && step_ns < UINT64_MAX / 10; i++) {
		uint64_t base = step_ns;
		step_ns = base / (i % 3 == 0 ? 1 : factors[i % 3 - 1]) * factors[i % 3];
	}
	for (uint64_t at_ns = 0; at_ns <= whole_ns; at_ns += step_ns) {
		double x = x_of(d, all->start_ns + at_ns);
		text_str(d->out, "<line class=\"grid\" x1=\"");
		text_fixed(d->out, x, 1);
		text_str(d->out, "\" x2=\"");
		text_fixed(d->out, x, 1);
		text_printf(d->out, "\" y1=\"%d\" y2=\"", TIMECHART_SVG_TOP - 6);
		text_fixed(d->out, d->height - FOOT, 1);
		text_printf(d->out, "\"/>\n<text class=\"dim small\" text-anchor=\"%s\" x=\"",
			at_ns == 0 ? "start" : "middle");
		text_fixed(d->out, x, 1);
		text_printf(d->out, "\" y=\"%d\">", TIMECHART_SVG_TOP - 10);
		timechart_add_time(d->out, at_ns);
		text_str(d->out, "</text>\n");
	}
}

static bool any_has(const struct timechart_svg_drawing *d, enum span_kind kind)
{
	for (size_t i = 0; i < d->row_count; i++)
		if (d->picture->tracks->tracks.items[d->picture->rows[i]].sums[kind].count > 0)
			return true;
	return false;
}

static void timechart_svg_add_legend(struct timechart_svg_drawing *d)
{
	static const struct {
		enum span_kind kind;
		const char *class, *word;
	} keys[] = {{SPAN_RUNNING, "sample", "running"}, {SPAN_WAITING, "waiting", "waiting for a CPU"},
		{SPAN_BLOCKED, "blocked", "blocked on I/O"}, {SPAN_RUNNING, "process", "sleeping"},
		{SPAN_IDLE, "c1", "idle"}, {SPAN_IDLE, "c3", "deeper"}, {SPAN_IDLE, "c6", "deepest"},
		{SPAN_READ, "disk", "read, write below"}, {SPAN_RECEIVE, "net", "receive, send below"},
		{SPAN_SYNC, "sync", "sync"}, {SPAN_POLL, "poll", "poll"}, {SPAN_LOCK, "lock", "waiting for a lock"},
		{SPAN_DATA, "net", "waiting for data"}, {SPAN_SLEEP, "sleep", "sleeping (below)"}};
	double x = GUTTER;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		bool is_there = any_has(d, keys[i].kind) || (keys[i].kind == SPAN_READ && any_has(d, SPAN_WRITE)) ||
				(keys[i].kind == SPAN_RECEIVE && any_has(d, SPAN_SEND));
		if (!is_there)
			continue;
		const struct box key = {x, 10, 26, 10};
		timechart_svg_add_box(d, &key, keys[i].class);
		text_str(d->out, "/><text class=\"dim small\" x=\"");
		text_fixed(d->out, x + 14, 1);
		text_printf(d->out, "\" y=\"35\">%s</text>\n", keys[i].word);
		x += 30 + 5.2 * (double)strlen(keys[i].word);
	}
}

static void timechart_svg_add_head(struct timechart_svg_drawing *d)
{
	struct text *out = d->out;
	const struct tracks *all = d->picture->tracks;
	text_printf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%u\" height=\"%.0f\" "
		"viewBox=\"0 0 %u %.0f\">\n<style>%s</style>\n"
		"<rect class=\"back\" width=\"100%%\" height=\"100%%\"/>\n<text x=\"%d\" y=\"18\" font-weight=\"600\">",
		d->svg->width, d->height, d->svg->width, d->height, style, TIMECHART_SVG_MARGIN);
	xml_text_cut(out, d->picture->title, 80);
	text_str(out, "</text>\n");
	text_printf(out, "<text class=\"dim\" x=\"%u\" y=\"18\" text-anchor=\"end\">",
		d->svg->width - TIMECHART_SVG_MARGIN);
	timechart_add_time(out, all->end_ns - all->start_ns);
	text_str(out, "</text>\n");
	timechart_svg_add_legend(d);
	add_axis(d);
}

static void timechart_svg_add_foot(struct timechart_svg_drawing *d, size_t arrows_left_out)
{
	struct text *out = d->out;
	size_t dropped = d->picture->row_count - d->row_count + d->picture->hidden_tasks;
	uint64_t resolution_ns = d->resolution_ns ? d->resolution_ns : d->picture->tracks->resolution_ns;
	text_printf(out, "<text class=\"dim small\" x=\"%d\" y=\"%.0f\">", TIMECHART_SVG_MARGIN, d->height - 9);
	xml_text_cut(out, d->picture->program, 40);
	if (resolution_ns) {
		text_str(out, " \xc2\xb7 what is shorter than ");
		timechart_add_time(out, resolution_ns);
		text_str(out, " is merged: height is the share of time");
	}
	if (d->picture->lost)
		text_printf(out, " \xc2\xb7 %" PRIu64 " events were lost: what they would tell is left open",
			d->picture->lost);
	if (dropped)
		text_printf(out, " \xc2\xb7 %zu tasks are left out", dropped);
	if (arrows_left_out)
		text_printf(out, " \xc2\xb7 %zu wake-ups are left out", arrows_left_out);
	text_str(out, "</text>\n</svg>\n");
}

static void timechart_svg_lay_out(struct timechart_svg_drawing *d)
{
	const struct tracks *all = d->picture->tracks;
	double y = TIMECHART_SVG_TOP;
	for (size_t i = 0; i < all->tracks.len; i++)
		d->tops[i] = -1;
	d->max_level = 0;
	for (size_t i = 0; i < d->row_count; i++) {
		const struct track *of = &all->tracks.items[d->picture->rows[i]];
		if (i > 0 && of->kind == TRACK_TASK && all->tracks.items[d->picture->rows[i - 1]].kind == TRACK_CPU)
			y += 8;
		d->tops[d->picture->rows[i]] = y;
		y += height_of(of) + TIMECHART_SVG_GAP;
		for (size_t j = 0; j < of->levels.len; j++)
			if (of->levels.items[j].value > d->max_level)
				d->max_level = of->levels.items[j].value;
	}
	d->height = y + FOOT;
}

/* Draws the picture at the current resolution. Returns false if it exceeds its limit. */
static bool timechart_svg_draw(struct timechart_svg_drawing *d)
{
	d->out->len = 0;
	timechart_svg_lay_out(d);
	timechart_svg_add_head(d);
	for (size_t i = 0; i < d->row_count && !d->failed && d->out->len < d->svg->max_bytes; i++)
		timechart_svg_add_row(d, d->picture->rows[i]);
	timechart_svg_add_foot(d, timechart_svg_add_arrows(d));
	return d->out->len <= d->svg->max_bytes;
}

static bool try_until_it_fits(struct timechart_svg_drawing *d)
{
	const struct tracks *all = d->picture->tracks;
	uint64_t whole_ns = all->end_ns - all->start_ns;
	while (!timechart_svg_draw(d)) {
		if (d->failed || d->out->failed || d->row_count == 0)
			return false;
		if (d->resolution_ns == 0)
			d->resolution_ns = all->resolution_ns ? all->resolution_ns : (whole_ns >> FIRST_RESOLUTION) + 1;
		else if (d->resolution_ns < whole_ns / 32)
			d->resolution_ns *= 2;
		else
			d->row_count /= 2;
	}
	return !d->failed && !d->out->failed;
}

bool timechart_svg_write(struct text *out, const struct timechart_picture *picture, struct timechart_svg *svg)
{
	const struct tracks *all = picture->tracks;
	double whole_ns = all->end_ns > all->start_ns ? (double)(all->end_ns - all->start_ns) : 1;
	struct timechart_svg_drawing d = {.picture = picture, .svg = svg, .out = out, .row_count = picture->row_count};
	d.pixels_per_ns = ((double)svg->width - GUTTER - TIMECHART_SVG_MARGIN) / whole_ns;
	d.tops = calloc(all->tracks.len + 1, sizeof(*d.tops));
	bool is_done = d.tops && try_until_it_fits(&d);
	svg->resolution_ns = d.resolution_ns ? d.resolution_ns : all->resolution_ns;
	svg->rows_dropped = picture->row_count - d.row_count;
	vec_free(&d.spans);
	free(d.tops);
	return is_done;
}
