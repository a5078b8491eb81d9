/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lbr_stitch.h"

#include "unit_test.h"

#define REGISTERS 4

/* Feeds calls, newest first: call n is from n + 0x10 to n + 0x1000. */
static struct lbr_older feed(
	struct lbr_stitcher *stitcher, uint32_t tid, uint64_t hw_idx, const uint64_t *calls, size_t count)
{
	uint64_t words[3 * 16];
	struct lbr_older older;
	assert_true(count <= 16);
	for (size_t i = 0; i < count; i++) {
		words[3 * i] = calls[i] + 0x10;
		words[3 * i + 1] = calls[i] + 0x1000;
		words[3 * i + 2] = 0;
	}
	struct sample sample = {.tid = tid};
	sample.branches.has_hw_idx = true;
	sample.branches.hw_idx = hw_idx;
	sample.branches.entries = (struct sample_array){(const uint8_t *)words, (uint32_t)count * 3};
	assert_true(lbr_stitch(stitcher, &sample, &older));
	return older;
}

#define FEED(tid, hw_idx, ...) \
	feed(&stitcher, tid, hw_idx, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void callers_come_from_samples_before(void **state)
{
	struct lbr_stitcher stitcher = {.register_count = REGISTERS};
	assert_int_equal(FEED(1, 3, 0x4000, 0x3000, 0x2000, 0x1000).count, 0);
	struct lbr_older older = FEED(1, 1, 0x6000, 0x5000, 0x4000, 0x3000);
	assert_int_equal(older.count, 2);
	assert_int_equal(older.sources[0], 0x2010);
	assert_int_equal(older.sources[1], 0x1010);
	/* Branches found before are returned again, but not for another thread. */
	assert_int_equal(FEED(2, 2, 0x7000, 0x6000, 0x5000, 0x4000).count, 0);
	older = FEED(1, 2, 0x7000, 0x6000, 0x5000, 0x4000);
	assert_int_equal(older.count, 3);
	assert_int_equal(older.sources[0], 0x3010);
	assert_int_equal(older.sources[2], 0x1010);
	lbr_stitcher_deinit(&stitcher);
}

static void nothing_comes_of_other_calls(void **state)
{
	struct lbr_stitcher stitcher = {.register_count = REGISTERS};
	(void)FEED(1, 3, 0x4000, 0x3000, 0x2000, 0x1000);
	/* The register of call 0x3000 holds another call now. */
	assert_int_equal(FEED(1, 1, 0x6000, 0x5000, 0x4000, 0x9000).count, 0);
	assert_int_equal(FEED(1, UINT64_MAX, 0x6000, 0x5000).count, 0);
	stitcher.register_count = 0;
	assert_int_equal(FEED(1, 2, 0x7000, 0x6000, 0x5000, 0x4000).count, 0);
	lbr_stitcher_deinit(&stitcher);
}

static void callers_without_end_are_bounded(void **state)
{
	struct lbr_stitcher stitcher = {.register_count = REGISTERS};
	struct lbr_older older = {NULL, 0};
	for (uint64_t i = 0; i < 2 * LIMIT_STITCHED; i++)
		older = FEED(1, i, 0x1000 * (i + 4), 0x1000 * (i + 3), 0x1000 * (i + 2), 0x1000 * (i + 1));
	assert_int_equal(older.count, LIMIT_STITCHED);
	lbr_stitcher_deinit(&stitcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_come_from_samples_before),
		cmocka_unit_test(nothing_comes_of_other_calls),
		cmocka_unit_test(callers_without_end_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
