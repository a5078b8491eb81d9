/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_records.h"

#include <unistd.h>

#include "perfdata_builder.h"
#include "unit_test.h"

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};

static void put_map(struct perfdata_builder *b, uint64_t start, const char *name, uint64_t time)
{
	struct record_fields map = {.type = RECORD_MMAP2,
		.mmap = {.pid = 1, .tid = 1, .start = start, .len = 0x1000, .prot = 5, .filename = str_from(name)}};
	perfdata_builder_record(b, &map, MISC_CPUMODE_USER, time);
}

static void put_sample(struct perfdata_builder *b, uint64_t ip, uint64_t time)
{
	struct sample s = {.ip = ip, .pid = 1, .tid = 1, .time = time};
	perfdata_builder_sample(b, 0, MISC_CPUMODE_USER, &s);
}

struct stream {
	int fd;
	struct perfdata_reader *reader;
	struct sideband sideband;
	struct live_records *live;
	struct resolver resolver;
};

static enum tally_status open_stream(struct stream *s, struct perfdata_builder *b)
{
	char path[] = "/tmp/tally-live-XXXXXX";
	struct tally_bytes bytes = perfdata_builder_pipe(b);
	*s = (struct stream){.fd = mkstemp(path)};
	assert_true(s->fd >= 0);
	unlink(path);
	assert_int_equal(write(s->fd, bytes.data, bytes.len), bytes.len);
	assert_int_equal(lseek(s->fd, 0, SEEK_SET), 0);
	assert_int_equal(perfdata_reader_open_fd(s->fd, &s->reader, NULL), TALLY_OK);
	assert_true(perfdata_reader_is_stream(s->reader));
	enum tally_status status = live_records_create(s->reader, &s->sideband, &s->live, NULL);
	if (status == TALLY_OK) {
		assert_true(resolver_init(&s->resolver, s->sideband.machine, b->swap));
		live_records_tell(s->live, &s->resolver);
	}
	return status;
}

static void close_stream(struct stream *s)
{
	resolver_deinit(&s->resolver);
	live_records_destroy(s->live);
	sideband_deinit(&s->sideband);
	perfdata_reader_destroy(s->reader);
	close(s->fd);
}

/* Reads the next sample and compares the file at its address at that time. */
static void expect(struct stream *s, uint64_t time, const char *name)
{
	struct time_order_item item;
	struct sample sample;
	do {
		assert_int_equal(live_records_next(s->live, &item, NULL), TALLY_OK);
	} while (item.record.type != RECORD_SAMPLE);
	const struct perfdata_event *event = perfdata_reader_event_of(s->reader, &item.record);
	assert_int_equal(sample_decode(&event->layout, &item.record, &sample, NULL), TALLY_OK);
	assert_int_equal(sample.time, time);
	struct resolve_where where = resolver_where(&s->resolver, 1, time);
	uint32_t frame = resolver_frame(&s->resolver, &where, MISC_CPUMODE_USER, sample.ip);
	uint32_t binary = resolved_frame_get(&s->resolver.frames, frame).binary;
	assert_true((binary == RESOLVE_NONE) == !name);
	if (!name)
		return;
	uint32_t path = machine_binary_get(s->sideband.machine, binary)->path;
	assert_string_equal(machine_string(s->sideband.machine, path).data, name);
}

static void check_rounds(bool swap)
{
	struct perfdata_builder b;
	struct stream s;
	perfdata_builder_init(&b, swap);
	perfdata_builder_event(&b, &attr, 1);
	put_map(&b, 0x1000, "/first", 0);
	perfdata_builder_round(&b);
	put_sample(&b, 0x1010, 20);
	put_sample(&b, 0x1010, 10); /* The sample is in another ring. */
	put_sample(&b, 0x5010, 12);
	perfdata_builder_round(&b);
	put_map(&b, 0x1000, "/second", 15); /* This mapping replaces the first, between the two samples. */
	put_map(&b, 0x5000, "/third", 30);
	put_sample(&b, 0x5010, 40);
	perfdata_builder_round(&b);
	for (uint64_t i = 0; i < 40000; i++) { /* Enough samples for the preceding data to be forgotten. */
		put_sample(&b, 0x1010, 50 + i);
		if (i % 5000 == 0)
			perfdata_builder_round(&b);
	}
	assert_int_equal(open_stream(&s, &b), TALLY_OK);
	expect(&s, 10, "/first");
	expect(&s, 12, NULL);
	expect(&s, 20, "/second");
	expect(&s, 40, "/third");
	for (uint64_t i = 0; i < 40000; i++)
		expect(&s, 50 + i, "/second");
	struct time_order_item item;
	assert_int_equal(live_records_next(s.live, &item, NULL), TALLY_END);
	assert_int_equal(live_records_next(s.live, &item, NULL), TALLY_END);
	assert_int_equal(s.sideband.health.samples, 40004);
	assert_int_equal(live_records_late(s.live), 0);
	close_stream(&s);
	perfdata_builder_deinit(&b);
}

static void test_each_round_knows_its_mappings(void **state)
{
	check_rounds(false);
	check_rounds(true);
}

/* Build IDs come before all samples of a stream, or before some of them only. */
static void test_build_ids_are_known_in_time(void **state)
{
	struct perfdata_builder b;
	struct stream s;
	struct time_order_item item;
	const struct record_fields id = {.type = RECORD_HEADER_BUILD_ID,
		.build_id = {.pid = -1, .size = 20, .bytes = {0xab}, .filename = STR("/first")}};
	for (unsigned is_late = 0; is_late < 2; is_late++) {
		perfdata_builder_init(&b, false);
		perfdata_builder_event(&b, &attr, 1);
		if (!is_late)
			perfdata_builder_record(&b, &id, MISC_CPUMODE_USER, 0);
		put_map(&b, 0x1000, "/first", 0);
		perfdata_builder_round(&b);
		put_sample(&b, 0x1010, 10);
		perfdata_builder_round(&b);
		if (is_late)
			perfdata_builder_record(&b, &id, MISC_CPUMODE_USER, 0);
		put_sample(&b, 0x1010, 20);
		perfdata_builder_round(&b);
		assert_int_equal(open_stream(&s, &b), TALLY_OK);
		expect(&s, 10, "/first");
		assert_true(is_late || machine_binary_get(s.sideband.machine, 0)->build_id.size == 20);
		expect(&s, 20, "/first");
		assert_int_equal(machine_binary_get(s.sideband.machine, 0)->build_id.size, 20);
		assert_int_equal(machine_binary_get(s.sideband.machine, 0)->build_id.bytes[0], 0xab);
		assert_int_equal(live_records_next(s.live, &item, NULL), TALLY_END);
		close_stream(&s);
		perfdata_builder_deinit(&b);
	}
}

static void test_what_must_be_seen_whole_is_refused(void **state)
{
	struct perfdata_builder b;
	struct stream s;
	struct perf_attr without_time = attr;
	without_time.sample_type &= ~(uint64_t)SAMPLE_TIME;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &without_time, 1);
	put_sample(&b, 1, 0);
	assert_int_equal(open_stream(&s, &b), TALLY_UNSUPPORTED);
	/* The stream can still be read as a normal recording. */
	struct record_run run;
	assert_int_equal(record_run_open(s.reader, &run, NULL), TALLY_OK);
	assert_int_equal(sideband_read(s.reader, &run, &s.sideband, NULL), TALLY_OK);
	assert_int_equal(s.sideband.health.samples, 1);
	record_run_close(&run);
	close_stream(&s);
	perfdata_builder_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_round_knows_its_mappings),
		cmocka_unit_test(test_build_ids_are_known_in_time),
		cmocka_unit_test(test_what_must_be_seen_whole_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
