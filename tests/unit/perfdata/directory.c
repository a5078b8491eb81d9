/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "perfdata_builder.h"
#include "tally_config.h"
#include "unit_test.h"

#define EACH 5

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.size = ATTR_SIZE_VER7,
	.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TIME,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};

static char dir[] = "/tmp/tally-directory-XXXXXX";

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static void remove_file(const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	(void)unlink(path);
}

static int remove_dir(void **state)
{
	static const char *const names[] = {"data", "data.0", "data.1", "data.2", "data.03", "other"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		remove_file(names[i]);
	return rmdir(dir);
}

static void write_file(const char *name, struct tally_bytes bytes)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, bytes.data, bytes.len, NULL), TALLY_OK);
	close(fd);
}

static void put_samples(struct perfdata_builder *b, uint64_t first)
{
	for (uint64_t i = 0; i < EACH; i++)
		perfdata_builder_sample(
			b, 0, MISC_CPUMODE_USER, &(struct sample){.id = 7, .ip = 0x1000, .time = first + i});
}

/* data has a feature and samples 0.., data.0 has 100.., data.2 has 200... */
static void make_recording(bool swap)
{
	struct perfdata_builder b;
	uint8_t hostname[12] = {8, 0, 0, 0, 'h', 'o', 's', 't'};
	if (swap)
		memcpy(hostname, (uint8_t[]){0, 0, 0, 8}, 4);
	perfdata_builder_init(&b, swap);
	perfdata_builder_event(&b, &attr, 7);
	perfdata_builder_feature(&b, FEATURE_HOSTNAME, hostname, sizeof(hostname));
	put_samples(&b, 1);
	write_file("data", perfdata_builder_file(&b));
	for (uint64_t i = 0; i < 3; i++) {
		char name[16];
		snprintf(name, sizeof(name), "data.%d", (int)i);
		writer_clear(&b.records);
		if (i != 1) /* One CPU recorded nothing. */
			put_samples(&b, 100 * (i + 1));
		write_file(name, writer_view(&b.records));
	}
	write_file("data.03", ((struct tally_bytes){(const uint8_t *)"no part: its name has a zero too many",
				      sizeof("no part: its name has a zero too many") - 1}));
	write_file("other", ((struct tally_bytes){(const uint8_t *)"nor this", sizeof("nor this") - 1}));
	perfdata_builder_deinit(&b);
}

/* Returns the number of samples, and the sum of their times. */
static size_t read_all(struct perfdata_reader *r, uint64_t *sum, enum tally_status *end)
{
	struct record record;
	size_t count = 0;
	*sum = 0;
	while ((*end = perfdata_reader_next(r, &record, NULL)) == TALLY_OK) {
		struct sample s;
		const struct perfdata_event *event = perfdata_reader_event_of(r, &record);
		assert_int_equal(record.type, RECORD_SAMPLE);
		assert_non_null(event);
		assert_int_equal(sample_decode(&event->layout, &record, &s, NULL), TALLY_OK);
		*sum += s.time;
		count++;
	}
	return count;
}

static void age_data(int64_t seconds)
{
	const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
	char path[128];
	snprintf(path, sizeof(path), "%s/data", dir);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_all_files_are_read(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_reader *r;
		uint64_t sum, offset;
		enum tally_status end;
		make_recording(swap);
		age_data(1000000000);
		assert_int_equal(perfdata_reader_open(dir, &r, NULL), TALLY_OK);
		assert_int_equal(perfdata_reader_layout(r).mtime_ns, UINT64_C(1000000000000000000));
		assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("host")));
		assert_int_equal(perfdata_reader_data(r, &offset).len, 0);
		uint64_t data_size = perfdata_reader_layout(r).data_size;
		for (int turn = 0; turn < 2; turn++) {
			assert_int_equal(read_all(r, &sum, &end), 3 * EACH);
			assert_int_equal(end, TALLY_END);
			assert_int_equal(sum, EACH * (1 + 100 + 300) + 3 * 10);
			assert_int_equal(perfdata_reader_layout(r).data_size, data_size);
			perfdata_reader_rewind(r);
		}
		assert_false(perfdata_reader_health(r)->is_cut);
		assert_int_equal(perfdata_reader_health(r)->missing_parts, 0);
		perfdata_reader_destroy(r);
	}
}

/* A missing file is reported, whichever tool wrote the recording, and later files are still read. */
static void test_a_file_that_is_missing(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_reader *r;
		uint64_t sum;
		enum tally_status end;
		make_recording(swap);
		remove_file("data.0");
		assert_int_equal(perfdata_reader_open(dir, &r, NULL), TALLY_OK);
		assert_int_equal(read_all(r, &sum, &end), 2 * EACH);
		assert_int_equal(end, TALLY_END);
		assert_int_equal(perfdata_reader_health(r)->missing_parts, 1);
		assert_false(perfdata_reader_health(r)->is_unfinished);
		perfdata_reader_destroy(r);
	}
}

/* A writer that was killed leaves a partial record in any of the files: the others are read nevertheless. */
static void test_a_file_that_is_cut(void **state)
{
	struct perfdata_reader *r;
	struct perfdata_builder b;
	uint64_t sum;
	enum tally_status end;
	make_recording(false);
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &attr, 7);
	put_samples(&b, 100);
	for (size_t cut = 1; cut < 32; cut++) {
		struct tally_bytes bytes = writer_view(&b.records);
		write_file("data.0", (struct tally_bytes){bytes.data, bytes.len - cut});
		assert_int_equal(perfdata_reader_open(dir, &r, NULL), TALLY_OK);
		assert_int_equal(read_all(r, &sum, &end), 3 * EACH - 1);
		assert_int_equal(end, TALLY_CORRUPT);
		assert_true(perfdata_reader_health(r)->is_cut);
		perfdata_reader_destroy(r);
	}
	perfdata_builder_deinit(&b);
}

#if HAVE_ZSTD
/* Each file is compressed separately: truncation of one does not affect the next. */
static void test_packed_files(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	uint64_t sum;
	enum tally_status end;
	make_recording(false);
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &attr, 7);
	for (uint64_t i = 0; i < 2; i++) {
		struct compressor *c;
		struct writer packed = {0};
		writer_clear(&b.records);
		put_samples(&b, 100 * (i + 1));
		struct tally_bytes slice = writer_view(&b.records);
		assert_int_equal(compressor_create(1, &c, NULL), TALLY_OK);
		assert_int_equal(compressor_pack(c, &slice, 1, &packed, NULL), TALLY_OK);
		write_file(i ? "data.1" : "data.0", writer_view(&packed));
		compressor_destroy(c);
		writer_deinit(&packed);
	}
	writer_clear(&b.records);
	put_samples(&b, 300);
	write_file("data.2", writer_view(&b.records)); /* This file is not compressed. */
	assert_int_equal(perfdata_reader_open(dir, &r, NULL), TALLY_OK);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(read_all(r, &sum, &end), 4 * EACH);
		assert_int_equal(end, TALLY_END);
		assert_int_equal(sum, EACH * (1 + 100 + 200 + 300) + 4 * 10);
		perfdata_reader_rewind(r);
	}
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}
#endif

/* The end mark of tally gives the number and sizes of the files: missing and shorter ones are reported, additional data
 * is not. */
static void test_files_that_the_mark_lists(void **state)
{
	static const struct {
		uint64_t said[3];
		size_t count;
		uint64_t missing;
	} cases[] = {{{0}, 0, 0}, {{5 * 32, 0, 5 * 32}, 3, 0}, {{5 * 32 + 1, 0, 5 * 32}, 3, 1},
		{{5 * 32, 1, 5 * 32 + 8}, 3, 2}, {{4 * 32}, 1, 0}, {{1, 2, 3}, 3, 1}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		static const uint64_t id = 7;
		struct perfdata_features features = {0};
		struct perfdata_writer *w;
		struct perfdata_reader *r;
		char path[128];
		make_recording(false);
		snprintf(path, sizeof(path), "%s/data", dir);
		assert_int_equal(perfdata_writer_create_file(path, false, &w, NULL), TALLY_OK);
		assert_int_equal(perfdata_writer_add_event(w, &attr, STR("clock"), &id, 1, NULL), TALLY_OK);
		assert_int_equal(perfdata_writer_begin(w, &features, NULL), TALLY_OK);
		for (size_t k = 0; k < cases[i].count; k++)
			assert_int_equal(perfdata_writer_add_part(w, cases[i].said[k], NULL), TALLY_OK);
		assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
		perfdata_writer_destroy(w);
		assert_int_equal(perfdata_reader_open(dir, &r, NULL), TALLY_OK);
		assert_int_equal(perfdata_reader_health(r)->missing_parts, cases[i].missing);
		assert_false(perfdata_reader_health(r)->is_unfinished);
		perfdata_reader_destroy(r);
		if (cases[i].count == 3) { /* The first file is missing too. */
			remove_file("data.0");
			assert_int_equal(perfdata_reader_open(dir, &r, NULL), TALLY_OK);
			assert_int_equal(perfdata_reader_health(r)->missing_parts,
				cases[i].missing + (cases[i].said[0] <= 5 * 32));
			perfdata_reader_destroy(r);
		}
	}
}

/* These names are not names of data files. */
static void test_names_of_parts(void **state)
{
	static const char *const names[] = {"data.", "data.x", "data.1x", "data.00", "data.-1", "data.4294967295"};
	struct directory_parts parts;
	make_recording(false);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		write_file(names[i], ((struct tally_bytes){(const uint8_t *)"x", 1}));
	assert_int_equal(directory_read(dir, &parts, NULL), TALLY_OK);
	assert_int_equal(parts.count, 4);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(parts.numbers[i], i);
	directory_parts_deinit(&parts);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		remove_file(names[i]);
}

static void test_no_recording(void **state)
{
	struct perfdata_reader *r;
	struct tally_error err;
	remove_file("data");
	assert_true(directory_is(dir));
	assert_false(directory_is("/nonexistent"));
	assert_int_equal(perfdata_reader_open(dir, &r, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "is a directory without a recording: it has no file 'data'"));
	write_file("data", ((struct tally_bytes){(const uint8_t *)"x", sizeof("x") - 1}));
	assert_int_equal(perfdata_reader_open(dir, &r, &err), TALLY_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_files_are_read),
		cmocka_unit_test(test_a_file_that_is_missing),
		cmocka_unit_test(test_a_file_that_is_cut),
#if HAVE_ZSTD
		cmocka_unit_test(test_packed_files),
#endif
		cmocka_unit_test(test_files_that_the_mark_lists),
		cmocka_unit_test(test_names_of_parts),
		cmocka_unit_test(test_no_recording),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
