/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/tool_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/counting/aggregate.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/tool_events.h"
#include "unit_test.h"

#define EVENTS "user_time,system_time,duration_time,num_cpus_online"
#define TICK   (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK))

struct tools_bench {
	char *root;
	struct fake_kernel fake;
	struct event_catalogue *catalogue;
	struct event_list events;
	struct counter_set *set;
	struct tool_counts *tools;
	struct tally_error err;
};

static void file_put(const struct tools_bench *b, const char *path, const char *text)
{
	char name[512];
	snprintf(name, sizeof(name), "%s%s", b->root, path);
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void bench_start_with(struct tools_bench *b, const char *root, const char *events, struct target *target,
	const struct counter_options *opening, struct tool_counts_options options)
{
	b->root = fake_root_make(root);
	fake_kernel_init(&b->fake, b->root);
	assert_int_equal(event_catalogue_create(&b->fake.seam, &b->catalogue, &b->err), TALLY_OK);
	if (event_parse(b->catalogue, events, &b->events, &b->err) != TALLY_OK)
		fail_msg("%s", b->err.text);
	assert_int_equal(counter_set_open(&b->fake.seam, &b->events, target, opening, &b->set, &b->err), TALLY_OK);
	assert_int_equal(tool_counts_create(b->set, &options, &b->tools, &b->err), TALLY_OK);
}

static void bench_start(struct tools_bench *b, const char *root, const char *events, struct target *target,
	struct tool_counts_options options)
{
	bench_start_with(b, root, events, target, &(const struct counter_options){0}, options);
}

static void bench_end(struct tools_bench *b)
{
	tool_counts_destroy(b->tools);
	counter_set_close(b->set);
	event_list_deinit(&b->events);
	event_catalogue_destroy(b->catalogue);
	fake_kernel_deinit(&b->fake);
	fake_root_remove(b->root);
}

static struct timeval time_of(uint64_t ns)
{
	return (struct timeval){(time_t)(ns / 1000000000u), (suseconds_t)(ns % 1000000000u / 1000)};
}

static uint64_t value(const struct tools_bench *b, size_t event, size_t cell)
{
	return b->set->counters[event].counts[cell].value;
}

#define NAME_OF_EVIL   "12 (a) R 9) S 1 1 1 0 -1 0 0 0 0 0"
#define STAT(times)    NAME_OF_EVIL " " times " 20 0 1 0 5\n"
#define FAULTS(all)    "12 (a) R 9) S 1 1 1 0 -1 0 " all " 20 0 1 0 5\n"
#define SWITCHES(a, b) "Name: a\\nTgid:\t12\\nvoluntary_ctxt_switches:\t" a "\\nnonvoluntary_ctxt_switches:\t" b "\\n\n"
#define ONLINE	       "/sys/devices/system/cpu/online: 0-1\n/proc/sys/kernel/perf_event_paranoid: 0\n"

/* The counts are differences since enabling, from the fields after the last parenthesis; disabled periods are not
 * counted. */
static void a_process_has_its_own_times(void **state)
{
	struct tools_bench b = {0};
	int cpus[] = {-1};
	pid_t threads[] = {12, 13};
	struct target target = {.cpus = cpus, .cpu_count = 1, .threads = threads, .thread_count = 2};
	(void)state;
	bench_start(&b,
		ONLINE "/proc/12/stat: " STAT("100 50 900 900") "/proc/12/status: Name: a\\nTgid: 12\\n\n"
								"/proc/13/status: Name: a\\nTgid: 12\\n\n",
		EVENTS, &target, (struct tool_counts_options){.is_whole_process = true});
	assert_true(tool_counts_fades(b.tools));
	tool_counts_enable(b.tools, 1000);
	file_put(&b, "/proc/12/stat", STAT("130 57 990 990"));
	tool_counts_read(b.tools, 5000);
	assert_int_equal(value(&b, 0, 0), 30 * TICK);
	assert_int_equal(value(&b, 0, 1), 0); /* The first thread has the counts of the process. */
	assert_int_equal(value(&b, 1, 0), 7 * TICK);
	assert_int_equal(value(&b, 2, 0), 4000);
	assert_int_equal(value(&b, 3, 0), 2);
	tool_counts_disable(b.tools, 6000);
	file_put(&b, "/proc/12/stat", STAT("500 500 0 0"));
	tool_counts_enable(b.tools, 10000);
	file_put(&b, "/proc/12/stat", STAT("501 502 0 0"));
	tool_counts_read(b.tools, 10500);
	assert_int_equal(value(&b, 0, 0), 31 * TICK);
	assert_int_equal(value(&b, 1, 0), 9 * TICK);
	assert_int_equal(value(&b, 2, 0), 5500);
	/* If the file is missing or cannot be parsed, the last value remains. */
	file_put(&b, "/proc/12/stat", "12 (a) Z 1 2 3");
	tool_counts_read(b.tools, 11500);
	assert_int_equal(value(&b, 0, 0), 31 * TICK);
	bench_end(&b);
}

static void threads_have_their_own(void **state)
{
	struct tools_bench b = {0};
	int cpus[] = {-1};
	pid_t threads[] = {12, 13};
	struct target target = {.cpus = cpus, .cpu_count = 1, .threads = threads, .thread_count = 2};
	(void)state;
	bench_start(&b, ONLINE "/proc/12/task/12/stat: " STAT("1 1 0 0") "/proc/13/task/13/stat: " STAT("2 2 0 0"),
		EVENTS, &target, (struct tool_counts_options){0});
	tool_counts_enable(b.tools, 0);
	file_put(&b, "/proc/12/task/12/stat", STAT("11 1 0 0"));
	file_put(&b, "/proc/13/task/13/stat", STAT("2 22 0 0"));
	tool_counts_read(b.tools, 10);
	assert_int_equal(value(&b, 0, 0), 10 * TICK);
	assert_int_equal(value(&b, 0, 1), 0);
	assert_int_equal(value(&b, 1, 1), 20 * TICK);
	bench_end(&b);
}

/* Running descendants, those that were waited for, and the exact times of wait4 at the end are included. */
static void a_command_has_its_descendants(void **state)
{
	struct tools_bench b = {0};
	int cpus[] = {-1};
	pid_t threads[] = {12};
	struct target target = {
		.cpus = cpus, .cpu_count = 1, .threads = threads, .thread_count = 1, .is_command = true};
	(void)state;
	bench_start(&b,
		ONLINE "/proc/12/stat: " STAT(
			"1 2 10 20") "/proc/12/task/12/children: 14 15\n"
				     "/proc/14/stat: " STAT("100 200 0 0") "/proc/14/task/14/"
									   "children: 16\n"
									   "/proc/16/stat: " STAT("1000 2000 0 0"),
		EVENTS, &target, (struct tool_counts_options){.is_command = true});
	assert_false(tool_counts_fades(b.tools));
	file_put(&b, "/proc/12/task/12/children", "");
	file_put(&b, "/proc/12/stat", STAT("0 0 0 0"));
	tool_counts_enable(b.tools, 0);
	file_put(&b, "/proc/12/task/12/children", "14 15");
	file_put(&b, "/proc/12/stat", STAT("1 2 10 20"));
	tool_counts_read(b.tools, 10);
	assert_int_equal(value(&b, 0, 0), 1111 * TICK);
	assert_int_equal(value(&b, 1, 0), 2222 * TICK);
	file_put(&b, "/proc/12/task/12/children", ""); /* A child ended between two reads. */
	tool_counts_read(b.tools, 20);
	assert_int_equal(value(&b, 0, 0), 1111 * TICK);
	tool_counts_end(b.tools,
		&(struct rusage){.ru_utime = time_of(1111 * TICK + 77000), .ru_stime = time_of(2222 * TICK + 88000)});
	tool_counts_disable(b.tools, 30);
	tool_counts_read(b.tools, 30);
	assert_int_equal(value(&b, 0, 0), 1111 * TICK + 77000);
	assert_int_equal(value(&b, 1, 0), 2222 * TICK + 88000);
	assert_int_equal(value(&b, 2, 0), 30);
	bench_end(&b);
}

/* User time includes that of niced tasks. Events that are not per CPU have the same value for each CPU. */
static void cpus_have_their_times(void **state)
{
	struct tools_bench b = {0};
	int cpus[] = {0, 1};
	pid_t threads[] = {-1};
	struct target target = {
		.cpus = cpus, .cpu_count = 2, .threads = threads, .thread_count = 1, .is_system_wide = true};
	struct aggregation aggregation;
	struct aggregate results[2];
	(void)state;
	bench_start(&b, ONLINE "/proc/stat: cpu  9 9 9 9\\ncpu0 1 1 1 0\\ncpu1 2 2 2 0\\ncpu10 7 7 7 7\\nintr 1 2\\n\n",
		EVENTS, &target, (struct tool_counts_options){0});
	tool_counts_enable(b.tools, 0);
	file_put(&b, "/proc/stat", "cpu  9 9 9 9\ncpu0 11 101 5 0\ncpu1 3 2 2 0\ncpu10 900 900 900\ncpu1\n");
	tool_counts_read(b.tools, 1000);
	assert_int_equal(value(&b, 0, 0), 110 * TICK);
	assert_int_equal(value(&b, 0, 1), 1 * TICK);
	assert_int_equal(value(&b, 1, 0), 4 * TICK);
	assert_int_equal(aggregation_make(&b.fake.seam, b.set, AGGREGATE_CPU, &aggregation, &b.err), TALLY_OK);
	aggregate_counter(&aggregation, &b.set->counters[2], NULL, true, results);
	assert_true(results[0].value == 1000 && results[1].value == 1000);
	struct count before[2] = {{400, 400, 400}, {400, 400, 400}};
	aggregate_counter(&aggregation, &b.set->counters[2], before, true, results);
	assert_int_equal(results[1].value, 600);
	before[0].value = before[1].value = 2;
	aggregate_counter(&aggregation, &b.set->counters[3], before, true, results);
	assert_int_equal(results[0].value, 2); /* A constant is not a difference. */
	aggregation_deinit(&aggregation);
	aggregation = (struct aggregation){.mode = AGGREGATE_ALL, .len = 1};
	aggregate_counter(&aggregation, &b.set->counters[0], NULL, true, results);
	assert_int_equal(results[0].value, 111 * TICK);
	aggregate_counter(&aggregation, &b.set->counters[2], NULL, true, results);
	assert_int_equal(results[0].value, 1000);
	bench_end(&b);
}

/* Unknown values are not reported as 0. */
static void what_is_not_known_is_refused(void **state)
{
	struct tools_bench b = {0};
	int cpus[] = {0};
	pid_t all[] = {-1}, task[] = {12};
	struct target wide = {.cpus = cpus, .cpu_count = 1, .threads = all, .thread_count = 1, .is_system_wide = true};
	(void)state;
	bench_start(&b, ONLINE, EVENTS, &wide, (struct tool_counts_options){0});
	assert_false(counter_is_supported(&b.set->counters[0]));
	assert_string_equal(b.set->counters[1].reason, "/proc/stat is not available");
	assert_true(counter_is_supported(&b.set->counters[2]));
	bench_end(&b);
	b = (struct tools_bench){0};
	struct target both = {.cpus = cpus, .cpu_count = 1, .threads = task, .thread_count = 1};
	bench_start(&b, ONLINE, EVENTS, &both, (struct tool_counts_options){0});
	assert_false(counter_is_supported(&b.set->counters[0]));
	bench_end(&b);
}

/* Tool events are unknown to the kernel, so they are removed from its groups, whatever their position. */
static void tool_events_leave_their_groups(void **state)
{
	struct tools_bench b = {0};
	int cpus[] = {-1};
	pid_t threads[] = {12};
	struct target target = {.cpus = cpus, .cpu_count = 1, .threads = threads, .thread_count = 1};
	(void)state;
	bench_start(&b, ONLINE, "{duration_time,page-faults,user_time,cs}", &target, (struct tool_counts_options){0});
	assert_int_equal(b.set->counters[0].open_count, 0);
	assert_int_equal(b.set->counters[1].leader, 1);
	assert_int_equal(b.set->counters[2].leader, 2);
	assert_int_equal(b.set->counters[3].leader, 1);
	assert_true(b.set->counters[1].open_count == 1 && b.set->counters[3].open_count == 1);
	bench_end(&b);
}

/* No perf event is opened, and events that /proc does not have are refused with a reason. */
static void software_events_are_counted_without_events(void **state)
{
	struct tools_bench b = {0};
	int cpus[] = {-1};
	pid_t threads[] = {12};
	struct target target = {.cpus = cpus, .cpu_count = 1, .threads = threads, .thread_count = 1};
	const struct counter_options options = {.opens_nothing = true};
	(void)state;
	bench_start_with(&b,
		ONLINE "/proc/12/stat: " FAULTS("5 0 1 0 100 50 0 0") "/proc/12/status: " SWITCHES(
			"3", "4") "/proc/12/task/12/x: \n/proc/self/sched: a\\nse.nr_migrations : "
				  "1\\n\n/proc/12/sched: a\\nse.nr_migrations : 6\\n\n",
		"{page-faults,task-clock},cycles,page-faults:u,cs,task-clock:u,cpu-migrations,user_time,minor-faults,"
		"alignment-faults",
		&target, &options, (struct tool_counts_options){.is_whole_process = true, .replaces_events = true});
	tool_counts_enable(b.tools, 1000);
	file_put(&b, "/proc/12/stat", FAULTS("25 0 3 0 110 51 0 0"));
	file_put(&b, "/proc/12/status",
		"Name: a\nTgid:\t12\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t8\n");
	tool_counts_read(b.tools, 5000);
	for (size_t i = 0; i < b.set->len; i++)
		assert_int_equal(b.set->counters[i].open_count, 0);
	assert_int_equal(value(&b, 0, 0), 22);
	assert_int_equal(value(&b, 1, 0), 11 * TICK);
	assert_int_equal(b.set->counters[1].counts[0].running_ns, 4000);
	assert_false(counter_is_supported(&b.set->counters[2]));
	assert_non_null(strstr(b.set->counters[2].reason, "--simulate counts it in a model"));
	assert_non_null(strstr(b.set->counters[3].reason, "omit the modifier"));
	assert_int_equal(value(&b, 4, 0), 8);
	assert_int_equal(value(&b, 5, 0), 11 * TICK);
	assert_int_equal(value(&b, 6, 0), 0);
	assert_int_equal(value(&b, 7, 0), 10 * TICK);
	assert_int_equal(value(&b, 8, 0), 20);
	assert_non_null(strstr(b.set->counters[9].reason, "only perf events count it"));
	bench_end(&b);
}

/* The number of CPU migrations of a command is unknown if other processes may have ended before it: the last value
 * remains. */
static void migrations_of_a_family_are_not_known(void **state)
{
	struct tools_bench b = {0};
	int cpus[] = {-1};
	pid_t threads[] = {12};
	struct target target = {
		.cpus = cpus, .cpu_count = 1, .threads = threads, .thread_count = 1, .is_command = true};
	const struct counter_options options = {.opens_nothing = true};
	(void)state;
	bench_start_with(&b,
		ONLINE "/proc/12/stat: " FAULTS("5 0 1 0 100 50 0 0") "/proc/12/status: " SWITCHES(
			"3", "4") "/proc/12/task/12/x: \n/proc/self/sched: a\\nse.nr_migrations : "
				  "1\\n\n/proc/12/sched: a\\nse.nr_migrations : 6\\n\n",
		"cpu-migrations,cs", &target, &options,
		(struct tool_counts_options){.is_command = true, .replaces_events = true});
	tool_counts_enable(b.tools, 0);
	file_put(&b, "/proc/12/sched", "a\nse.nr_migrations : 8\n");
	tool_counts_read(b.tools, 10);
	assert_int_equal(value(&b, 0, 0), 2);
	tool_counts_end(b.tools, &(struct rusage){.ru_nvcsw = 50, .ru_nivcsw = 60});
	tool_counts_disable(b.tools, 30);
	tool_counts_read(b.tools, 30);
	assert_int_equal(value(&b, 0, 0), 2);
	assert_int_equal(b.set->counters[0].counts[0].running_ns, 10);
	assert_int_equal(value(&b, 1, 0), 103);
	assert_int_equal(b.set->counters[1].counts[0].running_ns, 30);
	bench_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_its_own_times),
		cmocka_unit_test(threads_have_their_own),
		cmocka_unit_test(a_command_has_its_descendants),
		cmocka_unit_test(cpus_have_their_times),
		cmocka_unit_test(what_is_not_known_is_refused),
		cmocka_unit_test(tool_events_leave_their_groups),
		cmocka_unit_test(software_events_are_counted_without_events),
		cmocka_unit_test(migrations_of_a_family_are_not_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
