/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile_copy.h"

#include "profile_text.h"
#include "unit_test.h"

static const char text[] = "event cycles\n"
			   "cc1 7/7 0 0 800 main@cc1;parse@cc1;lex@cc1\n"
			   "cc1 7/7 0 0 80 main@cc1;parse@cc1;memcpy@libc.so.6\n"
			   "ld 9/9 0 0 8 main@ld;write@[kernel.kallsyms]\n";

static struct profile *copied(const struct profile *from, const struct profile_copy *copy, unsigned times)
{
	struct profile_builder *b = profile_builder_create();
	struct profile_event event = from->events[0];
	struct profile *to;
	assert_non_null(b);
	event.name = profile_builder_string(b, profile_string(from, event.name));
	event.sample_count = event.total_period = 0;
	profile_builder_event(b, &event);
	for (unsigned i = 0; i < times; i++)
		assert_true(profile_copy_samples(copy, b));
	assert_int_equal(profile_builder_finish(b, &to, NULL), TALLY_OK);
	return to;
}

static void a_copy_is_the_same(void **state)
{
	struct profile *from = profile_from_text(text);
	const struct profile_copy copy = {.from = from, .counts = {1, 1}, .periods = {1, 1}};
	struct profile *to = copied(from, &copy, 1);
	assert_int_equal(to->sample_count, from->sample_count);
	assert_int_equal(list_table_len(&to->stacks), list_table_len(&from->stacks));
	assert_int_equal(to->frame_count, from->frame_count);
	assert_int_equal(to->function_count, from->function_count);
	assert_int_equal(to->binary_count, from->binary_count);
	assert_int_equal(to->thread_count, from->thread_count);
	assert_int_equal(to->events[0].total_period, 888);
	for (size_t i = 0; i < to->sample_count; i++)
		assert_int_equal(to->samples[i].period, from->samples[i].period);
	profile_destroy(from);
	profile_destroy(to);
}

static void copies_add_up(void **state)
{
	struct profile *from = profile_from_text(text);
	const struct profile_copy copy = {.from = from, .counts = {2, 1}, .periods = {1, 2}, .later = 5};
	struct profile *to = copied(from, &copy, 3);
	assert_int_equal(to->sample_count, from->sample_count);
	assert_int_equal(to->events[0].sample_count, 18);
	assert_int_equal(to->events[0].total_period, 3 * 444);
	assert_int_equal(to->samples[0].first_order, from->samples[0].first_order + 5);
	profile_destroy(from);
	profile_destroy(to);
}

static void what_is_left_out_takes_its_names_along(void **state)
{
	struct profile *from = profile_from_text(text);
	const struct profile_copy all = {.from = from, .counts = {1, 1}, .periods = {1, 1}, .least_count = 2};
	struct profile *to = copied(from, &all, 1);
	assert_int_equal(to->sample_count, 0);
	assert_int_equal(list_table_len(&to->stacks) + to->frame_count + to->function_count + to->binary_count +
				 to->thread_count,
		0);
	assert_int_equal(to->strings.len, 1); /* The name of the event. */
	profile_destroy(from);
	profile_destroy(to);
}

static void a_binary_is_renamed(void **state)
{
	struct profile *from = profile_from_text(text);
	const struct profile_copy copy = {.from = from,
		.counts = {1, 1},
		.periods = {1, 1},
		.binary = STR("[kernel.kallsyms]"),
		.renamed = STR("[kernel]")};
	struct profile *to = copied(from, &copy, 1);
	unsigned renamed = 0;
	for (size_t i = 0; i < to->binary_count; i++)
		renamed += str_equal(profile_string(to, to->binaries[i].name), STR("[kernel]"));
	assert_int_equal(renamed, 1);
	profile_destroy(from);
	profile_destroy(to);
}

static void large_weights_do_not_wrap(void **state)
{
	struct profile *from = profile_from_text("event cycles\ncc1 7/7 0 0 18446744073709551615 lex@cc1\n");
	const struct profile_copy fade = {.from = from, .counts = {1, 1}, .periods = {7, 8}};
	const struct profile_copy grow = {.from = from, .counts = {1, 1}, .periods = {256, 1}};
	struct profile *to = copied(from, &fade, 1);
	assert_true(to->samples[0].period == UINT64_MAX / 8 * 7 + 6);
	profile_destroy(to);
	to = copied(from, &grow, 1);
	assert_true(to->samples[0].period == UINT64_MAX);
	profile_destroy(to);
	profile_destroy(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_is_the_same),
		cmocka_unit_test(copies_add_up),
		cmocka_unit_test(what_is_left_out_takes_its_names_along),
		cmocka_unit_test(a_binary_is_renamed),
		cmocka_unit_test(large_weights_do_not_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
