/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/report_text.h"

#include "base/array.h"
#include "profile_text.h"
#include "unit_test.h"

static const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const enum profile_key columns[] = {KEY_OVERHEAD, KEY_SAMPLE, KEY_COMM, KEY_DSO, KEY_SYMBOL};

static const char plain[] = "event c\n"
			    "cc1 7/7 0 0 75 parse@cc1\n"
			    "cc1 7/7 0 0 24 memcpy@[kernel.kallsyms]\n"
			    "ld 9/9 0 0 1 0x1f@libx.so\n";

static void assert_report(
	const char *profile, const struct flat_options *flat, struct report_text_options options, const char *expected)
{
	struct profile *p = profile_from_text(profile);
	struct flat_table table;
	struct tally_error err;
	struct text out = {0};
	struct flat_options by_symbol = {.keys = keys, .key_count = 3, .member_count = 1};
	if (!options.columns) {
		options.columns = columns;
		options.column_count = 5;
	}
	assert_int_equal(flat_table_init(&table, p, flat ? flat : &by_symbol, &err), TALLY_OK);
	assert_int_equal(flat_table_sort(&table, options.columns, options.column_count, &err), TALLY_OK);
	assert_int_equal(report_text_rows(&out, &table, &options, &err), TALLY_OK);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	flat_table_deinit(&table);
	profile_destroy(p);
}

static void columns_fit_their_cells(void **state)
{
	assert_report(plain, NULL, (struct report_text_options){0},
		"# Overhead       Samples  Command  Shared Object      Symbol                \n"
		"# ........  ............  .......  .................  ......................\n"
		"#\n"
		"    75.00%             1  cc1      cc1                [.] parse\n"
		"    24.00%             1  cc1      [kernel.kallsyms]  [k] memcpy\n"
		"     1.00%             1  ld       libx.so            [.] 0x000000000000001f\n");
}

static void separators_widths_and_limits(void **state)
{
	static const unsigned widths[] = {10, 0, 5, 4, 6};
	assert_report(plain, NULL, (struct report_text_options){.separator = ";", .percent_limit = 20},
		"# Overhead;     Samples;Command;Shared Object    ;Symbol                \n"
		" 75.00% ; 1          ;cc1    ;cc1              ;[.] parse\n"
		" 24.00% ; 1          ;cc1    ;[kernel.kallsyms];[k] memcpy\n");
	assert_report(plain, NULL,
		(struct report_text_options){.widths = widths, .width_count = 5, .percent_limit = 20},
		"#   Overhead       Samples  Comma  Shar  Symbol\n"
		"# ..........  ............  .....  ....  ......\n"
		"#\n"
		"      75.00%             1  cc1    cc1   [.] pa\n"
		"      24.00%             1  cc1    [ker  [k] me\n");
}

static void hidden_columns_and_colours(void **state)
{
	assert_report(plain, NULL,
		(struct report_text_options){
			.hidden_columns = 1u << KEY_DSO | 1u << KEY_SAMPLE, .with_colours = true, .is_quiet = true},
		"  \033[31m  75.00%\033[m  cc1      [.] parse\n"
		"  \033[31m  24.00%\033[m  cc1      [k] memcpy\n"
		"  \033[32m   1.00%\033[m  ld       [.] 0x000000000000001f\n");
}

static void thread_keys(void **state)
{
	static const enum profile_key by_thread[] = {KEY_PID, KEY_CPU};
	static const enum profile_key shown[] = {KEY_OVERHEAD, KEY_PID, KEY_CPU};
	struct flat_options flat = {.keys = by_thread, .key_count = 2, .member_count = 1};
	assert_report("event c\nbash>gcc 7/8 0 0 3 f@x\ngcc 7/8 0 0 1 f@x\ngcc 7/8 12 0 1 f@x\n", &flat,
		(struct report_text_options){.columns = shown, .column_count = 3},
		"# Overhead      Pid:Command  CPU\n"
		"# ........  ...............  ...\n"
		"#\n"
		"    80.00%        8:gcc      000\n"
		"    20.00%        8:gcc      012\n");
}

static void groups_have_a_cell_each(void **state)
{
	static const enum profile_key shown[] = {KEY_OVERHEAD, KEY_COMM};
	static const enum profile_key by_comm[] = {KEY_COMM};
	struct flat_options flat = {.keys = by_comm, .key_count = 1, .member_count = 2};
	assert_report("group c d\na 1/1 0 0 1 f@x\na 1/1 0 1 5 f@x\nb 2/2 0 1 15 f@x\n", &flat,
		(struct report_text_options){.columns = shown, .column_count = 2},
		"#         Overhead  Command\n"
		"# ................  .......\n"
		"#\n"
		"   100.00%  25.00%  a      \n"
		"     0.00%  75.00%  b      \n");
}

static void rows_with_chains(void **state)
{
	static const enum profile_key shown[] = {KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_SYMBOL};
	static const enum profile_key by_symbol[] = {KEY_SYMBOL};
	struct flat_options flat = {.keys = by_symbol,
		.key_count = 1,
		.member_count = 1,
		.with_children = true,
		.with_chains = true,
		.is_caller_first = true};
	struct report_text_options options = {.columns = shown,
		.column_count = 3,
		.with_children = true,
		.chains = {.style = CHAIN_GRAPH, .min_percent = 0.5}};
	assert_report("event c\na 1/1 0 0 8 main@x;f@x\na 1/1 0 0 2 main@x;g@x\n", &flat, options,
		"# Children      Self  Symbol  \n"
		"# ........  ........  ........\n"
		"#\n"
		"   100.00%     0.00%  [.] main\n"
		"            |\n"
		"            ---main\n"
		"               |          \n"
		"               |--80.00%--f\n"
		"               |          \n"
		"                --20.00%--g\n"
		"\n"
		"    80.00%    80.00%  [.] f\n"
		"            |\n"
		"            ---main\n"
		"               f\n"
		"\n"
		"    20.00%    20.00%  [.] g\n"
		"            |\n"
		"            ---main\n"
		"               g\n"
		"\n");
}

static void an_event_without_samples_has_headers_only(void **state)
{
	assert_report("event c\n", NULL, (struct report_text_options){0},
		"# Overhead       Samples  Command  Shared Object  Symbol\n"
		"# ........  ............  .......  .............  ......\n"
		"#\n");
}

static void titles_shorten_large_counts(void **state)
{
	static const struct {
		uint64_t count;
		const char *text;
	} cases[] = {{0, "0 "}, {1000, "1000 "}, {1001, "1K"}, {2500999, "2M"}, {UINT64_MAX, "18E"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text out = {0}, expected = {0};
		report_text_title(&out, &(struct report_title){.event = "cycles:u",
						.is_group = i == 1,
						.sample_count = cases[i].count,
						.total_period = 42});
		text_printf(&expected, "# Samples: %s of event%s 'cycles:u'\n# Event count (approx.): 42\n#\n",
			cases[i].text, i == 1 ? "s" : "");
		text_char(&out, 0);
		text_char(&expected, 0);
		assert_string_equal(out.data, expected.data);
		text_deinit(&out);
		text_deinit(&expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_fit_their_cells),
		cmocka_unit_test(separators_widths_and_limits),
		cmocka_unit_test(hidden_columns_and_colours),
		cmocka_unit_test(thread_keys),
		cmocka_unit_test(groups_have_a_cell_each),
		cmocka_unit_test(rows_with_chains),
		cmocka_unit_test(an_event_without_samples_has_headers_only),
		cmocka_unit_test(titles_shorten_large_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
