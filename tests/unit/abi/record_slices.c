/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record_slices.h"

#include "unit_test.h"

#define RECORD_BYTES 24

static void put_record(uint8_t *at, uint32_t type, uint16_t size)
{
	memset(at, (int)type, RECORD_BYTES);
	memcpy(at, &(struct record_slice_header){type, 0, size}, sizeof(struct record_slice_header));
}

/* Splits three records in two at every offset, inside headers and bodies. */
static void test_a_cut_anywhere_changes_nothing(void **state)
{
	uint8_t bytes[3 * RECORD_BYTES];
	for (uint32_t i = 0; i < 3; i++)
		put_record(bytes + i * RECORD_BYTES, i + 1, RECORD_BYTES);
	for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
		struct tally_bytes pieces[] = {{bytes, cut}, {bytes + cut, sizeof(bytes) - cut}};
		struct record_slices from = {pieces, 2};
		struct record_slice_header header;
		uint32_t seen = 0;
		for (size_t at = 0; record_slices_header(&from, at, &header); at += header.size) {
			uint8_t copy[RECORD_BYTES];
			assert_int_equal(header.type, ++seen);
			assert_true(record_slices_copy(&from, at, copy, sizeof(copy)));
			assert_memory_equal(copy, bytes + at, sizeof(copy));
		}
		assert_int_equal(seen, 3);
	}
}

static void test_the_end_is_no_record(void **state)
{
	uint8_t bytes[RECORD_BYTES], copy[RECORD_BYTES];
	put_record(bytes, 9, RECORD_BYTES);
	struct tally_bytes piece = {bytes, sizeof(bytes)};
	struct record_slices from = {&piece, 1};
	struct record_slice_header header;
	assert_false(record_slices_header(&from, RECORD_BYTES, &header));
	assert_false(record_slices_header(&from, RECORD_BYTES - 4, &header));
	assert_false(record_slices_copy(&from, 1, copy, sizeof(copy)));
	assert_false(record_slices_header(&(struct record_slices){0}, 0, &header));
}

static void test_a_size_below_a_header_ends_the_walk(void **state)
{
	uint8_t bytes[RECORD_BYTES];
	struct record_slice_header header;
	for (uint16_t size = 0; size < sizeof(header); size++) {
		put_record(bytes, 9, size);
		struct tally_bytes piece = {bytes, sizeof(bytes)};
		assert_false(record_slices_header(&(struct record_slices){&piece, 1}, 0, &header));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cut_anywhere_changes_nothing),
		cmocka_unit_test(test_the_end_is_no_record),
		cmocka_unit_test(test_a_size_below_a_header_ends_the_walk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
