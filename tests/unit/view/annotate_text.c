/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the text of an annotated function. */
#include "view/text/annotate_text.h"

#include "base/array.h"
#include "unit_test.h"
#include "view/text/annotate_compact.h"

static const uint8_t code[] = {0x85, 0xff, 0x74, 0x02, 0xc7, 0x05, 0, 0, 0, 0, 1, 0, 0, 0, 0xc3};
static const struct annotate_line lines[] = {
	{.kind = ANNOTATE_TEXT, .text = "", .values = ANNOTATE_NONE, .place = ANNOTATE_NONE},
	{.kind = ANNOTATE_TEXT, .text = "f():", .number = 6, .values = ANNOTATE_NONE, .place = ANNOTATE_NONE},
	{.kind = ANNOTATE_CODE,
		.text = "je     10005 <f+0x6>",
		.mnemonic = "je",
		.operands = "6",
		.flow = ANNOTATE_JUMP,
		.target = 5,
		.address = 0xffff,
		.bytes = {code + 2, 2},
		.values = 0,
		.place = 0},
	{.kind = ANNOTATE_CODE,
		.text = "movl   $0x1,0x0(%rip)        # 2000 <g>",
		.mnemonic = "movl",
		.operands = "$0x1,g",
		.target = ANNOTATE_NONE,
		.address = 0x10001,
		.bytes = {code + 4, 10},
		.values = 2,
		.place = 0,
		.entered = 50,
		.left = 25,
		.predicted = 100,
		.ipc = 1.5,
		.cycles = 12},
	{.kind = ANNOTATE_MORE_BYTES,
		.values = ANNOTATE_NONE,
		.place = ANNOTATE_NONE,
		.address = 0x10008,
		.bytes = {code + 11, 3}},
	{.kind = ANNOTATE_CODE,
		.text = "ret",
		.mnemonic = "ret",
		.operands = "",
		.flow = ANNOTATE_RETURN,
		.target = ANNOTATE_NONE,
		.address = 0x10005,
		.bytes = {code + 14, 1},
		.is_target = true,
		.values = ANNOTATE_NONE,
		.place = ANNOTATE_NONE},
};
static const struct annotate_value values[] = {{1, 100}, {0, 0}, {3, 300}, {1, 7}, {4, 400}, {1, 7}};
static const struct annotate_event events[] = {
	{.function = {4, 400}, .whole = {8, 1600}}, {.function = {1, 7}, .whole = {1, 7}}};
static const struct annotate_place places[] = {{"a.c:7", 4}};
static const uint32_t order[] = {0};
static const struct annotate_function function = {.name = "f",
	.file = "/bin/prog",
	.short_file = "prog",
	.event_name = "a",
	.sample_count = 4,
	.events = events,
	.event_count = 2,
	.lines = lines,
	.line_count = ARRAY_LEN(lines),
	.values = values,
	.places = places,
	.place_order = order,
	.place_count = 1,
	.start = 0xffff,
	.listed_count = 1234,
	.listed_period = 407,
	.has_cycles = true};

static void check(struct text *out, const char *wanted)
{
	text_char(out, 0);
	assert_false(out->failed);
	assert_string_equal(out->data, wanted);
	text_deinit(out);
}

static void test_listing(void **state)
{
	struct text out = {0};
	struct annotate_text_options options = {.with_bytes = true, .with_places = true};
	annotate_text(&out, &function, &options);
	check(&out,
		" Percent         |\tSource code & Disassembly of prog for a (4 samples, percent: local period)\n"
		"--------------------------------------------------------------------------------------------------\n"
		"                 :\n"
		"                 : 6     f():\n"
		"   25.00    0.00 :    ffff:   74 02                   je     10005 <f+0x6> // a.c:7\n"
		"   75.00  100.00 :   10001:  c7 05 00 00 00 00 01    movl   $0x1,0x0(%rip)        # 2000 <g>"
		"\t# +50.00% -25.00% (p:100.00%)\n"
		"    0.00    0.00 :   10008:  00 00 00 \n"
		"    0.00    0.00 :   10005:  c3                      ret\n");
}

static void test_columns(void **state)
{
	struct text out = {0};
	struct annotate_function one = function;
	one.event_count = 1;
	one.line_count = 3;
	struct annotate_text_options options = {.column = ANNOTATE_PERIOD, .percent = ANNOTATE_GLOBAL_HITS};
	annotate_text(&out, &one, &options);
	text_char(&out, 0);
	assert_non_null(strstr(out.data, " Period      |\tSource"));
	assert_non_null(strstr(out.data, "percent: global hits)"));
	assert_non_null(strstr(out.data, "         100 :   ffff:   je"));
	text_deinit(&out);
	assert_true(annotate_percent_of(&function, ANNOTATE_GLOBAL_PERIOD, 0, 0) == 6.25);
	assert_true(annotate_percent_of(&function, ANNOTATE_LOCAL_HITS, 2, 0) == 75);
	assert_true(annotate_hottest(&function, ANNOTATE_LOCAL_PERIOD, 2) == 100);
	assert_true(annotate_percent_of(&function, ANNOTATE_LOCAL_HITS, ANNOTATE_NONE, 0) == 0);
}

static void test_summary(void **state)
{
	struct text out = {0};
	struct annotate_text_options options = {0};
	annotate_text_places(&out, &function, &options);
	check(&out, "\nSorted summary for file /bin/prog\n"
		    "----------------------------------------------\n\n"
		    "  100.00  100.00 a.c:7\n");
}

static void test_compact(void **state)
{
	struct text out = {0};
	struct annotate_text_options options = {0};
	annotate_compact(&out, &function, &options);
	check(&out, "Samples: 1K of events 'a', Event count (approx.): 407, [percent: local period]\n"
		    "f() /bin/prog\n"
		    "Percent         IPC Cycle\n"
		    "                              f():\n"
		    " 25.00   0.00                 ↓ je   6\n"
		    " 75.00 100.00  1.50    12       movl $0x1,g\n"
		    "                           6: ← ret\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_compact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
