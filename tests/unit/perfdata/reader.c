/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/reader.h"

#include <stdlib.h>
#include <string.h>

#include "perfdata/time_order.h"
#include "perfdata_builder.h"
#include "unit_test.h"

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_PERIOD,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST),
};
static const struct perf_attr fault_attr = {
	.type = EVENT_SOFTWARE,
	.config = SW_PAGE_FAULTS,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_PERIOD,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST),
};

/* Builds a recording of two events, a comm, four samples with times out of order, two rounds and a feature section. */
static void build(struct perfdata_builder *b, bool swap)
{
	perfdata_builder_init(b, swap);
	perfdata_builder_event(b, &clock_attr, 501);
	perfdata_builder_event(b, &fault_attr, 502);
	struct record_fields comm = {.type = RECORD_COMM, .comm = {.pid = 1, .tid = 1, .comm = STR("one")}};
	perfdata_builder_record(b, &comm, 0, 1);
	static const struct {
		size_t event;
		uint64_t time;
	} samples[] = {{0, 20}, {1, 10}, {0, 40}, {1, 30}};
	for (size_t i = 0; i < 4; i++) {
		struct sample s = {.ip = 0x1000 + i, .pid = 1, .tid = 1, .time = samples[i].time, .period = 1};
		perfdata_builder_sample(b, samples[i].event, MISC_CPUMODE_USER, &s);
		if (i == 1)
			perfdata_builder_round(b);
	}
	perfdata_builder_round(b);
	struct writer host = {.swap = swap};
	writer_u32(&host, 8);
	writer_bytes(&host, "machine", 8);
	perfdata_builder_feature(b, FEATURE_HOSTNAME, host.data, host.len);
	writer_deinit(&host);
}

struct seen {
	size_t records, samples;
	enum tally_status end;
	struct tally_error err;
};

static struct seen read_all(struct perfdata_reader *r)
{
	struct seen seen = {0};
	struct record record;
	while ((seen.end = perfdata_reader_next(r, &record, &seen.err)) == TALLY_OK) {
		seen.records++;
		seen.samples += record.type == RECORD_SAMPLE;
		struct sample sample;
		const struct perfdata_event *event = perfdata_reader_event_of(r, &record);
		if (event && record.type == RECORD_SAMPLE)
			(void)!sample_decode(&event->layout, &record, &sample, NULL);
	}
	return seen;
}

static void test_file_in_both_byte_orders(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		build(&b, swap != 0);
		struct perfdata_reader *r;
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		assert_int_equal(perfdata_reader_is_swapped(r), swap != 0);
		assert_false(perfdata_reader_is_pipe(r));
		size_t count;
		const struct perfdata_event *events = perfdata_reader_events(r, &count);
		assert_int_equal(count, 2);
		assert_true(str_equal(events[1].name, STR("page-faults")));
		assert_int_equal(events[1].ids[0], 502);
		const struct perfdata_features *f = perfdata_reader_features(r);
		assert_true(feature_is_present(f, FEATURE_HOSTNAME));
		assert_true(str_equal(f->hostname, STR("machine")));
		struct seen seen = read_all(r);
		assert_int_equal(seen.end, TALLY_END);
		assert_int_equal(seen.records, 7);
		assert_int_equal(seen.samples, 4);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

static void test_pipe_in_both_byte_orders(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		build(&b, swap != 0);
		struct perfdata_reader *r;
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_pipe(&b), &r, NULL), TALLY_OK);
		assert_true(perfdata_reader_is_pipe(r));
		struct seen seen = read_all(r);
		assert_int_equal(seen.end, TALLY_END);
		assert_int_equal(seen.samples, 4);
		size_t count;
		(void)perfdata_reader_events(r, &count);
		assert_int_equal(count, 2);
		perfdata_reader_rewind(r);
		seen = read_all(r);
		assert_int_equal(seen.samples, 4);
		(void)perfdata_reader_events(r, &count);
		assert_int_equal(count, 2);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* All complete records are returned; if something is missing, the health reports where. */
static void check_prefix(struct tally_bytes whole, size_t cut, size_t *samples)
{
	uint8_t *copy = malloc(cut ? cut : 1);
	memcpy(copy, whole.data, cut);
	struct perfdata_reader *r;
	struct tally_error err;
	enum tally_status status = perfdata_reader_open_bytes((struct tally_bytes){copy, cut}, &r, &err);
	*samples = 0;
	if (status == TALLY_OK) {
		struct seen seen = read_all(r);
		assert_true(seen.end == TALLY_END || seen.end == TALLY_CORRUPT);
		*samples = seen.samples;
		if (seen.end == TALLY_CORRUPT) {
			assert_true(perfdata_reader_health(r)->is_cut);
			assert_true(perfdata_reader_health(r)->cut_offset <= cut);
			struct record record;
			assert_int_equal(perfdata_reader_next(r, &record, &err), TALLY_END);
		}
		perfdata_reader_destroy(r);
	} else {
		assert_int_equal(status, TALLY_CORRUPT);
	}
	free(copy);
}

static void test_every_prefix(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		for (int pipe = 0; pipe < 2; pipe++) {
			struct perfdata_builder b;
			build(&b, swap != 0);
			struct tally_bytes whole = pipe ? perfdata_builder_pipe(&b) : perfdata_builder_file(&b);
			size_t before = 0;
			for (size_t cut = 0; cut <= whole.len; cut++) {
				size_t samples;
				check_prefix(whole, cut, &samples);
				assert_true(samples >= before); /* A longer prefix never gives fewer samples. */
				before = samples;
			}
			assert_int_equal(before, 4);
			perfdata_builder_deinit(&b);
		}
	}
}

static void test_changed_bytes(void **state)
{
	struct perfdata_builder b;
	build(&b, false);
	struct tally_bytes whole = perfdata_builder_file(&b);
	uint8_t *copy = malloc(whole.len);
	for (size_t i = 0; i < whole.len; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(copy, whole.data, whole.len);
			copy[i] ^= (uint8_t)(1u << bit);
			struct perfdata_reader *r;
			if (perfdata_reader_open_bytes((struct tally_bytes){copy, whole.len}, &r, NULL) != TALLY_OK)
				continue;
			assert_true(read_all(r).records <= 7);
			perfdata_reader_destroy(r);
		}
	}
	free(copy);
	perfdata_builder_deinit(&b);
}

static void test_a_killed_recording_is_read_to_its_end(void **state)
{
	struct perfdata_builder b;
	build(&b, false);
	memset(b.feature_bits, 0, sizeof(b.feature_bits));
	writer_clear(&b.features);
	struct tally_bytes whole = perfdata_builder_file(&b);
	uint8_t *copy = malloc(whole.len);
	memcpy(copy, whole.data, whole.len);
	memset(copy + 48, 0, 8); /* The data size is 0 if the writer was killed. */
	struct perfdata_reader *r;
	assert_int_equal(perfdata_reader_open_bytes((struct tally_bytes){copy, whole.len}, &r, NULL), TALLY_OK);
	struct seen seen = read_all(r);
	assert_int_equal(seen.end, TALLY_END);
	assert_int_equal(seen.samples, 4);
	perfdata_reader_destroy(r);
	free(copy);
	perfdata_builder_deinit(&b);
}

/* The magic from before 2012, in both byte orders; the rest of the header is the same. */
static void test_the_first_magic(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		build(&b, swap != 0);
		struct tally_bytes whole = perfdata_builder_file(&b);
		memcpy(b.out.data, swap ? "ELIFFREP" : "PERFFILE", 8);
		assert_int_equal(perfdata_reader_open_bytes(whole, &r, NULL), TALLY_OK);
		assert_int_equal(perfdata_reader_is_swapped(r), swap != 0);
		assert_int_equal(read_all(r).samples, 4);
		assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("machine")));
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* A big-endian machine with 32-bit words wrote the halves of each 64-bit word of the bit set in the other order. */
static void test_feature_bits_of_32_bit_words(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	build(&b, true);
	struct tally_bytes whole = perfdata_builder_file(&b);
	uint8_t halves[8];
	memcpy(halves, b.out.data + 72, 8);
	memcpy(b.out.data + 72, halves + 4, 4);
	memcpy(b.out.data + 76, halves, 4);
	assert_int_equal(perfdata_reader_open_bytes(whole, &r, NULL), TALLY_OK);
	assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("machine")));
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* An unknown section, one outside the file, and one with an invalid length: each is counted, and the others remain. */
static void test_features_that_cannot_be_read(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	build(&b, false);
	perfdata_builder_feature(&b, FEATURE_VERSION, "\xff\xff\xff\xff", 4);
	perfdata_builder_feature(&b, FEATURE_CPUID, "\4\0\0\0one", 8);
	perfdata_builder_feature(&b, 60, "tomorrow", 8);
	struct tally_bytes whole = perfdata_builder_file(&b);
	size_t table = whole.len - (12 + 4 + 8 + 8) - 4 * 16;
	memset(b.out.data + table + 2 * 16, 0xff, 8); /* Offset of the CPUID section. */
	assert_int_equal(perfdata_reader_open_bytes(whole, &r, NULL), TALLY_OK);
	const struct perfdata_features *f = perfdata_reader_features(r);
	const struct input_health *health = perfdata_reader_health(r);
	assert_true(str_equal(f->hostname, STR("machine")));
	assert_int_equal(f->version.len, 0);
	assert_int_equal(f->cpuid.len, 0);
	assert_int_equal(health->unknown_features, 1);
	assert_int_equal(health->damaged_features, 2);
	assert_int_equal(read_all(r).samples, 4);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static void test_foreign_files(void **state)
{
	struct perfdata_reader *r;
	struct tally_error err;
	static const uint8_t elf[64] = {0x7f, 'E', 'L', 'F'};
	assert_int_equal(perfdata_reader_open_bytes((struct tally_bytes){elf, sizeof(elf)}, &r, &err), TALLY_CORRUPT);
	assert_non_null(strstr(err.text, "not a perf.data file"));
	assert_int_equal(perfdata_reader_open("/nonexistent/perf.data", &r, &err), TALLY_NOT_FOUND);
	assert_int_equal(perfdata_reader_open("/", &r, &err), TALLY_INVALID);
}

static void test_samples_of_no_event(void **state)
{
	struct perfdata_builder b;
	build(&b, false);
	struct perfdata_reader *r;
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	assert_null(perfdata_reader_event_by_id(r, 999));
	assert_int_equal(perfdata_reader_event_by_id(r, 502)->index, 1);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static void test_time_order(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		build(&b, swap != 0);
		struct perfdata_reader *r;
		struct time_order *order;
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		assert_int_equal(time_order_create(r, &order, NULL), TALLY_OK);
		static const uint64_t expected[] = {1, 10, 20, 30, 40};
		size_t timed = 0, untimed = 0;
		struct time_order_item item;
		enum tally_status status;
		while ((status = time_order_next(order, &item, NULL)) == TALLY_OK) {
			if (item.has_time)
				assert_int_equal(item.time_ns, expected[timed++]);
			else
				untimed++;
		}
		assert_int_equal(status, TALLY_END);
		assert_int_equal(timed, 5);
		assert_int_equal(untimed, 2);
		time_order_destroy(order);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* Many runs with equal times: samples of equal times keep their order in the file, whatever the number of runs. */
static void test_time_order_is_stable(void **state)
{
	struct perfdata_builder b;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 1);
	for (uint64_t ring = 0; ring < 7; ring++) {
		for (uint64_t i = 0; i < 50; i++) {
			struct sample s = {.ip = ring * 1000 + i, .time = 1 + i / 5};
			perfdata_builder_sample(&b, 0, MISC_CPUMODE_USER, &s);
		}
		if (ring % 3 == 2)
			perfdata_builder_round(&b);
	}
	struct perfdata_reader *r;
	struct time_order *order;
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	assert_int_equal(time_order_create(r, &order, NULL), TALLY_OK);
	struct time_order_item item;
	uint64_t time = 0, offset = 0;
	size_t count = 0, late = 0;
	while (time_order_next(order, &item, NULL) == TALLY_OK) {
		if (!item.has_time)
			continue;
		count++;
		if (item.time_ns < time)
			late++; /* Only samples that are more than a round late may be out of order. */
		else if (item.time_ns == time && time > 0 && late == 0)
			assert_true(item.record.offset > offset);
		time = item.time_ns;
		offset = item.record.offset;
	}
	assert_int_equal(count, 350);
	time_order_destroy(order);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_in_both_byte_orders),
		cmocka_unit_test(test_pipe_in_both_byte_orders),
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_changed_bytes),
		cmocka_unit_test(test_a_killed_recording_is_read_to_its_end),
		cmocka_unit_test(test_the_first_magic),
		cmocka_unit_test(test_feature_bits_of_32_bit_words),
		cmocka_unit_test(test_features_that_cannot_be_read),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_samples_of_no_event),
		cmocka_unit_test(test_time_order),
		cmocka_unit_test(test_time_order_is_stable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
