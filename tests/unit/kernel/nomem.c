/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nomem.c - lets every allocation of the kernel folder fail once: the result is TALLY_NOMEM, nothing leaks, and no
 * state is left half changed.
 */
#include <errno.h>

#include "failing_malloc.h"
#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/counting/aggregate.h"
#include "kernel/counting/reading.h"
#include "kernel/counting/tally_counter.h"
#include "kernel/events/event_parser.h"
#include "kernel/recording/tally_ring.h"
#include "kernel/system/target.h"
#include "unit_test.h"

static enum tally_status all_of_it(struct fake_kernel *fake)
{
	struct event_catalogue *catalogue = NULL;
	struct event_list events = {0};
	struct target target = {0};
	struct counter_set *set = NULL;
	struct aggregation aggregation = {0};
	struct counter_options options = {.inherit = true, .may_drop_kernel = true};
	struct target_request request = {.system_wide = true};
	struct tally_error err;
	enum tally_status status = event_catalogue_create(&fake->seam, &catalogue, &err);
	if (status == TALLY_OK)
		status = event_parse(
			catalogue, "{cs,cycles:u},sched:sched_*,msr/tsc,name=x/,cs/period=5/", &events, &err);
	if (status == TALLY_OK)
		status = event_list_repeat(&events, 0, events.len, &err);
	if (status == TALLY_OK)
		status = target_resolve(&fake->seam, &request, &target, &err);
	if (status == TALLY_OK)
		status = counter_set_open(&fake->seam, &events, &target, &options, &set, &err);
	if (status == TALLY_OK)
		status = counter_set_read(set, &err);
	if (status == TALLY_OK)
		status = aggregation_make(&fake->seam, set, AGGREGATE_CORE, &aggregation, &err);
	aggregation_deinit(&aggregation);
	counter_set_close(set);
	target_deinit(&target);
	event_list_deinit(&events);
	event_catalogue_destroy(catalogue);
	return status;
}

static enum tally_status the_public_counter(struct fake_kernel *fake)
{
	struct tally_count counts[3];
	struct tally_error err = {.status = TALLY_OK};
	struct tally_counter *counter = tally_counter_open_on(&fake->seam, "{cs,page-faults}:u,task-clock", NULL, &err);
	if (!counter)
		return err.status;
	enum tally_status status = tally_counter_read(counter, counts, 3, &err);
	tally_counter_close(counter);
	return status;
}

static enum tally_status the_public_ring(struct fake_kernel *fake)
{
	const struct perf_attr attr = {.type = EVENT_SOFTWARE};
	struct tally_error err = {.status = TALLY_OK};
	struct tally_ring_options options = {.aux_bytes = 4096};
	int fd = fake->seam.perf_event_open(fake, &attr, 0, -1, -1, 0);
	struct tally_ring *ring = tally_ring_open_on(&fake->seam, fd, &options, &err);
	tally_ring_close(ring);
	fake->seam.close(fake, fd);
	return ring ? TALLY_OK : err.status;
}

/* Checks that a use of the library survives the failure of each allocation. */
static void fail_each(enum tally_status (*use)(struct fake_kernel *fake))
{
	static struct fake_kernel fake;
	char *root = fake_root_load("vm-without-pmu");
	enum tally_status status = TALLY_NOMEM;
	for (size_t n = 0; status != TALLY_OK; n++) {
		fake_kernel_init(&fake, root);
		text_room(&fake.log, 1 << 16);
		failing_malloc_begin(n);
		status = use(&fake);
		long held = failing_malloc_held();
		bool failed = failing_malloc_end();
		assert_int_equal(held, 0);
		assert_int_equal(fake.open_count, 0);
		assert_true(status == TALLY_OK || (failed && status == TALLY_NOMEM));
		fake_kernel_deinit(&fake);
		assert_true(n < 10000);
	}
	fake_root_remove(root);
}

static void each_allocation_of_the_public_counter_may_fail(void **state)
{
	fail_each(the_public_counter);
}

static void each_allocation_of_the_public_ring_may_fail(void **state)
{
	fail_each(the_public_ring);
}

static void each_allocation_may_fail(void **state)
{
	static struct fake_kernel fake;
	char *root = fake_root_load("vm-without-pmu");
	enum tally_status status = TALLY_NOMEM;
	for (size_t n = 0; status != TALLY_OK; n++) {
		fake_kernel_init(&fake, root);
		fake_kernel_refuse(&fake, EVENT_HARDWARE, FAKE_ANY, ENOENT);
		/* Reserves memory for the log of the fake kernel, which must not fail. */
		text_room(&fake.log, 1 << 16);
		failing_malloc_begin(n);
		status = all_of_it(&fake);
		long held = failing_malloc_held();
		bool failed = failing_malloc_end();
		if (held != 0)
			fail_msg("n %zu held %ld status %d", n, held, (int)status);
		assert_int_equal(fake.open_count, 0);
		assert_true(status == TALLY_OK || failed);
		if (status != TALLY_OK)
			assert_int_equal(status, TALLY_NOMEM);
		fake_kernel_deinit(&fake);
		assert_true(n < 10000);
	}
	fake_root_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_may_fail),
		cmocka_unit_test(each_allocation_of_the_public_counter_may_fail),
		cmocka_unit_test(each_allocation_of_the_public_ring_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
