/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the headers of files: the valid values of each field, and the handling of the rest if one is invalid.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "perfdata/reader.h"
#include "perfdata_builder.h"
#include "unit_test.h"

enum { ATTR_SIZE = 16, ATTRS_OFFSET = 24, ATTRS_SIZE = 32, DATA_OFFSET = 40, DATA_SIZE = 48, BITS = 72, HEADER = 104 };

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TIME | SAMPLE_ID,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};

static void build(struct perfdata_builder *b, bool swap)
{
	uint64_t words[2] = {0};
	perfdata_builder_init(b, swap);
	perfdata_builder_event(b, &clock_attr, 501);
	perfdata_builder_event(b, &clock_attr, 502);
	for (uint64_t i = 0; i < 4; i++)
		perfdata_builder_sample(b, i % 2, 0, &(struct sample){.time = 1 + i});
	perfdata_builder_feature(b, FEATURE_CLOCKID, words, 8);
	perfdata_builder_feature(b, FEATURE_SAMPLE_TIME + 30, words, 8); /* An unknown feature. */
}

static uint64_t field(const struct perfdata_builder *b, size_t at)
{
	uint64_t v;
	memcpy(&v, b->out.data + at, sizeof(v));
	return b->swap ? __builtin_bswap64(v) : v;
}

static void set_field(struct perfdata_builder *b, size_t at, uint64_t v)
{
	v = b->swap ? __builtin_bswap64(v) : v;
	memcpy(b->out.data + at, &v, sizeof(v));
}

struct seen {
	enum tally_status opened, end;
	size_t events, samples;
	struct input_health health;
	struct tally_error err;
};

/* Reads a copy of exactly that size, so that the sanitizer detects a read past the end. */
static struct seen read_bytes(struct tally_bytes bytes)
{
	struct seen seen = {0};
	struct perfdata_reader *r;
	struct record record;
	uint8_t *copy = malloc(bytes.len ? bytes.len : 1);
	assert_non_null(copy);
	memcpy(copy, bytes.data, bytes.len);
	seen.opened = perfdata_reader_open_bytes((struct tally_bytes){copy, bytes.len}, &r, &seen.err);
	if (seen.opened == TALLY_OK) {
		while ((seen.end = perfdata_reader_next(r, &record, &seen.err)) == TALLY_OK)
			seen.samples += record.type == RECORD_SAMPLE;
		(void)perfdata_reader_events(r, &seen.events);
		seen.health = *perfdata_reader_health(r);
		perfdata_reader_destroy(r);
	}
	free(copy);
	return seen;
}

static struct seen read_with(struct perfdata_builder *b, size_t at, uint64_t value)
{
	struct tally_bytes bytes = perfdata_builder_file(b);
	set_field(b, at, value);
	return read_bytes(bytes);
}

static void test_sizes_of_attrs(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		build(&b, swap);
		static const uint64_t none[] = {0, 16, ATTR_SIZE_VER0 + 15, UINT16_MAX + 17, UINT64_MAX};
		for (size_t i = 0; i < ARRAY_LEN(none); i++) {
			struct seen seen = read_with(&b, ATTR_SIZE, none[i]);
			assert_int_equal(seen.opened, TALLY_CORRUPT);
			assert_non_null(strstr(seen.err.text, "event attributes have an invalid size of"));
		}
		/* A larger attr size than there is data gives no events, but the records are still read. */
		struct seen seen = read_with(&b, ATTR_SIZE, UINT16_MAX + 16);
		assert_int_equal(seen.opened, TALLY_OK);
		assert_int_equal(seen.events, 0);
		assert_int_equal(seen.samples, 4);
		(void)perfdata_builder_file(&b);
		uint64_t entry = field(&b, ATTR_SIZE);
		assert_int_equal(field(&b, ATTRS_SIZE), 2 * entry);
		assert_int_equal(read_with(&b, ATTRS_SIZE, 2 * entry - 1).events, 1);
		assert_int_equal(read_with(&b, ATTRS_SIZE, entry).events, 1);
		assert_int_equal(read_with(&b, ATTRS_SIZE, entry - 1).events, 0);
		assert_int_equal(read_with(&b, ATTRS_SIZE, 0).events, 0);
		perfdata_builder_deinit(&b);
	}
}

static void test_where_attrs_lie(void **state)
{
	struct perfdata_builder b;
	build(&b, false);
	struct tally_bytes bytes = perfdata_builder_file(&b);
	uint64_t size = field(&b, ATTRS_SIZE);
	struct seen seen = read_with(&b, ATTRS_OFFSET, bytes.len - size + 1);
	assert_int_equal(seen.opened, TALLY_CORRUPT);
	assert_non_null(strstr(seen.err.text, "attributes reach beyond"));
	assert_int_equal(read_with(&b, ATTRS_OFFSET, bytes.len + 1).opened, TALLY_CORRUPT);
	assert_int_equal(read_with(&b, ATTRS_OFFSET, UINT64_MAX).opened, TALLY_CORRUPT);
	assert_int_equal(read_with(&b, ATTRS_SIZE, UINT64_MAX).opened, TALLY_CORRUPT);
	perfdata_builder_deinit(&b);
}

/* The event remains, but its samples cannot be distinguished from those of others. */
static void test_where_ids_lie(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		build(&b, swap);
		struct tally_bytes bytes = perfdata_builder_file(&b);
		size_t ids_of_first = field(&b, ATTRS_OFFSET) + field(&b, ATTR_SIZE) - 16;
		struct seen seen = read_with(&b, ids_of_first, bytes.len - 7);
		assert_int_equal(seen.opened, TALLY_OK);
		assert_int_equal(seen.events, 2);
		assert_int_equal(seen.samples, 4);
		assert_int_equal(seen.health.damaged_features, 1);
		seen = read_with(&b, ids_of_first, bytes.len - 8);
		assert_int_equal(seen.health.damaged_features, 0);
		seen = read_with(&b, ids_of_first + 8, UINT64_MAX);
		assert_int_equal(seen.health.damaged_features, 1);
		assert_int_equal(seen.events, 2);
		perfdata_builder_deinit(&b);
	}
}

static void test_where_data_lies(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		build(&b, swap);
		struct tally_bytes bytes = perfdata_builder_file(&b);
		uint64_t data = field(&b, DATA_OFFSET), size = field(&b, DATA_SIZE);
		assert_int_equal(size, b.records.len);
		struct seen seen = read_bytes(bytes);
		assert_int_equal(seen.end, TALLY_END);
		assert_int_equal(seen.samples, 4);
		assert_int_equal(seen.health.unknown_features, 1);
		assert_false(seen.health.is_cut || seen.health.is_unfinished);
		seen = read_with(&b, DATA_OFFSET, bytes.len + 1);
		assert_int_equal(seen.opened, TALLY_CORRUPT);
		assert_non_null(strstr(seen.err.text, "data section starts beyond"));
		assert_int_equal(read_with(&b, DATA_OFFSET, UINT64_MAX).opened, TALLY_CORRUPT);
		/* Data at the very end is empty, and not an error. */
		(void)perfdata_builder_file(&b);
		set_field(&b, DATA_OFFSET, bytes.len);
		set_field(&b, DATA_SIZE, 0);
		seen = read_bytes(bytes);
		assert_int_equal(seen.opened, TALLY_OK);
		assert_int_equal(seen.samples, 0);
		assert_int_equal(seen.end, TALLY_END);
		assert_false(seen.health.is_unfinished);
		/* All data that there is, and one byte more. */
		struct tally_bytes cut = {bytes.data, (size_t)(data + size)};
		(void)perfdata_builder_file(&b);
		seen = read_bytes(cut);
		assert_int_equal(seen.samples, 4);
		assert_int_equal(seen.end, TALLY_END);
		assert_false(seen.health.is_cut);
		set_field(&b, DATA_SIZE, size + 1);
		seen = read_bytes(cut);
		assert_int_equal(seen.samples, 4);
		assert_int_equal(seen.end, TALLY_CORRUPT);
		assert_true(seen.health.is_cut);
		assert_false(seen.health.is_unfinished);
		assert_int_equal(seen.health.cut_offset, cut.len);
		assert_int_equal(seen.health.cut_record_bytes, UINT32_MAX);
		assert_non_null(strstr(seen.err.text, "its header promises more data"));
		/* The writer was killed. */
		set_field(&b, DATA_SIZE, 0);
		seen = read_bytes(cut);
		assert_int_equal(seen.samples, 4);
		assert_int_equal(seen.end, TALLY_END);
		assert_true(seen.health.is_unfinished);
		assert_false(seen.health.is_cut);
		perfdata_builder_deinit(&b);
	}
}

/* Every truncated header is refused, with either magic; the header of the first magic has no feature bits. */
static void test_headers_that_end(void **state)
{
	for (int is_v1 = 0; is_v1 < 2; is_v1++) {
		struct perfdata_builder b;
		perfdata_builder_init(&b, false);
		(void)perfdata_builder_file(&b);
		assert_true(b.out.len >= HEADER);
		if (is_v1)
			memcpy(b.out.data, "PERFFILE", 8);
		set_field(&b, ATTRS_OFFSET, 0);
		set_field(&b, ATTRS_SIZE, 0);
		set_field(&b, DATA_OFFSET, 0);
		set_field(&b, DATA_SIZE, 8);
		for (size_t len = 0; len <= HEADER; len++) {
			struct seen seen = read_bytes((struct tally_bytes){b.out.data, len});
			assert_int_equal(seen.opened, len < (is_v1 ? BITS : HEADER) ? TALLY_CORRUPT : TALLY_OK);
			if (seen.opened == TALLY_CORRUPT && len >= 16)
				assert_non_null(strstr(seen.err.text, "ends inside its header"));
		}
		perfdata_builder_deinit(&b);
	}
}

/* Without feature bits, complete records after the stated data are read too: the writer did not finish the header. */
static void test_records_behind_the_data(void **state)
{
	struct perfdata_builder b;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 501);
	for (uint64_t i = 0; i < 4; i++)
		perfdata_builder_sample(&b, 0, 0, &(struct sample){.time = 1 + i});
	size_t each = b.records.len / 4;
	for (size_t said = 1; said <= 4; said++) {
		struct seen seen = read_with(&b, DATA_SIZE, said * each);
		assert_int_equal(seen.samples, 4);
		assert_int_equal(seen.end, TALLY_END);
	}
	/* Bytes after the data that are not a record are ignored. */
	(void)perfdata_builder_file(&b);
	set_field(&b, DATA_SIZE, each);
	b.out.data[field(&b, DATA_OFFSET) + 2 * each] = 63;
	struct seen seen = read_bytes(writer_view(&b.out));
	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.end, TALLY_END);
	perfdata_builder_deinit(&b);
}

/* The halves of the bit set are swapped only if that adds a host name, and only in the other byte order. */
static void test_halves_of_the_bits(void **state)
{
	const unsigned high = FEATURE_HOSTNAME + 32;
	uint64_t word = 0;
	for (unsigned i = 0; i < 8; i++) {
		bool swap = i & 1, has_hostname = i & 2, has_high = i & 4;
		struct perfdata_builder b;
		struct perfdata_reader *r;
		perfdata_builder_init(&b, swap);
		perfdata_builder_event(&b, &clock_attr, 501);
		perfdata_builder_round(&b);
		if (has_hostname)
			perfdata_builder_feature(&b, FEATURE_HOSTNAME, &word, 8);
		perfdata_builder_feature(&b, FEATURE_CLOCKID, &word, 8);
		if (has_high)
			perfdata_builder_feature(&b, high, &word, 8);
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		const struct perfdata_features *f = perfdata_reader_features(r);
		bool is_turned = swap && !has_hostname && has_high;
		assert_int_equal(feature_is_present(f, FEATURE_HOSTNAME), has_hostname || is_turned);
		assert_int_equal(feature_is_present(f, high), has_high && !is_turned);
		assert_int_equal(feature_is_present(f, FEATURE_CLOCKID), !is_turned);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_of_attrs),
		cmocka_unit_test(test_where_attrs_lie),
		cmocka_unit_test(test_where_ids_lie),
		cmocka_unit_test(test_where_data_lies),
		cmocka_unit_test(test_headers_that_end),
		cmocka_unit_test(test_records_behind_the_data),
		cmocka_unit_test(test_halves_of_the_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
