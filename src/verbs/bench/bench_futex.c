/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/bench/bench_futex.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#ifndef PR_FUTEX_HASH
#define PR_FUTEX_HASH		78
#define PR_FUTEX_HASH_SET_SLOTS 1
#define PR_FUTEX_HASH_GET_SLOTS 2
#endif
#define DEFAULT_FUTEXES 1024
#define MAX_FUTEXES	(1u << 24)

const char *bench_futex_kind(const struct bench_futex *job)
{
	return job->shared ? "shared" : "private";
}

long bench_futex_call(const struct bench_futex *job, uint32_t *futex, int operation, uint32_t value, uintptr_t timeout,
	uint32_t *second)
{
	return syscall(
		__NR_futex, futex, operation | (job->shared ? 0 : FUTEX_PRIVATE_FLAG), value, timeout, second, 0);
}

int bench_futex_begin(
	const struct bench *bench, const struct command *command, int argc, char **argv, struct bench_futex *job)
{
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, job, &rest);
	if (code != CLI_GO_ON)
		return code;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (job->threads == 0)
		job->threads = cpus > 0 ? (uint64_t)cpus : 1;
	if (rest < argc)
		return cli_usagef(bench->cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (job->threads > BENCH_FUTEX_MAX_THREADS || job->futexes > MAX_FUTEXES || job->runtime > 86400)
		return cli_usagef(bench->cli, command, "threads,futexes,runtime",
			"at most %d threads, %u futexes of each, and a day", BENCH_FUTEX_MAX_THREADS, MAX_FUTEXES);
	if (job->mlockall && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		return bench_fail(bench, "cannot lock the memory (ulimit -l)");
	if (job->buckets && prctl(PR_FUTEX_HASH, PR_FUTEX_HASH_SET_SLOTS, job->buckets, 0) != 0)
		return bench_fail(bench, errno == EINVAL
						 ? "this kernel cannot set the number of buckets (from Linux 6.16 "
						   "on, a power of two)"
						 : "cannot set the number of buckets");
	return CLI_GO_ON;
}

void bench_futex_say_buckets(const struct bench *bench, const struct bench_futex *job)
{
	int slots = prctl(PR_FUTEX_HASH, PR_FUTEX_HASH_GET_SLOTS);
	if (bench->format == BENCH_JSON)
		return;
	if (slots > 0 && job->buckets)
		printf("Futex hashing: %d hash buckets\n", slots);
	else if (slots > 0)
		printf("Futex hashing: auto resized to %d buckets\n", slots);
	else
		printf("Futex hashing: global hash\n");
}

/* ---- threads that run for some seconds ---- */

struct bench_futex_worker {
	const struct bench_futex *job;
	struct bench_futex_crowd *crowd;
	uint32_t *futexes;
	uint64_t operations;
};

struct bench_futex_crowd {
	pthread_barrier_t barrier;
	int ends; /* Accessed atomically. */
};

/* Waits for a value that the futex does not have, so that the kernel looks up the futex and returns at once. */
static void *bench_futex_hash(void *data)
{
	struct bench_futex_worker *worker = data;
	const struct bench_futex *job = worker->job;
	uint64_t done = 0;
	(void)pthread_barrier_wait(&worker->crowd->barrier);
	while (!__atomic_load_n(&worker->crowd->ends, __ATOMIC_RELAXED))
		for (uint64_t i = 0; i < job->futexes; i++, done++)
			if (bench_futex_call(job, &worker->futexes[i], FUTEX_WAIT, 1234, 0, NULL) == 0 ||
				(errno != EAGAIN && errno != EINTR))
				return data;
	worker->operations = done;
	return NULL;
}

/* Locks and unlocks the futex by system calls only, without the fast path in user space. */
static void *bench_futex_lock(void *data)
{
	struct bench_futex_worker *worker = data;
	const struct bench_futex *job = worker->job;
	uint64_t done = 0;
	(void)pthread_barrier_wait(&worker->crowd->barrier);
	while (!__atomic_load_n(&worker->crowd->ends, __ATOMIC_RELAXED)) {
		while (bench_futex_call(job, worker->futexes, FUTEX_LOCK_PI, 0, 0, NULL) != 0)
			if (errno != EINTR && errno != EAGAIN)
				return data;
		(void)usleep(1);
		if (bench_futex_call(job, worker->futexes, FUTEX_UNLOCK_PI, 0, 0, NULL) != 0)
			return data;
		done++;
	}
	worker->operations = done;
	return NULL;
}

/* Returns false after a message. */
static bool bench_futex_run_crowd(const struct bench *bench, const struct bench_futex *job,
	struct bench_futex_worker *workers, void *(*work)(void *))
{
	struct bench_futex_crowd crowd = {.ends = 0};
	pthread_t *threads = calloc(job->threads, sizeof(*threads));
	uint64_t started = 0;
	bool is_good = threads && pthread_barrier_init(&crowd.barrier, NULL, (unsigned)job->threads + 1) == 0;
	for (uint64_t i = 0; i < job->threads && is_good; i++) {
		workers[i].job = job;
		workers[i].crowd = &crowd;
		errno = pthread_create(&threads[i], NULL, work, &workers[i]);
		is_good = errno == 0;
		started += is_good;
	}
	if (!is_good) {
		(void)bench_fail(bench, "cannot start threads (see ulimit -u)");
		if (started) /* The started threads block at a barrier that is on this stack. */
			exit(EXIT_FAILED);
		return free(threads), false;
	}
	(void)pthread_barrier_wait(&crowd.barrier);
	(void)sleep((unsigned)job->runtime);
	__atomic_store_n(&crowd.ends, 1, __ATOMIC_RELAXED);
	for (uint64_t i = 0; i < started; i++) {
		void *failed;
		is_good = pthread_join(threads[i], &failed) == 0 && !failed && is_good;
	}
	(void)pthread_barrier_destroy(&crowd.barrier);
	free(threads);
	if (!is_good)
		(void)bench_fail(bench, "futex");
	return is_good;
}

static void bench_futex_average(
	const struct bench *bench, const struct bench_futex *job, const struct bench_futex_worker *workers)
{
	static const char *const names[] = {"threads", "operations_per_second", "error_percent", "seconds", NULL};
	struct running_mean mean = {0};
	for (uint64_t i = 0; i < job->threads; i++)
		running_mean_add(&mean, (double)workers[i].operations / (double)job->runtime);
	const double values[] = {
		(double)job->threads, mean.mean, running_mean_error_percent(&mean), (double)job->runtime};
	bench_figures(bench, names, values);
	if (bench->format != BENCH_JSON)
		printf("%sAveraged %.0f operations/sec (+- %.2f%%), total secs = %" PRIu64 "\n",
			job->silent ? "" : "\n", mean.mean, running_mean_error_percent(&mean), job->runtime);
	bench_futex_say_buckets(bench, job);
}

/* ---- hash ---- */

static const struct option hash_options[] = {
	BENCH_FUTEX_OPTIONS,
	BENCH_FUTEX_RUNTIME,
	{"futexes", 'f', OPTION_U64, "n", BENCH_FUTEX_ROW(futexes), .help = "Specify amount of futexes per threads"},
};
static const struct option_table hash_table = {hash_options, ARRAY_LEN(hash_options), false};

static int bench_futex_hash_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_futex job = {.runtime = 10, .futexes = DEFAULT_FUTEXES};
	int code = bench_futex_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	if (job.futexes == 0 || job.runtime == 0)
		return cli_usagef(bench->cli, command, "futexes,runtime", "hash needs a futex and a second");
	struct bench_futex_worker *workers = calloc(job.threads, sizeof(*workers));
	bool is_good = workers != NULL;
	for (uint64_t i = 0; i < job.threads && is_good; i++)
		is_good = (workers[i].futexes = calloc(job.futexes, sizeof(uint32_t))) != NULL;
	if (!is_good)
		return bench_fail(bench, "cannot allocate the futexes");
	if (bench->format != BENCH_JSON)
		printf("Run summary [PID %d]: %" PRIu64 " threads, each operating on %" PRIu64
		       " [%s] futexes for %" PRIu64 " secs.\n\n",
			(int)getpid(), job.threads, job.futexes, bench_futex_kind(&job), job.runtime);
	is_good = bench_futex_run_crowd(bench, &job, workers, bench_futex_hash);
	for (uint64_t i = 0; i < job.threads && is_good && !job.silent && bench->format != BENCH_JSON; i++)
		printf("[thread %2" PRIu64 "] futexes: %p ... %p [ %" PRIu64 " ops/sec ]\n", i,
			(void *)workers[i].futexes, (void *)&workers[i].futexes[job.futexes - 1],
			workers[i].operations / job.runtime);
	if (is_good)
		bench_futex_average(bench, &job, workers);
	for (uint64_t i = 0; i < job.threads; i++)
		free(workers[i].futexes);
	free(workers);
	return is_good ? 0 : EXIT_FAILED;
}

/* ---- lock-pi ---- */

static const struct option bench_futex_lock_options[] = {
	BENCH_FUTEX_OPTIONS,
	BENCH_FUTEX_RUNTIME,
	{"multi", 'M', OPTION_FLAG, BENCH_FUTEX_ROW(multi), .help = "Use multiple futexes"},
};
static const struct option_table bench_futex_lock_table = {
	bench_futex_lock_options, ARRAY_LEN(bench_futex_lock_options), false};

static int bench_futex_lock_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_futex job = {.runtime = 10};
	int code = bench_futex_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	if (job.runtime == 0)
		return cli_usagef(bench->cli, command, "runtime", "lock-pi needs a second");
	struct bench_futex_worker *workers = calloc(job.threads, sizeof(*workers));
	uint32_t *futexes = calloc(job.threads, 64);
	if (!workers || !futexes)
		return bench_fail(bench, "cannot allocate the futexes");
	for (uint64_t i = 0; i < job.threads; i++)
		workers[i].futexes = futexes + (job.multi ? i * 64 / sizeof(*futexes) : 0);
	if (bench->format != BENCH_JSON)
		printf("Run summary [PID %d]: %" PRIu64 " threads doing pi lock/unlock pairing for %" PRIu64
		       " secs.\n\n",
			(int)getpid(), job.threads, job.runtime);
	bool is_good = bench_futex_run_crowd(bench, &job, workers, bench_futex_lock);
	for (uint64_t i = 0; i < job.threads && is_good && !job.silent && bench->format != BENCH_JSON; i++)
		printf("[thread %3" PRIu64 "] futex: %p [ %" PRIu64 " ops/sec ]\n", i, (void *)workers[i].futexes,
			workers[i].operations / job.runtime);
	if (is_good)
		bench_futex_average(bench, &job, workers);
	free(workers);
	free(futexes);
	return is_good ? 0 : EXIT_FAILED;
}

static const struct benchmark bench_futex_benchmarks[] = {
	{"hash", "Benchmark for futex hash table", &hash_table, bench_futex_hash_run},
	{"wake", "Benchmark for futex wake calls", &bench_futex_wake_table, bench_futex_wake_run},
	{"wake-parallel", "Benchmark for parallel futex wake calls", &bench_futex_wake_parallel_table,
		bench_futex_wake_parallel_run},
	{"requeue", "Benchmark for futex requeue calls", &bench_futex_requeue_table, bench_futex_requeue_run},
	{"lock-pi", "Benchmark for futex lock_pi calls", &bench_futex_lock_table, bench_futex_lock_run},
};
const struct bench_collection bench_futex = {"futex", "Futex stressing benchmarks", "Run all futex benchmarks",
	bench_futex_benchmarks, ARRAY_LEN(bench_futex_benchmarks)};
