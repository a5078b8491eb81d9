/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/chain_text.h"

#include "profile_text.h"
#include "unit_test.h"

static const enum profile_key by_comm[] = {KEY_COMM};

static const char forked[] = "event c\n"
			     "a 1/1 0 0 60 main@x;run@x;hot@x\n"
			     "a 1/1 0 0 30 main@x;run@x;warm@x;0x10@x\n"
			     "a 1/1 0 0 7 main@x;run@x\n"
			     "a 1/1 0 0 3 main@x;init@x\n";

/* Compares the drawing of the only row. */
static void assert_drawn(
	const char *profile, struct chain_options options, struct flat_options flat, const char *expected)
{
	struct profile *p = profile_from_text(profile);
	struct flat_table table;
	struct chain_printer printer;
	struct tally_error err;
	struct text out = {0};
	flat.keys = by_comm;
	flat.key_count = 1;
	flat.member_count = 1;
	flat.with_chains = true;
	assert_int_equal(flat_table_init(&table, p, &flat, &err), TALLY_OK);
	uint64_t total = table.totals[0].period;
	assert_int_equal(chain_printer_init(&printer, &table, &options, total, &err), TALLY_OK);
	assert_int_equal(chain_print(&printer, &out, 0, flat_table_stat(&table, 0, 0)->period, &err), TALLY_OK);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	chain_printer_deinit(&printer);
	flat_table_deinit(&table);
	profile_destroy(p);
}

static void assert_chains(const char *profile, struct chain_options options, bool caller_first, const char *expected)
{
	assert_drawn(profile, options, (struct flat_options){.is_caller_first = caller_first}, expected);
}

static void graph_from_the_caller(void **state)
{
	assert_chains(forked, (struct chain_options){.style = CHAIN_GRAPH, .min_percent = 0.5}, true,
		"            |\n"
		"            ---main\n"
		"               |          \n"
		"               |--97.00%--run\n"
		"               |          |          \n"
		"               |          |--60.00%--hot\n"
		"               |          |          \n"
		"               |           --30.00%--warm\n"
		"               |                     0x7f0000000010\n"
		"               |          \n"
		"                --3.00%--init\n"
		"\n");
}

static void graph_from_the_callee_with_counts(void **state)
{
	assert_chains(forked, (struct chain_options){.style = CHAIN_GRAPH, .min_percent = 5, .value = CHAIN_COUNT},
		false,
		"            |          \n"
		"            |--1--hot\n"
		"            |          run\n"
		"            |          main\n"
		"            |          \n"
		"            |--1--0x7f0000000010\n"
		"            |          warm\n"
		"            |          run\n"
		"            |          main\n"
		"            |          \n"
		"             --1--run\n"
		"                       main\n"
		"\n");
}

static void fractal_shares_and_the_rest(void **state)
{
	assert_chains(forked, (struct chain_options){.style = CHAIN_FRACTAL, .min_percent = 40}, true,
		"            |\n"
		"            ---main\n"
		"               |          \n"
		"               |--97.00%--run\n"
		"               |          |          \n"
		"               |          |--66.67%--hot\n"
		"               |           --33.33%--[...]\n"
		"                --3.00%--[...]\n"
		"\n");
}

static void flat_and_folded_lists(void **state)
{
	assert_chains(forked, (struct chain_options){.style = CHAIN_FOLDED, .min_percent = 0.5}, true,
		"60.00% main;run;hot\n"
		"30.00% main;run;warm;0x7f0000000010\n"
		"7.00% main;run\n"
		"3.00% main;init\n");
	assert_chains(forked,
		(struct chain_options){
			.style = CHAIN_FOLDED, .min_percent = 20, .value = CHAIN_PERIOD, .separator = ","},
		false, "60 hot,run,main\n30 0x7f0000000010,warm,run,main\n");
	assert_chains(forked, (struct chain_options){.style = CHAIN_FLAT, .min_percent = 50}, true,
		"           60.00%\n"
		"                main\n"
		"                run\n"
		"                hot\n"
		"\n");
}

static void limits_of_entries(void **state)
{
	assert_chains(forked, (struct chain_options){.style = CHAIN_GRAPH, .print_limit = 1}, true,
		"            |\n"
		"            ---main\n"
		"               |          \n"
		"               |--97.00%--run\n"
		"               |          |          \n"
		"               |          |--60.00%--hot\n"
		"\n");
	assert_chains(
		forked, (struct chain_options){.style = CHAIN_FOLDED, .print_limit = 1}, true, "60.00% main;run;hot\n");
}

static void first_frame_is_skipped_where_the_row_says_it(void **state)
{
	static const char text[] = "event c\na 1/1 0 0 9 main@x;run@x;\n";
	struct chain_options options = {.style = CHAIN_GRAPH, .skips_first = true};
	assert_chains(text, options, false, "            |\n            ---main\n\n");
	assert_chains("event c\na 1/1 0 0 9 main@x;\n", options, false, "");
}

static void colours_mark_weight(void **state)
{
	assert_chains("event c\na 1/1 0 0 990 f@x;\na 1/1 0 0 10 g@x;\n",
		(struct chain_options){.style = CHAIN_GRAPH, .with_colours = true}, true,
		"            |          \n"
		"            |--\033[31m99.00%\033[m--f\n"
		"            |          \n"
		"             --\033[32m1.00%\033[m--g\n"
		"\n");
}

static void rows_without_chains_draw_nothing(void **state)
{
	assert_chains("event c\na 1/1 0 0 9 f@x\n", (struct chain_options){.style = CHAIN_GRAPH}, true, "");
	assert_chains("event c\na 1/1 0 0 9 f@x\n", (struct chain_options){.style = CHAIN_FOLDED}, true, "");
	assert_chains(forked, (struct chain_options){.style = CHAIN_NONE}, true, "");
}

/* A function is split into two branches if its lines differ. */
static void frames_by_line_and_by_address(void **state)
{
	static const char text[] = "event c\na 1/1 0 0 6 main@x#a.c:3;f@x#b.c:1\na 1/1 0 0 4 main@x#a.c:5;f@x#b.c:1\n";
	struct chain_options folded = {.style = CHAIN_FOLDED};
	assert_drawn(text, folded, (struct flat_options){.is_chain_by_line = true},
		"60.00% f b.c:1;main a.c:3\n40.00% f b.c:1;main a.c:5\n");
	assert_drawn(text, folded, (struct flat_options){0}, "100.00% f;main\n");
	assert_drawn(text, folded, (struct flat_options){.is_chain_by_address = true}, "100.00% f b.c:1;main a.c:3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_by_line_and_by_address),
		cmocka_unit_test(graph_from_the_caller),
		cmocka_unit_test(graph_from_the_callee_with_counts),
		cmocka_unit_test(fractal_shares_and_the_rest),
		cmocka_unit_test(flat_and_folded_lists),
		cmocka_unit_test(limits_of_entries),
		cmocka_unit_test(first_frame_is_skipped_where_the_row_says_it),
		cmocka_unit_test(colours_mark_weight),
		cmocka_unit_test(rows_without_chains_draw_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
