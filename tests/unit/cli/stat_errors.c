/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that stat_run reads counts during the run if events share counters, and only then. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/counting/scaling_error.h"
#include "unit_test.h"
#include "verbs/stat/stat_run.h"

#define READS_ENOUGH (2 * SCALING_WINDOWS_LEAST)

static struct bench {
	char *root;
	struct fake_kernel *fake;
	struct event_catalogue *catalogue;
	struct event_list events;
	struct target target;
	struct stat_job job;
	struct stat_session session;
	bool is_shared;
	uint64_t reads, value;
} bench;

static char *const command[] = {"sleep", "60", NULL};

/* Alternates between rates of 100 and 300; if the counter is shared, each event runs half of the time. After enough
 * reads, the command ends. */
static ssize_t read_growing(void *context, int fd, void *buffer, size_t size)
{
	bench.reads++;
	bench.value += bench.reads % 2 ? 100 : 300;
	uint64_t words[] = {bench.value, bench.reads * 1000000, bench.reads * (bench.is_shared ? 500000 : 1000000)};
	if (size < sizeof(words))
		return -1;
	memcpy(buffer, words, sizeof(words));
	if (bench.reads == READS_ENOUGH)
		kill(bench.target.threads[0], SIGTERM);
	return sizeof(words);
}

static int bench_setup(void **state)
{
	struct bench *b = &bench;
	struct tally_error err;
	const struct target_request request = {.has_command = true};
	memset(b, 0, sizeof(*b));
	b->root = fake_root_make("/sys/bus/event_source/devices/software/type: 1\n"
				 "/sys/bus/event_source/devices/cpu/type: 4\n/sys/devices/system/cpu/online: 0\n");
	b->fake = calloc(1, sizeof(*b->fake));
	fake_kernel_init(b->fake, b->root);
	b->fake->seam.read = read_growing;
	b->job = (struct stat_job){.settings.counting = {.runs = 1, .is_scaling = true}, .command = command};
	b->session = (struct stat_session){.kernel = &b->fake->seam,
		.job = &b->job,
		.target = &b->target,
		.events = &b->events,
		.wants_errors = true};
	assert_int_equal(event_catalogue_create(&b->fake->seam, &b->catalogue, &err), TALLY_OK);
	assert_int_equal(target_resolve(&b->fake->seam, &request, &b->target, &err), TALLY_OK);
	return 0;
}

static int bench_teardown(void **state)
{
	struct bench *b = &bench;
	assert_int_equal(b->fake->open_count, 0);
	stat_session_deinit(&b->session);
	event_list_deinit(&b->events);
	event_catalogue_destroy(b->catalogue);
	target_deinit(&b->target);
	fake_kernel_deinit(b->fake);
	free(b->fake);
	fake_root_remove(b->root);
	return 0;
}

static void run(const char *events)
{
	struct tally_error err = {0};
	assert_int_equal(event_parse(bench.catalogue, events, &bench.events, &err), TALLY_OK);
	if (stat_run(&bench.session, NULL, NULL, &err) != TALLY_OK)
		fail_msg("%s", err.text);
}

static void a_shared_counter_is_read_meanwhile(void **state)
{
	bench.is_shared = true;
	run("cycles");
	/* There are more reads if the machine is slow to notice that the command has ended. */
	assert_true(bench.reads > READS_ENOUGH);
	/* 16 rates around 200 differ by 200, and half of the time is missed: 2 * sqrt(200^2 / 2 / 2 / 16) / 200. */
	double error = sqrt(bench.session.error_squares[0]);
	double expected = 0.25 * sqrt((double)READS_ENOUGH / (double)(bench.reads - 1));
	if (fabs(error - expected) >= 0.03)
		fail_msg("error %f, not %f, %llu reads", error, expected, (unsigned long long)bench.reads);
}

static void a_counter_of_its_own_is_left_alone(void **state)
{
	bench.job.settings.counting.timeout_ms = 1000;
	run("cycles");
	assert_true(bench.reads < SCALING_WINDOWS_LEAST);
	assert_true(bench.session.error_squares[0] == 0);
}

static void software_events_are_left_alone(void **state)
{
	bench.job.settings.counting.timeout_ms = 200;
	run("context-switches");
	assert_int_equal(bench.reads, 1);
}

static void nobody_asks(void **state)
{
	bench.job.settings.counting.timeout_ms = 200;
	bench.is_shared = true;
	bench.session.wants_errors = false;
	run("cycles");
	assert_int_equal(bench.reads, 1);
	assert_null(bench.session.error_squares);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_shared_counter_is_read_meanwhile),
		TEST(a_counter_of_its_own_is_left_alone),
		TEST(software_events_are_left_alone),
		TEST(nobody_asks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
