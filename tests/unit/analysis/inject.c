/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/inject/inject_survey.h"
#include "perfdata_builder.h"
#include "unit_test.h"

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};
static const struct record_build_id build_id = {.size = 20, .bytes = {1, 2, 3, [19] = 20}};

static void put_mapping(struct perfdata_builder *b, uint32_t type, uint16_t misc, uint64_t start, struct tally_str name)
{
	struct record_fields map = {.type = type,
		.mmap = {.pid = 1,
			.tid = 1,
			.start = start,
			.len = 0x1000,
			.pgoff = 0x2000,
			.major = 8,
			.inode = 99,
			.prot = PROT_READ | PROT_EXEC,
			.flags = MAP_PRIVATE,
			.filename = name}};
	perfdata_builder_record(b, &map, misc, 1);
}

/* Builds a recording with the kernel and three files: one with a sample, one with a caller, and one with neither. */
static void build(struct perfdata_builder *b, bool swap)
{
	perfdata_builder_init(b, swap);
	perfdata_builder_event(b, &attr, 1);
	put_mapping(b, RECORD_MMAP, MISC_CPUMODE_KERNEL, 0xffffffff81000000, STR("[kernel.kallsyms]_text"));
	put_mapping(b, RECORD_MMAP2, MISC_CPUMODE_USER, 0x10000, STR("/bin/leaf"));
	put_mapping(b, RECORD_MMAP, MISC_CPUMODE_USER, 0x20000, STR("/bin/caller"));
	put_mapping(b, RECORD_MMAP2, MISC_CPUMODE_USER, 0x30000, STR("/bin/unused"));
	struct record_fields id = {.type = RECORD_HEADER_BUILD_ID,
		.build_id = {.pid = -1, .size = 20, .bytes = {7}, .filename = STR("/bin/told")}};
	perfdata_builder_record(b, &id, MISC_CPUMODE_USER | MISC_BUILD_ID_SIZE, 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct writer chain = {.swap = swap};
		writer_u64(&chain, CONTEXT_USER);
		writer_u64(&chain, 0x10010);
		writer_u64(&chain, 0x20010);
		struct sample s = {
			.ip = 0x10010, .pid = 1, .tid = 1, .time = 100 - 10 * i, .callchain = {chain.data, 3}};
		perfdata_builder_sample(b, 0, MISC_CPUMODE_USER, &s);
		writer_deinit(&chain);
	}
}

struct copied {
	int fd;
	struct perfdata_reader *reader;
};

static struct copied copy(struct perfdata_reader *reader, const struct inject_options *options)
{
	struct inject_result result;
	struct perfdata_rewriter *w;
	struct copied copied = {.fd = memfd_create("copy", MFD_CLOEXEC)};
	assert_true(copied.fd >= 0);
	assert_int_equal(perfdata_rewriter_create_fd(copied.fd, &w, NULL), TALLY_OK);
	assert_int_equal(inject_copy(reader, w, options, &result, NULL), TALLY_OK);
	assert_int_equal(result.end_error.status, TALLY_OK);
	perfdata_rewriter_destroy(w);
	assert_int_equal(lseek(copied.fd, 0, SEEK_SET), 0);
	assert_int_equal(perfdata_reader_open_fd(copied.fd, &copied.reader, NULL), TALLY_OK);
	perfdata_reader_rewind(reader);
	return copied;
}

static void close_copy(struct copied *copied)
{
	perfdata_reader_destroy(copied->reader);
	close(copied->fd);
}

static bool is_hit(const struct inject_survey *survey, struct tally_str path)
{
	const struct machine *machine = survey->pass.sideband.machine;
	for (uint32_t i = 0; i < machine_binary_count(machine); i++)
		if (str_equal(machine_string(machine, machine_binary_get(machine, i)->path), path))
			return survey->is_hit[i];
	fail();
	return false;
}

static void test_survey(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		struct inject_survey survey;
		build(&b, swap);
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		assert_int_equal(inject_survey_read(r, INJECT_SURVEY_HITS, &survey, NULL), TALLY_OK);
		assert_true(is_hit(&survey, STR("/bin/leaf")));
		assert_true(is_hit(&survey, STR("/bin/caller")));
		assert_false(is_hit(&survey, STR("/bin/unused")));
		assert_int_equal(survey.build_ids.len, 1);
		assert_true(str_equal(survey.build_ids.items[0].filename, STR("/bin/told")));
		assert_int_equal(survey.build_ids.items[0].bytes[0], 7);
		inject_survey_deinit(&survey);
		assert_int_equal(inject_survey_read(r, INJECT_SURVEY_FILES, &survey, NULL), TALLY_OK);
		assert_true(is_hit(&survey, STR("/bin/unused")));
		inject_survey_deinit(&survey);
		assert_int_equal(inject_survey_read(r, INJECT_SURVEY_RECORDS, &survey, NULL), TALLY_OK);
		assert_null(survey.pass.sideband.machine);
		assert_int_equal(survey.build_ids.len, 1);
		inject_survey_deinit(&survey);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

static void test_aux_data_hit_anything(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct inject_survey survey;
	build(&b, false);
	writer_u32(&b.records, RECORD_AUXTRACE);
	writer_u16(&b.records, 0);
	writer_u16(&b.records, 48);
	writer_zeros(&b.records, 40);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	assert_int_equal(inject_survey_read(r, INJECT_SURVEY_HITS, &survey, NULL), TALLY_OK);
	assert_true(is_hit(&survey, STR("/bin/unused")));
	inject_survey_deinit(&survey);
	struct record record;
	struct copied copied = copy(r, &(struct inject_options){.strip = true});
	unsigned kept = 0;
	for (; perfdata_reader_next(copied.reader, &record, NULL) == TALLY_OK; kept++)
		assert_int_not_equal(record.type, RECORD_AUXTRACE);
	assert_int_equal(kept, 8);
	close_copy(&copied);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static bool next_mapping(struct perfdata_reader *r, struct record *record, struct record_fields *fields)
{
	while (perfdata_reader_next(r, record, NULL) == TALLY_OK)
		if (record->type == RECORD_MMAP || record->type == RECORD_MMAP2) {
			assert_int_equal(record_decode(record, fields, NULL), TALLY_OK);
			return true;
		}
	return false;
}

static void check_with_id(struct perfdata_reader *r, uint64_t start, struct tally_str name)
{
	struct record record;
	struct record_fields fields;
	struct sample_id id;
	assert_true(next_mapping(r, &record, &fields));
	assert_int_equal(record.type, RECORD_MMAP2);
	assert_true(record.misc & MISC_MMAP_BUILD_ID);
	assert_int_equal(record.misc & MISC_CPUMODE_MASK, MISC_CPUMODE_USER);
	assert_int_equal(fields.mmap.start, start);
	assert_int_equal(fields.mmap.pgoff, 0x2000);
	assert_int_equal(fields.mmap.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(fields.mmap.flags, MAP_PRIVATE);
	assert_int_equal(fields.mmap.build_id.size, 20);
	assert_memory_equal(fields.mmap.build_id.bytes, build_id.bytes, 20);
	assert_true(str_equal(fields.mmap.filename, name));
	assert_true(perfdata_reader_sample_id(r, &record, &id));
	assert_int_equal(id.time, 1);
}

static void check_unchanged(struct perfdata_reader *r, uint32_t type, struct tally_str name)
{
	struct record record;
	struct record_fields fields;
	assert_true(next_mapping(r, &record, &fields));
	assert_int_equal(record.type, type);
	assert_false(record.misc & MISC_MMAP_BUILD_ID);
	assert_true(str_equal(fields.mmap.filename, name));
}

static void test_build_ids_in_mappings(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		struct record record;
		struct record_fields fields;
		struct inject_mmaps mmaps = {0};
		struct inject_options options = {.mmaps = &mmaps};
		uint32_t index;
		intern_init(&mmaps.paths);
		assert_true(intern_add(&mmaps.paths, "/bin/leaf", 9, &index) && vec_push(&mmaps.ids, build_id));
		assert_true(intern_add(&mmaps.paths, "/bin/caller", 11, &index) && vec_push(&mmaps.ids, build_id));
		build(&b, swap);
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		for (int drop = 0; drop < 2; drop++) {
			mmaps.drop_others = drop;
			struct copied copied = copy(r, &options);
			check_unchanged(copied.reader, RECORD_MMAP, STR("[kernel.kallsyms]_text"));
			check_with_id(copied.reader, 0x10000, STR("/bin/leaf"));
			check_with_id(copied.reader, 0x20000, STR("/bin/caller"));
			if (!drop)
				check_unchanged(copied.reader, RECORD_MMAP2, STR("/bin/unused"));
			assert_false(next_mapping(copied.reader, &record, &fields));
			close_copy(&copied);
		}
		intern_deinit(&mmaps.paths);
		vec_free(&mmaps.ids);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* Synthesised records are inserted before the first sample, once; times ascend. */
static void test_sorted_with_records_before_samples(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		struct record record;
		struct writer extra = {.swap = swap};
		struct record_fields round = {.type = RECORD_FINISHED_INIT};
		assert_true(record_encode(&extra, &round, 0, NULL, NULL));
		struct inject_options options = {.sort = true, .before_samples = writer_view(&extra)};
		build(&b, swap);
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		struct copied copied = copy(r, &options);
		unsigned samples = 0, extras = 0;
		uint64_t last = 0;
		while (perfdata_reader_next(copied.reader, &record, NULL) == TALLY_OK) {
			struct sample sample;
			if (record.type == RECORD_FINISHED_INIT) {
				assert_int_equal(samples, 0);
				extras++;
			}
			if (record.type != RECORD_SAMPLE)
				continue;
			const struct perfdata_event *event = perfdata_reader_event_of(copied.reader, &record);
			assert_int_equal(sample_decode(&event->layout, &record, &sample, NULL), TALLY_OK);
			assert_true(sample.time > last);
			last = sample.time;
			samples++;
		}
		assert_int_equal(extras, 1);
		assert_int_equal(samples, 3);
		close_copy(&copied);
		writer_deinit(&extra);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* A mapping record without space for a build ID stays as it is. */
static void test_a_mapping_of_full_size(void **state)
{
	static uint8_t bytes[65528];
	struct writer w = {0}, out = {0};
	struct inject_mmaps mmaps = {0};
	uint32_t index;
	writer_u32(&w, RECORD_MMAP);
	writer_u16(&w, MISC_CPUMODE_USER);
	writer_u16(&w, sizeof(bytes));
	writer_zeros(&w, 32);
	writer_bytes(&w, "/x", 2);
	memcpy(bytes, w.data, w.len);
	struct record record = {.type = RECORD_MMAP, .misc = MISC_CPUMODE_USER, .bytes = {bytes, sizeof(bytes)}};
	intern_init(&mmaps.paths);
	assert_true(intern_add(&mmaps.paths, "/x", 2, &index) && vec_push(&mmaps.ids, build_id));
	assert_int_equal(inject_mmap(&mmaps, &record, &out), INJECT_MMAP_KEPT);
	assert_int_equal(out.len, 0);
	record.bytes.len = 20; /* The record is damaged. */
	assert_int_equal(inject_mmap(&mmaps, &record, &out), INJECT_MMAP_KEPT);
	intern_deinit(&mmaps.paths);
	vec_free(&mmaps.ids);
	writer_deinit(&w);
	writer_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_survey),
		cmocka_unit_test(test_aux_data_hit_anything),
		cmocka_unit_test(test_build_ids_in_mappings),
		cmocka_unit_test(test_sorted_with_records_before_samples),
		cmocka_unit_test(test_a_mapping_of_full_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
