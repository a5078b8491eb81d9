/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/frame_table.h"

#include "unit_test.h"

#define COUNT 5000

static struct profile_frame frame_of(uint32_t i)
{
	return (struct profile_frame){.function = i % 7, .binary = i % 3, .address = i, .level = 'k'};
}

static struct profile_frame get_frame(const void *context, uint32_t i)
{
	return frame_of(i / 2); /* Each frame occurs twice. */
}

static void test_each_frame_has_one_id(void **state)
{
	uint32_t firsts[COUNT];
	for (uint32_t i = 0; i < COUNT; i++)
		firsts[i] = i / 2 * 2;
	for (int filled = 0; filled < 3; filled++) { /* Not filled; filled by frames; filled with known duplicates. */
		struct frame_table t = {0};
		if (filled) {
			struct dedup found;
			const struct frame_source source = {
				.count = COUNT, .get = get_frame, .firsts = filled == 2 ? firsts : NULL};
			assert_true(frame_table_fill(&t, &source, 3, &found));
			for (uint32_t i = 0; i < COUNT; i++)
				assert_int_equal(found.numbers[i], i / 2);
			dedup_deinit(&found);
			assert_int_equal(t.frames.len, COUNT / 2);
		}
		for (uint32_t i = 0; i < COUNT; i++) {
			struct profile_frame frame = get_frame(NULL, i);
			uint32_t id;
			assert_true(frame_table_add(&t, &frame, &id));
			assert_int_equal(id, i / 2);
		}
		assert_int_equal(t.frames.len, COUNT / 2);
		assert_int_equal(t.frames.items[17].address, 17);
		frame_table_deinit(&t);
	}
}

/* Every field is a part of the identity of a frame. */
static void test_every_field_counts(void **state)
{
	struct frame_table t = {0};
	struct profile_frame frames[9];
	for (size_t i = 0; i < 9; i++)
		frames[i] = frame_of(100);
	frames[1].function++;
	frames[2].binary++;
	frames[3].address++;
	frames[4].raw_address++;
	frames[5].level = '.';
	frames[6].branch++;
	frames[7].own_line.line++;
	frames[8].innermost_line.file++;
	for (uint32_t i = 0; i < 9; i++) {
		uint32_t id;
		assert_true(frame_table_add(&t, &frames[i], &id));
		assert_int_equal(id, i);
	}
	frame_table_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_frame_has_one_id),
		cmocka_unit_test(test_every_field_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
