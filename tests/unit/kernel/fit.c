/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/fit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/counting/pmu_holders.h"
#include "kernel/events/event_parser.h"
#include "unit_test.h"

struct bench {
	char *root;
	struct fake_kernel fake;
	struct event_catalogue *catalogue;
	struct event_list events;
	struct target target;
	struct counter_set *set;
	struct fit_plan plan;
	struct tally_error err;
};

static int bench_setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	b->root = fake_root_load("vm-without-pmu");
	fake_kernel_init(&b->fake, b->root);
	assert_int_equal(event_catalogue_create(&b->fake.seam, &b->catalogue, &b->err), TALLY_OK);
	*state = b;
	return 0;
}

static int bench_teardown(void **state)
{
	struct bench *b = *state;
	fit_plan_deinit(&b->plan);
	counter_set_close(b->set);
	assert_int_equal(b->fake.open_count, 0);
	event_list_deinit(&b->events);
	event_catalogue_destroy(b->catalogue);
	target_deinit(&b->target);
	fake_kernel_deinit(&b->fake);
	fake_root_remove(b->root);
	free(b);
	return 0;
}

/* rounds has one digit per event: its round, or "-" if it needs none, "x" if it is refused, "!" if there is no room. */
static void expect_rounds(struct bench *b, const char *events, size_t anchor, const char *rounds)
{
	static const struct counter_options options = {.inherit = true};
	static const struct target_request request = {.has_command = true};
	if (event_parse(b->catalogue, events, &b->events, &b->err) != TALLY_OK)
		fail_msg("%s", b->err.text);
	assert_int_equal(target_resolve(&b->fake.seam, &request, &b->target, &b->err), TALLY_OK);
	b->target.threads[0] = 0;
	assert_int_equal(counter_set_open(&b->fake.seam, &b->events, &b->target, &options, &b->set, &b->err), TALLY_OK);
	size_t open = b->fake.open_count;
	assert_int_equal(fit_plan_make(b->set, anchor, &b->plan, &b->err), TALLY_OK);
	assert_int_equal(b->fake.open_count, open);
	char found[32] = {0};
	for (size_t i = 0; i < b->plan.len; i++) {
		static const char marks[] = {'-', '0', '!', 'x'};
		found[i] = marks[b->plan.states[i]];
		if (b->plan.states[i] == FIT_COUNTS)
			found[i] = (char)('0' + b->plan.rounds[i]);
	}
	assert_string_equal(found, rounds);
}

static void all_fit(void **state)
{
	struct bench *b = *state;
	b->fake.counters = 3;
	expect_rounds(b, "cycles,instructions,page-faults,branches", SIZE_MAX, "00-0");
	assert_int_equal(b->plan.round_count, 1);
}

static void more_than_the_counters(void **state)
{
	struct bench *b = *state;
	b->fake.counters = 2;
	expect_rounds(b, "cycles,instructions,branches,duration_time,branch-misses,cache-misses", SIZE_MAX, "001-12");
	assert_int_equal(b->plan.round_count, 3);
}

static void groups_stay_together(void **state)
{
	struct bench *b = *state;
	b->fake.counters = 3;
	expect_rounds(b, "{cycles,instructions},{branches,branch-misses},cache-misses", SIZE_MAX, "00110");
}

static void the_anchor_takes_a_counter_in_each_round(void **state)
{
	struct bench *b = *state;
	b->fake.counters = 2;
	expect_rounds(b, "instructions,cycles,branches,cache-misses", 0, "0012");
}

static void a_group_larger_than_the_pmu_has_no_room(void **state)
{
	struct bench *b = *state;
	b->fake.counters = 2;
	expect_rounds(b, "{cycles,instructions,branches},cache-misses", SIZE_MAX, "!!!0");
	assert_int_equal(b->plan.round_count, 1);
}

static void what_does_not_open_has_no_round(void **state)
{
	struct bench *b = *state;
	fake_kernel_refuse(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, ENOENT);
	expect_rounds(b, "cycles,instructions,context-switches", SIZE_MAX, "x0-");
}

static void the_watchdog_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *root;
		enum watchdog_state expected;
	} rows[] = {{"/proc/sys/kernel/nmi_watchdog: 1\n", WATCHDOG_HOLDS_COUNTER},
		{"/proc/sys/kernel/nmi_watchdog: 0\n", WATCHDOG_OFF}, {"/proc/version: x\n", WATCHDOG_UNKNOWN},
		{"/proc/sys/kernel/nmi_watchdog: yes\n", WATCHDOG_UNKNOWN}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *root = fake_root_make(rows[i].root);
		struct fake_kernel *fake = calloc(1, sizeof(*fake));
		fake_kernel_init(fake, root);
		assert_int_equal(watchdog_state(&fake->seam), rows[i].expected);
		struct pmu_holders holders;
		assert_int_equal(pmu_holders_find(&fake->seam, &holders, NULL), TALLY_OK);
		assert_int_equal(holders.len, 0);
		pmu_holders_deinit(&holders);
		fake_kernel_deinit(fake);
		free(fake);
		fake_root_remove(root);
	}
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(all_fit),
		BENCH_TEST(more_than_the_counters),
		BENCH_TEST(groups_stay_together),
		BENCH_TEST(the_anchor_takes_a_counter_in_each_round),
		BENCH_TEST(a_group_larger_than_the_pmu_has_no_room),
		BENCH_TEST(what_does_not_open_has_no_round),
		cmocka_unit_test(the_watchdog_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
