/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/health.h"

#include "analysis/stock_perf.h"
#include "base/array.h"
#include "perfdata_builder.h"
#include "unit_test.h"

#define BOTH_TIMES (READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING)

static const struct perf_attr plain = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};

struct fixture {
	struct perfdata_builder b;
	struct perfdata_reader *reader;
	struct recording_health health;
	char room[128];
};

static void begin(struct fixture *f, bool swap, const struct perf_attr *attr)
{
	perfdata_builder_init(&f->b, swap);
	perfdata_builder_event(&f->b, attr, 7);
}

static void examine(struct fixture *f, struct tally_bytes bytes)
{
	assert_int_equal(perfdata_reader_open_bytes(bytes, &f->reader, NULL), TALLY_OK);
	assert_int_equal(recording_health_read(f->reader, &f->health, NULL), TALLY_OK);
}

static const char *refusal(struct fixture *f)
{
	return stock_perf_refusal(f->reader, &f->health, f->room, sizeof(f->room));
}

static void end(struct fixture *f)
{
	recording_health_deinit(&f->health);
	perfdata_reader_destroy(f->reader);
	perfdata_builder_deinit(&f->b);
}

static void put_sample(struct fixture *f, uint64_t time_ns)
{
	struct sample s = {.ip = 0x1000, .pid = 1, .tid = 1, .time = time_ns};
	perfdata_builder_sample(&f->b, 0, MISC_CPUMODE_USER, &s);
}

static void put_throttle(struct fixture *f, uint32_t type, uint64_t stream, uint64_t time_ns)
{
	struct record_fields fields = {.type = type, .throttle = {time_ns, 7, stream}};
	perfdata_builder_record(&f->b, &fields, 0, time_ns);
}

static void whole_recordings_are_good(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct fixture f;
		begin(&f, swap != 0, &plain);
		put_sample(&f, 1000);
		put_sample(&f, 3000);
		examine(&f, perfdata_builder_file(&f.b));
		assert_true(recording_health_is_good(&f.health));
		assert_int_equal(f.health.end.status, TALLY_OK);
		assert_int_equal(f.health.by_type[RECORD_SAMPLE], 2);
		assert_int_equal(f.health.events.items[0].samples, 2);
		assert_true(f.health.first_ns == 1000 && f.health.last_ns == 3000);
		assert_null(refusal(&f));
		end(&f);
	}
}

static void losses_are_told_by_event_and_time(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct fixture f;
		begin(&f, swap != 0, &plain);
		struct record_fields lost = {.type = RECORD_LOST, .lost = {7, 5}};
		struct record_fields samples = {.type = RECORD_LOST_SAMPLES, .lost_samples = {3}};
		put_sample(&f, 1000);
		perfdata_builder_record(&f.b, &lost, 0, 1150);
		perfdata_builder_record(&f.b, &samples, 0, 2000);
		perfdata_builder_record(&f.b, &samples, 0, 0);
		examine(&f, perfdata_builder_file(&f.b));
		assert_int_equal(f.health.input.lost_events, 5);
		assert_int_equal(f.health.input.lost_samples, 6);
		assert_int_equal(recording_health_lost(&f.health), 11);
		assert_int_equal(f.health.events.items[0].lost, 11);
		assert_int_equal(f.health.lost_by_slice[1], 5);
		assert_int_equal(f.health.lost_by_slice[HEALTH_SLICES - 1], 3);
		assert_int_equal(f.health.lost_without_time, 3);
		assert_false(recording_health_is_good(&f.health));
		assert_false(recording_health_is_damaged(&f.health));
		end(&f);
	}
}

static void samples_that_a_filter_dropped_are_no_loss(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct fixture f;
		begin(&f, swap != 0, &plain);
		struct record_fields samples = {.type = RECORD_LOST_SAMPLES, .lost_samples = {3}};
		put_sample(&f, 1000);
		put_sample(&f, 3000);
		perfdata_builder_record(&f.b, &samples, MISC_LOST_SAMPLES_BPF, 3000);
		examine(&f, perfdata_builder_file(&f.b));
		assert_int_equal(f.health.input.filtered_samples, 3);
		assert_int_equal(f.health.input.lost_samples, 0);
		assert_true(recording_health_is_good(&f.health));
		end(&f);
	}
}

static void throttled_time_is_that_of_pairs(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, false, &plain);
	put_throttle(&f, RECORD_THROTTLE, 1, 1000);
	put_throttle(&f, RECORD_THROTTLE, 2, 1100); /* Throttles another counter. */
	put_throttle(&f, RECORD_UNTHROTTLE, 1, 1500);
	put_throttle(&f, RECORD_UNTHROTTLE, 1, 1900); /* There is no preceding THROTTLE record. */
	put_throttle(&f, RECORD_UNTHROTTLE, 2, 1050); /* The time is before that of the THROTTLE record. */
	put_throttle(&f, RECORD_THROTTLE, 3, 2000);
	examine(&f, perfdata_builder_file(&f.b));
	assert_int_equal(f.health.events.items[0].throttles, 3);
	assert_int_equal(f.health.events.items[0].throttled_ns, 500);
	assert_int_equal(f.health.throttled_to_the_end, 1);
	assert_true(recording_health_is_good(&f.health));
	end(&f);
}

static void share_is_that_of_the_last_reading(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct fixture f;
		struct perf_attr attr = plain;
		attr.sample_type |= SAMPLE_READ;
		attr.read_format = BOTH_TIMES;
		begin(&f, swap != 0, &attr);
		for (uint64_t i = 1; i <= 2; i++) {
			struct sample s = {.pid = 1, .tid = 1, .time = i};
			s.read = (struct read_values){.format = BOTH_TIMES,
				.time_enabled = 100 * i,
				.time_running = 40 * i,
				.count = 1,
				.single = i};
			perfdata_builder_sample(&f.b, 0, MISC_CPUMODE_USER, &s);
		}
		examine(&f, perfdata_builder_file(&f.b));
		assert_int_equal(f.health.input.damaged.count, 0);
		assert_int_equal(f.health.events.items[0].enabled_ns, 200);
		assert_int_equal(f.health.events.items[0].running_ns, 80);
		end(&f);
	}
}

static void full_chains_are_counted(void **state)
{
	(void)state;
	struct fixture f;
	struct perf_attr attr = plain;
	attr.sample_type |= SAMPLE_CALLCHAIN;
	attr.sample_max_stack = 2;
	begin(&f, false, &attr);
	uint64_t two[] = {CONTEXT_USER, 0x10, 0x20}, one[] = {CONTEXT_KERNEL, CONTEXT_USER, 0x20};
	struct sample s = {.pid = 1, .time = 1, .callchain = {(const uint8_t *)two, 3}};
	perfdata_builder_sample(&f.b, 0, MISC_CPUMODE_USER, &s);
	s.callchain.data = (const uint8_t *)one;
	perfdata_builder_sample(&f.b, 0, MISC_CPUMODE_USER, &s);
	examine(&f, perfdata_builder_file(&f.b));
	assert_int_equal(f.health.events.items[0].full_chains, 1);
	end(&f);
}

static void what_misses_its_round_is_told(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, false, &plain);
	put_sample(&f, 1000);
	perfdata_builder_round(&f.b);
	put_sample(&f, 900); /* The sample is older, but the previous round is still open. */
	put_sample(&f, 2000);
	perfdata_builder_round(&f.b);
	put_sample(&f, 950);
	put_sample(&f, 1500);
	examine(&f, perfdata_builder_file(&f.b));
	assert_int_equal(f.health.input.unordered, 1);
	assert_false(recording_health_is_damaged(&f.health)); /* No record is omitted. */
	end(&f);
}

static void cuts_are_told_with_their_place(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct fixture f;
		begin(&f, swap != 0, &plain);
		put_sample(&f, 1000);
		put_sample(&f, 2000);
		struct tally_bytes file = perfdata_builder_file(&f.b);
		file.len -= 10;
		examine(&f, file);
		assert_int_equal(f.health.end.status, TALLY_CORRUPT);
		assert_int_equal(f.health.input.samples, 1);
		assert_int_equal(f.health.input.cut_offset, file.len + 10 - f.b.records.len / 2);
		assert_true(recording_health_is_damaged(&f.health));
		assert_non_null(refusal(&f));
		end(&f);

		/* perf can read a truncated stream. */
		begin(&f, swap != 0, &plain);
		put_sample(&f, 1000);
		put_sample(&f, 2000);
		struct tally_bytes pipe = perfdata_builder_pipe(&f.b);
		pipe.len -= 10;
		examine(&f, pipe);
		assert_int_equal(f.health.end.status, TALLY_CORRUPT);
		assert_null(refusal(&f));
		end(&f);
	}
}

static void put_bare(struct fixture *f, uint32_t type, uint16_t size)
{
	writer_u32(&f->b.records, type);
	writer_u16(&f->b.records, 0);
	writer_u16(&f->b.records, size);
}

static void stock_perf_stops_at_what_it_does_not_know(void **state)
{
	(void)state;
	static const struct {
		uint32_t type;
		bool reads;
	} cases[] = {{0, false}, {RECORD_SWITCH, true}, {21, true}, {22, false}, {50, false},
		{RECORD_FINISHED_ROUND, true}, {82, true}, {84, false}, {32775, false}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		begin(&f, false, &plain);
		put_bare(&f, cases[i].type, 16);
		writer_u64(&f.b.records, 0);
		examine(&f, perfdata_builder_file(&f.b));
		assert_int_equal(refusal(&f) == NULL, cases[i].reads);
		end(&f);
	}
}

static void stock_perf_wants_formats_of_tracepoints(void **state)
{
	(void)state;
	struct perf_attr attr = plain;
	attr.type = EVENT_TRACEPOINT;
	for (int with = 0; with < 2; with++) {
		struct fixture f;
		begin(&f, false, &attr);
		put_sample(&f, 1);
		if (with)
			perfdata_builder_feature(&f.b, FEATURE_TRACING_DATA, "\27\10\104tracing", 10);
		examine(&f, perfdata_builder_file(&f.b));
		assert_int_equal(refusal(&f) == NULL, with);
		end(&f);
	}
}

static void stock_perf_stops_at_impossible_records(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, false, &plain);
	put_bare(&f, RECORD_SAMPLE, 0);
	examine(&f, perfdata_builder_pipe(&f.b));
	assert_int_equal(f.health.end.status, TALLY_CORRUPT);
	assert_int_equal(f.health.input.cut_record_bytes, 0);
	assert_non_null(refusal(&f));
	end(&f);
}

static void stock_perf_needs_a_size(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, false, &plain);
	examine(&f, perfdata_builder_file(&f.b));
	assert_true(recording_health_is_good(&f.health));
	assert_non_null(refusal(&f));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_recordings_are_good),
		cmocka_unit_test(losses_are_told_by_event_and_time),
		cmocka_unit_test(samples_that_a_filter_dropped_are_no_loss),
		cmocka_unit_test(throttled_time_is_that_of_pairs),
		cmocka_unit_test(share_is_that_of_the_last_reading),
		cmocka_unit_test(full_chains_are_counted),
		cmocka_unit_test(what_misses_its_round_is_told),
		cmocka_unit_test(cuts_are_told_with_their_place),
		cmocka_unit_test(stock_perf_stops_at_what_it_does_not_know),
		cmocka_unit_test(stock_perf_wants_formats_of_tracepoints),
		cmocka_unit_test(stock_perf_stops_at_impossible_records),
		cmocka_unit_test(stock_perf_needs_a_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
