/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "verbs/bench/bench.h"

#define DEFAULT_FDS		64
#define MAX_FDS			(1u << 20)
#define BENCH_EPOLL_MAX_THREADS 100000
#define MAX_NESTED		4 /* The kernel's limit of nested epoll instances. */
#define BENCH_EPOLL_WAIT_MS	100
#define SPARE_FDS		64

struct bench_epoll {
	uint64_t threads, runtime, fds, nested;
	unsigned verbose;
	bool no_affinity, randomize, nonblocking, edge, multiq, oneshot;
};

#define ROW(field) .offset = offsetof(struct bench_epoll, field)
#define BENCH_EPOLL_COMMON_OPTIONS                                                                       \
	{"threads", 't', OPTION_U64, "n", ROW(threads), .help = "Specify amount of threads"},            \
		{"runtime", 'r', OPTION_U64, "n", ROW(runtime), .help = "Specify runtime (in seconds)"}, \
		{"nfds", 'f', OPTION_U64, "n", ROW(fds),                                                 \
			.help = "Specify amount of file descriptors to monitor for each thread"},        \
		{"noaffinity", 'n', OPTION_FLAG, ROW(no_affinity), .help = "Disables CPU affinity"},     \
		{"nested", 'N', OPTION_U64, "n", ROW(nested),                                            \
			.help = "Nesting level epoll hierarchy (default is 0, no nesting)"},             \
	{                                                                                                \
		"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "Verbose mode"                       \
	}
static const struct option wait_options[] = {
	BENCH_EPOLL_COMMON_OPTIONS,
	{"randomize", 'R', OPTION_FLAG, ROW(randomize), .help = "Enable random write behaviour (default is lineal)"},
	{"nonblocking", 'B', OPTION_FLAG, ROW(nonblocking), .help = "Nonblocking epoll_wait(2) behaviour"},
	{"edge", 'E', OPTION_FLAG, ROW(edge), .help = "Use Edge-triggered interface (default is LT)"},
	{"multiq", 'm', OPTION_FLAG, ROW(multiq), .help = "Use multiple epoll instances (one per thread)"},
	{"oneshot", 'S', OPTION_FLAG, ROW(oneshot), .help = "Use EPOLLONESHOT semantics"},
};
static const struct option ctl_options[] = {
	BENCH_EPOLL_COMMON_OPTIONS,
	{"randomize", 'R', OPTION_FLAG, ROW(randomize), .help = "Perform random operations on random fds"},
};
#undef ROW
static const struct option_table wait_table = {wait_options, ARRAY_LEN(wait_options), false};
static const struct option_table ctl_table = {ctl_options, ARRAY_LEN(ctl_options), false};

enum bench_epoll_operation { BENCH_EPOLL_ADD, BENCH_EPOLL_MOD, BENCH_EPOLL_DEL, BENCH_EPOLL_OPERATIONS };

struct bench_epoll_queue {
	/* inner contains the descriptors; the threads wait on outer. They are equal without nesting. */
	int inner, outer;
};

struct bench_epoll_worker {
	const struct bench_epoll *job;
	struct bench_epoll_run *run;
	struct bench_epoll_queue queue;
	int *fds;
	uint64_t operations[BENCH_EPOLL_OPERATIONS]; /* The benchmark "wait" counts in the first element only. */
};

struct bench_epoll_run {
	struct bench_epoll_worker *workers;
	pthread_barrier_t barrier;
	int ends; /* Accessed atomically. */
	uint64_t full_loops; /* Number of passes over all descriptors, counted by the writer thread. */
};

static bool bench_epoll_ends(const struct bench_epoll_run *run)
{
	return __atomic_load_n(&run->ends, __ATOMIC_RELAXED);
}

static uint32_t bench_epoll_events(const struct bench_epoll *job)
{
	return EPOLLIN | (job->edge ? (uint32_t)EPOLLET : 0) | (job->oneshot ? (uint32_t)EPOLLONESHOT : 0);
}

static bool bench_epoll_queue_open(const struct bench_epoll *job, struct bench_epoll_queue *queue)
{
	queue->inner = queue->outer = epoll_create1(EPOLL_CLOEXEC);
	for (uint64_t i = 0; i < job->nested && queue->outer >= 0; i++) {
		struct epoll_event event = {.events = EPOLLIN};
		int next = epoll_create1(EPOLL_CLOEXEC);
		if (next < 0 || epoll_ctl(next, EPOLL_CTL_ADD, queue->outer, &event) != 0)
			return false;
		queue->outer = next;
	}
	return queue->outer >= 0;
}

static bool bench_epoll_take(const struct bench_epoll_worker *worker, struct epoll_event *event)
{
	int patience = worker->job->nonblocking ? 0 : BENCH_EPOLL_WAIT_MS;
	if (worker->queue.outer != worker->queue.inner) {
		if (epoll_wait(worker->queue.outer, event, 1, patience) <= 0)
			return false;
		patience = 0;
	}
	return epoll_wait(worker->queue.inner, event, 1, patience) == 1;
}

static void *bench_epoll_wait(void *data)
{
	struct bench_epoll_worker *worker = data;
	struct epoll_event event;
	uint64_t value, done = 0;
	(void)pthread_barrier_wait(&worker->run->barrier);
	while (!bench_epoll_ends(worker->run)) {
		if (!bench_epoll_take(worker, &event))
			continue;
		int fd = event.data.fd;
		/* With a shared queue, another thread may have read the counter already. */
		if (read(fd, &value, sizeof(value)) == (ssize_t)sizeof(value))
			done++;
		event = (struct epoll_event){.events = bench_epoll_events(worker->job), .data.fd = fd};
		if (worker->job->oneshot)
			(void)epoll_ctl(worker->queue.inner, EPOLL_CTL_MOD, fd, &event);
	}
	worker->operations[0] = done;
	return NULL;
}

/* Makes all descriptors readable repeatedly until the run ends. */
static void *bench_epoll_write(void *data)
{
	struct bench_epoll_run *run = data;
	const struct bench_epoll *job = run->workers->job;
	const struct timespec pause = {.tv_nsec = 500};
	uint64_t state = 1, one = 1, count = job->threads * job->fds;
	while (!bench_epoll_ends(run)) {
		for (uint64_t i = 0; i < count; i++) {
			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			uint64_t at = job->randomize ? (state >> 33) % count : i;
			(void)!write(run->workers[at / job->fds].fds[at % job->fds], &one, sizeof(one));
		}
		run->full_loops++;
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

static bool bench_epoll_change(struct bench_epoll_worker *worker, enum bench_epoll_operation operation, int fd)
{
	static const int calls[] = {EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
	struct epoll_event event = {.events = operation == BENCH_EPOLL_MOD ? EPOLLOUT : EPOLLIN, .data.fd = fd};
	bool is_done = epoll_ctl(worker->queue.inner, calls[operation], fd, &event) == 0;
	worker->operations[operation] += is_done;
	return is_done;
}

static void *bench_epoll_ctl(void *data)
{
	struct bench_epoll_worker *worker = data;
	const struct bench_epoll *job = worker->job;
	uint64_t state = (uintptr_t)worker;
	(void)pthread_barrier_wait(&worker->run->barrier);
	while (!bench_epoll_ends(worker->run)) {
		if (job->randomize) {
			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			int fd = worker->fds[(state >> 33) % job->fds];
			(void)bench_epoll_change(worker, (enum bench_epoll_operation)((state >> 17) % 3), fd);
			continue;
		}
		for (enum bench_epoll_operation o = BENCH_EPOLL_ADD; o < BENCH_EPOLL_OPERATIONS; o++)
			for (uint64_t i = 0; i < job->fds; i++)
				if (!bench_epoll_change(worker, o, worker->fds[i]))
					return data;
	}
	return NULL;
}

/* ---- preparing ---- */

static bool bench_epoll_raise_limit(const struct bench_epoll *job)
{
	struct rlimit limit;
	rlim_t needed = job->threads * (job->fds + job->nested + 1) + SPARE_FDS;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	if (limit.rlim_cur >= needed)
		return true;
	if (job->verbose)
		printf("Setting RLIMIT_NOFILE rlimit from %llu to: %llu\n", (unsigned long long)limit.rlim_cur,
			(unsigned long long)needed);
	limit.rlim_cur = needed;
	limit.rlim_max = MAX(limit.rlim_max, needed);
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static bool bench_epoll_prepare(const struct bench_epoll *job, struct bench_epoll_run *run, bool has_queue_each)
{
	struct bench_epoll_queue queue;
	bool is_good = has_queue_each || bench_epoll_queue_open(job, &queue);
	for (uint64_t i = 0; i < job->threads && is_good; i++) {
		struct bench_epoll_worker *worker = &run->workers[i];
		worker->job = job;
		worker->run = run;
		worker->fds = calloc(job->fds, sizeof(*worker->fds));
		is_good = worker->fds && (!has_queue_each || bench_epoll_queue_open(job, &queue));
		for (uint64_t j = 0; j < job->fds && is_good; j++)
			is_good = (worker->fds[j] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) >= 0;
		if (is_good)
			worker->queue = queue;
	}
	return is_good;
}

static bool bench_epoll_register(const struct bench_epoll *job, const struct bench_epoll_run *run)
{
	for (uint64_t i = 0; i < job->threads; i++)
		for (uint64_t j = 0; j < job->fds; j++) {
			struct epoll_event event = {
				.events = bench_epoll_events(job), .data.fd = run->workers[i].fds[j]};
			if (epoll_ctl(run->workers[i].queue.inner, EPOLL_CTL_ADD, event.data.fd, &event) != 0)
				return false;
		}
	return true;
}

static bool bench_epoll_start(
	const struct bench_epoll *job, pthread_t *thread, void *(*work)(void *), void *data, uint64_t index)
{
	cpu_set_t all, one;
	unsigned cpu = 0, nth;
	int failure = pthread_create(thread, NULL, work, data);
	if (!failure && !job->no_affinity && sched_getaffinity(0, sizeof(all), &all) == 0 && CPU_COUNT(&all) > 0) {
		nth = (unsigned)(index % (unsigned)CPU_COUNT(&all));
		while (!CPU_ISSET(cpu, &all) || nth-- > 0)
			cpu++;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		(void)pthread_setaffinity_np(*thread, sizeof(one), &one);
	}
	errno = failure;
	return !failure;
}

/* Runs all threads for the given time. Returns false after a message. */
static bool bench_epoll_go(const struct bench *bench, const struct bench_epoll *job, struct bench_epoll_run *run,
	void *(*work)(void *), void *(*beside)(void *))
{
	pthread_t writer, *threads = calloc(job->threads, sizeof(*threads));
	bool is_good = threads && pthread_barrier_init(&run->barrier, NULL, (unsigned)job->threads + 1) == 0;
	if (job->verbose)
		printf("starting worker/consumer %sthreads\n", job->no_affinity ? "" : "CPU affinity ");
	for (uint64_t i = 0; i < job->threads && is_good; i++)
		is_good = bench_epoll_start(job, &threads[i], work, &run->workers[i], i);
	if (!is_good) {
		(void)bench_fail(bench, "cannot start threads (see ulimit -u)");
		exit(EXIT_FAILED); /* The started threads block at the barrier. */
	}
	if (job->verbose && beside)
		printf("starting writer-thread: doing %s writes ...\n", job->randomize ? "random" : "lineal");
	bool has_writer = beside && pthread_create(&writer, NULL, beside, run) == 0;
	(void)pthread_barrier_wait(&run->barrier);
	(void)sleep((unsigned)job->runtime);
	__atomic_store_n(&run->ends, 1, __ATOMIC_RELAXED);
	if (job->verbose)
		printf("main thread: toggling done\n");
	if (has_writer)
		(void)pthread_join(writer, NULL);
	if (has_writer && job->verbose)
		printf("exiting writer-thread (total full-loops: %" PRIu64 ")\n", run->full_loops);
	for (uint64_t i = 0; i < job->threads; i++) {
		void *failed;
		is_good = pthread_join(threads[i], &failed) == 0 && !failed && is_good;
	}
	free(threads);
	if (!is_good || (beside && !has_writer))
		(void)bench_fail(bench, "epoll");
	return is_good && (!beside || has_writer);
}

/* Returns CLI_GO_ON, or the exit code after a message. */
static int bench_epoll_begin(
	const struct bench *bench, const struct command *command, int argc, char **argv, struct bench_epoll *job)
{
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, job, &rest);
	if (code != CLI_GO_ON)
		return code;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (job->threads == 0)
		job->threads = cpus > 1 ? (uint64_t)cpus - 1 : 1;
	if (rest < argc)
		return cli_usagef(bench->cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (job->threads > BENCH_EPOLL_MAX_THREADS || job->fds == 0 || job->fds > MAX_FDS || job->runtime == 0 ||
		job->runtime > 86400 || job->nested > MAX_NESTED)
		return cli_usagef(bench->cli, command, "threads,nfds,runtime,nested",
			"1 to %d threads and %u descriptors, 1 second to a day, and at most %d levels",
			BENCH_EPOLL_MAX_THREADS, MAX_FDS, MAX_NESTED);
	if (bench->format == BENCH_JSON)
		job->verbose = 0;
	return bench_epoll_raise_limit(job) ? CLI_GO_ON : bench_fail(bench, "cannot open so many files (ulimit -n)");
}

static void bench_epoll_free(const struct bench_epoll *job, struct bench_epoll_run *run)
{
	for (uint64_t i = 0; i < job->threads; i++) {
		for (uint64_t j = 0; j < job->fds; j++)
			close(run->workers[i].fds[j]);
		free(run->workers[i].fds);
	}
	free(run->workers);
}

static struct running_mean bench_epoll_mean(
	const struct bench_epoll *job, const struct bench_epoll_run *run, unsigned operation, uint64_t divisor)
{
	struct running_mean mean = {0};
	for (uint64_t i = 0; i < job->threads; i++)
		running_mean_add(&mean, (double)(run->workers[i].operations[operation] / divisor));
	return mean;
}

static void bench_epoll_wait_say(
	const struct bench *bench, const struct bench_epoll *job, const struct bench_epoll_run *run)
{
	static const char *const names[] = {"threads", "operations_per_second", "error_percent", "seconds", NULL};
	struct running_mean mean = bench_epoll_mean(job, run, 0, job->runtime);
	const double values[] = {
		(double)job->threads, mean.mean, running_mean_error_percent(&mean), (double)job->runtime};
	bench_figures(bench, names, values);
	if (bench->format == BENCH_JSON)
		return;
	for (uint64_t i = 0; i < job->threads; i++)
		printf("[thread %2" PRIu64 "] fdmap: %p ... %p [ %" PRIu64 " ops/sec ]\n", i,
			(void *)run->workers[i].fds, (void *)&run->workers[i].fds[job->fds - 1],
			run->workers[i].operations[0] / job->runtime);
	printf("\nAveraged %.0f operations/sec (+- %.2f%%), total secs = %" PRIu64 "\n", mean.mean,
		running_mean_error_percent(&mean), job->runtime);
}

static int bench_epoll_wait_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_epoll job = {.runtime = 8, .fds = DEFAULT_FDS};
	struct bench_epoll_run run = {0};
	int code = bench_epoll_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	if (job.verbose)
		printf("Using %s queue model\nNesting level(s): %" PRIu64 "\n", job.multiq ? "multi" : "single",
			job.nested);
	run.workers = calloc(job.threads, sizeof(*run.workers));
	if (!run.workers || !bench_epoll_prepare(&job, &run, job.multiq) || !bench_epoll_register(&job, &run))
		return bench_fail(bench, "cannot prepare the descriptors");
	if (bench->format != BENCH_JSON)
		printf("Run summary [PID %d]: %" PRIu64 " threads monitoring%s on %" PRIu64
		       " file-descriptors for %" PRIu64 " secs.\n\n",
			(int)getpid(), job.threads, job.oneshot ? " (EPOLLONESHOT semantics)" : "", job.fds,
			job.runtime);
	bool is_good = bench_epoll_go(bench, &job, &run, bench_epoll_wait, bench_epoll_write);
	if (is_good)
		bench_epoll_wait_say(bench, &job, &run);
	bench_epoll_free(&job, &run);
	return is_good ? 0 : EXIT_FAILED;
}

static void bench_epoll_ctl_say(
	const struct bench *bench, const struct bench_epoll *job, const struct bench_epoll_run *run)
{
	static const char *const names[] = {"threads", "add", "mod", "del", "seconds", NULL};
	static const char *const shown[] = {"ADD", "MOD", "DEL"};
	double values[] = {(double)job->threads, 0, 0, 0, (double)job->runtime};
	for (uint64_t i = 0; i < job->threads && bench->format != BENCH_JSON; i++) {
		const struct bench_epoll_worker *worker = &run->workers[i];
		printf("[thread %2" PRIu64 "] fdmap: %p ... %p [ add: %" PRIu64 " ops; mod: %" PRIu64
		       " ops; del: %" PRIu64 " ops ]\n",
			i, (void *)worker->fds, (void *)&worker->fds[job->fds - 1], worker->operations[0],
			worker->operations[1], worker->operations[2]);
	}
	if (bench->format != BENCH_JSON)
		putchar('\n');
	for (unsigned o = 0; o < BENCH_EPOLL_OPERATIONS; o++) {
		struct running_mean mean = bench_epoll_mean(job, run, o, 1);
		values[o + 1] = mean.mean;
		if (bench->format != BENCH_JSON)
			printf("Averaged %.0f %s operations (+- %.2f%%)\n", mean.mean, shown[o],
				running_mean_error_percent(&mean));
	}
	bench_figures(bench, names, values);
}

static int bench_epoll_ctl_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_epoll job = {.runtime = 8, .fds = DEFAULT_FDS};
	struct bench_epoll_run run = {0};
	int code = bench_epoll_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	run.workers = calloc(job.threads, sizeof(*run.workers));
	if (!run.workers || !bench_epoll_prepare(&job, &run, true))
		return bench_fail(bench, "cannot prepare the descriptors");
	if (bench->format != BENCH_JSON)
		printf("Run summary [PID %d]: %" PRIu64 " threads doing epoll_ctl ops %" PRIu64
		       " file-descriptors for %" PRIu64 " secs.\n\n",
			(int)getpid(), job.threads, job.fds, job.runtime);
	bool is_good = bench_epoll_go(bench, &job, &run, bench_epoll_ctl, NULL);
	if (is_good)
		bench_epoll_ctl_say(bench, &job, &run);
	bench_epoll_free(&job, &run);
	return is_good ? 0 : EXIT_FAILED;
}

static const struct benchmark bench_epoll_benchmarks[] = {
	{"wait", "Benchmark epoll concurrent epoll_waits", &wait_table, bench_epoll_wait_run},
	{"ctl", "Benchmark epoll concurrent epoll_ctls", &ctl_table, bench_epoll_ctl_run},
};
const struct bench_collection bench_epoll = {"epoll", "Epoll stressing benchmarks", "Run all epoll benchmarks",
	bench_epoll_benchmarks, ARRAY_LEN(bench_epoll_benchmarks)};
