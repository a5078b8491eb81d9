/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "unit_test.h"
#include "view/timechart/timechart_html.h"
#include "view/timechart/timechart_svg.h"
#include "view/timechart/timechart_words.h"

#define MS UINT64_C(1000000)

static void add(
	struct tracks *t, uint32_t track, enum span_kind kind, uint64_t start_ms, uint64_t end_ms, uint32_t detail)
{
	const struct track_span span = {.start_ns = start_ms * MS,
		.end_ns = end_ms * MS,
		.detail = detail,
		.text = INTERN_NONE,
		.kind = (uint8_t)kind};
	assert_true(tracks_span(t, track, &span));
}

static const uint32_t rows[] = {0, 1};

/* Makes one CPU and one task with a name that contains markup, for 10 ms. */
static struct timechart_picture make(struct tracks *t)
{
	uint32_t text;
	tracks_init(t, 1000);
	(void)tracks_add(t, TRACK_CPU, 0, 0);
	(void)tracks_add(t, TRACK_TASK, 7, 7);
	assert_true(tracks_name(t, 1, 0, STR("<b>&")));
	add(t, 0, SPAN_RUNNING, 100, 104, 1);
	add(t, 0, SPAN_IDLE, 104, 110, 2);
	add(t, 1, SPAN_RUNNING, 100, 104, 0);
	add(t, 1, SPAN_BLOCKED, 104, 108, TRACK_MIXED);
	assert_true(tracks_level(t, 0, 105 * MS, 1500000));
	assert_true(tracks_text(t, STR("schedule\nmain"), &text));
	t->tracks.items[1].spans.items[0].text = text;
	const struct track_arrow arrow = {108 * MS, TRACK_NONE, 1, INTERN_NONE};
	assert_true(tracks_arrow(t, &arrow));
	assert_true(tracks_finish(t));
	return (struct timechart_picture){
		.tracks = t, .rows = rows, .row_count = 2, .title = STR("a<b"), .program = STR("tally")};
}

static void assert_has(const struct text *t, const char *part)
{
	if (!strstr(t->data, part))
		fail_msg("lacks %s", part);
}

static void an_svg_is_bars_with_titles(void **state)
{
	(void)state;
	struct tracks t;
	struct text out = {0};
	const struct timechart_picture picture = make(&t);
	struct timechart_svg svg = {.width = 1198, .max_bytes = 1 << 20};
	assert_true(timechart_svg_write(&out, &picture, &svg));
	text_char(&out, 0);
	assert_int_equal(svg.resolution_ns, 0);
	assert_has(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"1198\"");
	assert_has(&out, ">a&lt;b</text>");
	assert_has(&out, "<rect x=\"190.00\" width=\"400.00\" y=\"62.0\" height=\"30.0\" class=\"sample odd\">"
			 "<title>CPU 0 running 4.0 ms by &lt;b&gt;&amp; 7 at 0 ns</title></rect>\n"
			 "<text class=\"in\" x=\"192.0\" y=\"81.0\">&lt;b&gt;&amp;</text>\n");
	assert_has(&out, "class=\"c2\"><title>CPU 0 idle 6.0 ms in state 2 at 4.0 ms</title>");
	assert_has(&out,
		"<title>&lt;b&gt;&amp; 7 running 4.0 ms on CPU 0 at 0 ns\nleft the CPU in:\nschedule\nmain</title>");
	assert_has(&out, "<rect x=\"590.00\" width=\"400.00\" y=\"103.0\" height=\"16.0\" class=\"blocked\">");
	assert_has(&out, "<path class=\"pstate\" d=\"M690.0 64.0H1190.0\"><title>frequency, up to 1.50 GHz</title>");
	assert_has(&out, "<title>an interrupt wakes &lt;b&gt;&amp; 7 at 8.0 ms</title></circle>");
	text_deinit(&out);
	tracks_deinit(&t);
}

static void an_svg_is_bounded(void **state)
{
	(void)state;
	struct tracks t;
	struct text out = {0};
	const struct timechart_picture picture = make(&t);
	for (uint64_t i = 0; i < 500; i++)
		add(&t, 1, SPAN_RUNNING, 200 + 2 * i, 201 + 2 * i, 0);
	struct timechart_svg svg = {.width = 1000, .max_bytes = 20000};
	assert_true(timechart_svg_write(&out, &picture, &svg));
	assert_true(out.len <= 20000 && svg.resolution_ns > 2 * MS);
	text_char(&out, 0);
	assert_has(&out, " times in ");
	text_clear(&out);
	svg.max_bytes = 100;
	assert_false(timechart_svg_write(&out, &picture, &svg));
	text_deinit(&out);
	tracks_deinit(&t);
}

static void a_page_has_its_data(void **state)
{
	(void)state;
	struct tracks t;
	struct text out = {0};
	const struct timechart_picture picture = make(&t);
	assert_true(timechart_html_write(&out, &picture));
	text_char(&out, 0);
	assert_has(&out, "{\n\"title\":\"a\\u003cb\",\n\"program\":\"tally\",\n\"lost\":0,\n\"duration\":10000000,"
			 "\n\"resolution\":0,\n"
			 "\"io_min\":0,\n\"tells_unknown\":false,\n\"strings\":[\n\"\\u003cb\\u003e\\u0026\","
			 "\n\"schedule\\u000amain\"],\n"
			 "\"tracks\":[\n[0,0,0,0,10000000,[],2,\"AACAkvQBAgOAkvQBgJvuAgM=\"");
	text_deinit(&out);
	tracks_deinit(&t);
}

static void words_have_units(void **state)
{
	(void)state;
	struct text out = {0};
	timechart_add_time(&out, 999);
	text_char(&out, '|');
	timechart_add_time(&out, 1700000);
	text_char(&out, '|');
	timechart_add_time(&out, 61 * 1000 * MS);
	text_char(&out, '|');
	timechart_add_bytes(&out, 1023);
	text_char(&out, '|');
	timechart_add_bytes(&out, UINT64_MAX);
	text_char(&out, 0);
	assert_string_equal(out.data, "999 ns|1.7 ms|61.0 s|1023 bytes|16.0 EB");
	text_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_svg_is_bars_with_titles),
		cmocka_unit_test(an_svg_is_bounded),
		cmocka_unit_test(a_page_has_its_data),
		cmocka_unit_test(words_have_units),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
