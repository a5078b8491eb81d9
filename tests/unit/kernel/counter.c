/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/counting/aggregate.h"
#include "kernel/counting/reading.h"
#include "kernel/counting/scaling.h"
#include "kernel/events/event_parser.h"
#include "unit_test.h"

struct bench {
	char *root;
	struct fake_kernel fake;
	struct event_catalogue *catalogue;
	struct event_list events;
	struct target target;
	struct counter_set *set;
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

static enum tally_status bench_open(
	struct bench *b, const char *events, struct target_request request, struct counter_options options)
{
	if (event_parse(b->catalogue, events, &b->events, &b->err) != TALLY_OK)
		fail_msg("%s", b->err.text);
	if (target_resolve(&b->fake.seam, &request, &b->target, &b->err) != TALLY_OK)
		fail_msg("%s", b->err.text);
	if (b->target.is_command)
		b->target.threads[0] = 77;
	return counter_set_open(&b->fake.seam, &b->events, &b->target, &options, &b->set, &b->err);
}

static const struct target_request command = {.has_command = true};
static const struct counter_options on_exec = {.inherit = true, .enable_on_exec = true, .may_drop_kernel = true};
static const struct counter_options plain = {.inherit = true};

static void a_command_is_counted_from_its_exec(void **state)
{
	struct bench *b = *state;
	assert_int_equal(bench_open(b, "task-clock,cs:u", command, on_exec), TALLY_OK);
	assert_string_equal(fake_kernel_log(&b->fake),
		"open cpu=-1 pid=77 group=-1 software/0x1 read=3 disabled inherit enable_on_exec exclude_guest = 1000\n"
		"open cpu=-1 pid=77 group=-1 software/0x3 read=3 disabled inherit exclude_kernel exclude_hv "
		"enable_on_exec "
		"exclude_guest = 1001\n");
}

static void all_cpus_are_enabled_one_by_one(void **state)
{
	struct bench *b = *state;
	assert_int_equal(bench_open(b, "cs", (struct target_request){.system_wide = true}, plain), TALLY_OK);
	counter_set_enable(b->set);
	counter_set_disable(b->set);
	assert_string_equal(fake_kernel_log(&b->fake),
		"open cpu=0 pid=-1 group=-1 software/0x3 read=3 disabled inherit exclude_guest = 1000\n"
		"open cpu=1 pid=-1 group=-1 software/0x3 read=3 disabled inherit exclude_guest = 1001\n"
		"enable 1000\nenable 1001\ndisable 1000\ndisable 1001\n");
}

static void each_thread_of_a_process_is_opened(void **state)
{
	struct bench *b = *state;
	fake_kernel_end_thread(&b->fake, 14);
	assert_int_equal(bench_open(b, "cs", (struct target_request){.pids = "12,20"}, plain), TALLY_OK);
	assert_string_equal(fake_kernel_log(&b->fake),
		"open cpu=-1 pid=12 group=-1 software/0x3 read=3 disabled inherit exclude_guest = 1000\n"
		"open cpu=-1 pid=14 group=-1 software/0x3 read=3 disabled inherit exclude_guest = ESRCH\n"
		"open cpu=-1 pid=20 group=-1 software/0x3 read=3 disabled inherit exclude_guest = 1001\n");
	assert_true(counter_is_supported(&b->set->counters[0]));
}

static void a_group_follows_its_leader(void **state)
{
	struct bench *b = *state;
	fake_kernel_count(&b->fake, EVENT_SOFTWARE, SW_CONTEXT_SWITCHES, 40, 200, 100);
	fake_kernel_count(&b->fake, EVENT_SOFTWARE, SW_PAGE_FAULTS, 7, 1, 1);
	assert_int_equal(bench_open(b, "{cs,faults}", command, on_exec), TALLY_OK);
	assert_string_equal(fake_kernel_log(&b->fake),
		"open cpu=-1 pid=77 group=-1 software/0x3 read=15 disabled inherit enable_on_exec exclude_guest = "
		"1000\n"
		"open cpu=-1 pid=77 group=1000 software/0x2 read=15 inherit exclude_guest = 1001\n");
	assert_int_equal(counter_set_read(b->set, &b->err), TALLY_OK);
	struct count cs = counter_count(&b->set->counters[0], 0, 0), faults = counter_count(&b->set->counters[1], 0, 0);
	assert_int_equal(count_scale(cs), 80);
	assert_int_equal(faults.value, 7);
	assert_int_equal(faults.enabled_ns, 200); /* The times are those of the group. */
	assert_int_equal(count_scale(faults), 14);
}

static void a_probe_and_its_group_are_not_inherited(void **state)
{
	struct bench *b = *state;
	assert_int_equal(event_parse(b->catalogue, "{cs,faults},faults", &b->events, &b->err), TALLY_OK);
	assert_true(event_is_inheritable(&b->events, 0));
	b->events.specs[1].probe_path = "/bin/true";
	assert_false(event_is_inheritable(&b->events, 0));
	assert_false(event_is_inheritable(&b->events, 1));
	assert_true(event_is_inheritable(&b->events, 2));
	assert_int_equal(target_resolve(&b->fake.seam, &command, &b->target, &b->err), TALLY_OK);
	b->target.threads[0] = 77;
	assert_int_equal(counter_set_open(&b->fake.seam, &b->events, &b->target, &on_exec, &b->set, &b->err), TALLY_OK);
	const char *log = fake_kernel_log(&b->fake);
	assert_non_null(strstr(log, "software/0x3 read=15 disabled enable_on_exec"));
	assert_non_null(strstr(log, "software/0x2 read=3 disabled inherit enable_on_exec"));
}

static void a_missing_event_keeps_its_reason_and_the_rest_counts(void **state)
{
	struct bench *b = *state;
	fake_kernel_refuse(&b->fake, EVENT_HARDWARE, FAKE_ANY, ENOENT);
	assert_int_equal(bench_open(b, "{cycles,cs,faults},instructions", command, on_exec), TALLY_OK);
	assert_false(counter_is_supported(&b->set->counters[0]));
	assert_non_null(strstr(b->set->counters[0].reason, "no PMU in this virtual machine"));
	assert_int_equal(b->set->counters[1].leader, 1); /* This event leads the rest of the group. */
	assert_int_equal(b->set->counters[2].leader, 1);
	assert_false(counter_is_supported(&b->set->counters[3]));
	assert_int_equal(counter_set_read(b->set, &b->err), TALLY_OK);
	assert_int_equal(counter_count(&b->set->counters[2], 0, 0).value, 1);
}

static void where_the_kernel_is_closed_user_mode_is_counted_and_said(void **state)
{
	struct bench *b = *state;
	fake_kernel_require(&b->fake, EVENT_SOFTWARE, ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL));
	assert_int_equal(bench_open(b, "faults", command, on_exec), TALLY_OK);
	assert_string_equal(b->events.specs[0].name, "faults:u");
	assert_true(b->set->dropped_kernel);
}

/* Events that occur only in the kernel would read as 0 in user mode; they are not counted, and the others are counted
 * in a new group. */
static void what_happens_in_the_kernel_is_not_counted_as_0(void **state)
{
	struct bench *b = *state;
	fake_kernel_require(&b->fake, EVENT_SOFTWARE, ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL));
	assert_int_equal(
		bench_open(b, "{cs,faults,migrations,task-clock},cgroup-switches,cs:u", command, on_exec), TALLY_OK);
	static const bool is_counted[] = {false, true, false, true, false, true};
	for (size_t i = 0; i < b->set->len; i++) {
		const struct counter *counter = &b->set->counters[i];
		assert_true(counter_is_supported(counter));
		assert_int_equal(counter->open_count, is_counted[i]);
		assert_true(is_counted[i] == (counter->reason == NULL));
	}
	assert_string_equal(b->events.specs[0].name, "cs");
	assert_non_null(strstr(b->set->counters[2].reason, "measuring kernel mode needs 1 or less"));
	assert_int_equal(b->set->counters[1].leader, 1);
	assert_int_equal(b->set->counters[3].leader, 1);
}

static void an_explicit_mode_is_not_changed(void **state)
{
	struct bench *b = *state;
	fake_kernel_require(&b->fake, EVENT_SOFTWARE, ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL));
	assert_int_equal(bench_open(b, "faults:k", command, on_exec), TALLY_DENIED);
	assert_int_equal(b->err.errnum, EACCES);
	assert_non_null(strstr(b->err.text, "perf_event_paranoid is 2 and measuring kernel mode needs 1 or less"));
}

static void all_cpus_without_privilege_names_the_gate(void **state)
{
	struct bench *b = *state;
	fake_kernel_refuse(&b->fake, EVENT_SOFTWARE, FAKE_ANY, EACCES);
	enum tally_status status = bench_open(b, "cs", (struct target_request){.cpus = "0"}, on_exec);
	assert_int_equal(status, TALLY_DENIED);
	assert_non_null(strstr(b->err.text, "needs 0 or less"));
}

static void a_weak_group_breaks(void **state)
{
	struct bench *b = *state;
	assert_int_equal(event_parse(b->catalogue, "cs", &b->events, &b->err), TALLY_OK);
	fake_kernel_refuse(&b->fake, EVENT_HARDWARE, HW_INSTRUCTIONS, EINVAL);
	assert_int_equal(bench_open(b, "{faults,instructions,migrations}:W", command, plain), TALLY_OK);
	assert_false(counter_is_supported(&b->set->counters[2])); /* The event is refused alone as well. */
	assert_int_equal(b->set->counters[2].leader, 2);
	assert_int_equal(b->set->counters[3].leader, 1);
}

static void a_group_too_large_for_the_pmu_says_so(void **state)
{
	struct bench *b = *state;
	b->fake.group_limit = 2;
	assert_int_equal(bench_open(b, "{cycles,instructions,branches}", command, on_exec), TALLY_OK);
	assert_true(counter_is_supported(&b->set->counters[1]));
	assert_non_null(strstr(b->set->counters[2].reason, "no counter left for it beside the others of its group"));
	/* The event is refused alone as well. */
	fake_kernel_refuse(&b->fake, EVENT_HARDWARE, HW_BRANCH_INSTRUCTIONS, EINVAL);
	counter_set_close(b->set);
	event_list_deinit(&b->events);
	target_deinit(&b->target);
	assert_int_equal(bench_open(b, "{cycles,branches}", command, on_exec), TALLY_OK);
	assert_null(strstr(b->set->counters[1].reason, "beside the others of its group"));
}

static void too_many_files_says_how_many(void **state)
{
	struct bench *b = *state;
	struct rlimit before, low = {100, 100};
	getrlimit(RLIMIT_NOFILE, &before);
	low.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_NOFILE, &low);
	b->fake.fd_limit = 3;
	assert_int_equal(bench_open(b, "cs,faults", (struct target_request){.pids = "12,20"}, plain), TALLY_LIMIT);
	assert_non_null(strstr(b->err.text, "these events need 70"));
	setrlimit(RLIMIT_NOFILE, &before);
}

static void counts_add_up_by_place(void **state)
{
	struct bench *b = *state;
	struct aggregation a;
	struct aggregate sums[2];
	assert_int_equal(bench_open(b, "cs", (struct target_request){.system_wide = true}, plain), TALLY_OK);
	b->set->counters[0].counts[0] = (struct count){10, 100, 50}; /* Scaled to 20. */
	b->set->counters[0].counts[1] = (struct count){5, 100, 100};
	assert_int_equal(aggregation_make(&b->fake.seam, b->set, AGGREGATE_SOCKET, &a, &b->err), TALLY_OK);
	assert_int_equal(a.len, 1);
	aggregate_counter(&a, &b->set->counters[0], NULL, true, sums);
	assert_int_equal(sums[0].value, 25);
	assert_int_equal(sums[0].cpu_count, 2);
	aggregation_deinit(&a);
	assert_int_equal(aggregation_make(&b->fake.seam, b->set, AGGREGATE_CORE, &a, &b->err), TALLY_OK);
	assert_int_equal(a.len, 2);
	struct count previous[2] = {{4, 60, 30}, {5, 100, 100}};
	aggregate_counter(&a, &b->set->counters[0], previous, true, sums);
	assert_int_equal(sums[0].value, 12); /* 6 in 20 of 40 ns. */
	assert_int_equal(sums[1].value, 0);
	assert_int_equal(a.places[1].core, 1);
	aggregation_deinit(&a);
}

static void a_count_that_never_ran_is_unknown(void **state)
{
	assert_int_equal(count_scale((struct count){9, 100, 0}), 0);
	assert_int_equal(count_scale((struct count){9, 100, 100}), 9);
	assert_int_equal(count_scale((struct count){UINT64_MAX / 2, 4, 3}), UINT64_C(12297829382473034409));
	assert_int_equal(count_scale((struct count){UINT64_MAX, 4, 3}), UINT64_MAX);
	assert_true(count_is_scaled((struct count){1, 2, 1}));
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_command_is_counted_from_its_exec),
		WITH_BENCH(all_cpus_are_enabled_one_by_one),
		WITH_BENCH(each_thread_of_a_process_is_opened),
		WITH_BENCH(a_group_follows_its_leader),
		WITH_BENCH(a_probe_and_its_group_are_not_inherited),
		WITH_BENCH(a_missing_event_keeps_its_reason_and_the_rest_counts),
		WITH_BENCH(where_the_kernel_is_closed_user_mode_is_counted_and_said),
		WITH_BENCH(what_happens_in_the_kernel_is_not_counted_as_0),
		WITH_BENCH(an_explicit_mode_is_not_changed),
		WITH_BENCH(all_cpus_without_privilege_names_the_gate),
		WITH_BENCH(a_weak_group_breaks),
		WITH_BENCH(a_group_too_large_for_the_pmu_says_so),
		WITH_BENCH(too_many_files_says_how_many),
		WITH_BENCH(counts_add_up_by_place),
		cmocka_unit_test(a_count_that_never_ran_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
