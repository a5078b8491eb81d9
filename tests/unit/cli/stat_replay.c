/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_replay.h"

#include "base/array.h"
#include "perfdata_builder.h"
#include "unit_test.h"

#define CLOCK_ID 7
#define FAULT_ID 9

struct shown {
	size_t rounds, places;
	enum aggregation_mode mode;
	double values[2]; /* Values per event, of the last place. */
	double interval_s, wall_ns;
};

static void take(void *context, const struct stat_report *report)
{
	struct shown *shown = context;
	shown->rounds++;
	shown->places = report->aggregation->len;
	shown->mode = report->aggregation->mode;
	shown->interval_s = report->interval_s;
	shown->wall_ns = report->wall_ns.mean;
	for (size_t i = 0; i < report->events->len && i < 2; i++)
		shown->values[i] = stat_cell_at(report, i, report->aggregation->len - 1)->value.mean;
}

static size_t begin(struct perfdata_builder *b, uint32_t type)
{
	size_t start = b->records.len;
	writer_u32(&b->records, type);
	writer_u16(&b->records, 0);
	writer_u16(&b->records, 0);
	return start;
}

static void end(struct perfdata_builder *b, size_t start)
{
	writer_align(&b->records, 8);
	writer_patch_u16(&b->records, start + 6, (uint16_t)(b->records.len - start));
}

static void put_stat(struct perfdata_builder *b, uint64_t id, uint32_t cpu, uint64_t value)
{
	size_t start = begin(b, RECORD_STAT);
	writer_u64(&b->records, id);
	writer_u32(&b->records, cpu);
	writer_u32(&b->records, 0);
	writer_u64(&b->records, value);
	writer_u64(&b->records, value * 100); /* Enabled and running times. */
	writer_u64(&b->records, value * 100);
	end(b, start);
}

static void put_round(struct perfdata_builder *b, uint64_t type, uint64_t time)
{
	size_t start = begin(b, RECORD_STAT_ROUND);
	writer_u64(&b->records, type);
	writer_u64(&b->records, time);
	end(b, start);
}

static void put_cpus(struct perfdata_builder *b, enum cpu_map_encoding encoding)
{
	size_t start = begin(b, RECORD_CPU_MAP);
	struct writer *w = &b->records;
	writer_u16(w, (uint16_t)encoding);
	if (encoding == CPU_MAP_CPUS) {
		writer_u16(w, 2);
		writer_u16(w, 1);
		writer_u16(w, 0);
	} else if (encoding == CPU_MAP_MASK) {
		writer_u16(w, 1);
		writer_u16(w, 4);
		writer_u32(w, 3);
	} else {
		writer_u16(w, 0);
		writer_u16(w, 0);
		writer_u16(w, 1);
	}
	end(b, start);
}

static void put_mode(struct perfdata_builder *b, uint64_t mode, bool has_level)
{
	size_t start = begin(b, RECORD_STAT_CONFIG);
	writer_u64(&b->records, has_level ? 2 : 1);
	writer_u64(&b->records, STAT_CONFIG_AGGR_MODE);
	writer_u64(&b->records, mode);
	if (has_level) {
		writer_u64(&b->records, STAT_CONFIG_AGGR_LEVEL);
		writer_u64(&b->records, 5);
	}
	end(b, start);
}

static void put_version(struct perfdata_builder *b, const char *version)
{
	struct writer w = {.swap = b->records.swap};
	writer_u32(&w, (uint32_t)strlen(version) + 1);
	writer_bytes(&w, version, strlen(version) + 1);
	perfdata_builder_feature(b, FEATURE_VERSION, w.data, w.len);
	writer_deinit(&w);
}

static void events_put(struct perfdata_builder *b, bool swap)
{
	struct perf_attr attr = {.type = EVENT_SOFTWARE,
		.config = SW_CPU_CLOCK,
		.size = ATTR_SIZE_VER7,
		.sample_type = SAMPLE_IDENTIFIER};
	perfdata_builder_init(b, swap);
	perfdata_builder_event(b, &attr, CLOCK_ID);
	attr.config = SW_PAGE_FAULTS;
	perfdata_builder_event(b, &attr, FAULT_ID);
}

static enum tally_status replay_bytes(struct tally_bytes bytes, struct shown *shown)
{
	struct tally_error err = {0};
	struct stat_replay_request request = {.show = take, .context = shown};
	enum tally_status status = perfdata_reader_open_bytes(bytes, &request.reader, &err);
	if (status == TALLY_OK) {
		status = stat_replay(&request, &err);
		perfdata_reader_destroy(request.reader);
	}
	return status;
}

static void totals_in_both_byte_orders(void **state)
{
	(void)state;
	for (unsigned variant = 0; variant < 6; variant++) {
		struct perfdata_builder b;
		struct shown shown = {0};
		events_put(&b, variant & 1);
		put_cpus(&b, (enum cpu_map_encoding)(variant / 2));
		put_stat(&b, CLOCK_ID, 0, 10);
		put_stat(&b, CLOCK_ID, 1, 30);
		put_stat(&b, FAULT_ID, 1, 5);
		put_stat(&b, FAULT_ID, 2, 100); /* There is no such CPU. */
		put_stat(&b, 12345, 0, 100); /* There is no such event. */
		put_round(&b, 1, 2000);
		assert_int_equal(replay_bytes(perfdata_builder_file(&b), &shown), TALLY_OK);
		assert_int_equal(shown.rounds, 1);
		assert_int_equal(shown.places, 1);
		assert_true(shown.values[0] == 40 && shown.values[1] == 5);
		assert_true(shown.wall_ns == 2000 && shown.interval_s < 0);
		perfdata_builder_deinit(&b);
	}
}

static void intervals_are_differences(void **state)
{
	(void)state;
	struct perfdata_builder b;
	struct shown shown = {0};
	events_put(&b, false);
	put_cpus(&b, CPU_MAP_CPUS);
	put_mode(&b, 0, false);
	put_stat(&b, FAULT_ID, 1, 5);
	put_round(&b, 0, 1000000000);
	put_stat(&b, FAULT_ID, 1, 12);
	put_round(&b, 0, 1500000000);
	assert_int_equal(replay_bytes(perfdata_builder_file(&b), &shown), TALLY_OK);
	assert_int_equal(shown.rounds, 2);
	assert_int_equal(shown.mode, AGGREGATE_CPU);
	assert_int_equal(shown.places, 2);
	assert_true(shown.values[1] == 7 && shown.interval_s == 1.5 && shown.wall_ns == 5e8);
	perfdata_builder_deinit(&b);
}

static void modes_of_old_and_new_versions(void **state)
{
	(void)state;
	static const struct {
		uint64_t number;
		bool has_level;
		enum aggregation_mode mode;
		const char *version;
	} cases[] = {{4, false, AGGREGATE_CORE, "6.1.0"}, {6, true, AGGREGATE_CORE, "6.9.0"},
		{4, true, AGGREGATE_CLUSTER, "7.3.0"}, {5, true, AGGREGATE_CACHE, "6.10.1"},
		{5, false, AGGREGATE_THREAD, "5.10"}, {7, false, AGGREGATE_NODE, "6.1.0"},
		{9, true, AGGREGATE_NODE, "6.58.2"}, {1000, true, AGGREGATE_ALL, "6.5.0"},
		{UINT64_MAX, false, AGGREGATE_ALL, ""}, {3, true, AGGREGATE_DIE, "6.5.0"},
		{4, true, AGGREGATE_CACHE, "6.5.0"}, {5, true, AGGREGATE_CORE, "6.8"},
		{6, true, AGGREGATE_THREAD, "6.8.0-51-generic"}, {8, true, AGGREGATE_NODE, "6.7.0"},
		{9, true, AGGREGATE_ALL, "6.7.0"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct perfdata_builder b;
		struct shown shown = {0};
		events_put(&b, i & 1);
		put_cpus(&b, CPU_MAP_CPUS);
		put_version(&b, cases[i].version);
		put_mode(&b, cases[i].number, cases[i].has_level);
		put_stat(&b, FAULT_ID, 1, 5);
		put_round(&b, 1, 10);
		assert_int_equal(replay_bytes(perfdata_builder_file(&b), &shown), TALLY_OK);
		assert_int_equal(shown.mode, cases[i].mode);
		perfdata_builder_deinit(&b);
	}
}

static void damage_is_survived(void **state)
{
	(void)state;
	struct perfdata_builder b;
	struct shown shown = {0};
	events_put(&b, false);
	put_cpus(&b, CPU_MAP_MASK);
	put_mode(&b, 5, true);
	put_stat(&b, CLOCK_ID, 0, 10);
	put_round(&b, 1, 10);
	struct tally_bytes file = perfdata_builder_file(&b);
	for (size_t at = 0; at < file.len; at++) {
		uint8_t kept = b.out.data[at];
		b.out.data[at] = (uint8_t)(kept ^ 0xff);
		(void)!replay_bytes(file, &shown);
		b.out.data[at] = kept;
		(void)!replay_bytes((struct tally_bytes){file.data, at}, &shown);
	}
	perfdata_builder_deinit(&b);
}

static void nothing_counted_is_said(void **state)
{
	(void)state;
	struct perfdata_builder b;
	struct shown shown = {0};
	events_put(&b, false);
	assert_int_equal(replay_bytes(perfdata_builder_file(&b), &shown), TALLY_NOT_FOUND);
	perfdata_builder_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_in_both_byte_orders),
		cmocka_unit_test(intervals_are_differences),
		cmocka_unit_test(modes_of_old_and_new_versions),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(nothing_counted_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
