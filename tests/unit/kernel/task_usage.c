/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/task_usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "unit_test.h"

#define TICK		 (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK))
#define STAT(state, all) "12 (a) R 9) " state " 1 1 1 0 -1 0 " all " 20 0 1 0 5\n"
#define STATUS(a, b)	 "Name: a\\nvoluntary_ctxt_switches:\t" a "\\nnonvoluntary_ctxt_switches:\t" b "\\n\n"
#define SCHED(n)	 "a (12, #threads: 1)\\nse.exec_start : 77.5\\nse.nr_migrations   :    " n "\\nnr_switches : 9\\n\n"
#define ALL		 (USAGE_BIT(USAGE_KINDS) - 1)

struct usage_bench {
	char *root;
	struct fake_kernel fake;
	struct usage_watch watch;
	struct task_usage usage;
};

static void usage_bench_start(struct usage_bench *b, const char *root, enum usage_scope scope)
{
	*b = (struct usage_bench){.root = fake_root_make(root)};
	fake_kernel_init(&b->fake, b->root);
	b->watch = (struct usage_watch){.kernel = &b->fake.seam, .scope = scope, .task = 12, .wanted = ALL};
}

static void usage_bench_end(struct usage_bench *b)
{
	usage_watch_deinit(&b->watch);
	fake_kernel_deinit(&b->fake);
	fake_root_remove(b->root);
}

static void usage_put(const struct usage_bench *b, const char *path, const char *text)
{
	char name[512];
	snprintf(name, sizeof(name), "%s%s", b->root, path);
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Faults and times are those of the whole process; switches and migrations are added up over threads, including ended
 * ones. */
static void a_process_keeps_what_its_ended_threads_had(void **state)
{
	struct usage_bench b;
	(void)state;
	usage_bench_start(&b,
		"/proc/12/stat: " STAT("R",
			"100 900 7 900 10 20 900 900") "/proc/12/task/12/stat: x\n/proc/12/task/13/stat: x\n"
						       "/proc/12/status: " STATUS("5", "6") "/proc/13/status: " STATUS(
							       "50",
							       "60") "/proc/12/sched: " SCHED("3") "/proc/13/"
												   "sched: " SCHED("3"
														   "0"),
		USAGE_OF_PROCESS);
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.values[USAGE_MINOR_FAULTS], 100);
	assert_int_equal(b.usage.values[USAGE_MAJOR_FAULTS], 7);
	assert_int_equal(b.usage.values[USAGE_USER], 10 * TICK);
	assert_int_equal(b.usage.values[USAGE_SYSTEM], 20 * TICK);
	/* There is no per-process CPU clock under another root. */
	assert_int_equal(b.usage.values[USAGE_CPU], 30 * TICK);
	assert_int_equal(b.usage.values[USAGE_SWITCHES], 121);
	assert_int_equal(b.usage.values[USAGE_MIGRATIONS], 33);
	assert_int_equal(b.usage.known, ALL);
	/* Thread 13 ends; then a new thread, with lower counts, has the same TID. */
	char name[512];
	snprintf(name, sizeof(name), "%s/proc/13/status", b.root);
	assert_int_equal(unlink(name), 0);
	usage_put(&b, "/proc/12/status",
		"voluntary_ctxt_switches: 9\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t6\n");
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.values[USAGE_SWITCHES], 7 + 6 + 110);
	assert_int_equal(b.usage.values[USAGE_MIGRATIONS], 33);
	usage_put(&b, "/proc/13/status", "x\nvoluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t1\n");
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.values[USAGE_SWITCHES], 7 + 6 + 110 + 2);
	usage_put(&b, "/proc/13/status", "x\nvoluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t1\n");
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.values[USAGE_SWITCHES], 7 + 6 + 110 + 2 + 1);
	/* A failed read ends nothing: the thread is not counted twice when it can be read again. */
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkdir(name, 0700), 0);
	assert_false(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(rmdir(name), 0);
	usage_put(&b, "/proc/13/status", "x\nvoluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t2\n");
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.values[USAGE_SWITCHES], 7 + 6 + 110 + 2 + 2);
	usage_bench_end(&b);
}

static void a_thread_has_nanoseconds(void **state)
{
	struct usage_bench b;
	(void)state;
	usage_bench_start(&b,
		"/proc/12/task/12/stat: " STAT("R", "1 0 2 0 3 4 0 0") "/proc/12/task/12/schedstat: 123456789 5 6\n"
								       "/proc/12/status: " STATUS(
									       "5", "6") "/proc/12/sched: " SCHED("3"),
		USAGE_OF_THREAD);
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.values[USAGE_CPU], 123456789);
	assert_int_equal(b.usage.values[USAGE_MINOR_FAULTS], 1);
	assert_int_equal(b.usage.values[USAGE_SWITCHES], 11);
	usage_put(&b, "/proc/12/task/12/schedstat", "many\n");
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.values[USAGE_CPU], 7 * TICK);
	usage_bench_end(&b);
}

/* Counts include running children and children that were waited for. Text that cannot be parsed, and numbers out of
 * range, add nothing. */
static void a_command_has_its_family(void **state)
{
	struct usage_bench b;
	(void)state;
	usage_bench_start(&b,
		"/proc/12/stat: " STAT("S",
			"1 2 3 4 0 0 0 0") "/proc/12/task/12/children: 13 14 x 99999999999\n"
					   "/proc/13/stat: " STAT("S",
						   "10 20 30 40 0 0 0 0") "/proc/13/task/13/children: \n"
									  "/proc/14/stat: 14 (a) R 1 2 -3\n"
									  "/proc/12/status: " STATUS("5", "6") "/proc/12/sched: " SCHED(
										  "3") "/proc/13/"
										       "status: " STATUS("184"
													 "467"
													 "440"
													 "737"
													 "095"
													 "516"
													 "15",
											       "6") "/proc/"
												    "13/"
												    "sched: "
												    "none\n",
		USAGE_OF_COMMAND);
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.values[USAGE_MINOR_FAULTS], 33);
	assert_int_equal(b.usage.values[USAGE_MAJOR_FAULTS], 77);
	assert_int_equal(b.usage.values[USAGE_SWITCHES], 11);
	assert_int_equal(b.usage.values[USAGE_MIGRATIONS], 3);
	/* The file of thread 13 has no such line. */
	assert_int_equal(b.usage.known, ALL & ~USAGE_BIT(USAGE_MIGRATIONS));
	usage_put(&b, "/proc/13/sched", "a\nse.nr_migrations : 4\n");
	usage_put(&b, "/proc/13/status", "Name: a\n");
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.known, ALL & ~USAGE_BIT(USAGE_SWITCHES));
	usage_put(&b, "/proc/13/status", "Name: a\nvoluntary_ctxt_switches: 1\nnonvoluntary_ctxt_switches: 1\n");
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.known, ALL);
	/* At its end it is unknown whether there were other threads: there is no per-process CPU clock under another
	 * root. */
	usage_put(&b, "/proc/12/stat", STAT("Z", "1 2 3 4 0 0 0 0"));
	assert_true(usage_watch_look(&b.watch, &b.usage));
	assert_int_equal(b.usage.known, ALL & ~USAGE_BIT(USAGE_MIGRATIONS));
	usage_put(&b, "/proc/12/stat", "12 (a");
	assert_false(usage_watch_look(&b.watch, &b.usage));
	usage_bench_end(&b);
}

/* Reads the usage of a child of this test before it is waited for, and compares it with the result of wait4(2), for a
 * child alone or with a child of its own. */
static void the_end_agrees_with_the_look_before(bool has_child)
{
	struct usage_watch watch = {
		.kernel = kernel_seam_linux(), .scope = USAGE_OF_COMMAND, .wanted = ALL & ~USAGE_BIT(USAGE_SWITCHES)};
	struct task_usage look, end;
	struct rusage usage;
	siginfo_t info;
	int status;
	if (access("/proc/self/sched", R_OK) != 0)
		skip();
	watch.task = fork();
	assert_true(watch.task >= 0);
	if (watch.task == 0) {
		for (volatile unsigned i = 0; i < 3000000; i++)
			;
		pid_t child = has_child ? fork() : -1;
		if (child == 0)
			_exit(0);
		if (child > 0)
			waitpid(child, &status, 0);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)watch.task, &info, WEXITED | WNOWAIT), 0);
	assert_true(usage_watch_look(&watch, &look));
	assert_int_equal(wait4(watch.task, &status, 0, &usage), watch.task);
	end = task_usage_of_end(&usage);
	assert_int_equal((look.known & USAGE_BIT(USAGE_MIGRATIONS)) == 0, has_child);
	assert_int_equal(end.known & USAGE_BIT(USAGE_MIGRATIONS), 0);
	assert_int_equal(look.values[USAGE_MINOR_FAULTS], end.values[USAGE_MINOR_FAULTS]);
	assert_int_equal(look.values[USAGE_MAJOR_FAULTS], end.values[USAGE_MAJOR_FAULTS]);
	assert_true(end.values[USAGE_MINOR_FAULTS] > 0);
	if (!has_child)
		/* wait4 truncates to microseconds. */
		assert_true(look.values[USAGE_CPU] - end.values[USAGE_CPU] < 2000);
	assert_false(usage_watch_look(&watch, &look)); /* The process does not exist any more. */
	usage_watch_deinit(&watch);
}

static void a_single_process_at_its_end(void **state)
{
	(void)state;
	the_end_agrees_with_the_look_before(false);
}

static void a_process_with_a_child_at_its_end(void **state)
{
	(void)state;
	the_end_agrees_with_the_look_before(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_keeps_what_its_ended_threads_had),
		cmocka_unit_test(a_thread_has_nanoseconds),
		cmocka_unit_test(a_command_has_its_family),
		cmocka_unit_test(a_single_process_at_its_end),
		cmocka_unit_test(a_process_with_a_child_at_its_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
