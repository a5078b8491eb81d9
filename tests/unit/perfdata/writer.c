/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/array.h"
#include "base/file.h"
#include "perfdata/origin.h"
#include "perfdata/reader.h"
#include "unit_test.h"

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.size = ATTR_SIZE_VER7,
	.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TIME,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};
static const struct perf_attr old_attr = {
	.type = EVENT_SOFTWARE,
	.size = ATTR_SIZE_VER0,
	.config = SW_PAGE_FAULTS,
	.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TIME,
};
static const uint64_t ids[] = {7, 8, 9};

static char dir[] = "/tmp/tally-writer-XXXXXX";
static char path[64], old_path[64];

static int make_dir(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/perf.data", dir);
	snprintf(old_path, sizeof(old_path), "%s/perf.data.old", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)unlink(path);
	(void)unlink(old_path);
	return rmdir(dir);
}

static struct perfdata_features some_features(void)
{
	struct perfdata_features f = {.hostname = STR("host"), .cpus_available = 4, .cpus_online = 3};
	f.present[0] = UINT64_C(1) << FEATURE_HOSTNAME | UINT64_C(1) << FEATURE_NRCPUS;
	return f;
}

static void add_events(struct perfdata_writer *w)
{
	assert_int_equal(perfdata_writer_add_event(w, &clock_attr, STR("clock"), ids, 2, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_add_event(w, &old_attr, STR("faults"), ids + 2, 1, NULL), TALLY_OK);
}

static struct perfdata_writer *begin(const struct perfdata_features *features)
{
	struct perfdata_writer *w;
	assert_int_equal(perfdata_writer_create_file(path, false, &w, NULL), TALLY_OK);
	add_events(w);
	assert_int_equal(perfdata_writer_begin(w, features, NULL), TALLY_OK);
	return w;
}

static void put_sample(struct writer *out, uint64_t id, uint64_t time)
{
	struct record_layout layout = record_layout_make(&clock_attr, false);
	struct sample s = {.id = id, .ip = 0x1000, .time = time};
	assert_true(sample_encode(out, &layout, MISC_CPUMODE_USER, &s));
}

/* Appends three samples; the second spans the two slices, as where a ring buffer wraps. */
static void append_samples(struct perfdata_writer *w)
{
	struct writer out = {0};
	for (uint64_t i = 0; i < 3; i++)
		put_sample(&out, ids[i], i);
	size_t middle = out.len / 2;
	struct tally_bytes slices[] = {{out.data, middle}, {NULL, 0}, {out.data + middle, out.len - middle}};
	assert_int_equal(perfdata_writer_append(w, slices, 3, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_finish_round(w, NULL), TALLY_OK);
	writer_deinit(&out);
}

#define MARK_BYTES 24 /* Offset of the first record in the data. */

struct counts {
	size_t samples, rounds, others;
	size_t of_event[2];
};

static struct counts count_records(struct perfdata_reader *r)
{
	struct counts counts = {0};
	struct record record;
	enum tally_status status;
	while ((status = perfdata_reader_next(r, &record, NULL)) == TALLY_OK) {
		if (record.type == RECORD_FINISHED_ROUND) {
			counts.rounds++;
		} else if (record.type == RECORD_SAMPLE) {
			const struct perfdata_event *event = perfdata_reader_event_of(r, &record);
			assert_non_null(event);
			counts.samples++;
			counts.of_event[event->index]++;
		} else {
			counts.others++;
		}
	}
	assert_int_equal(status, TALLY_END);
	return counts;
}

static void assert_three_samples(struct counts counts, size_t rounds)
{
	assert_int_equal(counts.samples, 3);
	assert_int_equal(counts.rounds, rounds);
	assert_int_equal(counts.of_event[0], 2);
	assert_int_equal(counts.of_event[1], 1);
}

static void test_file_comes_back(void **state)
{
	struct perfdata_writer *w;
	struct perfdata_reader *r;
	struct perfdata_features features = some_features();
	w = begin(&features);
	append_samples(w);
	assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
	uint64_t data_bytes = perfdata_writer_data_bytes(w);
	perfdata_writer_destroy(w);

	assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(r, &count);
	assert_int_equal(count, 2);
	assert_int_equal(events[0].id_count, 2);
	assert_memory_equal(events[0].ids, ids, 2 * sizeof(uint64_t));
	assert_int_equal(events[1].attr.config, SW_PAGE_FAULTS);
	assert_int_equal(events[1].attr.size, ATTR_SIZE_VER7); /* All attrs of a file have the same size. */
	assert_int_equal(perfdata_reader_layout(r).data_size, data_bytes);
	assert_three_samples(count_records(r), 3); /* Two of the others are the marks at begin and end. */
	const struct perfdata_features *f = perfdata_reader_features(r);
	assert_true(str_equal(f->hostname, STR("host")));
	assert_int_equal(f->cpus_online, 3);
	assert_false(feature_is_present(f, FEATURE_CPUID));
	perfdata_reader_destroy(r);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_pipe_comes_back(void **state)
{
	struct perfdata_writer *w;
	struct perfdata_reader *r;
	struct perfdata_features features = some_features();
	features.tracing_data = (struct tally_bytes){(const uint8_t *)"tracing", 7};
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	assert_int_equal(perfdata_writer_create_pipe(fd, &w, NULL), TALLY_OK);
	add_events(w);
	assert_int_equal(perfdata_writer_begin(w, &features, NULL), TALLY_OK);
	append_samples(w);
	assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(perfdata_reader_open_fd(fd, &r, NULL), TALLY_OK);
	assert_true(perfdata_reader_is_pipe(r));
	assert_three_samples(count_records(r), 3);
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(r, &count);
	assert_int_equal(count, 2);
	assert_true(str_equal(events[0].name, STR("clock")));
	assert_true(str_equal(events[1].name, STR("faults")));
	assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("host")));
	assert_memory_equal(perfdata_reader_features(r)->tracing_data.data, "tracing", 7);
	perfdata_reader_destroy(r);
	close(fd);
}

/* The writer is neither closed nor destroyed: the file on disk at that moment must be readable. */
static void test_a_killed_writer_leaves_a_file(void **state)
{
	struct perfdata_features features = some_features();
	for (int synced = 0; synced < 2; synced++) {
		struct perfdata_writer *w;
		struct perfdata_reader *r;
		w = begin(&features);
		assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
		assert_int_equal(count_records(r).samples, 0);
		perfdata_reader_destroy(r);
		append_samples(w);
		if (synced)
			assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
		assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
		if (synced)
			assert_int_equal(perfdata_reader_layout(r).data_size, perfdata_writer_data_bytes(w));
		assert_three_samples(count_records(r), 1); /* The mark; the table also ends the round. */
		perfdata_reader_destroy(r);
		perfdata_writer_destroy(w);
	}
}

static uint64_t size_in_header(void)
{
	uint64_t size = 0;
	int fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &size, sizeof(size), 48), sizeof(size));
	close(fd);
	return size;
}

static void test_the_size_is_kept_current(void **state)
{
	struct perfdata_writer *w;
	struct perfdata_features features = some_features();
	static uint8_t records[64 << 10];
	for (size_t i = 0; i < sizeof(records); i += 8)
		memcpy(records + i, (uint8_t[]){RECORD_FINISHED_ROUND, 0, 0, 0, 0, 0, 8, 0}, 8);
	w = begin(&features);
	struct tally_bytes slice = {records, sizeof(records)};
	assert_int_equal(perfdata_writer_append(w, &slice, 1, NULL), TALLY_OK);
	assert_int_equal(size_in_header(), 0);
	assert_int_equal(perfdata_writer_finish_round(w, NULL), TALLY_OK);
	assert_int_equal(size_in_header(), MARK_BYTES + sizeof(records));
	perfdata_writer_destroy(w);
}

/* Copies the first bytes of the file. The caller frees the copy. */
static struct tally_bytes file_bytes(void)
{
	char *data;
	size_t len;
	assert_int_equal(file_read(path, 1 << 20, &data, &len, NULL), TALLY_OK);
	return (struct tally_bytes){(const uint8_t *)data, len};
}

static void free_bytes(struct tally_bytes bytes)
{
	free((void *)(uintptr_t)bytes.data);
}

static size_t count_samples(struct perfdata_reader *r)
{
	struct record record;
	size_t found = 0;
	while (perfdata_reader_next(r, &record, NULL) == TALLY_OK)
		found += record.type == RECORD_SAMPLE;
	return found;
}

/* Also frees the bytes. */
static void assert_reads(struct tally_bytes bytes, size_t samples)
{
	struct perfdata_reader *r;
	assert_int_equal(perfdata_reader_open_bytes(bytes, &r, NULL), TALLY_OK);
	assert_int_equal(count_samples(r), samples);
	assert_int_equal(perfdata_reader_health(r)->damaged_features, 0);
	assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("host")));
	assert_int_equal(perfdata_reader_features(r)->cpus_online, 3);
	perfdata_reader_destroy(r);
	free_bytes(bytes);
}

static void assert_simulated(struct perfdata_reader *r)
{
	struct perfdata_origin origin = origin_of(perfdata_reader_features(r));
	assert_int_equal(origin.kind, ORIGIN_SIMULATED);
	assert_true(str_equal(origin.by, STR("a model")));
	assert_int_equal(perfdata_reader_health(r)->damaged_features, 0);
	assert_int_equal(perfdata_reader_health(r)->unknown_features, 0);
}

/* The origin precedes the data, so that killed recordings and streams have it. */
static void test_what_made_the_samples(void **state)
{
	struct perfdata_features f = some_features();
	origin_set(&f, (struct perfdata_origin){ORIGIN_SIMULATED, STR("a model"), STR(""), STR("")});
	for (int is_closed = 0; is_closed < 2; is_closed++) {
		struct perfdata_reader *r;
		struct perfdata_writer *w = begin(&f);
		append_samples(w);
		if (is_closed)
			assert_int_equal(perfdata_writer_close(w, &f, NULL), TALLY_OK);
		perfdata_writer_destroy(w);
		struct tally_bytes bytes = file_bytes();
		assert_int_equal(perfdata_reader_open_bytes(bytes, &r, NULL), TALLY_OK);
		assert_int_equal(count_samples(r), 3);
		assert_simulated(r);
		perfdata_reader_destroy(r);
		free_bytes(bytes);
	}
}

static void test_what_made_the_samples_of_a_stream(void **state)
{
	struct perfdata_features f = some_features();
	struct perfdata_writer *w;
	struct perfdata_reader *r;
	origin_set(&f, (struct perfdata_origin){ORIGIN_SIMULATED, STR("a model"), STR(""), STR("")});
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	assert_int_equal(perfdata_writer_create_pipe(fd, &w, NULL), TALLY_OK);
	add_events(w);
	assert_int_equal(perfdata_writer_begin(w, &f, NULL), TALLY_OK);
	append_samples(w);
	assert_int_equal(perfdata_writer_close(w, &f, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	close(fd);
	struct tally_bytes bytes = file_bytes();
	assert_int_equal(perfdata_reader_open_bytes(bytes, &r, NULL), TALLY_OK);
	assert_int_equal(count_samples(r), 3);
	assert_simulated(r);
	perfdata_reader_destroy(r);
	free_bytes(bytes);
}

/* With records after the last sync, the file is truncated at every byte: all complete records are read, and the
 * features. */
static void test_every_cut_of_a_running_recording(void **state)
{
	struct perfdata_writer *w;
	struct perfdata_features features = some_features();
	size_t whole[4] = {0};
	w = begin(&features);
	struct tally_bytes start = file_bytes();
	for (size_t i = 0; i < 3; i++) {
		append_samples(w);
		if (i < 2)
			assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
		assert_reads(file_bytes(), 3 * (i + 1));
		whole[i] = perfdata_writer_data_bytes(w);
	}
	struct tally_bytes all = file_bytes();
	struct writer out = {0};
	put_sample(&out, 7, 1);
	for (size_t len = start.len; len <= all.len; len++) {
		struct tally_bytes copy = {malloc(len), len};
		memcpy((void *)(uintptr_t)copy.data, all.data, len);
		size_t samples = 0;
		for (size_t i = 0; i < 3; i++) {
			size_t from = i ? whole[i - 1] - MARK_BYTES + (2 * 16) : 0;
			size_t there = len - start.len;
			size_t more = there > from ? (there - from) / out.len : 0;
			samples += MIN(more, 3);
		}
		struct perfdata_reader *r;
		assert_int_equal(perfdata_reader_open_bytes(copy, &r, NULL), TALLY_OK);
		size_t found = count_samples(r);
		if (found != samples)
			fail_msg("cut at %zu: %zu samples of %zu", len, found, samples);
		perfdata_reader_destroy(r);
		free_bytes(copy);
	}
	free_bytes(start);
	free_bytes(all);
	writer_deinit(&out);
	perfdata_writer_destroy(w);
}

/* A finished recording with features that are known only at the end is truncated: the features known from the start
 * remain. */
static void test_every_cut_of_a_finished_recording(void **state)
{
	struct perfdata_writer *w;
	struct perfdata_features features = some_features();
	w = begin(&features);
	append_samples(w);
	struct tally_bytes first_round = file_bytes();
	append_samples(w);
	features.present[0] |= UINT64_C(1) << FEATURE_SAMPLE_TIME;
	features.last_sample_time_ns = 2;
	assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	struct tally_bytes all = file_bytes();
	for (size_t len = first_round.len; len < all.len; len++) {
		struct tally_bytes copy = {malloc(len), len};
		struct perfdata_reader *r;
		memcpy((void *)(uintptr_t)copy.data, all.data, len);
		assert_int_equal(perfdata_reader_open_bytes(copy, &r, NULL), TALLY_OK);
		assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("host")));
		assert_int_equal(perfdata_reader_features(r)->cpus_online, 3);
		assert_true(count_samples(r) >= 3);
		perfdata_reader_destroy(r);
		free_bytes(copy);
	}
	free_bytes(first_round);
	assert_reads(all, 6);
}

/* The writer is killed between the last two writes of a sync: the old table has become a record, and the header has the
 * old size. */
static void test_a_kill_inside_a_sync(void **state)
{
	struct perfdata_writer *w;
	struct perfdata_features features = some_features();
	w = begin(&features);
	append_samples(w);
	assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
	uint64_t old_size = size_in_header();
	append_samples(w);
	assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
	assert_true(size_in_header() > old_size);
	struct tally_bytes bytes = file_bytes();
	memcpy((uint8_t *)(uintptr_t)bytes.data + 48, &old_size, sizeof(old_size));
	assert_reads(bytes, 6);
	perfdata_writer_destroy(w);
}

/* A feature that changed during the run, with the same size, has its new value; unchanged ones keep their place in the
 * file. */
static void test_features_that_change(void **state)
{
	struct perfdata_features before = some_features(), after = some_features();
	struct perfdata_reader *r;
	before.present[0] |= UINT64_C(1) << FEATURE_BRANCH_STACK;
	after.present[0] |= UINT64_C(1) << FEATURE_VERSION;
	after.hostname = STR("HOST");
	after.version = STR("1.2");
	struct perfdata_writer *w = begin(&before);
	append_samples(w);
	assert_int_equal(perfdata_writer_close(w, &after, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
	const struct perfdata_features *f = perfdata_reader_features(r);
	assert_true(str_equal(f->hostname, STR("HOST")));
	assert_true(str_equal(f->version, STR("1.2")));
	assert_int_equal(f->cpus_available, 4);
	assert_false(feature_is_present(f, FEATURE_BRANCH_STACK));
	size_t header = perfdata_reader_layout(r).data_offset;
	uint64_t end = perfdata_reader_layout(r).feature_offset;
	struct tally_bytes bytes = file_bytes();
	/* Sections of the hostname, the version and the CPUs; the last of them precedes the data. */
	for (size_t i = 0; i < 3; i++) {
		uint64_t at = sample_u64_at(bytes.data + end, 2 * i, false);
		assert_int_equal(at < header, i == 2);
	}
	assert_int_equal(bytes.len, end + 3 * 16 + 2 * 68); /* Nothing else is written twice. */
	free_bytes(bytes);
	perfdata_reader_destroy(r);
}

/* Without features at the end, the end mark is missing too; closing twice has no effect. */
static void test_a_close_without_features(void **state)
{
	struct perfdata_features features = some_features();
	struct perfdata_writer *w = begin(&features);
	struct perfdata_reader *r;
	append_samples(w);
	assert_int_equal(perfdata_writer_close(w, NULL, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
	assert_true(perfdata_reader_health(r)->is_unfinished);
	assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("host")));
	assert_int_equal(count_records(r).samples, 3);
	perfdata_reader_destroy(r);
	w = begin(&features);
	append_samples(w);
	assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
	struct tally_bytes bytes = file_bytes();
	assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
	struct tally_bytes again = file_bytes();
	assert_true(bytes_equal(bytes, again));
	free_bytes(bytes);
	free_bytes(again);
	perfdata_writer_destroy(w);
}

/* A sync before the beginning, after the end, or on a pipe does nothing. */
static void test_syncs_out_of_order(void **state)
{
	struct perfdata_features features = some_features();
	struct perfdata_writer *w;
	struct stat st;
	assert_int_equal(perfdata_writer_create_file(path, false, &w, NULL), TALLY_OK);
	add_events(w);
	assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(perfdata_writer_finish_round(w, NULL), TALLY_INVALID);
	assert_int_equal(perfdata_writer_begin(w, &features, NULL), TALLY_OK);
	append_samples(w);
	assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
	struct tally_bytes bytes = file_bytes();
	assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_finish_round(w, NULL), TALLY_INVALID);
	struct tally_bytes again = file_bytes();
	assert_true(bytes_equal(bytes, again));
	free_bytes(bytes);
	free_bytes(again);
	perfdata_writer_destroy(w);
	int fd = open(path, O_RDWR | O_TRUNC);
	assert_int_equal(perfdata_writer_create_pipe(fd, &w, NULL), TALLY_OK);
	add_events(w);
	assert_int_equal(perfdata_writer_begin(w, &features, NULL), TALLY_OK);
	bytes = file_bytes();
	assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
	again = file_bytes();
	assert_true(bytes_equal(bytes, again));
	free_bytes(bytes);
	free_bytes(again);
	perfdata_writer_destroy(w);
	close(fd);
}

/* Short rounds end with a separate record; the header is updated only after much data. */
static void test_short_rounds(void **state)
{
	struct perfdata_features features = some_features();
	struct perfdata_writer *w = begin(&features);
	append_samples(w);
	uint64_t first = size_in_header();
	assert_true(first > 0);
	for (size_t i = 0; i < 20; i++)
		append_samples(w);
	assert_int_equal(size_in_header(), first);
	assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK);
	uint64_t second = size_in_header();
	assert_int_equal(second, perfdata_writer_data_bytes(w));
	assert_true(second > first);
	assert_int_equal(perfdata_writer_sync(w, NULL), TALLY_OK); /* There was no new data. */
	assert_int_equal(size_in_header(), second);
	assert_int_equal(perfdata_writer_close(w, &features, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	struct perfdata_reader *r;
	assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
	assert_int_equal(count_records(r).samples, 63);
	assert_false(perfdata_reader_health(r)->is_unfinished);
	perfdata_reader_destroy(r);
}

/* One more ID than fits into a record. */
static void test_too_many_ids_for_a_pipe(void **state)
{
	static uint64_t many[8192];
	const size_t most = (65535 - 8 - ATTR_SIZE_VER7) / 8;
	struct perfdata_features features = some_features();
	for (size_t count = most; count <= most + 1; count++) {
		struct perfdata_writer *w;
		struct tally_error err;
		int fd = open("/dev/null", O_WRONLY);
		assert_int_equal(perfdata_writer_create_pipe(fd, &w, NULL), TALLY_OK);
		assert_int_equal(perfdata_writer_add_event(w, &clock_attr, STR("clock"), many, count, NULL), TALLY_OK);
		assert_int_equal(perfdata_writer_begin(w, &features, &err), count == most ? TALLY_OK : TALLY_LIMIT);
		perfdata_writer_destroy(w);
		close(fd);
	}
}

static void test_the_old_file_is_kept(void **state)
{
	struct perfdata_writer *w;
	char *text;
	size_t len;
	FILE *file = fopen(path, "w");
	fputs("before", file);
	fclose(file);
	assert_int_equal(perfdata_writer_create_file(path, true, &w, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	assert_int_equal(file_read(old_path, 100, &text, &len, NULL), TALLY_OK);
	assert_string_equal(text, "before");
	free(text);
	/* The new recording is empty, so it does not replace the old one. */
	assert_int_equal(perfdata_writer_create_file(path, true, &w, NULL), TALLY_OK);
	perfdata_writer_destroy(w);
	struct stat st;
	assert_int_equal(stat(old_path, &st), 0);
	assert_int_equal(st.st_size, 6);
}

static void test_places_that_take_no_file(void **state)
{
	struct perfdata_writer *w;
	struct tally_error err;
	assert_int_equal(perfdata_writer_create_file("/nonexistent/x", true, &w, &err), TALLY_IO);
	assert_int_equal(err.errnum, ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	assert_int_equal(perfdata_writer_create_file(dir, false, &w, &err), TALLY_IO);
	int fd = open("/dev/full", O_WRONLY);
	struct perfdata_features features = some_features();
	assert_int_equal(perfdata_writer_create_pipe(fd, &w, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_begin(w, &features, &err), TALLY_IO);
	assert_int_equal(err.errnum, ENOSPC);
	perfdata_writer_destroy(w);
	close(fd);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = MIN(bytes, limit.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The file size limit stands for a full disk: it is reported once, and complete data remains. */
static void test_a_full_disk(void **state)
{
	struct perfdata_writer *w;
	struct perfdata_reader *r;
	struct tally_error err;
	struct perfdata_features features = some_features();
	struct writer out = {0};
	put_sample(&out, 7, 1);
	struct tally_bytes slice = writer_view(&out);
	signal(SIGXFSZ, SIG_IGN);
	w = begin(&features);
	limit_file_size(perfdata_writer_data_bytes(w) + 1000);
	enum tally_status status;
	size_t whole = 0;
	while ((status = perfdata_writer_append(w, &slice, 1, &err)) == TALLY_OK && whole < 1000)
		whole++;
	assert_int_equal(status, TALLY_IO);
	assert_int_equal(err.errnum, EFBIG);
	assert_int_equal(perfdata_writer_append(w, &slice, 1, &err), TALLY_INVALID);
	(void)!perfdata_writer_close(w, &features, &err); /* There is no space for the features. */
	limit_file_size(RLIM_INFINITY);
	size_t kept = (perfdata_writer_data_bytes(w) - MARK_BYTES) / slice.len;
	assert_true(kept <= whole && (whole - kept) * slice.len <= 2 * 16 + slice.len); /* Space for the table. */
	assert_int_equal(perfdata_writer_data_bytes(w), MARK_BYTES + kept * slice.len);
	perfdata_writer_destroy(w);
	assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
	assert_int_equal(count_records(r).samples, kept);
	assert_int_equal(perfdata_reader_layout(r).data_size, MARK_BYTES + kept * slice.len);
	assert_true(perfdata_reader_health(r)->is_unfinished);
	assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("host")));
	perfdata_reader_destroy(r);
	writer_deinit(&out);
}

/* Whatever the limit is, exactly the complete records after which the feature table fits are retained. */
static void check_limit(rlim_t extra, size_t round)
{
	struct perfdata_features features = some_features();
	struct perfdata_writer *w = begin(&features);
	struct perfdata_reader *r;
	struct writer out = {0};
	struct stat st;
	size_t written = 0;
	put_sample(&out, 7, 1);
	struct tally_bytes slice = writer_view(&out);
	assert_int_equal(stat(path, &st), 0);
	rlim_t limit = (rlim_t)st.st_size + extra;
	limit_file_size(limit);
	while (perfdata_writer_append(w, &slice, 1, NULL) == TALLY_OK) {
		written++;
		if (written % round == 0 && perfdata_writer_finish_round(w, NULL) != TALLY_OK)
			break;
	}
	(void)!perfdata_writer_close(w, &features, NULL);
	limit_file_size(RLIM_INFINITY);
	uint64_t data_bytes = perfdata_writer_data_bytes(w);
	perfdata_writer_destroy(w);
	assert_int_equal(stat(path, &st), 0);
	assert_true((rlim_t)st.st_size <= limit);
	assert_int_equal(perfdata_reader_open(path, &r, NULL), TALLY_OK);
	size_t kept = count_samples(r);
	assert_true(kept <= written);
	assert_true((written - kept) * slice.len <= 2 * 16 + slice.len);
	/* With less space, not even a table fits after the mark. */
	if (extra >= 2 * 16) {
		assert_false(perfdata_reader_health(r)->is_cut);
		assert_true(str_equal(perfdata_reader_features(r)->hostname, STR("host")));
		assert_int_equal(perfdata_reader_features(r)->cpus_online, 3);
		assert_int_equal(perfdata_reader_layout(r).data_size, data_bytes);
		assert_int_equal(perfdata_reader_health(r)->damaged_features, 0);
	}
	perfdata_reader_destroy(r);
	writer_deinit(&out);
}

static void test_any_limit(void **state)
{
	signal(SIGXFSZ, SIG_IGN);
	for (rlim_t extra = 0; extra < 400; extra++) {
		check_limit(extra, 3);
		check_limit(extra, 100);
	}
}

static void test_calls_out_of_order(void **state)
{
	struct perfdata_writer *w;
	struct tally_bytes slices[17] = {{NULL, 0}};
	struct perfdata_features features = some_features();
	assert_int_equal(perfdata_writer_create_file(path, false, &w, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_append(w, slices, 1, NULL), TALLY_INVALID);
	assert_int_equal(perfdata_writer_begin(w, &features, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_append(w, slices, 17, NULL), TALLY_INVALID);
	assert_int_equal(perfdata_writer_append(w, slices, 16, NULL), TALLY_OK);
	assert_int_equal(perfdata_writer_data_bytes(w), MARK_BYTES);
	perfdata_writer_destroy(w);
	perfdata_writer_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_comes_back),
		cmocka_unit_test(test_pipe_comes_back),
		cmocka_unit_test(test_a_killed_writer_leaves_a_file),
		cmocka_unit_test(test_what_made_the_samples),
		cmocka_unit_test(test_what_made_the_samples_of_a_stream),
		cmocka_unit_test(test_the_size_is_kept_current),
		cmocka_unit_test(test_every_cut_of_a_running_recording),
		cmocka_unit_test(test_every_cut_of_a_finished_recording),
		cmocka_unit_test(test_a_kill_inside_a_sync),
		cmocka_unit_test(test_features_that_change),
		cmocka_unit_test(test_a_close_without_features),
		cmocka_unit_test(test_syncs_out_of_order),
		cmocka_unit_test(test_short_rounds),
		cmocka_unit_test(test_too_many_ids_for_a_pipe),
		cmocka_unit_test(test_the_old_file_is_kept),
		cmocka_unit_test(test_places_that_take_no_file),
		cmocka_unit_test(test_a_full_disk),
		cmocka_unit_test(test_any_limit),
		cmocka_unit_test(test_calls_out_of_order),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
