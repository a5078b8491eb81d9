/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "verbs/bench/bench.h"

#define BENCH_BREAKPOINT_MAX_THREADS 4096

struct bench_breakpoint {
	uint64_t breakpoints, parallelism, threads; /* Settings of the benchmark "thread". */
	uint64_t passive, active; /* Settings of the benchmark "enable". */
};

#define ROW(field) .offset = offsetof(struct bench_breakpoint, field)
static const struct option thread_options[] = {
	{"breakpoints", 'b', OPTION_U64, "n", ROW(breakpoints), .help = "Specify amount of breakpoints"},
	{"parallelism", 'p', OPTION_U64, "n", ROW(parallelism), .help = "Specify amount of parallelism"},
	{"threads", 't', OPTION_U64, "n", ROW(threads), .help = "Specify amount of threads"},
};
static const struct option enable_options[] = {
	{"passive", 'p', OPTION_U64, "n", ROW(passive), .help = "Specify amount of passive threads"},
	{"active", 'a', OPTION_U64, "n", ROW(active), .help = "Specify amount of active threads"},
};
#undef ROW
static const struct option_table thread_table = {thread_options, ARRAY_LEN(thread_options), false};
static const struct option_table enable_table = {enable_options, ARRAY_LEN(enable_options), false};

/* Opens a breakpoint on this thread and the threads that it will start. It never triggers. */
static int bench_breakpoint_open(void *address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .inherit = 1, .exclude_kernel = 1, .exclude_hv = 1};
	attr.bp_addr = (uintptr_t)address;
	attr.bp_type = HW_BREAKPOINT_RW;
	attr.bp_len = HW_BREAKPOINT_LEN_1;
	return (int)syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void *bench_breakpoint_nothing(void *data)
{
	return data;
}

/* Runs in each of the parallel threads: creates and joins job->threads threads, one after the other. */
static void *bench_breakpoint_parallel(void *data)
{
	const struct bench_breakpoint *job = data;
	pthread_t thread;
	for (uint64_t i = 0; i < job->threads; i++)
		if (pthread_create(&thread, NULL, bench_breakpoint_nothing, NULL) != 0 ||
			pthread_join(thread, NULL) != 0)
			return data;
	return NULL;
}

static bool bench_breakpoint_turn(struct bench_breakpoint *job)
{
	pthread_t *threads = calloc(job->parallelism, sizeof(*threads));
	uint64_t started = 0;
	while (threads && started < job->parallelism &&
		pthread_create(&threads[started], NULL, bench_breakpoint_parallel, job) == 0)
		started++;
	bool is_good = started == job->parallelism;
	for (uint64_t i = 0; i < started; i++) {
		void *failed;
		is_good = pthread_join(threads[i], &failed) == 0 && !failed && is_good;
	}
	free(threads);
	return is_good;
}

static int bench_breakpoint_measure_threads(const struct bench *bench, struct bench_breakpoint *job)
{
	static char watched[64];
	int fds[64];
	uint64_t opened = 0, ns = 0;
	while (opened < job->breakpoints && (fds[opened] = bench_breakpoint_open(&watched[opened])) >= 0)
		opened++;
	int errnum = errno;
	bool is_open = opened == job->breakpoints, is_good = is_open;
	for (unsigned i = 0; i < bench->repeats && is_good; i++) {
		uint64_t start = clock_ns();
		is_good = bench_breakpoint_turn(job);
		ns += clock_ns() - start;
	}
	for (uint64_t i = 0; i < opened; i++)
		close(fds[i]);
	if (!is_open) {
		errno = errnum;
		return bench_fail(
			bench, errnum == ENOSPC ? "this CPU has fewer breakpoints" : "cannot set a breakpoint");
	}
	if (!is_good)
		return bench_fail(bench, "cannot start threads");
	bench_say(bench, "# Created/joined %u threads with %" PRIu64 " breakpoints and %" PRIu64 " parallelism\n",
		bench->repeats, job->breakpoints, job->parallelism);
	uint64_t made = bench->repeats * job->parallelism * job->threads;
	bench_time(bench, &(struct bench_result){.operations = bench->format == BENCH_JSON ? made : 0, .ns = ns});
	double each = (double)ns / 1000 / (double)made;
	bench_say(bench, "\n %14f usecs/op\n", each);
	bench_say(bench, " %14f usecs/op/cpu\n", each * (double)job->parallelism);
	return 0;
}

static int bench_breakpoint_thread_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_breakpoint job = {.breakpoints = 1, .parallelism = 1, .threads = 1};
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job.breakpoints > 64 || job.parallelism == 0 ||
		job.parallelism > BENCH_BREAKPOINT_MAX_THREADS || job.threads == 0)
		return cli_usagef(bench->cli, command, "breakpoints,parallelism,threads",
			"thread needs at most 64 breakpoints, and 1 to %d for the parallelism",
			BENCH_BREAKPOINT_MAX_THREADS);
	return bench_breakpoint_measure_threads(bench, &job);
}

/* ---- enable: switching a breakpoint off and on while other threads have it ---- */

struct bench_breakpoint_beside {
	pthread_barrier_t barrier;
	int ends; /* Accessed atomically. */
};

static void *bench_breakpoint_passive(void *data)
{
	struct bench_breakpoint_beside *beside = data;
	(void)pthread_barrier_wait(&beside->barrier);
	while (!__atomic_load_n(&beside->ends, __ATOMIC_ACQUIRE))
		(void)usleep(1000);
	return NULL;
}

static void *bench_breakpoint_active(void *data)
{
	struct bench_breakpoint_beside *beside = data;
	(void)pthread_barrier_wait(&beside->barrier);
	while (!__atomic_load_n(&beside->ends, __ATOMIC_ACQUIRE))
		;
	return NULL;
}

static bool bench_breakpoint_toggle(int fd, unsigned repeats, uint64_t *ns)
{
	uint64_t start = clock_ns();
	for (unsigned i = 0; i < repeats; i++)
		if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) != 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
			return false;
	*ns = clock_ns() - start;
	return true;
}

static int bench_breakpoint_measure_enable(const struct bench *bench, const struct bench_breakpoint *job)
{
	static char watched;
	struct bench_breakpoint_beside beside = {0};
	uint64_t count = job->passive + job->active, started = 0, ns = 0;
	pthread_t *threads = calloc(count + 1, sizeof(*threads));
	int fd = threads ? bench_breakpoint_open(&watched) : -1;
	if (fd < 0 || pthread_barrier_init(&beside.barrier, NULL, (unsigned)count + 1) != 0)
		return free(threads), bench_fail(bench, "cannot set a breakpoint");
	while (started < count &&
		pthread_create(&threads[started], NULL,
			started < job->passive ? bench_breakpoint_passive : bench_breakpoint_active, &beside) == 0)
		started++;
	if (started < count) {
		/* The started threads block at the barrier until the process exits with this message. */
		return bench_fail(bench, "cannot start threads");
	}
	(void)pthread_barrier_wait(&beside.barrier);
	bool is_good = bench_breakpoint_toggle(fd, bench->repeats, &ns);
	__atomic_store_n(&beside.ends, 1, __ATOMIC_RELEASE);
	for (uint64_t i = 0; i < started; i++)
		(void)pthread_join(threads[i], NULL);
	free(threads);
	close(fd);
	if (!is_good)
		return bench_fail(bench, "cannot switch the breakpoint");
	bench_say(bench,
		"# Enabled/disabled breakpoint %u time with %" PRIu64 " passive and %" PRIu64 " active threads\n",
		bench->repeats, job->passive, job->active);
	bench_time(bench,
		&(struct bench_result){.operations = bench->format == BENCH_JSON ? bench->repeats : 0, .ns = ns});
	bench_say(bench, "\n %14f usecs/op\n", (double)ns / 1000 / bench->repeats);
	return 0;
}

static int bench_breakpoint_enable_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_breakpoint job = {0};
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job.passive > BENCH_BREAKPOINT_MAX_THREADS || job.active > BENCH_BREAKPOINT_MAX_THREADS)
		return cli_usagef(bench->cli, command, "passive,active", "enable takes at most %d threads of a kind",
			BENCH_BREAKPOINT_MAX_THREADS);
	return bench_breakpoint_measure_enable(bench, &job);
}

static const struct benchmark bench_breakpoint_benchmarks[] = {
	{"thread", "Benchmark thread start/finish with breakpoints", &thread_table, bench_breakpoint_thread_run},
	{"enable", "Benchmark breakpoint enable/disable", &enable_table, bench_breakpoint_enable_run},
};
const struct bench_collection bench_breakpoint = {"breakpoint", "Breakpoint benchmarks",
	"Run all breakpoint benchmarks", bench_breakpoint_benchmarks, ARRAY_LEN(bench_breakpoint_benchmarks)};
