/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_merge.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/writer.h"
#include "unit_test.h"

/* Appends a user-defined record with a body that is its time. */
static void put(struct writer *w, uint64_t time)
{
	writer_u32(w, 9);
	writer_u16(w, 0);
	writer_u16(w, 16);
	writer_u64(w, time);
}

static uint64_t time_of(void *context, const struct record *record)
{
	uint64_t time = 0;
	if (record->bytes.len >= 16)
		memcpy(&time, record->bytes.data + 8, sizeof(time));
	return time;
}

static struct tally_bytes part(const struct writer *w, size_t from, size_t to)
{
	/* The copy has its exact size, so that the sanitizer detects a read past the end. */
	size_t len = to - from;
	uint8_t *copy = malloc(len ? len : 1);
	memcpy(copy, w->data + from, len);
	return (struct tally_bytes){copy, len};
}

static void expect(struct live_merge *merge, const char *wanted)
{
	char text[256] = "";
	size_t len = 0, ring;
	struct record record;
	while (live_merge_next(merge, &ring, &record)) {
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%zu:%llu ", ring, (unsigned long long)time_of(NULL, &record));
		assert_true(live_merge_advance(merge));
	}
	assert_string_equal(text, wanted);
}

static void test_rings_come_in_order_of_time_up_to_the_first_look(void **state)
{
	struct live_merge merge;
	struct writer a = {0}, b = {0};
	assert_int_equal(live_merge_init(&merge, 3, time_of, NULL, NULL), TALLY_OK);
	put(&a, 10);
	put(&a, 30);
	put(&b, 20);
	put(&b, 40);
	live_merge_start(&merge, false);
	struct tally_bytes first[2] = {writer_view(&a)};
	live_merge_note(&merge, 0, first, 1);
	live_merge_note(&merge, 1, NULL, 0);
	live_merge_note(&merge, 2, NULL, 0);
	/* b was written meanwhile: its record of time 40 may be newer than the records of the first ring. */
	struct tally_bytes second[2] = {writer_view(&b)};
	assert_true(live_merge_show(&merge, 0, first, 1));
	assert_true(live_merge_show(&merge, 1, second, 1));
	assert_true(live_merge_show(&merge, 2, NULL, 0));
	expect(&merge, "0:10 1:20 0:30 ");
	assert_int_equal(live_merge_taken(&merge, 0), 32);
	assert_int_equal(live_merge_taken(&merge, 1), 16);
	live_merge_start(&merge, true);
	second[0] = (struct tally_bytes){b.data + 16, 16};
	assert_true(live_merge_show(&merge, 1, second, 1));
	expect(&merge, "1:40 ");
	writer_deinit(&a);
	writer_deinit(&b);
	live_merge_deinit(&merge);
}

static void test_a_record_may_lie_in_both_slices(void **state)
{
	struct writer w = {0};
	put(&w, 1);
	put(&w, 2);
	put(&w, 3);
	for (size_t cut = 0; cut <= w.len; cut += 8) {
		struct live_merge merge;
		struct tally_bytes slices[2] = {part(&w, 0, cut), part(&w, cut, w.len)};
		assert_int_equal(live_merge_init(&merge, 1, time_of, NULL, NULL), TALLY_OK);
		live_merge_start(&merge, false);
		live_merge_note(&merge, 0, slices, 2);
		assert_int_equal(merge.horizon, 3);
		assert_true(live_merge_show(&merge, 0, slices, 2));
		expect(&merge, "0:1 0:2 0:3 ");
		live_merge_deinit(&merge);
		free((void *)slices[0].data);
		free((void *)slices[1].data);
	}
	writer_deinit(&w);
}

static void test_sizes_that_lie_end_a_ring(void **state)
{
	static const uint16_t sizes[] = {0, 7, 24, 65535};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct live_merge merge;
		struct writer w = {0};
		put(&w, 1);
		put(&w, 2);
		writer_patch_u16(&w, 16 + 6, sizes[i]);
		struct tally_bytes slices[2] = {part(&w, 0, w.len)};
		assert_int_equal(live_merge_init(&merge, 1, time_of, NULL, NULL), TALLY_OK);
		live_merge_start(&merge, false);
		live_merge_note(&merge, 0, slices, 1);
		assert_true(live_merge_show(&merge, 0, slices, 1));
		expect(&merge, "0:1 ");
		assert_int_equal(merge.damaged, 1);
		assert_int_equal(live_merge_taken(&merge, 0), 32);
		live_merge_deinit(&merge);
		free((void *)slices[0].data);
		writer_deinit(&w);
	}
}

/* Compares the merge of many rings with a plain sort. */
static void test_many_rings(void **state)
{
	enum { RINGS = 37, EACH = 20 };
	struct live_merge merge;
	struct writer w[RINGS] = {0};
	uint64_t seed = 1, before = 0;
	size_t ring, count = 0;
	struct record record;
	assert_int_equal(live_merge_init(&merge, RINGS, time_of, NULL, NULL), TALLY_OK);
	live_merge_start(&merge, true);
	for (size_t i = 0; i < RINGS; i++) {
		uint64_t time = 1;
		for (size_t k = 0; k < EACH; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			time += seed >> 58;
			put(&w[i], time);
		}
		struct tally_bytes slices[2] = {writer_view(&w[i])};
		assert_true(live_merge_show(&merge, i, slices, 1));
	}
	for (; live_merge_next(&merge, &ring, &record); count++) {
		assert_true(time_of(NULL, &record) >= before);
		before = time_of(NULL, &record);
		assert_true(live_merge_advance(&merge));
	}
	assert_int_equal(count, RINGS * EACH);
	for (size_t i = 0; i < RINGS; i++)
		writer_deinit(&w[i]);
	live_merge_deinit(&merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings_come_in_order_of_time_up_to_the_first_look),
		cmocka_unit_test(test_a_record_may_lie_in_both_slices),
		cmocka_unit_test(test_sizes_that_lie_end_a_ring),
		cmocka_unit_test(test_many_rings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
