#include "unit_test.h"

#include "profile/frame_table.h"

#define COUNT 5000

static struct profile_frame frame_of(uint32_t i)
{
	return (struct profile_frame){.function = i % 7, .binary = i % 3, .address = i, .level = 'k'};
}

static void test_each_frame_has_one_id(void **state)
{
	struct frame_table t = {0};
	struct profile_frame frames[COUNT];
	uint32_t ids[COUNT], again[COUNT];
	for (uint32_t i = 0; i < COUNT; i++)
		frames[i] = frame_of(i / 2); /* each twice */
	assert_true(frame_table_add(&t, frames, COUNT, ids));
	assert_int_equal(t.frames.len, COUNT / 2);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(ids[i], i / 2);
	assert_true(frame_table_reserve(&t, 2 * COUNT));
	assert_true(frame_table_add(&t, frames, COUNT, again));
	assert_memory_equal(again, ids, sizeof(ids));
	assert_int_equal(t.frames.items[17].address, 17);
	frame_table_deinit(&t);
}

/* All that tells frames apart. */
static void test_every_field_counts(void **state)
{
	struct frame_table t = {0};
	struct profile_frame frames[9];
	uint32_t ids[9];
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
	assert_true(frame_table_add(&t, frames, 9, ids));
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(ids[i], i);
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
