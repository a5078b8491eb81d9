#include "perfdata/directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "perfdata/reader.h"
#include "perfdata_builder.h"
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
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
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

/* data with a feature and samples 0.., data.0 with 100.., data.2 with 200... */
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
		if (i != 1) /* one CPU had nothing to say */
			put_samples(&b, 100 * (i + 1));
		write_file(name, writer_view(&b.records));
	}
	write_file("data.03", ((struct tally_bytes){(const uint8_t *)"no part: its name has a zero too many",
				      sizeof("no part: its name has a zero too many") - 1}));
	write_file("other", ((struct tally_bytes){(const uint8_t *)"nor this", sizeof("nor this") - 1}));
	perfdata_builder_deinit(&b);
}

/* The sum of the times of all samples; their count. */
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

/* A file that is missing does not hide those behind it, and is told, whoever wrote the recording. */
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

/* A writer that was killed leaves a part of a record in any of the files: the others are read all the same. */
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

static void test_no_recording(void **state)
{
	struct perfdata_reader *r;
	struct tally_error err;
	remove_file("data");
	assert_true(directory_is(dir));
	assert_false(directory_is("/nonexistent"));
	assert_int_equal(perfdata_reader_open(dir, &r, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "is a directory, and no recording"));
	write_file("data", ((struct tally_bytes){(const uint8_t *)"x", sizeof("x") - 1}));
	assert_int_equal(perfdata_reader_open(dir, &r, &err), TALLY_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_files_are_read),
		cmocka_unit_test(test_a_file_that_is_missing),
		cmocka_unit_test(test_a_file_that_is_cut),
		cmocka_unit_test(test_no_recording),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
