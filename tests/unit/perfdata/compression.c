/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/compression.h"

#include <stdlib.h>
#include <string.h>

#include "perfdata/reader.h"
#include "perfdata_builder.h"
#include "tally_config.h"
#include "unit_test.h"

#if HAVE_ZSTD
#include <zstd.h>

#include "base/array.h"

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TIME,
};

static void put_header(struct writer *w, uint32_t type, size_t size)
{
	writer_u32(w, type);
	writer_u16(w, 0);
	writer_u16(w, (uint16_t)size);
}

/* The payload of COMPRESSED is raw; that of COMPRESSED2 begins with its length and is padded. */
static void put_compressed(struct writer *w, uint32_t type, const uint8_t *packed, size_t len)
{
	if (type == RECORD_COMPRESSED) {
		put_header(w, type, len + 8);
		writer_bytes(w, packed, len);
		return;
	}
	put_header(w, type, (len + 16 + 7) / 8 * 8);
	writer_u64(w, len);
	writer_bytes(w, packed, len);
	writer_align(w, 8);
}

/* Compresses all samples as one zstd stream, split into records after every step bytes of input, so that samples span
 * records. */
static void pack(struct perfdata_builder *b, uint32_t type, const struct writer *samples, size_t step)
{
	ZSTD_CStream *stream = ZSTD_createCStream();
	uint8_t out[4096];
	for (size_t at = 0; at < samples->len; at += step) {
		size_t len = MIN(samples->len - at, step);
		ZSTD_inBuffer in = {samples->data + at, len, 0};
		ZSTD_outBuffer packed = {out, sizeof(out), 0};
		assert_int_equal(ZSTD_compressStream2(stream, &packed, &in, ZSTD_e_flush), 0);
		put_compressed(&b->records, type, out, packed.pos);
	}
	ZSTD_freeCStream(stream);
}

static void build(struct perfdata_builder *b, uint32_t type, bool swap, size_t step)
{
	struct perfdata_builder inner;
	perfdata_builder_init(&inner, swap);
	perfdata_builder_event(&inner, &clock_attr, 1);
	for (uint64_t i = 0; i < 50; i++) {
		struct sample s = {.ip = i, .time = i};
		perfdata_builder_sample(&inner, 0, MISC_CPUMODE_USER, &s);
	}
	perfdata_builder_init(b, swap);
	perfdata_builder_event(b, &clock_attr, 1);
	pack(b, type, &inner.records, step);
	perfdata_builder_deinit(&inner);
	struct writer section = {.swap = swap};
	static const uint32_t words[] = {1, 1, 1, 1, 4096};
	for (size_t i = 0; i < 5; i++)
		writer_u32(&section, words[i]);
	perfdata_builder_feature(b, FEATURE_COMPRESSED, section.data, section.len);
	writer_deinit(&section);
}

/* Counts samples, which must be numbered from 0, up to the end or an error. */
static size_t count_samples(struct perfdata_reader *r, enum tally_status *end)
{
	struct record record;
	struct sample sample;
	size_t count = 0;
	while ((*end = perfdata_reader_next(r, &record, NULL)) == TALLY_OK) {
		const struct perfdata_event *event = perfdata_reader_event_of(r, &record);
		assert_int_equal(record.type, RECORD_SAMPLE);
		assert_int_equal(sample_decode(&event->layout, &record, &sample, NULL), TALLY_OK);
		assert_int_equal(sample.ip, count);
		count++;
	}
	return count;
}

static void test_both_forms_in_both_byte_orders(void **state)
{
	static const uint32_t types[] = {RECORD_COMPRESSED, RECORD_COMPRESSED2};
	for (size_t i = 0; i < 8; i++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		enum tally_status end;
		uint64_t offset;
		build(&b, types[i & 1], (i & 2) != 0, i & 4 ? 37 : 1000);
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		assert_int_equal(perfdata_reader_data(r, &offset).len, 0);
		for (int pass = 0; pass < 2; pass++) {
			assert_int_equal(count_samples(r, &end), 50);
			assert_int_equal(end, TALLY_END);
			perfdata_reader_rewind(r);
		}
		assert_int_equal(perfdata_reader_health(r)->samples, 50);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* Records before the damage are returned, and the end reports the missing rest. */
static void test_damage(void **state)
{
	struct perfdata_builder b;
	build(&b, RECORD_COMPRESSED, false, 200);
	struct tally_bytes whole = perfdata_builder_file(&b);
	uint8_t *copy = malloc(whole.len);
	size_t start = whole.len - b.records.len - 20 - 16;
	for (size_t i = start; i < start + b.records.len; i++) {
		struct perfdata_reader *r;
		enum tally_status end;
		struct record record;
		memcpy(copy, whole.data, whole.len);
		copy[i] ^= 0xff;
		assert_int_equal(perfdata_reader_open_bytes((struct tally_bytes){copy, whole.len}, &r, NULL), TALLY_OK);
		while ((end = perfdata_reader_next(r, &record, NULL)) == TALLY_OK)
			;
		if (end == TALLY_CORRUPT)
			assert_true(perfdata_reader_health(r)->is_cut);
		assert_int_equal(perfdata_reader_next(r, &record, NULL), TALLY_END);
		perfdata_reader_destroy(r);
	}
	free(copy);
	perfdata_builder_deinit(&b);
}

/* A writer that was killed early: the header has neither features nor a size. */
static void test_a_killed_writer(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	enum tally_status end;
	uint64_t offset;
	build(&b, RECORD_COMPRESSED, false, 200);
	memset(b.feature_bits, 0, sizeof(b.feature_bits));
	writer_clear(&b.features);
	struct tally_bytes whole = perfdata_builder_file(&b);
	uint8_t *copy = malloc(whole.len);
	for (int size_told = 0; size_told < 2; size_told++) {
		memcpy(copy, whole.data, whole.len);
		if (!size_told)
			memset(copy + 48, 0, 8);
		assert_int_equal(perfdata_reader_open_bytes((struct tally_bytes){copy, whole.len}, &r, NULL), TALLY_OK);
		assert_int_equal(perfdata_reader_data(r, &offset).len, 0);
		assert_int_equal(count_samples(r, &end), 50);
		assert_int_equal(end, TALLY_END);
		perfdata_reader_destroy(r);
	}
	free(copy);
	perfdata_builder_deinit(&b);
}

/* The last compressed record is missing, and the data before it ends inside a sample. */
static void test_a_missing_end(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	enum tally_status end;
	build(&b, RECORD_COMPRESSED, false, 50);
	size_t last = 0;
	for (size_t at = 0; at < b.records.len;) {
		uint16_t size;
		memcpy(&size, b.records.data + at + 6, sizeof(size));
		last = at;
		at += size;
	}
	b.records.len = last;
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	size_t count = count_samples(r, &end);
	assert_true(count >= 46 && count < 50);
	assert_int_equal(end, TALLY_CORRUPT);
	assert_true(perfdata_reader_health(r)->is_cut);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* Ten kilobytes that would decompress to ten gigabytes. */
static void test_a_bomb(void **state)
{
	struct decompressor *d;
	struct tally_error err;
	struct tally_bytes records;
	size_t len = (size_t)100 << 20;
	uint8_t *zeros = calloc(1, len);
	uint8_t *packed = malloc(ZSTD_compressBound(len));
	size_t packed_len = ZSTD_compress(packed, ZSTD_compressBound(len), zeros, len, 1);
	assert_false(ZSTD_isError(packed_len));
	assert_int_equal(decompressor_create(&d, NULL), TALLY_OK);
	struct tally_bytes bytes = {packed, packed_len};
	assert_int_equal(decompressor_records(d, bytes, false, &records, &err), TALLY_LIMIT);
	decompressor_destroy(d);
	free(zeros);
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_forms_in_both_byte_orders),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_a_killed_writer),
		cmocka_unit_test(test_a_missing_end),
		cmocka_unit_test(test_a_bomb),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	print_message("skip: this build has no zstd\n");
	return 77;
}

#endif
