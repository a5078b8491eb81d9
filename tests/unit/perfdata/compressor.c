/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/compressor.h"

#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "perfdata/compression.h"
#include "tally_config.h"
#include "unit_test.h"

#define RECORDS 3000

/* Makes incompressible records of odd sizes, some of the maximum size. */
static struct writer some_records(unsigned seed)
{
	struct writer w = {0};
	srand(seed);
	for (int i = 0; i < RECORDS; i++) {
		size_t size = i % 500 == 499 ? 65528 : 8 + 8 * ((size_t)rand() % 40);
		writer_u32(&w, RECORD_SAMPLE);
		writer_u16(&w, 0);
		writer_u16(&w, (uint16_t)size);
		for (size_t at = 8; at < size; at++)
			writer_u8(&w, (uint8_t)rand());
	}
	return w;
}

/* Decompresses the records in packed and appends their contents. Each must end with a complete record, except for large
 * ones. */
static void unpack_into(struct decompressor *d, struct tally_bytes packed, struct writer *out)
{
	struct record record = {0};
	for (size_t at = 0; at < packed.len; at += record.bytes.len) {
		struct tally_bytes records;
		assert_int_equal(record_at(packed, false, at, &record, NULL), TALLY_OK);
		assert_int_equal(record.type, RECORD_COMPRESSED);
		struct tally_bytes payload = {record.bytes.data + 8, record.bytes.len - 8};
		assert_int_equal(decompressor_records(d, payload, false, &records, NULL), TALLY_OK);
		assert_true(records.len <= COMPRESSOR_UNPACKED_MAX);
		assert_true(decompressor_rest(d) == 0 || record.bytes.len == UINT16_MAX);
		writer_bytes(out, records.data, records.len);
	}
	assert_int_equal(decompressor_rest(d), 0);
}

static void test_comes_back(void **state)
{
	struct compressor *c;
	struct decompressor *d;
	struct writer all = some_records(7), packed = {0}, back = {0};
	assert_int_equal(compressor_create(1, &c, NULL), TALLY_OK);
	assert_int_equal(decompressor_create(&d, NULL), TALLY_OK);
	size_t third = all.len / 3 | 1; /* Inside the header or body of a record, as where a ring buffer wraps. */
	struct tally_bytes slices[] = {
		{all.data, third}, {NULL, 0}, {all.data + third, 3}, {all.data + third + 3, all.len - third - 3}};
	for (int turn = 0; turn < 3; turn++) { /* All rounds use the same stream. */
		writer_clear(&packed);
		assert_int_equal(compressor_pack(c, slices, 4, &packed, NULL), TALLY_OK);
		writer_clear(&back);
		unpack_into(d, writer_view(&packed), &back);
		assert_int_equal(back.len, all.len);
		assert_memory_equal(back.data, all.data, all.len);
	}
	assert_int_equal(compressor_totals(c).bytes, 3 * all.len);
	/* The noise does not compress, but later rounds repeat the first. */
	assert_true(compressor_totals(c).packed_bytes > all.len);
	writer_clear(&packed);
	assert_int_equal(compressor_pack(c, slices + 1, 1, &packed, NULL), TALLY_OK);
	assert_int_equal(packed.len, 0);
	compressor_destroy(c);
	compressor_destroy(NULL);
	decompressor_destroy(d);
	writer_deinit(&all);
	writer_deinit(&packed);
	writer_deinit(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_back),
	};
	return HAVE_ZSTD ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
