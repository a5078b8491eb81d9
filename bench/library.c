/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.c - measures the overhead of libtally over its system calls: a region of four events, and 1,000 counters on
 * a process of 500 threads. For bench/run.py, which computes the medians.
 *
 * usage: library. Prints "NAME BARE TALLY RATIO", nanoseconds of CPU time each; the two variants alternate, and the
 * ratio is the median of the ratios per round.
 */
#include <dirent.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <tally/region.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	25
#define REGIONS 20000
#define THREADS 500
#define EVENTS	2 /* Events per thread. */

static const uint64_t region_events[] = {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
	PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS};
static volatile uint64_t sink;

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

static void print_row(const char *name, double *bare, double *tally)
{
	double ratios[ROUNDS];
	for (int i = 0; i < ROUNDS; i++)
		ratios[i] = tally[i] / bare[i];
	printf("%s %.0f %.0f %.3f\n", name, median(bare), median(tally), median(ratios));
}

static int open_bare(uint64_t config, pid_t thread, int group, uint64_t format)
{
	struct perf_event_attr attr = {0};
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = config;
	attr.read_format = format;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &attr, thread, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* Two reads of a group are the minimum cost of a region if the counters cannot be read directly. */
static double region_bare(int leader)
{
	uint64_t before[16], after[16];
	double start = now_ns();
	for (int i = 0; i < REGIONS; i++) {
		if (read(leader, before, sizeof(before)) < 0 || read(leader, after, sizeof(after)) < 0)
			die("cannot read the bare group");
		for (int k = 0; k < 4; k++)
			sink = after[3 + 2 * k] - before[3 + 2 * k];
	}
	return (now_ns() - start) / REGIONS;
}

static double region_tally(struct tally_counter *counter)
{
	struct tally_mark mark;
	uint64_t values[4];
	double start = now_ns();
	for (int i = 0; i < REGIONS; i++) {
		if (tally_region_begin(counter, &mark) != TALLY_OK ||
			tally_region_end(counter, &mark, values, 4) != TALLY_OK)
			die("cannot read the region");
		sink = values[0];
	}
	return (now_ns() - start) / REGIONS;
}

static void bench_regions(void)
{
	double bare[ROUNDS], tally[ROUNDS];
	struct tally_error err;
	uint64_t format =
		PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	int leader = open_bare(region_events[0], 0, -1, format);
	for (int i = 1; i < 4; i++)
		if (leader < 0 || open_bare(region_events[i], 0, leader, format) < 0)
			die("cannot open the bare group");
	struct tally_counter *counter =
		tally_counter_open("{task-clock,page-faults,context-switches,cpu-migrations}:u", NULL, &err);
	if (!counter)
		die(err.text);
	for (int i = 0; i < ROUNDS; i++) {
		bare[i] = region_bare(leader);
		tally[i] = region_tally(counter);
	}
	print_row("region", bare, tally);
	tally_counter_close(counter);
}

static pthread_barrier_t barrier;

static void *wait_for_the_end(void *nothing)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return nothing;
}

/* Reads the threads from /proc, as a caller without a list of them must, and then opens each event with one call. */
static double open_all_bare(void)
{
	static int fds[2 * THREADS * EVENTS];
	static pid_t threads[2 * THREADS];
	size_t count = 0, opened = 0;
	double start = now_ns();
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	while (folder && (entry = readdir(folder)) && count < 2 * THREADS)
		if (entry->d_name[0] != '.')
			threads[count++] = atoi(entry->d_name);
	if (folder)
		closedir(folder);
	for (int event = 0; event < EVENTS; event++)
		for (size_t i = 0; i < count; i++)
			fds[opened++] = open_bare(region_events[event + 1], threads[i], -1, 3);
	double took = now_ns() - start;
	if (count != THREADS + 1)
		die("not all threads are listed");
	for (size_t i = 0; i < opened; i++)
		if (fds[i] < 0 || close(fds[i]) != 0)
			die("cannot open a bare counter");
	return took;
}

static double open_all_tally(void)
{
	struct tally_counter_options options;
	struct tally_error err;
	tally_counter_options_init(&options);
	options.all_threads = true;
	double start = now_ns();
	struct tally_counter *counter = tally_counter_open("page-faults:u,context-switches:u", &options, &err);
	double took = now_ns() - start;
	if (!counter)
		die(err.text);
	if (tally_counter_part_count(counter) != (THREADS + 1) * EVENTS)
		die("not all threads are counted");
	tally_counter_close(counter);
	return took;
}

static void bench_opening(void)
{
	double bare[ROUNDS], tally[ROUNDS];
	pthread_t threads[THREADS];
	pthread_attr_t attr;
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2048 && limit.rlim_max >= 2048) {
		limit.rlim_cur = 2048;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &attr, wait_for_the_end, NULL) != 0)
			die("cannot make 500 threads");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		bare[i] = open_all_bare();
		tally[i] = open_all_tally();
	}
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	print_row("opening", bare, tally);
}

int main(void)
{
	bench_regions();
	bench_opening();
	return 0;
}
