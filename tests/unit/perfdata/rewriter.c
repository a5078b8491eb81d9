/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/rewriter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "perfdata/origin.h"
#include "perfdata_builder.h"
#include "unit_test.h"

#define UNKNOWN_FEATURE 50

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TIME,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | ATTR_FLAG(ATTR_BIT_FREQ),
};
static const struct perf_attr fault_attr = {
	.type = EVENT_SOFTWARE,
	.config = SW_PAGE_FAULTS,
	.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TIME,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};

static char dir[] = "/tmp/tally-rewriter-XXXXXX";
static char out_path[64], second_path[64];

static int make_dir(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(out_path, sizeof(out_path), "%s/out.data", dir);
	snprintf(second_path, sizeof(second_path), "%s/second.data", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)unlink(out_path);
	(void)unlink(second_path);
	return rmdir(dir); /* Fails if any file was left behind. */
}

static void build(struct perfdata_builder *b, bool swap)
{
	uint64_t words[3] = {1, 2, 3};
	perfdata_builder_init(b, swap);
	perfdata_builder_event(b, &clock_attr, 7);
	perfdata_builder_event(b, &fault_attr, 8);
	struct record_fields comm = {.type = RECORD_COMM, .comm = {1, 1, false, STR("work")}};
	perfdata_builder_record(b, &comm, 0, 1);
	for (size_t i = 0; i < 3; i++)
		perfdata_builder_sample(
			b, i % 2, MISC_CPUMODE_USER, &(struct sample){.ip = 0x1000 + i, .time = 10 - i});
	perfdata_builder_round(b);
	perfdata_builder_feature(b, FEATURE_HOSTNAME, words, sizeof(words));
	perfdata_builder_feature(b, FEATURE_COMPRESSED, words, sizeof(words));
	perfdata_builder_feature(b, UNKNOWN_FEATURE, words, sizeof(words));
}

/* Descriptions of a pipe have no counterparts in a file. */
static enum tally_status next_record(struct perfdata_reader *r, bool with_descriptions, struct record *record)
{
	enum tally_status status;
	do
		status = perfdata_reader_next(r, record, NULL);
	while (status == TALLY_OK && !with_descriptions &&
		(record->type == RECORD_HEADER_ATTR || record->type == RECORD_HEADER_FEATURE ||
			record->type == RECORD_HEADER_TRACING_DATA || record->type == RECORD_EVENT_UPDATE));
	return status;
}

static size_t compare_records(struct perfdata_reader *a, struct perfdata_reader *b, bool with_descriptions)
{
	struct record x, y;
	size_t count = 0;
	for (;; count++) {
		enum tally_status status = next_record(a, with_descriptions, &x);
		if (status != TALLY_OK) {
			status = next_record(b, with_descriptions, &y);
			/* Data is never empty, because it would look like that of a killed writer. */
			if (count == 0 && status == TALLY_OK && y.type == RECORD_FINISHED_ROUND)
				status = next_record(b, with_descriptions, &y);
			assert_int_equal(status, TALLY_END);
			return count;
		}
		assert_int_equal(next_record(b, with_descriptions, &y), TALLY_OK);
		assert_true(bytes_equal(x.bytes, y.bytes));
		assert_true(bytes_equal(perfdata_reader_payload(a), perfdata_reader_payload(b)));
	}
}

/* An attr from a pipe may lack zeros at its end, with a smaller size. */
static bool is_same_attr(struct tally_bytes a, struct tally_bytes b, bool from_pipe)
{
	if (!from_pipe || a.len == b.len)
		return bytes_equal(a, b);
	for (size_t i = 8; i < a.len; i++)
		if (a.data[i] != (i < b.len ? b.data[i] : 0))
			return false;
	return b.len >= ATTR_SIZE_VER7 && b.len < a.len;
}

static void compare_events(const struct perfdata_reader *a, const struct perfdata_reader *b)
{
	size_t count, other;
	const struct perfdata_event *x = perfdata_reader_events(a, &count);
	const struct perfdata_event *y = perfdata_reader_events(b, &other);
	assert_int_equal(count, other);
	for (size_t i = 0; i < count; i++) {
		assert_true(is_same_attr(x[i].stored_attr, y[i].stored_attr, perfdata_reader_is_pipe(a)));
		assert_true(str_equal(x[i].name, y[i].name));
		assert_int_equal(x[i].id_count, y[i].id_count);
		assert_memory_equal(x[i].ids, y[i].ids, x[i].id_count * sizeof(uint64_t));
	}
}

/* AUX data indexes differ in their offsets. */
static void compare_features(const struct perfdata_reader *a, const struct perfdata_reader *b)
{
	const struct perfdata_features *x = perfdata_reader_features(a);
	const struct perfdata_features *y = perfdata_reader_features(b);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		bool is_untrue = bit == FEATURE_COMPRESSED || bit == FEATURE_DIR_FORMAT;
		assert_int_equal(!is_untrue && feature_is_present(x, bit), feature_is_present(y, bit));
		if (!is_untrue && bit != FEATURE_AUXTRACE)
			assert_true(bytes_equal(x->raw[bit], y->raw[bit]));
	}
}

static void copy_into(struct perfdata_rewriter *w, struct perfdata_reader *r)
{
	struct record record;
	assert_int_equal(perfdata_rewriter_begin(w, r, perfdata_reader_features(r), NULL), TALLY_OK);
	while (perfdata_reader_next(r, &record, NULL) == TALLY_OK)
		assert_int_equal(perfdata_rewriter_record(w, &record, perfdata_reader_payload(r), NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_finish(w, perfdata_reader_features(r), NULL), TALLY_OK);
	perfdata_rewriter_destroy(w);
	perfdata_reader_rewind(r);
}

static void copy_to_file(struct perfdata_reader *r, const char *path)
{
	struct perfdata_rewriter *w;
	struct record record;
	if (perfdata_reader_is_pipe(r)) {
		while (perfdata_reader_next(r, &record, NULL) == TALLY_OK)
			;
		perfdata_reader_rewind(r);
	}
	assert_int_equal(perfdata_rewriter_create_file(path, &w, NULL), TALLY_OK);
	copy_into(w, r);
}

static void copy_to_pipe(struct perfdata_reader *r, const char *path)
{
	struct perfdata_rewriter *w;
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(perfdata_rewriter_create_pipe(fileno(file), &w, NULL), TALLY_OK);
	copy_into(w, r);
	fclose(file);
}

static struct perfdata_reader *open_path(const char *path)
{
	struct perfdata_reader *r;
	assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
	return r;
}

static void test_file_to_file(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		build(&b, swap);
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		copy_to_file(r, out_path);
		struct perfdata_reader *copy = open_path(out_path);
		assert_int_equal(perfdata_reader_is_swapped(copy), swap);
		assert_int_equal(compare_records(r, copy, true), 5);
		compare_events(r, copy);
		compare_features(r, copy);
		assert_true(feature_is_present(perfdata_reader_features(copy), UNKNOWN_FEATURE));
		perfdata_reader_destroy(copy);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

static void test_pipe_to_pipe(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		char *data;
		size_t len;
		build(&b, swap);
		struct tally_bytes pipe = perfdata_builder_pipe(&b);
		assert_int_equal(perfdata_reader_open_bytes(pipe, &r, NULL), TALLY_OK);
		copy_to_pipe(r, out_path);
		assert_int_equal(file_read(out_path, 1 << 20, &data, &len, NULL), TALLY_OK);
		assert_true(bytes_equal(pipe, (struct tally_bytes){(uint8_t *)data, len}));
		free(data);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

static void test_pipe_to_file_and_back(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		build(&b, swap);
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_pipe(&b), &r, NULL), TALLY_OK);
		copy_to_file(r, out_path);
		struct perfdata_reader *file = open_path(out_path);
		assert_false(perfdata_reader_is_pipe(file));
		assert_int_equal(compare_records(r, file, false), 5);
		compare_events(r, file);
		perfdata_reader_rewind(file);
		copy_to_pipe(file, second_path);
		struct perfdata_reader *pipe = open_path(second_path);
		assert_true(perfdata_reader_is_pipe(pipe));
		assert_int_equal(compare_records(file, pipe, false), 5);
		compare_events(file, pipe);
		perfdata_reader_destroy(pipe);
		perfdata_reader_destroy(file);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* Sections become records, except those that are not true of a pipe. */
static void test_features_in_a_pipe(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	build(&b, false);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	copy_to_pipe(r, out_path);
	struct perfdata_reader *pipe = open_path(out_path);
	struct record record;
	while (perfdata_reader_next(pipe, &record, NULL) == TALLY_OK)
		;
	compare_features(r, pipe);
	perfdata_reader_destroy(pipe);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* The origin is a section in a file and a record in a pipe, and each conversion retains it. */
static void test_what_made_the_samples(void **state)
{
	static const char section[] = "simulated\na model\n";
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *readers[4]; /* File, pipe, file, pipe. */
		build(&b, swap);
		perfdata_builder_feature(&b, FEATURE_ORIGIN, section, sizeof(section));
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &readers[0], NULL), TALLY_OK);
		copy_to_pipe(readers[0], out_path);
		readers[1] = open_path(out_path);
		copy_to_file(readers[1], second_path);
		readers[2] = open_path(second_path);
		copy_to_pipe(readers[2], out_path);
		readers[3] = open_path(out_path);
		for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
			struct record record;
			while (perfdata_reader_next(readers[i], &record, NULL) == TALLY_OK)
				assert_false(record.type == RECORD_HEADER_FEATURE && i % 2 == 1 &&
					     record.bytes.data[swap ? 15 : 8] == FEATURE_ORIGIN);
			struct perfdata_origin origin = origin_of(perfdata_reader_features(readers[i]));
			assert_int_equal(origin.kind, ORIGIN_SIMULATED);
			assert_true(str_equal(origin.by, STR("a model")));
		}
		for (size_t i = 0; i < ARRAY_LEN(readers); i++)
			perfdata_reader_destroy(readers[i]);
		perfdata_builder_deinit(&b);
	}
}

static void test_a_section_too_large_for_a_pipe(void **state)
{
	static const uint8_t large[70000];
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct perfdata_rewriter *w;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 7);
	perfdata_builder_round(&b);
	perfdata_builder_feature(&b, FEATURE_BPF_BTF, large, sizeof(large));
	perfdata_builder_feature(&b, UNKNOWN_FEATURE, large, 8);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	FILE *file = fopen(out_path, "w");
	assert_non_null(file);
	assert_int_equal(perfdata_rewriter_create_pipe(fileno(file), &w, NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_begin(w, r, perfdata_reader_features(r), NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_left_out(w), 1);
	perfdata_rewriter_destroy(w);
	fclose(file);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* The AUX index has file offsets, which change in the copy. */
static void put_aux_record(struct perfdata_builder *b, const uint8_t payload[16])
{
	writer_u32(&b->records, RECORD_AUXTRACE);
	writer_u16(&b->records, 0);
	writer_u16(&b->records, 48);
	writer_u64(&b->records, 16);
	writer_zeros(&b->records, 32);
	writer_bytes(&b->records, payload, 16);
}

static void test_aux_data(void **state)
{
	static const uint8_t payload[16] = "payload of AUX";
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct writer index = {0};
	build(&b, false);
	size_t data_at = PERFDATA_HEADER_BYTES + 2 * (ATTR_SIZE_VER7 + 16) + 2 * 8;
	size_t first = data_at + b.records.len, second = first + 48 + sizeof(payload);
	writer_u64(&index, 4);
	writer_u64(&index, first);
	writer_u64(&index, 48);
	writer_u64(&index, 0xffff); /* Matches no record, and stays as it is. */
	writer_u64(&index, first); /* A size, which stays even though it equals the offset of a record. */
	writer_u64(&index, second);
	writer_u64(&index, 48);
	writer_u64(&index, first); /* The same record again. */
	writer_u64(&index, 48);
	put_aux_record(&b, payload);
	put_aux_record(&b, payload);
	memset(b.feature_bits, 0, sizeof(b.feature_bits));
	writer_clear(&b.features);
	perfdata_builder_feature(&b, FEATURE_AUXTRACE, index.data, index.len);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	struct perfdata_rewriter *w;
	assert_int_equal(perfdata_rewriter_create_file(out_path, &w, NULL), TALLY_OK);
	struct record record;
	assert_int_equal(perfdata_rewriter_begin(w, r, perfdata_reader_features(r), NULL), TALLY_OK);
	while (perfdata_reader_next(r, &record, NULL) == TALLY_OK)
		if (record.type != RECORD_COMM) /* The COMM record is dropped, so that the following records move. */
			assert_int_equal(
				perfdata_rewriter_record(w, &record, perfdata_reader_payload(r), NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_finish(w, perfdata_reader_features(r), NULL), TALLY_OK);
	perfdata_rewriter_destroy(w);
	struct perfdata_reader *copy = open_path(out_path);
	uint64_t offsets[2] = {0};
	size_t found = 0;
	while (perfdata_reader_next(copy, &record, NULL) == TALLY_OK)
		if (record.type == RECORD_AUXTRACE) {
			assert_true(found < 2);
			offsets[found++] = record.offset;
			assert_true(bytes_equal(
				perfdata_reader_payload(copy), (struct tally_bytes){payload, sizeof(payload)}));
		}
	struct tally_bytes section = perfdata_reader_features(copy)->raw[FEATURE_AUXTRACE];
	assert_int_equal(section.len, index.len);
	assert_int_equal(found, 2);
	assert_int_not_equal(offsets[0], first);
	const uint64_t expected[] = {4, offsets[0], 48, 0xffff, first, offsets[1], 48, offsets[0], 48};
	for (size_t i = 0; i < ARRAY_LEN(expected); i++)
		assert_int_equal(sample_u64_at(section.data, i, false), expected[i]);
	perfdata_reader_destroy(copy);
	perfdata_reader_destroy(r);
	writer_deinit(&index);
	perfdata_builder_deinit(&b);
}

/* An index with a wrong count is copied unchanged. */
static void test_an_aux_index_that_lies(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	uint64_t index[3] = {2, 0x100, 48};
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 7);
	perfdata_builder_round(&b);
	perfdata_builder_feature(&b, FEATURE_AUXTRACE, index, sizeof(index));
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	copy_to_file(r, out_path);
	struct perfdata_reader *copy = open_path(out_path);
	struct tally_bytes section = perfdata_reader_features(copy)->raw[FEATURE_AUXTRACE];
	assert_int_equal(section.len, sizeof(index));
	assert_memory_equal(section.data, index, sizeof(index));
	perfdata_reader_destroy(copy);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* In a pipe, build IDs and tracing data have records of their own; the AUX index has none. */
static void test_sections_that_are_other_records(void **state)
{
	static const char tracing[] = "tracing data";
	struct perfdata_build_id ids[] = {
		{-1, MISC_BUILD_ID_SIZE | MISC_CPUMODE_KERNEL, 16, {1, 2, [15] = 16}, STR("[kernel.kallsyms]")},
		{5, MISC_CPUMODE_USER, 0, {3, [19] = 4}, STR("/bin/x")}};
	struct perfdata_features features = {
		.build_ids = ids, .build_id_count = 2, .tracing_data = {(const uint8_t *)tracing, sizeof(tracing)}};
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct perfdata_rewriter *w;
	struct record record;
	struct record_fields fields;
	features.present[0] =
		UINT64_C(1) << FEATURE_BUILD_ID | UINT64_C(1) << FEATURE_TRACING_DATA | UINT64_C(1) << FEATURE_AUXTRACE;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 7);
	perfdata_builder_round(&b);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	FILE *file = fopen(out_path, "w");
	assert_non_null(file);
	assert_int_equal(perfdata_rewriter_create_pipe(fileno(file), &w, NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_begin(w, r, &features, NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_finish(w, &features, NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_left_out(w), 1);
	perfdata_rewriter_destroy(w);
	fclose(file);
	perfdata_reader_destroy(r);
	r = open_path(out_path);
	size_t id = 0;
	while (perfdata_reader_next(r, &record, NULL) == TALLY_OK) {
		assert_int_equal(record_decode(&record, &fields, NULL), TALLY_OK);
		assert_int_not_equal(record.type, RECORD_HEADER_FEATURE);
		if (record.type == RECORD_HEADER_TRACING_DATA) {
			assert_int_equal(fields.tracing_data.size, 16);
			assert_int_equal(perfdata_reader_payload(r).len, 16);
			assert_memory_equal(perfdata_reader_payload(r).data, tracing, sizeof(tracing));
		} else if (record.type == RECORD_HEADER_BUILD_ID) {
			assert_true(id < 2);
			assert_int_equal(record.misc, ids[id].misc);
			assert_int_equal(fields.build_id.pid, ids[id].pid);
			assert_int_equal(fields.build_id.size, id == 0 ? 16 : 20);
			assert_memory_equal(fields.build_id.bytes, ids[id].bytes, 20);
			assert_true(str_equal(fields.build_id.filename, ids[id].filename));
			id++;
		}
	}
	assert_int_equal(id, 2);
	assert_memory_equal(perfdata_reader_features(r)->tracing_data.data, tracing, sizeof(tracing));
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* Writes to a descriptor, with attrs that differ from the recording's, and records as bytes. */
static void test_other_attrs(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct perfdata_rewriter *w;
	struct tally_bytes attrs[2];
	size_t count;
	build(&b, false);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	const struct perfdata_event *events = perfdata_reader_events(r, &count);
	attrs[0] = events[1].stored_attr;
	attrs[1] = events[0].stored_attr;
	FILE *file = fopen(out_path, "w");
	assert_non_null(file);
	assert_int_equal(perfdata_rewriter_create_fd(fileno(file), &w, NULL), TALLY_OK);
	perfdata_rewriter_set_attrs(w, attrs);
	assert_int_equal(perfdata_rewriter_begin(w, r, perfdata_reader_features(r), NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_bytes(w, writer_view(&b.records), NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_finish(w, perfdata_reader_features(r), NULL), TALLY_OK);
	perfdata_rewriter_destroy(w);
	assert_int_equal(fseek(file, 0, SEEK_END), 0); /* The file is still open. */
	fclose(file);
	struct perfdata_reader *copy = open_path(out_path);
	assert_false(perfdata_reader_is_pipe(copy));
	assert_int_equal(compare_records(r, copy, true), 5);
	events = perfdata_reader_events(copy, &count);
	assert_int_equal(count, 2);
	assert_int_equal(events[0].attr.config, SW_PAGE_FAULTS);
	assert_int_equal(events[0].ids[0], 7);
	assert_int_equal(events[1].attr.config, 0);
	perfdata_reader_destroy(copy);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = MIN(bytes, limit.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The old file remains until the new one is complete; no temporary file is left (remove_dir would fail). */
static void test_a_full_disk(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct perfdata_rewriter *w;
	struct tally_error err;
	char *text;
	size_t len;
	build(&b, false);
	write_text(out_path, "old");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_create_file(out_path, &w, NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_begin(w, r, perfdata_reader_features(r), NULL), TALLY_OK);
	limit_file_size(200);
	assert_int_equal(perfdata_rewriter_finish(w, perfdata_reader_features(r), &err), TALLY_IO);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(err.errnum, EFBIG);
	assert_non_null(strstr(err.text, out_path));
	perfdata_rewriter_destroy(w);
	assert_int_equal(file_read(out_path, 100, &text, &len, NULL), TALLY_OK);
	assert_string_equal(text, "old");
	free(text);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static void test_places_that_take_no_file(void **state)
{
	struct perfdata_rewriter *w;
	struct tally_error err;
	assert_int_equal(perfdata_rewriter_create_file(dir, &w, &err), TALLY_INVALID);
	assert_int_equal(perfdata_rewriter_create_file("/nonexistent/x", &w, &err), TALLY_IO);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	struct perfdata_builder b;
	struct perfdata_reader *r;
	build(&b, false);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	copy_to_file(r, "/dev/null");
	struct stat st;
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* A pipe is refused as the output file, whatever the number of its descriptor. */
static void test_a_pipe_by_its_name(void **state)
{
	struct perfdata_rewriter *w;
	struct tally_error err;
	(void)unlink(second_path);
	assert_int_equal(mkfifo(second_path, 0600), 0);
	int reader = open(second_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	assert_true(reader >= 0);
	for (int is_first = 0; is_first < 2; is_first++) {
		if (is_first)
			close(STDIN_FILENO); /* The next descriptor is 0. */
		enum tally_status status = perfdata_rewriter_create_file(second_path, &w, &err);
		if (is_first && kept >= 0)
			assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
		assert_int_equal(status, TALLY_INVALID);
		assert_non_null(strstr(err.text, second_path));
	}
	close(reader);
	if (kept >= 0)
		close(kept);
	assert_int_equal(unlink(second_path), 0);
}

/* A file created under the name in the meantime remains; the temporary file is removed. */
static void test_a_name_that_is_taken(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct perfdata_rewriter *w;
	struct tally_error err;
	struct stat st;
	build(&b, false);
	(void)unlink(out_path);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_create_file(out_path, &w, NULL), TALLY_OK);
	assert_int_equal(mkdir(out_path, 0700), 0);
	assert_int_equal(perfdata_rewriter_begin(w, r, perfdata_reader_features(r), NULL), TALLY_OK);
	assert_int_equal(perfdata_rewriter_finish(w, perfdata_reader_features(r), &err), TALLY_IO);
	assert_non_null(strstr(err.text, out_path));
	perfdata_rewriter_destroy(w);
	assert_int_equal(stat(out_path, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(rmdir(out_path), 0);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
	perfdata_rewriter_destroy(NULL);
}

/* The target of a symbolic link is written; the link remains. */
static void test_a_link(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct stat st;
	build(&b, false);
	write_text(out_path, "old");
	(void)unlink(second_path);
	assert_int_equal(symlink(out_path, second_path), 0);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	copy_to_file(r, second_path);
	assert_int_equal(lstat(second_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(unlink(second_path), 0);
	struct perfdata_reader *copy = open_path(out_path);
	assert_int_equal(compare_records(r, copy, true), 5);
	perfdata_reader_destroy(copy);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* Features that describe how the recording was stored are not copied. */
static void test_untrue_features_of_a_pipe(void **state)
{
	static const unsigned bits[] = {
		FEATURE_HOSTNAME, FEATURE_DIR_FORMAT, FEATURE_COMPRESSED, FEATURE_CLOCKID, UNKNOWN_FEATURE};
	uint64_t words[3] = {1, 2, 3};
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		struct record record;
		struct record_fields fields;
		perfdata_builder_init(&b, swap);
		perfdata_builder_event(&b, &clock_attr, 7);
		for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
			struct record_fields in = {.type = RECORD_HEADER_FEATURE,
				.feature = {bits[i], {(const uint8_t *)words, sizeof(words)}}};
			assert_true(record_encode(&b.records, &in, 0, NULL, NULL));
		}
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_pipe(&b), &r, NULL), TALLY_OK);
		copy_to_pipe(r, out_path);
		perfdata_reader_destroy(r);
		r = open_path(out_path);
		size_t found = 0;
		static const unsigned kept[] = {FEATURE_HOSTNAME, FEATURE_CLOCKID, UNKNOWN_FEATURE};
		while (perfdata_reader_next(r, &record, NULL) == TALLY_OK)
			if (record.type == RECORD_HEADER_FEATURE) {
				assert_int_equal(record_decode(&record, &fields, NULL), TALLY_OK);
				assert_true(found < 3);
				assert_int_equal(fields.feature.feature, kept[found++]);
			}
		assert_int_equal(found, 3);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* For a recording truncated anywhere, all readable records are written, to a complete file. */
static void test_every_prefix(void **state)
{
	struct perfdata_builder b;
	build(&b, false);
	for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
		struct tally_bytes whole = is_pipe ? perfdata_builder_pipe(&b) : perfdata_builder_file(&b);
		for (size_t len = 0; len < whole.len; len++) {
			struct perfdata_reader *r;
			if (perfdata_reader_open_bytes((struct tally_bytes){whole.data, len}, &r, NULL) != TALLY_OK)
				continue;
			copy_to_file(r, out_path);
			struct perfdata_reader *copy = open_path(out_path);
			perfdata_reader_rewind(r);
			compare_records(r, copy, false);
			assert_false(perfdata_reader_health(copy)->is_cut);
			perfdata_reader_destroy(copy);
			perfdata_reader_destroy(r);
		}
	}
	perfdata_builder_deinit(&b);
}

static const char *corpus_dir(void)
{
	static char path[4096];
	const char *data = getenv("TALLY_TEST_DATA");
	if (!data)
		skip_because("TALLY_TEST_DATA is not set");
	snprintf(path, sizeof(path), "%s/corpus", data);
	return path;
}

/* Copies the records, events and sections of every recording of the corpus, including the contents of compressed
 * records. */
static void test_every_recording(void **state)
{
	char path[8192];
	char *manifest;
	size_t len;
	snprintf(path, sizeof(path), "%s/MANIFEST.tsv", corpus_dir());
	if (!file_exists(path))
		skip_because("TALLY_TEST_DATA/corpus is absent");
	assert_int_equal(file_read(path, 1 << 20, &manifest, &len, NULL), TALLY_OK);
	struct tally_str rest = {manifest, len}, line, name;
	unsigned copied = 0;
	(void)str_next(&rest, '\n', &line);
	while (str_next(&rest, '\n', &line)) {
		struct perfdata_reader *r;
		if (!str_next(&line, '\t', &name) || !str_next(&line, '\t', &name))
			continue;
		snprintf(path, sizeof(path), "%s/files/%.*s", corpus_dir(), (int)name.len, name.data);
		if (perfdata_reader_open(path, &r, NULL) != TALLY_OK)
			continue;
		copy_to_file(r, out_path);
		struct perfdata_reader *copy = open_path(out_path);
		print_message("%.*s: %zu records\n", (int)name.len, name.data,
			compare_records(r, copy, !perfdata_reader_is_pipe(r)));
		compare_events(r, copy);
		if (!perfdata_reader_is_pipe(r))
			compare_features(r, copy);
		copied++;
		perfdata_reader_destroy(copy);
		perfdata_reader_destroy(r);
	}
	assert_true(copied >= 60);
	free(manifest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_to_file),
		cmocka_unit_test(test_pipe_to_pipe),
		cmocka_unit_test(test_pipe_to_file_and_back),
		cmocka_unit_test(test_features_in_a_pipe),
		cmocka_unit_test(test_what_made_the_samples),
		cmocka_unit_test(test_a_section_too_large_for_a_pipe),
		cmocka_unit_test(test_aux_data),
		cmocka_unit_test(test_an_aux_index_that_lies),
		cmocka_unit_test(test_sections_that_are_other_records),
		cmocka_unit_test(test_other_attrs),
		cmocka_unit_test(test_a_full_disk),
		cmocka_unit_test(test_places_that_take_no_file),
		cmocka_unit_test(test_a_pipe_by_its_name),
		cmocka_unit_test(test_a_name_that_is_taken),
		cmocka_unit_test(test_a_link),
		cmocka_unit_test(test_untrue_features_of_a_pipe),
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_every_recording),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
