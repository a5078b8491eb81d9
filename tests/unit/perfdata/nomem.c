/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "failing_malloc.h"
#include "perfdata/feature_table.h"
#include "perfdata/rewriter.h"
#include "perfdata/time_order.h"
#include "perfdata/writer.h"
#include "perfdata_builder.h"
#include "unit_test.h"

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.size = ATTR_SIZE_VER7,
	.sample_type = SAMPLE_IP | SAMPLE_TIME | SAMPLE_ID,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};
static struct perfdata_builder file_builder, pipe_builder;
static struct tally_bytes input;
static char path[] = "/tmp/tally-nomem-XXXXXX";

static void build(struct perfdata_builder *b)
{
	perfdata_builder_init(b, false);
	perfdata_builder_event(b, &clock_attr, 1);
	perfdata_builder_event(b, &clock_attr, 2);
	for (uint64_t i = 0; i < 40; i++) {
		struct sample s = {.time = 1 + i * 7 % 11};
		perfdata_builder_sample(b, i % 2, MISC_CPUMODE_USER, &s);
		if (i % 10 == 9)
			perfdata_builder_round(b);
	}
	struct writer list = {0};
	writer_u32(&list, 1);
	writer_u32(&list, 8);
	writer_bytes(&list, "command", 8);
	perfdata_builder_feature(b, FEATURE_CMDLINE, list.data, list.len);
	writer_deinit(&list);
}

static void read_recording(void)
{
	struct perfdata_reader *r;
	struct record record;
	if (perfdata_reader_open_bytes(input, &r, NULL) != TALLY_OK)
		return;
	size_t count = 0;
	enum tally_status status;
	while ((status = perfdata_reader_next(r, &record, NULL)) == TALLY_OK)
		count++;
	assert_true(status == TALLY_NOMEM || (status == TALLY_END && count >= 44));
	perfdata_reader_destroy(r);
}

static void order_recording(void)
{
	struct perfdata_reader *r;
	struct time_order *order;
	struct time_order_item item;
	if (perfdata_reader_open_bytes(input, &r, NULL) != TALLY_OK)
		return;
	if (time_order_create(r, &order, NULL) == TALLY_OK) {
		size_t count = 0;
		enum tally_status status;
		while ((status = time_order_next(order, &item, NULL)) == TALLY_OK)
			count += item.has_time;
		assert_true(status == TALLY_NOMEM || (status == TALLY_END && count == 40));
		time_order_destroy(order);
	}
	perfdata_reader_destroy(r);
}

static void write_recording(void)
{
	static const uint64_t id = 5;
	struct perfdata_writer *w;
	struct perfdata_features features = {.hostname = STR("host")};
	features.present[0] = UINT64_C(1) << FEATURE_HOSTNAME;
	struct tally_bytes slice = {file_builder.records.data, file_builder.records.len};
	if (perfdata_writer_create_file(path, false, &w, NULL) != TALLY_OK)
		return;
	if (perfdata_writer_add_event(w, &clock_attr, STR("clock"), &id, 1, NULL) == TALLY_OK &&
		perfdata_writer_begin(w, &features, NULL) == TALLY_OK &&
		perfdata_writer_append(w, &slice, 1, NULL) == TALLY_OK)
		(void)!perfdata_writer_close(w, &features, NULL);
	perfdata_writer_destroy(w);
}

static bool rewrite(struct perfdata_reader *r, struct perfdata_rewriter *w)
{
	const struct perfdata_features *features = perfdata_reader_features(r);
	struct record record;
	if (perfdata_rewriter_begin(w, r, features, NULL) != TALLY_OK)
		return false;
	while (perfdata_reader_next(r, &record, NULL) == TALLY_OK)
		if (perfdata_rewriter_record(w, &record, perfdata_reader_payload(r), NULL) != TALLY_OK)
			return false;
	return perfdata_rewriter_finish(w, features, NULL) == TALLY_OK;
}

/* Rewrites the recording to a file and to a pipe. */
static void rewrite_recording(void)
{
	struct perfdata_reader *r;
	struct perfdata_rewriter *w;
	if (perfdata_reader_open_bytes(input, &r, NULL) != TALLY_OK)
		return;
	if (perfdata_rewriter_create_file(path, &w, NULL) == TALLY_OK) {
		(void)!rewrite(r, w);
		perfdata_rewriter_destroy(w);
	}
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_true(null >= 0);
	perfdata_reader_rewind(r);
	if (perfdata_rewriter_create_pipe(null, &w, NULL) == TALLY_OK) {
		(void)!rewrite(r, w);
		perfdata_rewriter_destroy(w);
	}
	close(null);
	perfdata_reader_destroy(r);
}

static void fail_each_allocation(void (*run)(void))
{
	bool has_failed = true;
	run(); /* The first run makes the allocations that libraries retain. */
	for (size_t n = 0; has_failed; n++) {
		assert_true(n < 10000);
		failing_malloc_begin(n);
		run();
		has_failed = failing_malloc_end();
		assert_int_equal(failing_malloc_held(), 0);
	}
}

static void test_files(void **state)
{
	input = perfdata_builder_file(&file_builder);
	fail_each_allocation(read_recording);
	fail_each_allocation(order_recording);
}

static void test_pipes(void **state)
{
	input = perfdata_builder_pipe(&pipe_builder);
	fail_each_allocation(read_recording);
	fail_each_allocation(order_recording);
}

static void test_writing(void **state)
{
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	fail_each_allocation(write_recording);
	input = perfdata_builder_file(&file_builder);
	fail_each_allocation(rewrite_recording);
	unlink(path);
}

/* Number of zero entries in a section, more than fit into the first block of an arena. */
enum { ENTRIES = 20000 };

static void put_entries(struct writer *w, size_t entry_bytes)
{
	writer_u32(w, ENTRIES);
	writer_zeros(w, ENTRIES * entry_bytes);
}

static void put_section(struct writer *w, unsigned bit)
{
	switch (bit) {
	case FEATURE_CPU_TOPOLOGY:
		put_entries(w, 4); /* cores */
		put_entries(w, 4); /* threads */
		writer_zeros(w, ENTRIES * (size_t)8);
		put_entries(w, 4); /* dies */
		writer_zeros(w, ENTRIES * (size_t)4);
		break;
	case FEATURE_EVENT_DESC:
		writer_u32(w, ENTRIES);
		writer_u32(w, ATTR_SIZE_VER0);
		writer_zeros(w, ENTRIES * (size_t)(ATTR_SIZE_VER0 + 8));
		break;
	case FEATURE_CACHE:
		writer_u32(w, 1);
		put_entries(w, 28);
		break;
	case FEATURE_MEM_TOPOLOGY:
		writer_u64(w, 1);
		writer_u64(w, 1);
		writer_u64(w, ENTRIES);
		writer_zeros(w, ENTRIES * (size_t)24);
		break;
	case FEATURE_AUXTRACE:
		writer_u64(w, ENTRIES);
		writer_zeros(w, ENTRIES * (size_t)16);
		break;
	case FEATURE_CPU_DOMAIN_INFO:
		writer_u64(w, 0);
		writer_zeros(w, ENTRIES * (size_t)8);
		break;
	case FEATURE_BUILD_ID:
		for (size_t i = 0; i < ENTRIES; i++) {
			writer_u32(w, 0);
			writer_u16(w, 0);
			writer_u16(w, 40);
			writer_zeros(w, 32);
		}
		break;
	case FEATURE_NUMA_TOPOLOGY:
		put_entries(w, 24);
		break;
	case FEATURE_BPF_PROG_INFO:
		put_entries(w, 16);
		break;
	case FEATURE_GROUP_DESC:
		put_entries(w, 12);
		break;
	case FEATURE_CMDLINE:
		put_entries(w, 4);
		break;
	default:
		put_entries(w, 8);
		break;
	}
}

/* A section is not reported as damaged if there is no memory for it. */
static void test_sections(void **state)
{
	static const unsigned bits[] = {FEATURE_CMDLINE, FEATURE_BUILD_ID, FEATURE_EVENT_DESC, FEATURE_CPU_TOPOLOGY,
		FEATURE_NUMA_TOPOLOGY, FEATURE_PMU_MAPPINGS, FEATURE_GROUP_DESC, FEATURE_AUXTRACE, FEATURE_CACHE,
		FEATURE_MEM_TOPOLOGY, FEATURE_HYBRID_TOPOLOGY, FEATURE_CPU_PMU_CAPS, FEATURE_PMU_CAPS,
		FEATURE_CPU_DOMAIN_INFO, FEATURE_BPF_PROG_INFO, FEATURE_BPF_BTF};
	for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
		struct writer w = {0};
		bool has_failed = true;
		put_section(&w, bits[i]);
		for (size_t n = 0; has_failed; n++) {
			struct perfdata_features features = {.cpus_available = ENTRIES};
			struct arena arena;
			assert_true(n < 10000);
			failing_malloc_begin(n);
			arena_init(&arena);
			struct feature_input section = {writer_view(&w), false, &arena, &features};
			enum tally_status status = feature_decode(bits[i], &section, NULL);
			arena_deinit(&arena);
			has_failed = failing_malloc_end();
			assert_int_equal(failing_malloc_held(), 0);
			assert_int_equal(status, has_failed ? TALLY_NOMEM : TALLY_OK);
			assert_int_equal(features.damaged, 0);
		}
		writer_deinit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_writing),
	};
	build(&file_builder);
	build(&pipe_builder);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	perfdata_builder_deinit(&file_builder);
	perfdata_builder_deinit(&pipe_builder);
	return failed;
}
