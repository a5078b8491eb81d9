/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_passes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "unit_test.h"

struct bench {
	char *root;
	struct fake_kernel *fake;
	struct event_catalogue *catalogue;
	struct event_list events;
	struct target target;
	struct stat_job job;
	struct stat_session session;
	struct stat_passes passes;
	struct tally_error err;
};

static char *const command[] = {"/bin/true", NULL};

static int bench_setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	b->root = fake_root_load("vm-without-pmu");
	b->fake = calloc(1, sizeof(*b->fake));
	fake_kernel_init(b->fake, b->root);
	b->job = (struct stat_job){
		.settings.counting = {.runs = 1, .is_scaling = true, .has_passes = true}, .command = command};
	b->session = (struct stat_session){
		.kernel = &b->fake->seam, .job = &b->job, .target = &b->target, .events = &b->events};
	assert_int_equal(event_catalogue_create(&b->fake->seam, &b->catalogue, &b->err), TALLY_OK);
	*state = b;
	return 0;
}

static int bench_teardown(void **state)
{
	struct bench *b = *state;
	assert_int_equal(b->fake->open_count, 0);
	stat_session_deinit(&b->session);
	event_list_deinit(&b->events);
	event_catalogue_destroy(b->catalogue);
	target_deinit(&b->target);
	fake_kernel_deinit(b->fake);
	free(b->fake);
	fake_root_remove(b->root);
	free(b);
	return 0;
}

static void bench_run(struct bench *b, const char *events)
{
	const struct target_request request = {.has_command = true};
	if (event_parse(b->catalogue, events, &b->events, &b->err) != TALLY_OK)
		fail_msg("%s", b->err.text);
	assert_int_equal(target_resolve(&b->fake->seam, &request, &b->target, &b->err), TALLY_OK);
	if (stat_passes_run(&b->session, &b->passes, &b->err) != TALLY_OK)
		fail_msg("%s", b->err.text);
}

static void expect_note(const struct bench *b, const char *part)
{
	struct text t = {0};
	const struct stat_style style = {.thousands = ""};
	stat_passes_print(&t, &b->passes, &style);
	text_char(&t, '\0');
	if (t.failed || !strstr(t.data, part))
		fail_msg("no '%s' in\n%s", part, t.data);
	text_deinit(&t);
}

static double counted(const struct bench *b, size_t event)
{
	return b->session.cells[event].value.mean;
}

static void one_pass_where_all_fit(void **state)
{
	struct bench *b = *state;
	b->fake->counters = 3;
	bench_run(b, "cycles,instructions,page-faults");
	assert_int_equal(b->passes.count, 1);
	expect_note(b, "One pass");
}

static void each_event_is_counted_in_its_pass(void **state)
{
	struct bench *b = *state;
	b->fake->counters = 2;
	fake_kernel_count(b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, 100, 10, 10);
	fake_kernel_count(b->fake, EVENT_HARDWARE, HW_INSTRUCTIONS, 200, 10, 10);
	fake_kernel_count(b->fake, EVENT_HARDWARE, HW_BRANCH_INSTRUCTIONS, 300, 10, 10);
	fake_kernel_count(b->fake, EVENT_HARDWARE, HW_BRANCH_MISSES, 400, 10, 5);
	fake_kernel_refuse(b->fake, EVENT_HARDWARE, HW_CACHE_MISSES, ENOENT);
	bench_run(b, "cycles,instructions,branches,branch-misses,cache-misses,page-faults");
	assert_int_equal(b->passes.count, 3);
	assert_true(counted(b, 0) == 100 && counted(b, 1) == 200 && counted(b, 2) == 300);
	assert_true(counted(b, 3) == 800); /* This event is shared nevertheless. */
	assert_int_equal(b->passes.shared, 1);
	assert_false(b->session.supported[4]);
	assert_non_null(b->session.reasons[4]);
	assert_true(b->session.supported[5]);
	assert_int_equal(b->session.run_len, 1);
	expect_note(b, "3 passes; instructions, in each of them, is 0.00% apart at most: they agree (within 5%)");
	expect_note(b, "1 events were multiplexed all the same");
}

static void groups_are_not_torn(void **state)
{
	struct bench *b = *state;
	b->fake->counters = 2;
	b->job.settings.counting.runs = 3;
	fake_kernel_count(b->fake, EVENT_HARDWARE, HW_BRANCH_MISSES, 7, 10, 10);
	bench_run(b, "{cycles,cache-misses},{branches,branch-misses}");
	assert_int_equal(b->passes.count, 2);
	assert_true(counted(b, 3) == 7);
	assert_int_equal(b->session.cells[3].value.n, 3);
	expect_note(b, "2 passes; task-clock, in each of them");
}

static void disagreement_is_told(void **state)
{
	struct bench b = {.passes = {.count = 2,
				  .check_name = "instructions",
				  .low = 50,
				  .high = 100,
				  .allowed_percent = 5,
				  .was_counted = true}};
	(void)state;
	expect_note(&b, "50.00% apart at most: they DO NOT AGREE (more than 5%)");
	b.passes.was_counted = false;
	expect_note(&b, "whether they agree is not known");
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(one_pass_where_all_fit),
		BENCH_TEST(each_event_is_counted_in_its_pass),
		BENCH_TEST(groups_are_not_torn),
		cmocka_unit_test(disagreement_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
