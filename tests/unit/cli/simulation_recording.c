/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/sample.h"
#include "base/file.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/system/kernel_seam.h"
#include "perfdata/origin.h"
#include "perfdata/reader.h"
#include "stream_builder.h"
#include "unit_test.h"

#define CODE  UINT64_C(0x400000)
#define STACK UINT64_C(0x7ff000)

struct place {
	char folder[32], path[64];
	struct diag diag;
};

static void make_place(struct place *p)
{
	const struct arch *arch = record_host_arch();
	if (!arch || strcmp(arch->name, "x86_64") != 0)
		skip_because("the streams of the test are x86-64's");
	*p = (struct place){.folder = "/tmp/tally-test-XXXXXX"};
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->path, sizeof(p->path), "%s/perf.data", p->folder);
	diag_init(&p->diag);
}

static void remove_place(struct place *p)
{
	char command[80];
	snprintf(command, sizeof(command), "rm -r %s", p->folder);
	assert_int_equal(system(command), 0);
	diag_deinit(&p->diag);
}

static void put_file(const struct place *p, const char *name, struct stream_builder *b)
{
	char path[80];
	snprintf(path, sizeof(path), "%s/%s", p->folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(b->out.data, 1, b->out.len, file), b->out.len);
	assert_int_equal(fclose(file), 0);
	writer_deinit(&b->out);
}

/* Writes a process with generated code that maintains frame pointers, with a sample in the middle of a piece that
 * begins 8 bytes earlier. */
static void put_process(const struct place *p, uint32_t stack_bytes)
{
	const uint64_t stack[] = {0, CODE + 0x55, 0, 0, 0, 0, 0, 0}; /* The caller has no further caller. */
	struct stream_builder b;
	stream_builder_begin(&b, &(struct stream_process){.pid = 10, .stack_bytes = stack_bytes});
	stream_builder_comm(&b, 0, "it", true);
	stream_builder_map(&b, 0, CODE, 0x1000, "//anon");
	stream_builder_sample(&b, &(struct stream_sample){.time = 1000,
					  .ip = CODE + 0x18,
					  .begin = CODE + 0x10,
					  .sp = STACK,
					  .bp = STACK,
					  .stack = stack,
					  .words = stack_bytes ? 8 : 0});
	stream_builder_sample(&b, &(struct stream_sample){.time = 1500,
					  .event = 1,
					  .ip = CODE + 0x20,
					  .begin = CODE + 0x20,
					  .sp = STACK,
					  .bp = STACK,
					  .stack = stack,
					  .words = stack_bytes ? 8 : 0});
	stream_builder_exit(&b, 2000);
	put_file(p, "10.0", &b);
}

static enum tally_status make_recording(struct place *p, bool has_chains, bool keeps_stacks,
	struct simulation_recording_summary *sum, struct tally_error *err)
{
	char *argv[] = {"tally", "record", "--simulate", "it", NULL};
	const struct simulation_recording_request request = {.kernel = kernel_seam_linux(),
		.path = p->path,
		.has_chains = has_chains,
		.keeps_stacks = keeps_stacks,
		.no_build_id_cache = true,
		.argv = argv,
		.diag = &p->diag};
	struct simulation_recording *recording;
	assert_int_equal(simulation_recording_open(&request, &recording, err), TALLY_OK);
	enum tally_status status = simulation_recording_write(recording, p->folder, sum, err);
	simulation_recording_destroy(recording);
	return status;
}

static struct perfdata_reader *read_back(const struct place *p)
{
	struct perfdata_reader *reader;
	size_t count;
	struct tally_error err;
	assert_int_equal(perfdata_reader_open(p->path, &reader, &err), TALLY_OK);
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	const struct perfdata_origin origin = origin_of(perfdata_reader_features(reader));
	assert_int_equal(count, 2);
	assert_true(str_equal(events[0].name, STR("instructions:u")));
	assert_true(str_equal(events[1].name, STR("LLC-load-misses:u")));
	assert_int_equal(events[0].attr.sample_period_or_freq, 1000);
	assert_int_equal(events[1].attr.sample_period_or_freq, 10);
	assert_true(ATTR_HAS(&events[0].attr, EXCLUDE_KERNEL));
	assert_int_equal(origin.kind, ORIGIN_SIMULATED);
	assert_true(str_equal(origin.by, STR("valgrind 3.19.0, model d1=32768,8,64 predictor=test")));
	return reader;
}

/* Reads the samples in their order. */
static size_t samples_of(struct perfdata_reader *reader, struct sample *samples, size_t most)
{
	struct record record;
	size_t count = 0;
	while (perfdata_reader_next(reader, &record, NULL) == TALLY_OK) {
		const struct perfdata_event *event =
			record.type == RECORD_SAMPLE ? perfdata_reader_event_of(reader, &record) : NULL;
		if (!event)
			continue;
		assert_true(count < most);
		assert_int_equal(sample_decode(&event->layout, &record, &samples[count++], NULL), TALLY_OK);
	}
	return count;
}

static void expect_chain(const struct sample *sample, const uint64_t *ips, size_t count)
{
	assert_int_equal(sample->callchain.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(sample_u64_at(sample->callchain.data, i, false), ips[i]);
}

static void test_chains(void **state)
{
	struct place p;
	struct simulation_recording_summary sum;
	struct tally_error err;
	struct sample samples[4];
	(void)state;
	make_place(&p);
	put_process(&p, 64);
	assert_int_equal(make_recording(&p, true, false, &sum, &err), TALLY_OK);
	assert_int_equal(sum.streams.samples, 2);
	struct perfdata_reader *reader = read_back(&p);
	assert_int_equal(samples_of(reader, samples, 4), 2);
	assert_int_equal(samples[0].ip, CODE + 0x18);
	assert_int_equal(samples[0].period, 1000);
	assert_int_equal(samples[0].time, 1000);
	assert_int_equal(samples[1].ip, CODE + 0x20);
	assert_int_equal(samples[1].period, 10);
	/* The address of the instruction, and that of the call before the return address. */
	expect_chain(&samples[0], (const uint64_t[]){CONTEXT_USER, CODE + 0x18, CODE + 0x54}, 3);
	expect_chain(&samples[1], (const uint64_t[]){CONTEXT_USER, CODE + 0x20, CODE + 0x54}, 3);
	perfdata_reader_destroy(reader);
	remove_place(&p);
}

static void test_without_chains(void **state)
{
	struct place p;
	struct simulation_recording_summary sum;
	struct tally_error err;
	struct sample samples[4];
	(void)state;
	make_place(&p);
	put_process(&p, 0);
	assert_int_equal(make_recording(&p, false, false, &sum, &err), TALLY_OK);
	struct perfdata_reader *reader = read_back(&p);
	assert_int_equal(samples_of(reader, samples, 4), 2);
	assert_int_equal(samples[0].ip, CODE + 0x18);
	assert_int_equal(samples[0].present & (SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER), 0);
	perfdata_reader_destroy(reader);
	remove_place(&p);
}

static void test_kept_stacks(void **state)
{
	struct place p;
	struct simulation_recording_summary sum;
	struct tally_error err;
	struct sample samples[4];
	(void)state;
	make_place(&p);
	put_process(&p, 64);
	assert_int_equal(make_recording(&p, true, true, &sum, &err), TALLY_OK);
	struct perfdata_reader *reader = read_back(&p);
	assert_int_equal(samples_of(reader, samples, 4), 2);
	assert_int_equal(samples[0].callchain.count, 0);
	assert_int_equal(samples[0].regs_user.abi, REGS_ABI_64);
	assert_int_equal(sample_u64_at(samples[0].regs_user.values.data, 8, false), CODE + 0x10);
	assert_int_equal(samples[0].stack_user.dyn_size, 64);
	perfdata_reader_destroy(reader);
	remove_place(&p);
}

/* Without streams there is nothing to write, and no empty recording is left. */
static void test_nothing(void **state)
{
	struct place p;
	struct simulation_recording_summary sum;
	struct tally_error err;
	(void)state;
	make_place(&p);
	assert_int_equal(make_recording(&p, true, false, &sum, &err), TALLY_NOT_FOUND);
	assert_false(file_exists(p.path));
	remove_place(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_without_chains),
		cmocka_unit_test(test_kept_stacks),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
