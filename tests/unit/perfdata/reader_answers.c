/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests what a reader reports about a recording besides its records, and streams that are read once, compressed or
 * not.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "perfdata/reader.h"
#include "perfdata/time_order.h"
#include "perfdata/writer.h"
#include "perfdata_builder.h"
#include "tally_config.h"
#include "unit_test.h"

#define SAMPLES 400

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.size = ATTR_SIZE_VER7,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};
static const struct perf_attr bare_attr = {
	.type = EVENT_TRACEPOINT, .size = ATTR_SIZE_VER7, .sample_type = SAMPLE_IP | SAMPLE_RAW};

static struct perfdata_reader *open_bytes(struct tally_bytes bytes)
{
	struct perfdata_reader *r;
	assert_int_equal(perfdata_reader_open_bytes(bytes, &r, NULL), TALLY_OK);
	return r;
}

static void put_comm(struct perfdata_builder *b, uint64_t time)
{
	struct record_fields comm = {.type = RECORD_COMM, .comm = {1, 2, false, STR("work")}};
	perfdata_builder_record(b, &comm, 0, time);
}

static void test_where_parts_lie(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		uint64_t offset = 0;
		perfdata_builder_init(&b, swap);
		perfdata_builder_event(&b, &clock_attr, 501);
		perfdata_builder_event(&b, &clock_attr, 502);
		put_comm(&b, 5);
		perfdata_builder_sample(&b, 1, 0, &(struct sample){.time = 9});
		perfdata_builder_round(&b);
		struct tally_bytes bytes = perfdata_builder_file(&b);
		struct perfdata_reader *r = open_bytes(bytes);
		struct perfdata_layout layout = perfdata_reader_layout(r);
		assert_int_equal(perfdata_reader_bytes(r), bytes.len);
		assert_int_equal(perfdata_reader_stated_data_size(r), b.records.len);
		assert_int_equal(layout.data_size, b.records.len);
		assert_int_equal(layout.feature_offset, layout.data_offset + layout.data_size);
		assert_int_equal(layout.mtime_ns, 0);
		assert_false(layout.is_v1);
		assert_false(perfdata_reader_is_stream(r));
		struct tally_bytes data = perfdata_reader_data(r, &offset);
		assert_int_equal(offset, layout.data_offset);
		assert_ptr_equal(data.data, bytes.data + offset);
		assert_int_equal(data.len, b.records.len);
		perfdata_reader_expect(r, data);
		uint8_t *room = malloc(data.len);
		assert_non_null(room);
		assert_true(bytes_equal(perfdata_reader_view(r, data, room), data));
		perfdata_reader_drop(r, data);
		free(room);
		assert_int_equal(perfdata_reader_id_offset(r), 8 + 8 + 8 + 8);
		perfdata_reader_destroy(r);
		/* The layout of a pipe is unknown until it has been read to its end. */
		r = open_bytes(perfdata_builder_pipe(&b));
		layout = perfdata_reader_layout(r);
		assert_int_equal(layout.data_size, 0);
		assert_int_equal(layout.data_offset, 0);
		assert_int_equal(perfdata_reader_data(r, &offset).len, 0);
		struct record record;
		while (perfdata_reader_next(r, &record, NULL) == TALLY_OK)
			;
		assert_int_equal(perfdata_reader_data(r, &offset).len, 0);
		perfdata_reader_rewind(r);
		data = perfdata_reader_data(r, &offset);
		assert_int_equal(offset, 16);
		assert_int_equal(data.len, perfdata_reader_bytes(r) - offset);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

static void test_what_events_have(void **state)
{
	struct perfdata_builder b;
	perfdata_builder_init(&b, false);
	struct perfdata_reader *r = open_bytes(perfdata_builder_file(&b));
	assert_false(perfdata_reader_has_tracepoints(r));
	assert_false(perfdata_reader_has_samples_with(r, UINT64_MAX));
	assert_int_equal(perfdata_reader_id_offset(r), 0);
	perfdata_reader_destroy(r);
	perfdata_builder_event(&b, &clock_attr, 501);
	r = open_bytes(perfdata_builder_file(&b));
	assert_false(perfdata_reader_has_tracepoints(r));
	assert_true(perfdata_reader_has_samples_with(r, SAMPLE_TIME | SAMPLE_RAW));
	assert_false(perfdata_reader_has_samples_with(r, SAMPLE_RAW));
	perfdata_reader_destroy(r);
	perfdata_builder_event(&b, &bare_attr, 502);
	r = open_bytes(perfdata_builder_file(&b));
	assert_true(perfdata_reader_has_tracepoints(r));
	assert_true(perfdata_reader_has_samples_with(r, SAMPLE_RAW));
	assert_int_equal(perfdata_reader_id_offset(r), 0); /* One event has no ID in its samples. */
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static void test_trailers(void **state)
{
	struct perfdata_builder b;
	struct record record;
	struct sample_id id;
	uint64_t time_ns = 0;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 501);
	put_comm(&b, 77);
	perfdata_builder_round(&b);
	struct perfdata_reader *r = open_bytes(perfdata_builder_file(&b));
	assert_int_equal(perfdata_reader_next(r, &record, NULL), TALLY_OK);
	assert_true(perfdata_reader_sample_id(r, &record, &id));
	assert_int_equal(id.time, 77);
	assert_true(perfdata_reader_time(r, &record, &time_ns));
	assert_int_equal(time_ns, 77);
	assert_int_equal(time_order_time_of(r, &record, false), 77);
	record.bytes.len = 8; /* The record is too short. */
	assert_false(perfdata_reader_sample_id(r, &record, &id));
	assert_false(perfdata_reader_time(r, &record, &time_ns));
	assert_int_equal(time_order_time_of(r, &record, false), 0);
	assert_int_equal(perfdata_reader_next(r, &record, NULL), TALLY_OK);
	assert_int_equal(record.type, RECORD_FINISHED_ROUND);
	assert_false(perfdata_reader_sample_id(r, &record, &id));
	assert_false(perfdata_reader_time(r, &record, &time_ns));
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
	perfdata_builder_init(&b, false); /* The events have no ID trailers. */
	perfdata_builder_event(&b, &bare_attr, 501);
	put_comm(&b, 77);
	r = open_bytes(perfdata_builder_file(&b));
	assert_int_equal(perfdata_reader_next(r, &record, NULL), TALLY_OK);
	assert_false(perfdata_reader_sample_id(r, &record, &id));
	assert_false(perfdata_reader_time(r, &record, &time_ns));
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* A sample that is too short for its time has none; one that ends with its time has one. */
static void test_times_of_samples(void **state)
{
	struct perfdata_builder b;
	struct record record;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 501);
	perfdata_builder_sample(&b, 0, 0, &(struct sample){.time = 77});
	struct perfdata_reader *r = open_bytes(perfdata_builder_file(&b));
	assert_int_equal(perfdata_reader_next(r, &record, NULL), TALLY_OK);
	assert_int_equal(time_order_time_of(r, &record, false), 77);
	record.bytes.len = 8 + 8 + 8 + 8;
	assert_int_equal(time_order_time_of(r, &record, false), 77);
	record.bytes.len--;
	assert_int_equal(time_order_time_of(r, &record, false), 0);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static void put_samples(struct perfdata_writer *w, uint64_t first, size_t count)
{
	struct record_layout layout = record_layout_make(&clock_attr, false);
	struct writer out = {0};
	for (size_t i = 0; i < count; i++)
		assert_true(sample_encode(&out, &layout, 0, &(struct sample){.id = 7, .time = first + i}));
	struct tally_bytes slice = writer_view(&out);
	assert_int_equal(perfdata_writer_append(w, &slice, 1, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_finish_round(w, NULL), TALLY_OK);
	writer_deinit(&out);
}

static FILE *write_stream(bool is_packed, bool is_pipe)
{
	static const uint64_t id = 7;
	struct perfdata_features features = {.hostname = STR("host")};
	struct perfdata_writer *w;
	char path[] = "/tmp/tally-stream-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	features.present[0] = UINT64_C(1) << FEATURE_HOSTNAME;
	if (is_pipe)
		assert_int_equal(perfdata_writer_create_pipe(fd, &w, NULL), TALLY_OK);
	else
		assert_int_equal(perfdata_writer_create_file(path, false, &w, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_add_event(w, &clock_attr, STR("clock"), &id, 1, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_totals(w).bytes, 0);
	if (is_packed)
		assert_int_equal(perfdata_writer_compress(w, 1, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_begin(w, &features, NULL), TALLY_OK);
	for (uint64_t round = 0; round < 4; round++)
		put_samples(w, 1 + round * SAMPLES, SAMPLES);
	struct compressor_totals totals = perfdata_writer_totals(w);
	assert_int_equal(totals.bytes, is_packed ? 4 * SAMPLES * (8 + 4 * 8) : 0);
	assert_true(totals.packed_bytes <= totals.bytes / 2);
	assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(unlink(path), 0);
	close(fd);
	return file;
}

/* Positions ascend; the data before a position can be forgotten, and the next records remain available. */
static void read_stream(struct perfdata_reader *r, bool is_passed)
{
	struct record record;
	struct sample sample;
	struct perfdata_mark last = {0};
	uint64_t time = 0;
	enum tally_status status;
	while ((status = perfdata_reader_next(r, &record, NULL)) == TALLY_OK) {
		struct perfdata_mark mark = perfdata_reader_mark(r);
		assert_true(mark.stream > last.stream || mark.unpacked > last.unpacked);
		if (record.type == RECORD_SAMPLE) {
			const struct perfdata_event *event = perfdata_reader_event_of(r, &record);
			assert_int_equal(sample_decode(&event->layout, &record, &sample, NULL), TALLY_OK);
			assert_int_equal(sample.time, ++time);
		}
		if (is_passed)
			perfdata_reader_forget(r, last); /* The record itself remains. */
		last = mark;
	}
	assert_int_equal(status, TALLY_END);
	assert_int_equal(time, 4 * SAMPLES);
}

static void test_streams(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		bool is_packed = kind % 2, is_passed = kind / 2;
		FILE *file = write_stream(is_packed, true);
		struct perfdata_reader *r;
		uint64_t offset;
		assert_int_equal(perfdata_reader_open_fd(fileno(file), &r, NULL), TALLY_OK);
		if (is_passed)
			perfdata_reader_pass(r);
		assert_true(perfdata_reader_is_pipe(r));
		assert_true(perfdata_reader_is_stream(r));
		read_stream(r, is_passed);
		assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("host")));
		assert_int_equal(perfdata_reader_health(r)->compressed[0] > 0, is_packed);
		assert_int_equal(perfdata_reader_health(r)->samples, 4 * SAMPLES);
		assert_false(perfdata_reader_health(r)->is_unfinished);
		if (!is_passed) {
			perfdata_reader_rewind(r);
			assert_int_equal(perfdata_reader_data(r, &offset).len > 0, !is_packed);
			read_stream(r, false);
			/* Samples are counted only once. */
			assert_int_equal(perfdata_reader_health(r)->samples, 4 * SAMPLES);
		}
		perfdata_reader_destroy(r);
		fclose(file);
	}
}

static void test_packed_files(void **state)
{
	FILE *file = write_stream(true, false);
	struct perfdata_reader *r;
	struct stat st;
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	assert_int_equal(fstat(fileno(file), &st), 0);
	assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
	assert_int_equal(perfdata_reader_layout(r).mtime_ns,
		(uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec);
	perfdata_reader_pass(r); /* A file can be read again, so nothing is forgotten. */
	read_stream(r, true);
	perfdata_reader_rewind(r);
	read_stream(r, true);
	perfdata_reader_destroy(r);
	fclose(file);
}

/* Records of unknown types are counted, including those beyond the last known type. */
static void test_counts(void **state)
{
	struct perfdata_builder b;
	struct record record;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 501);
	put_comm(&b, 5);
	perfdata_builder_sample(&b, 0, 0, &(struct sample){.time = 9});
	writer_u32(&b.records, 63);
	writer_u16(&b.records, 0);
	writer_u16(&b.records, 16);
	writer_u64(&b.records, 0);
	struct perfdata_reader *r = open_bytes(perfdata_builder_file(&b));
	uint64_t position = 0;
	while (perfdata_reader_next(r, &record, NULL) == TALLY_OK) {
		assert_int_equal(record.position, position);
		position += record.bytes.len;
	}
	const struct input_health *health = perfdata_reader_health(r);
	assert_int_equal(health->records, 3);
	assert_int_equal(health->samples, 1);
	assert_int_equal(health->unknown_records, 1);
	assert_int_equal(health->bytes, b.records.len);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static uint32_t random_below(uint64_t *random, uint32_t limit)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*random >> 33) % limit;
}

/* Rounds of several rings, each in order and with equal times, are sorted; samples of equal times keep their order in
 * the file. */
static void check_any_rounds(uint64_t seed, bool keeps_file_order)
{
	struct perfdata_builder b;
	struct time_order *order;
	struct time_order_item item;
	enum tally_status status;
	uint64_t random = seed, count = 0, last_time = 0, last_offset = 0;
	size_t out = 0;
	perfdata_builder_init(&b, seed % 2);
	perfdata_builder_event(&b, &clock_attr, 501);
	for (uint64_t round = 0; round < 8; round++) {
		for (uint32_t ring = random_below(&random, 6); ring > 0; ring--) {
			uint64_t time = 1000 * round + 1;
			for (uint32_t i = random_below(&random, 40); i > 0; i--, count++) {
				time += random_below(&random, 20);
				perfdata_builder_sample(&b, 0, 0, &(struct sample){.time = time});
			}
		}
		perfdata_builder_round(&b);
	}
	struct perfdata_reader *r = open_bytes(perfdata_builder_file(&b));
	assert_int_equal(time_order_create(r, &order, NULL), TALLY_OK);
	if (keeps_file_order)
		time_order_keep_file_order(order);
	while ((status = time_order_next(order, &item, NULL)) == TALLY_OK) {
		if (item.record.type != RECORD_SAMPLE)
			continue;
		assert_int_equal(item.has_time, !keeps_file_order);
		if (keeps_file_order)
			assert_true(item.record.offset > last_offset);
		else
			assert_true(item.time_ns > last_time ||
				    (item.time_ns == last_time && item.record.offset > last_offset));
		last_time = item.time_ns;
		last_offset = item.record.offset;
		out++;
	}
	assert_int_equal(status, TALLY_END);
	assert_int_equal(out, count);
	assert_int_equal(time_order_late(order), 0);
	assert_int_equal(time_order_next(order, &item, NULL), TALLY_END);
	time_order_destroy(order);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static void test_any_rounds(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		check_any_rounds(seed, seed % 6 == 0);
}

/* Records that come after their round are counted as late; those without time are not. */
static void test_what_is_late(void **state)
{
	static const uint64_t times[] = {10, 20, 0, 30, 40, 0, 50, 15, 0, 60, 0, 70};
	static const uint64_t expected[] = {10, 20, 15, 30, 40, 50, 60, 70};
	struct perfdata_builder b;
	struct time_order *order;
	struct time_order_item item;
	size_t out = 0;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 501);
	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		if (times[i])
			perfdata_builder_sample(&b, 0, 0, &(struct sample){.time = times[i]});
		else
			perfdata_builder_round(&b);
	struct perfdata_reader *r = open_bytes(perfdata_builder_file(&b));
	assert_int_equal(time_order_create(r, &order, NULL), TALLY_OK);
	while (time_order_next(order, &item, NULL) == TALLY_OK)
		if (item.has_time)
			assert_int_equal(item.time_ns, expected[out++]);
	assert_int_equal(out, ARRAY_LEN(expected));
	assert_int_equal(time_order_late(order), 1);
	time_order_destroy(order);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_parts_lie),
		cmocka_unit_test(test_what_events_have),
		cmocka_unit_test(test_trailers),
		cmocka_unit_test(test_times_of_samples),
#if HAVE_ZSTD
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_packed_files),
#endif
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_any_rounds),
		cmocka_unit_test(test_what_is_late),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
