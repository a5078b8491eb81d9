/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "fake_root.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/recording/synthesize.h"
#include "kernel/recording/tracing_data.h"
#include "kernel/system/host_info.h"
#include "unit_test.h"

static const char tree[] = "/proc/7/status: Tgid:\t7\n/proc/7/comm: main\n"
			   "/proc/7/maps: 1000-3000 r-xp 00002000 fe:01 42 /bin/main\n"
			   "/proc/7/task/7/comm: main\n"
			   "/proc/7/task/8/comm: worker\n"
			   "/proc/cpuinfo: model name : A CPU\n"
			   "/sys/devices/system/cpu/cpu0/topology/core_id: 0\n"
			   "/sys/devices/system/cpu/cpu0/cache/index0/level: 1\n"
			   "/sys/devices/system/cpu/cpu0/cache/index0/type: Data\n"
			   "/sys/devices/system/node/node0/cpulist: 0\n"
			   "/sys/devices/system/memory/block_size_bytes: 8000000\n"
			   "/sys/bus/event_source/devices/software/type: 1\n"
			   "/sys/kernel/tracing/events/sched/sched_switch/format: name: sched_switch\n"
			   "/sys/kernel/tracing/events/header_page: page\n";

static struct kernel_seam seam;

static enum tally_status ignore(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	return TALLY_OK;
}

static enum tally_status describe_all(void)
{
	struct perf_attr attr = {.sample_type = SAMPLE_TID, .flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL)};
	struct record_layout layout = record_layout_make(&attr, false);
	struct record_sink sink = {ignore, NULL};
	struct synthesis s;
	const int cpus[] = {0};
	const pid_t threads[] = {7};
	synthesize_init(&s, &seam, &layout, &sink);
	enum tally_status status = synthesize_all(&s, NULL);
	if (status == TALLY_OK)
		status = synthesize_thread_map(&s, threads, 1, NULL);
	if (status == TALLY_OK)
		status = synthesize_cpu_map(&s, cpus, 1, NULL);
	if (status == TALLY_OK)
		status = synthesize_flush(&s, NULL);
	synthesize_deinit(&s);
	return status;
}

static enum tally_status read_host(void)
{
	struct host_info info;
	enum tally_status status = host_info_read(&seam, &info, NULL);
	if (status == TALLY_OK)
		host_info_deinit(&info);
	return status;
}

static enum tally_status write_formats(void)
{
	struct event_spec spec = {.name = "sched:sched_switch",
		.member_count = 1,
		.tracepoint_system = "sched",
		.tracepoint_name = "sched_switch"};
	struct event_list events = {.specs = &spec, .len = 1, .cap = 1};
	struct writer w = {0};
	enum tally_status status = tracing_data_write(&seam, &events, &w, NULL);
	if (status == TALLY_OK)
		assert_memory_equal(w.data, "\x17\x08\x44tracing0.6", 14);
	writer_deinit(&w);
	return status;
}

static enum tally_status apply_attrs(void)
{
	struct event_list events = {0};
	struct record_attr_options options = {.is_system_wide = true, .rate.freq = 99};
	events.specs = malloc(sizeof(*events.specs));
	if (!events.specs)
		return TALLY_NOMEM;
	events.specs[0] = (struct event_spec){.name = "cpu-clock", .member_count = 1, .unit = ""};
	events.len = events.cap = 1;
	enum tally_status status = record_attrs_apply(&events, &options, NULL);
	free(events.specs);
	return status;
}

/* Lets each allocation fail: afterwards nothing is held, and with enough memory the work succeeds. Optional parts may
 * be omitted, so the failure of a single allocation need not fail the whole. */
static void check_each_allocation(enum tally_status (*work)(void))
{
	enum { ALLOCATIONS_MAX = 2000 };
	size_t nth = 0;
	for (bool has_failed = true; has_failed; nth++) {
		assert_true(nth < ALLOCATIONS_MAX);
		failing_malloc_begin(nth);
		enum tally_status status = work();
		long held = failing_malloc_held();
		has_failed = failing_malloc_end();
		assert_int_equal(held, 0);
		assert_true(status == TALLY_OK || (has_failed && status == TALLY_NOMEM));
	}
	assert_true(nth > 1); /* The work does allocate memory. */
}

static void test_synthesized_state(void **state)
{
	check_each_allocation(describe_all);
}

static void test_host_info(void **state)
{
	check_each_allocation(read_host);
}

static void test_tracing_data(void **state)
{
	check_each_allocation(write_formats);
}

static void test_attrs(void **state)
{
	check_each_allocation(apply_attrs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_synthesized_state),
		cmocka_unit_test(test_host_info),
		cmocka_unit_test(test_tracing_data),
		cmocka_unit_test(test_attrs),
	};
	char *root = fake_root_make(tree);
	seam.root = root;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	fake_root_remove(root);
	return failed;
}
