/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff/diff_table.h"

#include <inttypes.h>

#include "profile_text.h"
#include "unit_test.h"

#define FILES_MAX 3

static const enum profile_key by_symbol[] = {KEY_DSO, KEY_SYMBOL};

static void print_row(struct text *out, const struct diff_table *diff, uint32_t index)
{
	const struct diff_row *row = &diff->rows[index];
	const struct profile *p = diff->tables[row->file]->profile;
	const struct flat_row *flat = &diff->tables[row->file]->rows[row->row];
	uint32_t function = p->frames[flat->frame].function;
	if (function != PROFILE_NONE)
		text_str(out, profile_string(p, p->functions[function].name).data);
	else
		text_printf(out, "%" PRIx64, flat->address);
	for (size_t file = 0; file < diff->file_count; file++) {
		if (!diff_table_value(diff, index, file)->is_there)
			text_str(out, " -");
		else if (file == 0)
			text_printf(out, " %" PRIu64, diff_table_value(diff, index, 0)->period);
		else
			text_printf(out, " %+.2f", diff_table_difference(diff, index, file));
	}
	text_char(out, '\n');
}

/* Compares the rows as text: symbol, period in the baseline, difference of each other file. */
static void assert_diff(const char *const *profiles, struct diff_options options, const char *expected)
{
	struct profile *made[FILES_MAX] = {0};
	struct flat_table flat[FILES_MAX];
	const struct flat_table *tables[FILES_MAX];
	struct flat_options flat_options = {.keys = by_symbol, .key_count = 2, .member_count = 1};
	struct diff_table diff;
	struct tally_error err;
	struct text out = {0};
	size_t files = 0;
	for (; files < FILES_MAX && profiles[files]; files++) {
		made[files] = profile_from_text(profiles[files]);
		assert_int_equal(flat_table_init(&flat[files], made[files], &flat_options, &err), TALLY_OK);
		tables[files] = &flat[files];
	}
	options.keys = by_symbol;
	options.key_count = 2;
	assert_int_equal(diff_table_init(&diff, tables, files, &options, &err), TALLY_OK);
	for (size_t i = 0; i < diff.shown_count; i++)
		print_row(&out, &diff, diff.order[i]);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	diff_table_deinit(&diff);
	for (size_t i = 0; i < files; i++) {
		flat_table_deinit(&flat[i]);
		profile_destroy(made[i]);
	}
}

/* In the second build, g has another address, h is new and f is missing. */
static const char before[] = "event c\na 1/1 0 0 60 f@x\na 1/1 0 0 30 g@x\na 1/1 0 0 10 k@x\n";
static const char after[] = "event c\na 1/1 0 0 5 other@y\na 1/1 0 0 20 h@x\na 1/1 0 0 15 k@x\na 1/1 0 0 60 g@x\n";

static void functions_match_by_name(void **state)
{
	const char *files[FILES_MAX] = {before, after};
	assert_diff(files, (struct diff_options){.method = DIFF_DELTA_ABS, .order_file = 1},
		"g 30 +30.00\nh - +20.00\nk 10 +5.00\nother - +5.00\nf 60 -\n");
	assert_diff(files, (struct diff_options){.method = DIFF_RATIO, .order_file = 1},
		"g 30 +2.00\nk 10 +1.50\nh - +0.00\nother - +0.00\nf 60 -\n");
	assert_diff(files,
		(struct diff_options){.method = DIFF_WEIGHTED, .base_weight = 3, .new_weight = 1, .order_file = 1},
		"k 10 -15.00\ng 30 -30.00\nh - +20.00\nother - +5.00\nf 60 -\n");
}

static void signed_differences_put_losses_last(void **state)
{
	const char *files[FILES_MAX] = {"event c\na 1/1 0 0 50 f@x\na 1/1 0 0 50 g@x\n",
		"event c\na 1/1 0 0 20 f@x\na 1/1 0 0 70 g@x\na 1/1 0 0 10 h@x\n"};
	assert_diff(files, (struct diff_options){.method = DIFF_DELTA, .order_file = 1},
		"g 50 +20.00\nh - +10.00\nf 50 -30.00\n");
	assert_diff(files, (struct diff_options){.method = DIFF_DELTA_ABS, .order_file = 1},
		"f 50 -30.00\ng 50 +20.00\nh - +10.00\n");
	assert_diff(files, (struct diff_options){.method = DIFF_DELTA}, "g 50 +20.00\nf 50 -30.00\nh - +10.00\n");
}

static void baseline_only_leaves_out_what_has_no_pair(void **state)
{
	const char *files[FILES_MAX] = {before, after};
	assert_diff(
		files, (struct diff_options){.order_file = 1, .is_baseline_only = true}, "g 30 +30.00\nk 10 +5.00\n");
}

static void code_without_symbol_is_one_row_at_its_lowest_address(void **state)
{
	const char *files[FILES_MAX] = {"event c\na 1/1 0 0 10 0x90@x\na 1/1 0 0 10 0x30@x\n",
		"event c\na 1/1 0 0 10 0x20@x\na 1/1 0 0 10 0x20@y\n"};
	assert_diff(files, (struct diff_options){.order_file = 1}, "30 20 -50.00\n20 - +50.00\n");
}

static void the_file_that_sorts_can_be_any(void **state)
{
	const char *files[FILES_MAX] = {"event c\na 1/1 0 0 5 f@x\na 1/1 0 0 5 g@x\n",
		"event c\na 1/1 0 0 6 f@x\na 1/1 0 0 4 g@x\n",
		"event c\na 1/1 0 0 2 f@x\na 1/1 0 0 7 g@x\na 1/1 0 0 1 h@x\n"};
	assert_diff(files, (struct diff_options){.method = DIFF_DELTA, .order_file = 1},
		"f 5 +10.00 -30.00\ng 5 -10.00 +20.00\nh - - +10.00\n");
	assert_diff(files, (struct diff_options){.method = DIFF_DELTA, .order_file = 2},
		"g 5 -10.00 +20.00\nh - - +10.00\nf 5 +10.00 -30.00\n");
}

static void a_file_without_the_event_has_no_differences(void **state)
{
	struct profile *p = profile_from_text(before);
	struct flat_table flat;
	struct flat_options flat_options = {.keys = by_symbol, .key_count = 2, .member_count = 1};
	struct diff_options options = {.keys = by_symbol, .key_count = 2, .order_file = 1};
	struct diff_table diff;
	struct tally_error err;
	assert_int_equal(flat_table_init(&flat, p, &flat_options, &err), TALLY_OK);
	const struct flat_table *tables[] = {&flat, NULL};
	assert_int_equal(diff_table_init(&diff, tables, 2, &options, &err), TALLY_OK);
	assert_int_equal(diff.shown_count, 3);
	for (size_t i = 0; i < diff.row_count; i++)
		assert_false(diff_table_has_difference(&diff, i, 1));
	diff_table_deinit(&diff);
	options.order_file = 2;
	assert_int_equal(diff_table_init(&diff, tables, 2, &options, &err), TALLY_INVALID);
	flat_table_deinit(&flat);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_match_by_name),
		cmocka_unit_test(signed_differences_put_losses_last),
		cmocka_unit_test(baseline_only_leaves_out_what_has_no_pair),
		cmocka_unit_test(code_without_symbol_is_one_row_at_its_lowest_address),
		cmocka_unit_test(the_file_that_sorts_can_be_any),
		cmocka_unit_test(a_file_without_the_event_has_no_differences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
