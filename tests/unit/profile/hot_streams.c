/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/rows/hot_streams.h"

#include "profile_text.h"
#include "unit_test.h"

static const enum profile_key by_comm[] = {KEY_COMM};

static void find(const char *text, struct profile **p, struct hot_streams *streams)
{
	static const enum profile_key order[] = {KEY_OVERHEAD, KEY_COMM};
	struct flat_options options = {.keys = by_comm,
		.key_count = 1,
		.member_count = 1,
		.with_chains = true,
		.with_branches = true,
		.is_chain_of_lines = true};
	struct flat_table table;
	struct tally_error err;
	*p = profile_from_text(text);
	assert_int_equal(flat_table_init(&table, *p, &options, &err), TALLY_OK);
	assert_int_equal(flat_table_sort(&table, order, 2, &err), TALLY_OK);
	assert_int_equal(hot_streams_find(&table, streams, &err), TALLY_OK);
	flat_table_deinit(&table);
}

/* Compares the period and lines of each stream, then the total. */
static void assert_streams(const char *profile, const char *expected)
{
	struct profile *p;
	struct hot_streams streams;
	struct text out = {0};
	find(profile, &p, &streams);
	for (size_t i = 0; i < streams.count; i++) {
		text_printf(&out, "%lu", streams.items[i].period);
		for (size_t k = 0; k < streams.items[i].frame_count; k++)
			text_printf(&out, " %s",
				profile_string(p, p->frames[streams.items[i].frames[k]].own_line.line).data);
		text_char(&out, '\n');
	}
	text_printf(&out, "of %lu", streams.total);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	hot_streams_deinit(&streams);
	profile_destroy(p);
}

static void runs_with_samples_of_their_own(void **state)
{
	(void)state;
	assert_streams("event c\n"
		       "a 1/1 0 0 60 c@x#c:3;b@x#b:2;a@x#a:1\n"
		       "a 1/1 0 0 30 d@x#d:4;b@x#b:2;a@x#a:1\n"
		       "a 1/1 0 0 40 b@x#b:2;a@x#a:1\n",
		"60 c:3\n40 a:1 b:2\n30 d:4\nof 130");
}

static void light_ones_are_left_out_of_the_total(void **state)
{
	(void)state;
	assert_streams("event c\n"
		       "a 1/1 0 0 1000 b@x#b:2;a@x#a:1\n"
		       "b 2/2 0 0 5 d@x#d:4;c@x#c:3\n"
		       "b 2/2 0 0 4 f@x#f:6;e@x#e:5\n",
		"1000 a:1 b:2\n5 c:3 d:4\nof 1005");
}

static void a_heavier_one_takes_the_place_of_the_lightest(void **state)
{
	(void)state;
	assert_streams("event c\n"
		       "a 1/1 0 0 30 b@x#b:1;a@x#a:1\n"
		       "a 1/1 0 0 29 b@x#b:2;a@x#a:2\n"
		       "a 1/1 0 0 28 b@x#b:3;a@x#a:3\n"
		       "a 1/1 0 0 10 b@x#b:4;a@x#a:4\n"
		       "b 2/2 0 0 50 b@x#b:5;a@x#a:5\n"
		       "b 2/2 0 0 20 b@x#b:6;a@x#a:6\n"
		       "b 2/2 0 0 15 b@x#b:7;a@x#a:7\n",
		"30 a:1 b:1\n29 a:2 b:2\n28 a:3 b:3\n20 a:6 b:6\n50 a:5 b:5\nof 182");
}

static size_t match(const char *text, const char *other_text)
{
	struct profile *p, *other_p;
	struct hot_streams streams, other;
	find(text, &p, &streams);
	find(other_text, &other_p, &other);
	size_t found = hot_streams_match(&streams, &other, &other.items[0]);
	hot_streams_deinit(&streams);
	hot_streams_deinit(&other);
	profile_destroy(p);
	profile_destroy(other_p);
	return found;
}

static void match_by_lines(void **state)
{
	(void)state;
	static const char two[] = "event c\na 1/1 0 0 60 b@x#b:2;a@x#a:1\na 1/1 0 0 30 d@x;c@x\n";
	assert_int_equal(match(two, "event c\na 1/1 0 0 9 z@y#b:2;y@y#a:1\n"), 0);
	assert_int_equal(match(two, "event c\na 1/1 0 0 9 0x40@y;y@y\n"), 1);
	assert_int_equal(match(two, "event c\na 1/1 0 0 9 b@x#b:2;a@x#a:2\n"), 2);
	assert_int_equal(match(two, "event c\na 1/1 0 0 9 b@x#b:2;a@x\n"), 2);
	assert_int_equal(match(two, "event c\na 1/1 0 0 9 c@x#c:3;b@x#b:2;a@x#a:1\n"), 2);
}

static void no_samples_no_streams(void **state)
{
	(void)state;
	assert_streams("event c\n", "of 0");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_with_samples_of_their_own),
		cmocka_unit_test(light_ones_are_left_out_of_the_total),
		cmocka_unit_test(a_heavier_one_takes_the_place_of_the_lightest),
		cmocka_unit_test(match_by_lines),
		cmocka_unit_test(no_samples_no_streams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
