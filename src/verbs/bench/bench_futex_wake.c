/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_futex_wake.c - measures how long it takes to wake threads that block on a futex, or to move them to another
 * futex. A turn starts when all threads block in the kernel; turns are repeated.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "verbs/bench/bench_futex.h"

#define BLOCK_US		 100
#define BENCH_FUTEX_WAKE_WAIT_MS 10000

struct bench_futex_turn {
	const struct bench_futex *job;
	uint32_t *first, *second; /* All threads block on the first futex; some benchmarks move them to the second. */
	pthread_t *threads;
	pid_t *tids; /* Accessed atomically. */
	uint64_t started, next;
	unsigned woken; /* Number of threads that have returned from the futex call; accessed atomically. */
	bool requeues_pi;
};

static void *bench_futex_block(void *data)
{
	struct bench_futex_turn *turn = data;
	uint64_t index = __atomic_fetch_add(&turn->next, 1, __ATOMIC_RELAXED);
	int operation = turn->requeues_pi ? FUTEX_WAIT_REQUEUE_PI : FUTEX_WAIT;
	__atomic_store_n(&turn->tids[index], gettid(), __ATOMIC_RELEASE);
	while (bench_futex_call(turn->job, turn->first, operation, 0, 0, turn->second) != 0 && errno == EINTR)
		;
	/* The thread was requeued and now owns the second futex; unlocking it wakes the next one. */
	if (turn->requeues_pi)
		(void)bench_futex_call(turn->job, turn->second, FUTEX_UNLOCK_PI, 0, 0, NULL);
	__atomic_fetch_add(&turn->woken, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Returns whether the thread is in an interruptible sleep. */
static bool bench_futex_sleeps(pid_t tid)
{
	char path[64], *text;
	size_t len;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	if (tid == 0 || file_read(path, 4096, &text, &len, NULL) != TALLY_OK)
		return false;
	const char *end = memrchr(text, ')', len);
	bool sleeps = end && end[1] == ' ' && end[2] == 'S';
	free(text);
	return sleeps;
}

/* Starts the threads and waits until all of them block. */
static bool bench_futex_turn_start(struct bench_futex_turn *turn)
{
	const struct bench_futex *job = turn->job;
	int64_t due_ms = clock_ms() + BENCH_FUTEX_WAKE_WAIT_MS;
	turn->started = turn->next = 0;
	turn->woken = 0;
	memset(turn->tids, 0, job->threads * sizeof(*turn->tids));
	while (turn->started < job->threads) {
		errno = pthread_create(&turn->threads[turn->started], NULL, bench_futex_block, turn);
		if (errno)
			return false;
		turn->started++;
	}
	for (uint64_t i = 0; i < job->threads; i++)
		while (!bench_futex_sleeps(__atomic_load_n(&turn->tids[i], __ATOMIC_ACQUIRE)) && clock_ms() < due_ms)
			(void)usleep(BLOCK_US);
	return true;
}

static void bench_futex_turn_end(struct bench_futex_turn *turn)
{
	while (__atomic_load_n(&turn->woken, __ATOMIC_ACQUIRE) < turn->started) {
		(void)bench_futex_call(turn->job, turn->first, FUTEX_WAKE, INT_MAX, 0, NULL);
		if (!turn->requeues_pi)
			(void)bench_futex_call(turn->job, turn->second, FUTEX_WAKE, INT_MAX, 0, NULL);
		(void)usleep(BLOCK_US);
	}
	for (uint64_t i = 0; i < turn->started; i++)
		(void)pthread_join(turn->threads[i], NULL);
}

static bool bench_futex_turn_init(struct bench_futex_turn *turn, const struct bench_futex *job)
{
	static uint32_t futexes[2];
	*turn = (struct bench_futex_turn){.job = job, .first = &futexes[0], .second = &futexes[1]};
	turn->threads = calloc(job->threads, sizeof(*turn->threads));
	turn->tids = calloc(job->threads, sizeof(*turn->tids));
	return turn->threads && turn->tids;
}

static void bench_futex_turn_deinit(struct bench_futex_turn *turn)
{
	free(turn->threads);
	free(turn->tids);
}

static void bench_futex_json(
	const struct bench *bench, const struct bench_futex *job, const struct running_mean *ms, double count)
{
	static const char *const names[] = {"threads", "woken", "milliseconds", "error_percent", NULL};
	const double values[] = {(double)job->threads, count, ms->mean, running_mean_error_percent(ms)};
	bench_figures(bench, names, values);
}

/* ---- wake ---- */

static const struct option wake_options[] = {
	BENCH_FUTEX_OPTIONS,
	{"nwakes", 'w', OPTION_U64, "n", BENCH_FUTEX_ROW(nwakes), .help = "Specify amount of threads to wake at once"},
};
const struct option_table bench_futex_wake_table = {wake_options, ARRAY_LEN(wake_options), false};

int bench_futex_wake_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_futex job = {.nwakes = 1};
	struct bench_futex_turn turn;
	struct running_mean ms = {0}, woken = {0};
	int code = bench_futex_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	if (job.nwakes == 0 || job.nwakes > INT_MAX || !bench_futex_turn_init(&turn, &job))
		return cli_usagef(bench->cli, command, "nwakes", "wake needs at least one thread to wake at once");
	if (bench->format != BENCH_JSON)
		printf("Run summary [PID %d]: blocking on %" PRIu64 " threads (at [%s] futex %p), waking up %" PRIu64
		       " at a time.\n\n",
			(int)getpid(), job.threads, bench_futex_kind(&job), (void *)turn.first, job.nwakes);
	for (unsigned run = 1; run <= bench->repeats; run++) {
		if (!bench_futex_turn_start(&turn))
			return bench_fail(bench, "cannot start threads (see ulimit -u)");
		uint64_t start = clock_ns(), count = 0;
		while (count < job.threads) {
			long n = bench_futex_call(&job, turn.first, FUTEX_WAKE, (uint32_t)job.nwakes, 0, NULL);
			count += n > 0 ? (uint64_t)n : 0;
		}
		double took = (double)(clock_ns() - start) / 1000000;
		running_mean_add(&ms, took);
		running_mean_add(&woken, (double)count);
		bench_futex_turn_end(&turn);
		if (!job.silent && bench->format != BENCH_JSON)
			printf("[Run %u]: Wokeup %" PRIu64 " of %" PRIu64 " threads in %.4f ms\n", run, count,
				job.threads, took);
	}
	bench_futex_json(bench, &job, &ms, woken.mean);
	if (bench->format != BENCH_JSON)
		printf("Wokeup %.0f of %" PRIu64 " threads in %.4f ms (+-%.2f%%)\n", woken.mean, job.threads, ms.mean,
			running_mean_error_percent(&ms));
	bench_futex_say_buckets(bench, &job);
	bench_futex_turn_deinit(&turn);
	return 0;
}

/* ---- wake-parallel ---- */

static const struct option wake_parallel_options[] = {
	BENCH_FUTEX_OPTIONS,
	{"nwakers", 'w', OPTION_U64, "n", BENCH_FUTEX_ROW(nwakers), .help = "Specify amount of waking threads"},
};
const struct option_table bench_futex_wake_parallel_table = {
	wake_parallel_options, ARRAY_LEN(wake_parallel_options), false};

struct bench_futex_waker {
	const struct bench_futex_turn *turn;
	pthread_barrier_t *barrier;
	double ms;
	long woken;
};

static void *bench_futex_waker_work(void *data)
{
	struct bench_futex_waker *waker = data;
	const struct bench_futex *job = waker->turn->job;
	(void)pthread_barrier_wait(waker->barrier);
	uint64_t start = clock_ns();
	waker->woken =
		bench_futex_call(job, waker->turn->first, FUTEX_WAKE, (uint32_t)(job->threads / job->nwakers), 0, NULL);
	waker->ms = (double)(clock_ns() - start) / 1000000;
	return NULL;
}

/* Returns false if threads cannot be started. */
static bool bench_futex_wake_together(
	const struct bench_futex_turn *turn, struct running_mean *ms, struct running_mean *woken)
{
	const struct bench_futex *job = turn->job;
	struct bench_futex_waker *wakers = calloc(job->nwakers, sizeof(*wakers));
	pthread_t *threads = calloc(job->nwakers, sizeof(*threads));
	pthread_barrier_t barrier;
	uint64_t started = 0;
	bool is_good = wakers && threads && pthread_barrier_init(&barrier, NULL, (unsigned)job->nwakers + 1) == 0;
	for (; is_good && started < job->nwakers; started += is_good) {
		wakers[started] = (struct bench_futex_waker){.turn = turn, .barrier = &barrier};
		errno = pthread_create(&threads[started], NULL, bench_futex_waker_work, &wakers[started]);
		is_good = errno == 0;
	}
	if (!is_good)
		return false; /* The caller exits; the started threads block at the barrier until then. */
	(void)pthread_barrier_wait(&barrier);
	for (uint64_t i = 0; i < started; i++) {
		(void)pthread_join(threads[i], NULL);
		running_mean_add(ms, wakers[i].ms);
		running_mean_add(woken, (double)wakers[i].woken);
	}
	(void)pthread_barrier_destroy(&barrier);
	free(wakers);
	free(threads);
	return true;
}

int bench_futex_wake_parallel_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_futex job = {0};
	struct bench_futex_turn turn;
	struct running_mean all_ms = {0}, all_woken = {0};
	int code = bench_futex_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	if (job.nwakers == 0)
		job.nwakers = job.threads;
	if (job.nwakers > job.threads || job.threads % job.nwakers)
		return cli_failf(bench->cli, "Must be perfectly divisible: %" PRIu64 " threads by %" PRIu64 " wakers",
			       job.threads, job.nwakers),
		       1;
	if (!bench_futex_turn_init(&turn, &job))
		return bench_fail(bench, "out of memory");
	uint64_t each = job.threads / job.nwakers;
	if (bench->format != BENCH_JSON)
		printf("Run summary [PID %d]: blocking on %" PRIu64 " threads (at [%s] futex %p), %" PRIu64
		       " threads waking up %" PRIu64 " at a time.\n\n",
			(int)getpid(), job.threads, bench_futex_kind(&job), (void *)turn.first, job.nwakers, each);
	for (unsigned run = 1; run <= bench->repeats; run++) {
		struct running_mean ms = {0}, woken = {0};
		if (!bench_futex_turn_start(&turn) || !bench_futex_wake_together(&turn, &ms, &woken))
			return bench_fail(bench, "cannot start threads (see ulimit -u)");
		bench_futex_turn_end(&turn);
		running_mean_add(&all_ms, ms.mean);
		running_mean_add(&all_woken, woken.mean);
		if (!job.silent && bench->format != BENCH_JSON)
			printf("[Run %u]: Avg per-thread latency (waking %.0f/%" PRIu64
			       " threads) in %.4f ms (+-%.2f%%)\n",
				run, woken.mean, job.threads, ms.mean, running_mean_error_percent(&ms));
	}
	bench_futex_json(bench, &job, &all_ms, all_woken.mean);
	if (bench->format != BENCH_JSON)
		printf("Avg per-thread latency (waking %.0f/%" PRIu64 " threads) in %.4f ms (+-%.2f%%)\n",
			all_woken.mean, job.threads, all_ms.mean, running_mean_error_percent(&all_ms));
	bench_futex_say_buckets(bench, &job);
	bench_futex_turn_deinit(&turn);
	return 0;
}

/* ---- requeue ---- */

static const struct option requeue_options[] = {
	BENCH_FUTEX_OPTIONS,
	{"nrequeue", 'q', OPTION_U64, "n", BENCH_FUTEX_ROW(nrequeue),
		.help = "Specify amount of threads to requeue at once"},
	{"broadcast", 'B', OPTION_FLAG, BENCH_FUTEX_ROW(broadcast), .help = "Requeue all threads at once"},
	{"pi", 'p', OPTION_FLAG, BENCH_FUTEX_ROW(pi), .help = "Use PI-aware variants of FUTEX_CMP_REQUEUE"},
};
const struct option_table bench_futex_requeue_table = {requeue_options, ARRAY_LEN(requeue_options), false};

/* Requeues until all threads have left the first futex. Sets *moved to the number of threads that were moved to the
 * second futex, and *woken to that of threads woken instead. Returns false if the system call fails. */
static bool bench_futex_requeue(const struct bench_futex_turn *turn, uint64_t *moved, uint64_t *woken)
{
	const struct bench_futex *job = turn->job;
	*moved = *woken = 0;
	while (*moved + *woken < job->threads) {
		long n =
			job->pi ? bench_futex_call(
					  job, turn->first, FUTEX_CMP_REQUEUE_PI, 1, job->nrequeue, turn->second)
				: bench_futex_call(job, turn->first, FUTEX_CMP_REQUEUE, 0, job->nrequeue, turn->second);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n <= 0)
			continue;
		/* FUTEX_CMP_REQUEUE_PI hands the second futex to one waiter, which it wakes, and requeues the
		 * others. */
		*woken += job->pi;
		*moved += (uint64_t)n - job->pi;
	}
	return true;
}

static void bench_futex_requeue_say(
	const struct bench_futex *job, unsigned run, uint64_t moved, uint64_t woken, double ms)
{
	if (job->pi)
		printf("[Run %u]: Awoke and Requeued (%" PRIu64 "+%" PRIu64 ") of %" PRIu64 " threads in %.4f ms\n",
			run, woken, moved, job->threads, ms);
	else
		printf("[Run %u]: Requeued %" PRIu64 " of %" PRIu64 " threads in %.4f ms\n", run, moved, job->threads,
			ms);
}

int bench_futex_requeue_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_futex job = {.nrequeue = 1};
	struct bench_futex_turn turn;
	struct running_mean ms = {0}, count = {0};
	int code = bench_futex_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	if (job.broadcast || job.nrequeue > job.threads)
		job.nrequeue = job.threads;
	if (job.nrequeue == 0 || !bench_futex_turn_init(&turn, &job))
		return cli_usagef(bench->cli, command, "nrequeue", "requeue needs at least one thread to move at once");
	turn.requeues_pi = job.pi;
	if (bench->format != BENCH_JSON)
		printf("Run summary [PID %d]: Requeuing %" PRIu64 " threads (from [%s] %p to %s%p), %" PRIu64
		       " at a time.\n\n",
			(int)getpid(), job.threads, bench_futex_kind(&job), (void *)turn.first, job.pi ? "PI " : "",
			(void *)turn.second, job.nrequeue);
	for (unsigned run = 1; run <= bench->repeats; run++) {
		uint64_t moved, woken;
		if (!bench_futex_turn_start(&turn))
			return bench_fail(bench, "cannot start threads (see ulimit -u)");
		uint64_t start = clock_ns();
		if (!bench_futex_requeue(&turn, &moved, &woken))
			return bench_fail(bench, "futex");
		double took = (double)(clock_ns() - start) / 1000000;
		running_mean_add(&ms, took);
		running_mean_add(&count, (double)(moved + woken));
		bench_futex_turn_end(&turn);
		if (!job.silent && bench->format != BENCH_JSON)
			bench_futex_requeue_say(&job, run, moved, woken, took);
	}
	bench_futex_json(bench, &job, &ms, count.mean);
	if (bench->format != BENCH_JSON)
		printf("Requeued %.0f of %" PRIu64 " threads in %.4f ms (+-%.2f%%)\n", count.mean, job.threads, ms.mean,
			running_mean_error_percent(&ms));
	bench_futex_say_buckets(bench, &job);
	bench_futex_turn_deinit(&turn);
	return 0;
}
