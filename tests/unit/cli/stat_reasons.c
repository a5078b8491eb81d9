/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the messages for rows without a count. */
#include "verbs/stat/stat_reasons.h"

#include <math.h>
#include <string.h>

#include "fake_root.h"
#include "unit_test.h"

#define EVENTS 4

struct bench {
	struct event_spec specs[EVENTS];
	struct event_list events;
	struct stat_cell cells[EVENTS];
	bool supported[EVENTS];
	char *reasons[EVENTS];
	struct stat_job job;
	struct target target;
	struct kernel_seam kernel;
	struct stat_session session;
};

static void bench_init(struct bench *b, const char *root)
{
	*b = (struct bench){.kernel.root = root};
	b->events = (struct event_list){.specs = b->specs, .len = EVENTS};
	for (uint32_t i = 0; i < EVENTS; i++) {
		b->specs[i] = (struct event_spec){.leader = i, .member_count = 1, .attr.type = EVENT_HARDWARE};
		b->cells[i].enabled_ns.mean = b->cells[i].running_ns.mean = 1e6;
		b->supported[i] = true;
	}
	b->specs[0].name = "one";
	b->specs[1].name = "two";
	b->specs[2].name = "three";
	b->specs[3].name = "four";
	b->session = (struct stat_session){.kernel = &b->kernel,
		.job = &b->job,
		.target = &b->target,
		.events = &b->events,
		.aggregation.len = 1,
		.cells = b->cells,
		.supported = b->supported,
		.reasons = b->reasons};
}

static void never_ran(struct bench *b, size_t event, bool was_enabled)
{
	b->cells[event].running_ns.mean = 0;
	b->cells[event].enabled_ns.mean = was_enabled ? 1e6 : 0;
}

static void expect(struct bench *b, const char *lines)
{
	struct text text = {0};
	stat_reasons_add(&text, "tally", &b->session);
	text_char(&text, '\0');
	assert_string_equal(text.data, lines);
	text_deinit(&text);
}

static void what_was_counted_needs_no_reason(void **state)
{
	struct bench b;
	bench_init(&b, "/nonexistent");
	expect(&b, "");
}

static void a_counter_that_stands_is_told(void **state)
{
	struct bench b;
	int any[] = {-1};
	bench_init(&b, "/nonexistent");
	b.target = (struct target){.cpus = any, .cpu_count = 1};
	b.cells[1].value.mean = b.cells[2].value.mean = b.cells[3].value.mean = 5;
	expect(&b,
		"tally: warning: implausible count of one: 0 cannot be right, because what is measured ran meanwhile: "
		"the PMU's counter stands\n");
}

static void equal_reasons_share_a_line(void **state)
{
	struct bench b;
	char lacks[] = "no PMU", held[] = "held by another user";
	bench_init(&b, "/nonexistent");
	for (size_t i = 0; i < EVENTS; i++)
		b.supported[i] = false;
	b.reasons[0] = b.reasons[2] = lacks;
	b.reasons[1] = held;
	expect(&b, "<not supported> one, three: no PMU\n<not supported> two: held by another user\n");
}

static void a_group_that_never_ran_says_so(void **state)
{
	struct bench b;
	char *root = fake_root_make("/proc/sys/kernel/nmi_watchdog: 1\n");
	bench_init(&b, root);
	b.specs[1].leader = 0;
	b.specs[0].member_count = 2;
	never_ran(&b, 0, true);
	never_ran(&b, 1, true);
	never_ran(&b, 3, true);
	expect(&b, "<not counted> one, two: its group needs 2 counters at once, and the PMU never had as many: make "
		   "it smaller, or let it be split (:W); the NMI watchdog has one: 'sudo sysctl "
		   "kernel.nmi_watchdog=0' frees it\n"
		   "<not counted> four: other events held the PMU's counters all the time (--plan says which); "
		   "the NMI watchdog has one: 'sudo sysctl kernel.nmi_watchdog=0' frees it\n");
	fake_root_remove(root);
}

static void each_way_never_to_be_enabled_has_its_words(void **state)
{
	struct bench b;
	bench_init(&b, "/nonexistent");
	b.specs[0].attr.flags = ATTR_FLAG(ATTR_BIT_PINNED);
	b.specs[1].cgroup = "a";
	b.specs[2].cpus = "4-7";
	b.specs[2].pmu = "cpu_atom";
	for (size_t i = 0; i < EVENTS; i++)
		never_ran(&b, i, false);
	expect(&b, "<not counted> one: it is pinned (:D), and the PMU had no counter free: the kernel gave it up\n"
		   "<not counted> two: no task of the cgroup ran\n"
		   "<not counted> three: nothing measured ran on the CPUs of PMU cpu_atom (4-7)\n"
		   "<not counted> four: nothing measured ran meanwhile\n");
	b.job.settings.counting.delay_ms = -1;
	expect(&b, "");
}

static void a_scaled_count_says_what_it_is_quality(void **state)
{
	struct bench b;
	double squares[EVENTS] = {0.02 * 0.02 * 4, NAN, 0, 0.5};
	bench_init(&b, "/nonexistent");
	b.job.settings.counting.is_scaling = true;
	b.session.run_len = 2;
	b.cells[0].running_ns.mean = 2.5e5;
	b.cells[1].running_ns.mean = 5e5;
	expect(&b,
		"tally: scaled, because other events had the counters at times: one (counted 25.0% of the time, too "
		"short to "
		"tell the error), two (counted 50.0% of the time, too short to tell the error); --passes counts each "
		"all the time\n");
	b.session.error_squares = squares;
	expect(&b, "tally: scaled, because other events had the counters at times: one (counted 25.0% of the time, "
		   "+- 2.0%), two "
		   "(counted 50.0% of the time, too short to tell the error); --passes counts each all the time\n");
	b.job.settings.counting.is_scaling = false;
	expect(&b, "");
}

static void a_long_list_of_names_is_cut(void **state)
{
	struct bench b;
	enum { MANY = 40 };
	struct event_spec specs[MANY];
	struct stat_cell cells[MANY] = {0};
	bool supported[MANY];
	char *reasons[MANY] = {0};
	struct text text = {0};
	bench_init(&b, "/nonexistent");
	for (uint32_t i = 0; i < MANY; i++) {
		specs[i] =
			(struct event_spec){.name = "e", .leader = i, .member_count = 1, .attr.type = EVENT_SOFTWARE};
		supported[i] = true;
	}
	b.events = (struct event_list){.specs = specs, .len = MANY};
	b.session.cells = cells;
	b.session.supported = supported;
	b.session.reasons = reasons;
	stat_reasons_add(&text, "tally", &b.session);
	text_char(&text, '\0');
	assert_non_null(strstr(text.data, "e, e and 8 more: nothing measured ran meanwhile\n"));
	text_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_counted_needs_no_reason),
		cmocka_unit_test(a_counter_that_stands_is_told),
		cmocka_unit_test(equal_reasons_share_a_line),
		cmocka_unit_test(a_group_that_never_ran_says_so),
		cmocka_unit_test(each_way_never_to_be_enabled_has_its_words),
		cmocka_unit_test(a_scaled_count_says_what_it_is_quality),
		cmocka_unit_test(a_long_list_of_names_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
