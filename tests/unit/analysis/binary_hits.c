/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/binary_hits.h"

#include <stdio.h>
#include <string.h>

#include "analysis/replay/replay.h"
#include "perfdata_builder.h"
#include "unit_test.h"

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};

struct mapped {
	uint32_t pid;
	uint64_t start;
	struct tally_str path;
	bool has_other_build_id;
};

static void map(struct perfdata_builder *b, const struct mapped *mapping)
{
	struct record_fields record = {.type = RECORD_MMAP2,
		.mmap = {.pid = mapping->pid,
			.tid = mapping->pid,
			.start = mapping->start,
			.len = 0x1000,
			.prot = 5,
			.build_id = {20, {0xde, 0xad}},
			.filename = mapping->path}};
	uint16_t misc = mapping->has_other_build_id ? MISC_MMAP_BUILD_ID : 0;
	perfdata_builder_record(b, &record, (uint16_t)(MISC_CPUMODE_USER | misc), 0);
}

static void sample(struct perfdata_builder *b, uint32_t pid, uint64_t ip, size_t times)
{
	for (size_t i = 0; i < times; i++) {
		struct sample s = {.ip = ip, .pid = pid, .tid = pid, .time = 10 + i};
		perfdata_builder_sample(b, 0, MISC_CPUMODE_USER, &s);
	}
}

static void replay(bool swap, struct binary_store *store, struct replay_result *result)
{
	struct perfdata_builder b;
	struct perfdata_reader *reader;
	perfdata_builder_init(&b, swap);
	perfdata_builder_event(&b, &attr, 1);
	/* Two processes map the same missing file; the existing file has another build ID. */
	map(&b, &(struct mapped){1, 0x400000, STR("/nonexistent/a"), false});
	map(&b, &(struct mapped){2, 0x700000, STR("/nonexistent/a"), false});
	map(&b, &(struct mapped){1, 0x900000, STR("/proc/self/exe"), true});
	sample(&b, 1, 0x400010, 2);
	sample(&b, 2, 0x700020, 3);
	sample(&b, 1, 0x900010, 7);
	sample(&b, 2, 0x10, 1);
	(void)perfdata_builder_file(&b);
	assert_int_equal(perfdata_reader_open_bytes(writer_view(&b.out), &reader, NULL), TALLY_OK);
	assert_int_equal(replay_profile(reader, store, &(struct replay_options){.threads = 1}, result, NULL), TALLY_OK);
	perfdata_reader_destroy(reader);
	perfdata_builder_deinit(&b);
}

static void test_samples_add_up_by_file(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct binary_store *store;
		struct replay_result result;
		assert_int_equal(binary_store_create(&(struct binary_store_options){0}, &store, NULL), TALLY_OK);
		replay(swap, store, &result);
		assert_int_equal(result.hits.samples, 13);
		assert_int_equal(result.hits.files.len, 2);
		const struct binary_hit *hits = result.hits.files.items;
		assert_int_equal(hits[0].samples, 7);
		assert_int_equal(hits[0].unnamed, 7);
		struct binary_info info = binary_store_info(store, hits[0].store_id);
		assert_int_equal(info.status, BINARY_BUILD_ID_DIFFERS);
		assert_non_null(strstr(info.text, "dead"));
		assert_int_equal(hits[1].samples, 5);
		assert_int_equal(hits[1].unnamed, 5);
		assert_int_equal(binary_store_info(store, hits[1].store_id).status, BINARY_NO_FILE);
		replay_result_deinit(&result);
		binary_store_destroy(store);
	}
}

static void test_nothing_hit(void **state)
{
	struct binary_hits hits = {0};
	struct binary_store *store;
	assert_int_equal(binary_store_create(&(struct binary_store_options){0}, &store, NULL), TALLY_OK);
	assert_true(binary_hits_add(&hits, UINT32_MAX, 4, false));
	assert_int_equal(binary_hits_finish(&hits, NULL, store, NULL), TALLY_OK);
	assert_int_equal(hits.samples, 4);
	assert_int_equal(hits.files.len, 0);
	binary_hits_deinit(&hits);
	binary_store_destroy(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_add_up_by_file),
		cmocka_unit_test(test_nothing_hit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
