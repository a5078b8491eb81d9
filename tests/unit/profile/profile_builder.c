/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "profile_text.h"
#include "unit_test.h"

static void equal_things_are_held_once(void **state)
{
	struct profile *p = profile_from_text("event cycles\n"
					      "cc 7/7 0 0 10 main@cc;run@cc;\n"
					      "cc 7/7 0 0 30 main@cc;run@cc;\n"
					      "cc 7/8 0 0 5 main@cc;run@cc;\n"
					      "cc 7/7 1 0 5 main@cc;\n");
	assert_int_equal(p->frame_count, 2);
	assert_int_equal(p->function_count, 2);
	assert_int_equal(p->binary_count, 1);
	assert_int_equal(list_table_len(&p->stacks), 2);
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->sample_count, 3);
	assert_int_equal(p->samples[0].count, 2);
	assert_int_equal(p->samples[0].period, 40);
	assert_int_equal(p->samples[0].first_order, 0);
	assert_int_equal(p->events[0].sample_count, 4);
	assert_int_equal(p->events[0].total_period, 50);
	struct tally_str name = profile_string(p, p->functions[p->frames[1].function].name);
	assert_string_equal(name.data, "run");
	profile_destroy(p);
}

static void samples_come_by_event_and_order(void **state)
{
	struct profile *p = profile_from_text("event a\nevent b\n"
					      "x 1/1 0 1 1 f@x\n"
					      "x 1/1 0 0 2 g@x\n"
					      "x 1/1 0 1 3 h@x\n"
					      "x 1/1 0 0 4 i@x\n");
	static const uint64_t periods[] = {2, 4, 1, 3};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(p->samples[i].period, periods[i]);
	profile_destroy(p);
}

static void ids_that_were_not_handed_out_are_refused(void **state)
{
	for (int which = 0; which < 5; which++) {
		struct profile_builder *b = profile_builder_create();
		uint32_t name = profile_builder_string(b, STR("x"));
		uint32_t event = profile_builder_event(b, &(struct profile_event){.name = name});
		uint32_t thread = profile_builder_thread(
			b, &(struct profile_thread){1, 1, which == 0 ? 99 : name, name, name, 0});
		uint32_t frame = profile_builder_frame(
			b, &(struct profile_frame){.function = which == 1 ? 5 : PROFILE_NONE, .binary = PROFILE_NONE});
		uint32_t stack = profile_builder_stack(b, which == 2 ? &(uint32_t){77} : &frame, 1);
		profile_builder_sample(b, &(struct profile_sample){.event = event + (which == 3),
						  .thread = thread,
						  .leaf = frame,
						  .stack = stack + (which == 4)});
		struct profile *p = NULL;
		struct tally_error err;
		assert_int_equal(profile_builder_finish(b, &p, &err), TALLY_INVALID);
		assert_null(p);
	}
}

static void threads_that_are_kept_apart(void **state)
{
	struct profile_builder *b = profile_builder_create();
	uint32_t a = profile_builder_string(b, STR("a")), c = profile_builder_string(b, STR("c"));
	const struct profile_thread threads[] = {
		{0, 0, a, a, a, 0}, {0, 0, a, a, a, 1}, {0, 0, a, a, c, 0}, {0, 1, a, a, a, 0}};
	for (uint32_t i = 0; i < 2 * ARRAY_LEN(threads); i++)
		assert_int_equal(profile_builder_thread(b, &threads[i % 4]), i % 4);
	profile_builder_destroy(b);
}

/* Samples are sorted by event; rows are sorted by time and still refer to their samples. */
static void rows_follow_their_samples(void **state)
{
	struct profile_builder *b = profile_builder_create();
	uint32_t name = profile_builder_string(b, STR("x"));
	for (int i = 0; i < 2; i++)
		profile_builder_event(b, &(struct profile_event){.name = name});
	uint32_t thread = profile_builder_thread(b, &(struct profile_thread){1, 1, name, name, name, 0});
	uint32_t ids[3];
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_frame frame = {.function = PROFILE_NONE, .binary = PROFILE_NONE, .address = i};
		const struct profile_sample sample = {.event = i == 1 ? 0 : 1,
			.thread = thread,
			.leaf = profile_builder_frame(b, &frame),
			.stack = PROFILE_NONE,
			.count = 2,
			.period = 10 * i,
			.first_order = 100 - i};
		ids[i] = profile_builder_sample(b, &sample);
	}
	for (uint32_t i = 0; i < 6; i++)
		profile_builder_row(b, &(struct profile_row){.time = 50 - i, .period = i, .sample = ids[i / 2]});
	struct profile *p;
	assert_int_equal(profile_builder_finish(b, &p, NULL), TALLY_OK);
	assert_int_equal(p->row_count, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(p->rows[i].time, 45 + i);
		assert_int_equal(p->frames[p->samples[p->rows[i].sample].leaf].address, (5 - i) / 2);
	}
	assert_int_equal(p->samples[0].event, 0);
	assert_int_equal(p->samples[1].first_order, 98);
	profile_destroy(p);
}

/* Threads of different machines, for example, may have the same comm and no PID. */
static void threads_of_different_label_sets_are_distinct(void **state)
{
	struct profile_builder *b = profile_builder_create();
	struct profile_thread thread = {.comm = profile_builder_string(b, STR("x"))};
	assert_int_equal(profile_builder_thread(b, &thread), 0);
	thread.label_set = 1;
	assert_int_equal(profile_builder_thread(b, &thread), 1);
	thread.label_set = 0;
	assert_int_equal(profile_builder_thread(b, &thread), 0);
	profile_builder_destroy(b);
}

static void empty_profile_is_a_profile(void **state)
{
	struct profile *p = profile_from_text("");
	assert_int_equal(p->event_count, 0);
	assert_int_equal(p->sample_count, 0);
	profile_destroy(p);
	profile_destroy(NULL);
	profile_builder_destroy(profile_builder_create());
	profile_builder_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_things_are_held_once),
		cmocka_unit_test(samples_come_by_event_and_order),
		cmocka_unit_test(ids_that_were_not_handed_out_are_refused),
		cmocka_unit_test(threads_that_are_kept_apart),
		cmocka_unit_test(rows_follow_their_samples),
		cmocka_unit_test(threads_of_different_label_sets_are_distinct),
		cmocka_unit_test(empty_profile_is_a_profile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
