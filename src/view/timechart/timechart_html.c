/* SPDX-License-Identifier: Apache-2.0 */
#include "view/timechart/timechart_html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "view/page/page_data.h"
#include "view/timechart_html_page.h"

/* Flags in the number of a span's kind; the page's script has the same values. */
#define SPAN_CUT    0x10
#define SPAN_MERGED 0x20
#define SPAN_TEXT   0x40
#define SPAN_ERROR  0x80
#define SPAN_MARKED 0x100

struct timechart_html_page {
	struct text *out;
	const struct timechart_picture *picture;
	uint32_t *row_of; /* By track: 1 + its row; 0 if it has none. */
};

static void timechart_html_add_member(struct text *out, const char *name, struct tally_str value)
{
	text_printf(out, "\"%s\":", name);
	page_string(out, value);
	text_str(out, ",\n");
}

static uint64_t row_and_one(const struct timechart_html_page *page, uint32_t track)
{
	return track < page->picture->tracks->tracks.len ? page->row_of[track] : 0;
}

/* Returns 1 + the span's detail, which for tasks is a row; 0 if there are several, or the task has no row. */
static uint64_t detail_of(const struct timechart_html_page *page, const struct track *of, const struct track_span *span)
{
	if (span->detail == TRACK_MIXED)
		return 0;
	if (span->kind == SPAN_WAITING || (span->kind == SPAN_RUNNING && of->kind == TRACK_CPU))
		return row_and_one(page, span->detail);
	return (uint64_t)span->detail + 1;
}

/* Writes each span: its kind and flags, its start relative to that of the previous span, its length, its detail, and
 * the values that the flags announce. */
static void add_spans(struct timechart_html_page *page, uint32_t track)
{
	struct page_bytes b = {.out = page->out};
	const struct track *of = &page->picture->tracks->tracks.items[track];
	uint64_t last_ns = page->picture->tracks->start_ns;
	for (size_t i = 0; i < of->spans.len; i++) {
		const struct track_span *span = &of->spans.items[i];
		bool is_merged = span->count > 1 || span->held_ns != span->end_ns - span->start_ns;
		bool is_marked =
			span->kind == SPAN_RUNNING &&
			timechart_is_highlighted(page->picture, of->kind == TRACK_CPU ? span->detail : track, span);
		page_number(&b, span->kind | (span->is_cut ? SPAN_CUT : 0u) | (is_merged ? SPAN_MERGED : 0u) |
					(span->text != INTERN_NONE ? SPAN_TEXT : 0u) | (span->error ? SPAN_ERROR : 0u) |
					(is_marked ? SPAN_MARKED : 0u));
		page_number(&b, span->start_ns - last_ns);
		page_number(&b, span->end_ns - span->start_ns);
		page_number(&b, detail_of(page, of, span));
		if (is_merged) {
			page_number(&b, span->held_ns);
			page_number(&b, span->count);
		}
		if (span->text != INTERN_NONE)
			page_number(&b, span->text);
		if (span->error)
			page_number(&b, span->error);
		if (span->kind >= SPAN_IO_FIRST)
			page_number(&b, span->bytes);
		last_ns = span->start_ns;
	}
	page_bytes_end(&b);
}

static void timechart_html_add_levels(struct timechart_html_page *page, const struct track *of)
{
	struct page_bytes b = {.out = page->out};
	uint64_t last_ns = page->picture->tracks->start_ns;
	for (size_t i = 0; i < of->levels.len; i++) {
		uint64_t time_ns = MAX(of->levels.items[i].time_ns, last_ns);
		page_number(&b, time_ns - last_ns);
		page_number(&b, of->levels.items[i].value);
		last_ns = time_ns;
	}
	page_bytes_end(&b);
}

static void timechart_html_add_track(struct timechart_html_page *page, uint32_t track)
{
	const struct track *of = &page->picture->tracks->tracks.items[track];
	struct text *out = page->out;
	uint64_t start_ns = page->picture->tracks->start_ns;
	bool was_seen = of->last_ns != 0;
	text_printf(out, "[%d,%" PRId32 ",%" PRId32 ",%" PRIu64 ",%" PRIu64 ",[", of->kind == TRACK_CPU ? 0 : 1, of->id,
		of->pid, was_seen ? of->first_ns - start_ns : 0, was_seen ? of->last_ns - start_ns : 0);
	for (size_t i = 0; i < of->names.len; i++)
		text_printf(out, "%s%" PRIu32, i ? "," : "", of->names.items[i].name);
	text_printf(out, "],%zu,\"", of->spans.len);
	add_spans(page, track);
	text_printf(out, "\",%zu,\"", of->levels.len);
	timechart_html_add_levels(page, of);
	text_str(out, "\"]");
	(void)text_line_end(out);
}

static int compare_arrows(const void *left, const void *right)
{
	const struct track_arrow *a = *(const struct track_arrow *const *)left;
	const struct track_arrow *b = *(const struct track_arrow *const *)right;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return COMPARE(a->to, b->to);
}

/* Writes the arrows that end in a row, ordered by time. */
static bool timechart_html_add_arrows(struct timechart_html_page *page)
{
	const struct tracks *all = page->picture->tracks;
	struct page_bytes b = {.out = page->out};
	uint64_t last_ns = all->start_ns;
	size_t count = 0;
	const struct track_arrow **arrows = calloc(all->arrows.len + 1, sizeof(const struct track_arrow *));
	if (!arrows)
		return false;
	for (size_t i = 0; i < all->arrows.len; i++)
		if (row_and_one(page, all->arrows.items[i].to) != 0)
			arrows[count++] = &all->arrows.items[i];
	qsort(arrows, count, sizeof(const struct track_arrow *), compare_arrows);
	text_printf(page->out, "\"arrow_count\":%zu,\n\"arrows\":\"", count);
	for (size_t i = 0; i < count; i++) {
		page_number(&b, arrows[i]->time_ns - last_ns);
		page_number(&b, row_and_one(page, arrows[i]->from));
		page_number(&b, row_and_one(page, arrows[i]->to));
		page_number(&b, arrows[i]->from == TRACK_NONE);
		last_ns = arrows[i]->time_ns;
	}
	page_bytes_end(&b);
	text_str(page->out, "\"\n");
	free(arrows);
	return true;
}

static bool timechart_html_add_data(struct timechart_html_page *page)
{
	struct text *out = page->out;
	const struct timechart_picture *picture = page->picture;
	const struct tracks *all = picture->tracks;
	text_str(out, "{\n");
	timechart_html_add_member(out, "title", picture->title);
	timechart_html_add_member(out, "program", picture->program);
	text_printf(out,
		"\"lost\":%" PRIu64 ",\n\"duration\":%" PRIu64 ",\n\"resolution\":%" PRIu64 ",\n\"io_min\":%" PRIu64
		",\n\"tells_unknown\":%s,\n\"strings\":[",
		picture->lost, all->end_ns - all->start_ns, all->resolution_ns, picture->io_min_ns,
		picture->tells_unknown ? "true" : "false");
	for (uint32_t i = 0; i < all->strings.len; i++) {
		text_str(out, i ? ",\n" : "\n");
		page_string(out, intern_get(&all->strings, i));
		(void)text_line_end(out);
	}
	text_str(out, "],\n\"tracks\":[");
	for (size_t i = 0; i < picture->row_count; i++) {
		text_str(out, i ? ",\n" : "\n");
		timechart_html_add_track(page, picture->rows[i]);
	}
	text_str(out, "],\n");
	bool is_done = timechart_html_add_arrows(page);
	text_str(out, "}");
	return is_done;
}

bool timechart_html_write(struct text *out, const struct timechart_picture *picture)
{
	static const char mark[] = "@DATA@";
	const char *at = strstr(timechart_html_page, mark);
	struct timechart_html_page page = {.out = out, .picture = picture};
	page.row_of = calloc(picture->tracks->tracks.len + 1, sizeof(*page.row_of));
	if (!page.row_of)
		return false;
	for (size_t i = 0; i < picture->row_count; i++)
		page.row_of[picture->rows[i]] = (uint32_t)i + 1;
	text_bytes(out, timechart_html_page, (size_t)(at - timechart_html_page));
	bool is_done = timechart_html_add_data(&page);
	text_str(out, at + sizeof(mark) - 1);
	free(page.row_of);
	return is_done && !out->failed;
}
