/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_streams.h"

#include <stdio.h>
#include <string.h>

#include "abi/sample.h"
#include "stream_builder.h"
#include "unit_test.h"

struct reading {
	struct simulation_streams *streams;
	struct diag diag;
	struct tally_error err;
};

static void start(struct reading *r)
{
	*r = (struct reading){0};
	diag_init(&r->diag);
	assert_int_equal(simulation_streams_create(&r->streams, NULL), TALLY_OK);
}

static enum tally_status add(struct reading *r, const char *name, struct tally_bytes bytes)
{
	return simulation_streams_add(r->streams, name, bytes, &r->diag, &r->err);
}

static void place(struct reading *r)
{
	assert_int_equal(simulation_streams_place(r->streams, &r->err), TALLY_OK);
}

static void stop(struct reading *r)
{
	simulation_streams_destroy(r->streams);
	diag_deinit(&r->diag);
}

static uint64_t time_of(const struct reading *r, const struct record *record)
{
	const struct perf_attr attr = simulation_streams_attr(r->streams);
	const struct record_layout layout = record_layout_make(&attr, false);
	struct sample sample;
	struct sample_id id;
	if (record->type == RECORD_SAMPLE) {
		assert_int_equal(sample_decode(&layout, record, &sample, NULL), TALLY_OK);
		return sample.time;
	}
	assert_int_equal(sample_id_decode(&layout, record, &id, NULL), TALLY_OK);
	assert_int_equal(id.id, 1); /* The ID of an event in the recording. */
	return id.time;
}

static void expect(struct reading *r, uint32_t type, uint64_t time)
{
	struct record record;
	assert_int_equal(simulation_streams_next(r->streams, &record, &r->err), TALLY_OK);
	assert_int_equal(record.type, type);
	assert_int_equal(time_of(r, &record), time);
}

static void expect_end(struct reading *r)
{
	struct record record;
	assert_int_equal(simulation_streams_next(r->streams, &record, &r->err), TALLY_END);
}

/* A shell forks a child, which executes a program; then the shell executes one, too. */
static void test_times_of_processes(void **state)
{
	struct stream_builder shell, child, program, second;
	struct reading r;
	struct record record;
	struct record_fields fields;
	(void)state;
	stream_builder_begin(&shell, &(struct stream_process){.pid = 10, .ppid = 1});
	stream_builder_counts(&shell, 2600, 2600);
	stream_builder_lost(&shell, 2600, 0, 0);
	stream_builder_comm(&shell, 0, "sh", true);
	stream_builder_sample(&shell, &(struct stream_sample){.time = 1000, .ip = 1});
	stream_builder_fork(&shell, 1500, 11, 11);
	stream_builder_sample(&shell, &(struct stream_sample){.time = 2000, .ip = 1});
	stream_builder_begin(&child, &(struct stream_process){.pid = 11, .ppid = 10});
	stream_builder_sample(&child, &(struct stream_sample){.time = 0, .ip = 2});
	stream_builder_sample(&child, &(struct stream_sample){.time = 400, .ip = 2});
	stream_builder_begin(&program, &(struct stream_process){.pid = 11, .ppid = 10, .image = 1});
	stream_builder_comm(&program, 0, "program", true);
	stream_builder_exit(&program, 50);
	stream_builder_begin(&second, &(struct stream_process){.pid = 10, .ppid = 1, .image = 1});
	stream_builder_exit(&second, 7);
	start(&r);
	assert_int_equal(add(&r, "11.1", writer_view(&program.out)), TALLY_OK);
	assert_int_equal(add(&r, "10.1", writer_view(&second.out)), TALLY_OK);
	assert_int_equal(add(&r, "11.0", writer_view(&child.out)), TALLY_OK);
	assert_int_equal(add(&r, "10.0", writer_view(&shell.out)), TALLY_OK);
	place(&r);
	assert_int_equal(simulation_streams_header(r.streams)->pid, 10);
	assert_int_equal(simulation_streams_header(r.streams)->image, 0);
	assert_string_equal(simulation_streams_model(r.streams), STREAM_MODEL);
	expect(&r, RECORD_COMM, 0);
	expect(&r, RECORD_SAMPLE, 1000);
	assert_int_equal(simulation_streams_next(r.streams, &record, NULL), TALLY_OK);
	assert_int_equal(record.type, RECORD_FORK);
	assert_int_equal(record_decode(&record, &fields, NULL), TALLY_OK);
	assert_int_equal(fields.task.time, 1500);
	expect(&r, RECORD_SAMPLE, 1500); /* After the FORK record of the process. */
	expect(&r, RECORD_SAMPLE, 1900);
	expect(&r, RECORD_COMM, 1900);
	expect(&r, RECORD_EXIT, 1950);
	expect(&r, RECORD_SAMPLE, 2000);
	expect(&r, RECORD_EXIT, 2607); /* The counts give the time at which the image ended. */
	expect_end(&r);
	assert_int_equal(simulation_streams_totals(r.streams).samples, 4);
	assert_int_equal(simulation_streams_totals(r.streams).images, 4);
	assert_int_equal(simulation_streams_totals(r.streams).damaged, 0);
	stop(&r);
	writer_deinit(&shell.out);
	writer_deinit(&child.out);
	writer_deinit(&program.out);
	writer_deinit(&second.out);
}

static void test_losses(void **state)
{
	struct stream_builder b;
	struct reading r;
	(void)state;
	stream_builder_begin(&b, &(struct stream_process){.pid = 10});
	stream_builder_lost(&b, 5, 2, 1);
	stream_builder_lost(&b, 9, 30, 20);
	start(&r);
	assert_int_equal(add(&r, "10.0", writer_view(&b.out)), TALLY_OK);
	place(&r);
	expect_end(&r);
	assert_int_equal(simulation_streams_totals(r.streams).lost_records, 30);
	assert_int_equal(simulation_streams_totals(r.streams).lost_samples, 20);
	stop(&r);
	writer_deinit(&b.out);
}

/* For each truncated file, complete records are returned, and the truncation is reported once with its offset. */
static void test_prefixes(void **state)
{
	struct stream_builder b;
	size_t starts[3], ends[3];
	const uint64_t stack[4] = {1, 2, 3, 4};
	(void)state;
	stream_builder_begin(&b, &(struct stream_process){.pid = 10, .stack_bytes = 64});
	size_t header = b.out.len;
	for (size_t i = 0; i < 3; i++) {
		starts[i] = b.out.len;
		if (i == 0)
			stream_builder_comm(&b, 0, "x", true);
		else
			stream_builder_sample(
				&b, &(struct stream_sample){.time = i, .ip = 1, .stack = stack, .words = 4});
		ends[i] = b.out.len;
	}
	for (size_t len = 0; len <= b.out.len; len++) {
		struct reading r;
		char expected[80];
		size_t whole = 0;
		start(&r);
		enum tally_status status = add(&r, "10.0", (struct tally_bytes){b.out.data, len});
		assert_int_equal(status, len < header ? TALLY_INVALID : TALLY_OK);
		if (len < header) {
			assert_int_equal(r.diag.len, 1);
			assert_int_equal(simulation_streams_place(r.streams, &r.err), TALLY_NOT_FOUND);
			stop(&r);
			continue;
		}
		place(&r);
		for (; whole < 3 && ends[whole] <= len; whole++)
			expect(&r, whole ? RECORD_SAMPLE : RECORD_COMM, whole);
		expect_end(&r);
		bool is_cut = len > header && (whole == 3 ? false : len > starts[whole]);
		assert_int_equal(r.diag.len, is_cut);
		assert_int_equal(simulation_streams_totals(r.streams).cut, is_cut);
		if (is_cut) {
			snprintf(expected, sizeof(expected), "at offset %zu: %zu bytes", starts[whole],
				len - starts[whole]);
			assert_non_null(strstr(r.diag.entries[0].text, expected));
		}
		stop(&r);
	}
	writer_deinit(&b.out);
}

static void test_damaged_records(void **state)
{
	struct stream_builder b;
	struct reading r;
	(void)state;
	stream_builder_begin(&b, &(struct stream_process){.pid = 10});
	/* There is no such event. */
	stream_builder_sample(&b, &(struct stream_sample){.time = 1, .ip = 1, .event = 2});
	stream_builder_sample(&b, &(struct stream_sample){.time = 2, .ip = 1, .event = 1});
	writer_u32(&b.out, 0x7777); /* An unknown type. */
	writer_u32(&b.out, 8 << 16);
	writer_u32(&b.out, RECORD_MMAP2); /* The record is empty. */
	writer_u32(&b.out, 8 << 16);
	writer_u32(&b.out, RECORD_SAMPLE); /* The record is shorter than its fields. */
	writer_u32(&b.out, 16 << 16);
	writer_u64(&b.out, 1);
	stream_builder_exit(&b, 1); /* Earlier than the preceding record. */
	start(&r);
	assert_int_equal(add(&r, "10.0", writer_view(&b.out)), TALLY_OK);
	place(&r);
	expect(&r, RECORD_SAMPLE, 2);
	expect(&r, RECORD_EXIT, 2);
	expect_end(&r);
	assert_int_equal(simulation_streams_totals(r.streams).damaged, 4);
	assert_int_equal(simulation_streams_totals(r.streams).samples, 1);
	stop(&r);
	writer_deinit(&b.out);
}

static void expect_refused(size_t offset, uint32_t value, const char *why)
{
	struct stream_builder b;
	struct reading r;
	stream_builder_begin(&b, &(struct stream_process){.pid = 10});
	writer_patch_u32(&b.out, offset, value);
	start(&r);
	assert_int_equal(add(&r, "10.0", writer_view(&b.out)), TALLY_INVALID);
	assert_non_null(strstr(r.diag.entries[0].text, why));
	stop(&r);
	writer_deinit(&b.out);
}

static void test_headers(void **state)
{
	(void)state;
	expect_refused(0, 0, "does not begin with");
	expect_refused(offsetof(struct sim_header, version), 2, "version");
	expect_refused(offsetof(struct sim_header, size), sizeof(struct sim_header), "size of its header");
	expect_refused(offsetof(struct sim_header, size), UINT32_MAX, "size of its header");
	expect_refused(
		/* Not a multiple of 8. */
		offsetof(struct sim_header, size), sizeof(struct sim_header) + 8, "size of its header");
	expect_refused(offsetof(struct sim_header, sampled_count), SIM_SAMPLED_MOST + 1, "too many");
	expect_refused(offsetof(struct sim_header, stack_bytes), 12, "stacks");
	expect_refused(offsetof(struct sim_header, sampled), SIM_EVENT_COUNT, "not known");
	expect_refused(offsetof(struct sim_header, sampled) + 8, 0, "period of 0");
}

/* Files that do not belong together, and files in which processes are each other's parents. */
static void test_strangers(void **state)
{
	struct stream_builder a, b, other;
	struct reading r;
	(void)state;
	stream_builder_begin(&a, &(struct stream_process){.pid = 10});
	stream_builder_fork(&a, 5, 11, 11);
	stream_builder_begin(&b, &(struct stream_process){.pid = 11});
	stream_builder_fork(&b, 6, 10, 10);
	stream_builder_begin(&other, &(struct stream_process){.pid = 12, .stack_bytes = 8});
	start(&r);
	assert_int_equal(add(&r, "10.0", writer_view(&a.out)), TALLY_OK);
	assert_int_equal(add(&r, "11.0", writer_view(&b.out)), TALLY_OK);
	assert_int_equal(add(&r, "11.0", writer_view(&b.out)), TALLY_INVALID);
	assert_int_equal(add(&r, "12.0", writer_view(&other.out)), TALLY_INVALID);
	assert_int_equal(r.diag.len, 2);
	place(&r);
	struct record record;
	assert_int_equal(simulation_streams_next(r.streams, &record, NULL), TALLY_OK);
	assert_int_equal(simulation_streams_next(r.streams, &record, NULL), TALLY_OK);
	expect_end(&r);
	stop(&r);
	writer_deinit(&a.out);
	writer_deinit(&b.out);
	writer_deinit(&other.out);
}

static void test_folder_without_files(void **state)
{
	struct simulation_streams *streams;
	struct tally_error err;
	(void)state;
	assert_int_equal(simulation_streams_open("/proc/self/fdinfo", NULL, &streams, &err), TALLY_NOT_FOUND);
	assert_int_equal(simulation_streams_open("/no/such/folder", NULL, &streams, &err), TALLY_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_of_processes),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_damaged_records),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_folder_without_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
