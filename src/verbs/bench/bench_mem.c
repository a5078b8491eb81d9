/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "verbs/bench/bench.h"
#include "verbs/bench/bench_find_bit.h"

#define STATUS_LISTED	      1 /* perf's exit code for -f help. */
#define BENCH_MEM_MAX_THREADS 4096

struct bench_mem {
	const char *function, *size, *chunk, *page;
	uint64_t loops, threads, seed;
	bool cycles;
	uint64_t bytes, chunk_bytes, page_bytes; /* The values of size, chunk and page in bytes. */
};

/* Processes a buffer of the given size. Only functions that copy use the source. */
typedef void (*bench_mem_call)(void *to, const void *from, size_t bytes);

struct bench_mem_function {
	const char *name, *summary;
	bench_mem_call call;
	int map_flags; /* Flags for mmap. */
};

#define ROW(field) .offset = offsetof(struct bench_mem, field)
#define BENCH_MEM_COMMON_OPTIONS                                                                                      \
	{"size", 's', OPTION_STRING, "1MB", ROW(size),                                                                \
		.help = "Specify the size of the memory buffers. Available units: B, KB, MB, GB and TB (case "        \
			"insensitive)"},                                                                              \
		{"page", 'p', OPTION_STRING, "4KB", ROW(page),                                                        \
			.help = "Specify page-size for mapping memory buffers. Available sizes: 4KB, 2MB, 1GB (case " \
				"insensitive)"},                                                                      \
		{"function", 'f', OPTION_STRING, "all", ROW(function),                                                \
			.help = "Specify the function to run, \"all\" runs all available functions, \"help\" lists "  \
				"them"},                                                                              \
		{"nr_loops", 'l', OPTION_U64, "n", ROW(loops),                                                        \
			.help = "Specify the number of loops to run. (default: 1)"},                                  \
	{                                                                                                             \
		"cycles", 'c', OPTION_FLAG, ROW(cycles),                                                              \
			.help = "Use a cycles event instead of gettimeofday() to measure performance"                 \
	}
static const struct option copy_options[] = {
	BENCH_MEM_COMMON_OPTIONS,
	{"chunk", 'k', OPTION_STRING, "0", ROW(chunk),
		.help = "Specify the chunk-size for each invocation. Available units: B, KB, MB, GB and TB (case "
			"insensitive)"},
};
static const struct option mmap_options[] = {
	BENCH_MEM_COMMON_OPTIONS,
	{"randomize", 'r', OPTION_U64, "n", ROW(seed), .help = "Seed to randomize page access offset."},
	{"threads", 't', OPTION_U64, "n", ROW(threads), .help = "Number of threads to run concurrently (default: 1)."},
};
#undef ROW
static const struct option_table copy_table = {copy_options, ARRAY_LEN(copy_options), false};
static const struct option_table mmap_table = {mmap_options, ARRAY_LEN(mmap_options), false};

/* ---- functions ---- */

static void bench_mem_copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" ::: "memory");
}

static void bench_mem_set(void *to, const void *from, size_t bytes)
{
	(void)from;
	memset(to, 1, bytes);
	__asm__ volatile("" ::: "memory");
}

/* Copies eight words per iteration. The barrier prevents the compiler from replacing the loop by memcpy. */
static void bench_mem_copy_words(void *to, const void *from, size_t bytes)
{
	uint64_t *out = to;
	const uint64_t *in = from;
	size_t words = bytes / sizeof(*out);
	for (size_t i = 0; i + 8 <= words; i += 8) {
		for (size_t j = 0; j < 8; j++)
			out[i + j] = in[i + j];
		__asm__ volatile("" ::: "memory");
	}
	size_t done = words / 8 * 8 * sizeof(*out);
	for (; done < bytes; done++) {
		((char *)to)[done] = ((const char *)from)[done];
		__asm__ volatile("" ::: "memory");
	}
}

static void bench_mem_set_words(void *to, const void *from, size_t bytes)
{
	uint64_t *out = to;
	size_t words = bytes / sizeof(*out);
	(void)from;
	for (size_t i = 0; i + 8 <= words; i += 8) {
		for (size_t j = 0; j < 8; j++)
			out[i + j] = UINT64_C(0x0101010101010101);
		__asm__ volatile("" ::: "memory");
	}
	for (size_t done = words / 8 * 8 * sizeof(*out); done < bytes; done++) {
		((char *)to)[done] = 1;
		__asm__ volatile("" ::: "memory");
	}
}

#if defined(__x86_64__)
static void bench_mem_copy_movsq(void *to, const void *from, size_t bytes)
{
	size_t words = bytes / 8;
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words)::"memory");
	memcpy(to, from, bytes % 8);
}

static void bench_mem_set_stosq(void *to, const void *from, size_t bytes)
{
	size_t words = bytes / 8;
	(void)from;
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(UINT64_C(0x0101010101010101)) : "memory");
	memset(to, 1, bytes % 8);
}
#endif

static const struct bench_mem_function copies[] = {
	{"default", "Default memcpy() provided by glibc", bench_mem_copy, 0},
	{"unrolled", "memcpy() of eight words in a turn", bench_mem_copy_words, 0},
#if defined(__x86_64__)
	{"x86-64-movsq", "memcpy() by rep movsq", bench_mem_copy_movsq, 0},
#endif
};
static const struct bench_mem_function sets[] = {
	{"default", "Default memset() provided by glibc", bench_mem_set, 0},
	{"unrolled", "memset() of eight words in a turn", bench_mem_set_words, 0},
#if defined(__x86_64__)
	{"x86-64-stosq", "memset() by rep stosq", bench_mem_set_stosq, 0},
#endif
};
static const struct bench_mem_function maps[] = {
	{"demand", "Demand loaded mmap()", NULL, 0},
	{"populate", "Eagerly populated mmap()", NULL, MAP_POPULATE},
};

/* ---- measuring ---- */

struct bench_mem_clock {
	int cycles_fd; /* A counter of cycles, or -1 if time is measured. */
	uint64_t start;
};

static bool bench_mem_start(const struct bench *bench, const struct bench_mem *job, struct bench_mem_clock *clock)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = PERF_COUNT_HW_CPU_CYCLES, .inherit = 1};
	clock->cycles_fd = -1;
	if (job->cycles) {
		clock->cycles_fd = (int)syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (clock->cycles_fd < 0) {
			(void)bench_fail(bench, "Failed to open cycles counter");
			return false;
		}
	}
	clock->start = clock_ns();
	return true;
}

static void bench_mem_stop(const struct bench_mem_clock *clock, struct bench_result *result)
{
	uint64_t cycles = 0;
	result->ns = clock_ns() - clock->start;
	if (clock->cycles_fd < 0)
		return;
	result->is_cycles = read(clock->cycles_fd, &cycles, sizeof(cycles)) == sizeof(cycles);
	result->cycles = (double)cycles / (double)result->bytes;
	close(clock->cycles_fd);
}

static int bench_mem_page_flags(uint64_t page_bytes)
{
	if (page_bytes == 2u << 20)
		return MAP_HUGETLB | (21 << MAP_HUGE_SHIFT);
	if (page_bytes == 1u << 30)
		return MAP_HUGETLB | (30 << MAP_HUGE_SHIFT);
	return 0;
}

static void *bench_mem_map(const struct bench_mem *job, int flags)
{
	flags |= MAP_PRIVATE | MAP_ANONYMOUS | bench_mem_page_flags(job->page_bytes);
	void *memory = mmap(NULL, job->bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static int bench_mem_move(
	const struct bench *bench, const struct bench_mem *job, const struct bench_mem_function *function)
{
	struct bench_mem_clock clock;
	struct bench_result result = {.function = function->name, .bytes = job->bytes * job->loops};
	char *to = bench_mem_map(job, 0), *from = bench_mem_map(job, 0);
	if (!to || !from)
		return bench_fail(bench, "cannot map the memory");
	/* All pages are faulted in before the clock starts. */
	memset(to, 0, job->bytes);
	memset(from, 0, job->bytes);
	if (!bench_mem_start(bench, job, &clock))
		return EXIT_FAILED;
	for (uint64_t i = 0; i < job->loops; i++)
		for (uint64_t at = 0; at < job->bytes; at += job->chunk_bytes)
			function->call(to + at, from + at, MIN(job->chunk_bytes, job->bytes - at));
	bench_mem_stop(&clock, &result);
	bench_throughput(bench, &result);
	(void)munmap(to, job->bytes);
	(void)munmap(from, job->bytes);
	return 0;
}

struct bench_mem_mapper {
	const struct bench_mem *job;
	int flags;
};

/* Touches each page once. With a seed, each loop starts at a different page. */
static void *bench_mem_mapper_work(void *data)
{
	const struct bench_mem_mapper *mapper = data;
	const struct bench_mem *job = mapper->job;
	uint64_t pages = MAX(job->bytes / job->page_bytes, 1), state = job->seed;
	for (uint64_t i = 0; i < job->loops; i++) {
		char *memory = bench_mem_map(job, mapper->flags);
		if (!memory)
			return data;
		state = state * UINT64_C(6364136223846793005) + (job->seed ? 1442695040888963407u : 0);
		for (uint64_t page = 0; page < pages; page++)
			*(volatile char *)(memory + (page + (state >> 33)) % pages * job->page_bytes) = 1;
		(void)munmap(memory, job->bytes);
	}
	return NULL;
}

static int bench_mem_mmap(
	const struct bench *bench, const struct bench_mem *job, const struct bench_mem_function *function)
{
	struct bench_mem_clock clock;
	struct bench_result result = {.function = function->name, .bytes = job->bytes * job->loops * job->threads};
	struct bench_mem_mapper mapper = {job, function->map_flags};
	pthread_t *threads = calloc(job->threads, sizeof(*threads));
	uint64_t started = 0;
	bool is_good = threads && bench_mem_start(bench, job, &clock);
	if (!is_good)
		return free(threads), EXIT_FAILED;
	while (started + 1 < job->threads &&
		pthread_create(&threads[started], NULL, bench_mem_mapper_work, &mapper) == 0)
		started++;
	is_good = !bench_mem_mapper_work(&mapper) && started + 1 == job->threads;
	for (uint64_t i = 0; i < started; i++) {
		void *failed;
		is_good = pthread_join(threads[i], &failed) == 0 && !failed && is_good;
	}
	bench_mem_stop(&clock, &result);
	free(threads);
	if (!is_good)
		return bench_fail(bench, "cannot map the memory");
	bench_throughput(bench, &result);
	return 0;
}

/* ---- options ---- */

static int bench_mem_list(const struct bench_mem_function *functions, size_t count)
{
	printf("Available functions:\n");
	for (size_t i = 0; i < count; i++)
		printf("\t%s ... %s\n", functions[i].name, functions[i].summary);
	return STATUS_LISTED;
}

/* Returns 0, or the exit code after a message. */
static int bench_mem_check(const struct bench *bench, struct bench_mem *job)
{
	const struct cli *cli = bench->cli;
	job->bytes = bench_size(job->size);
	job->chunk_bytes = strcmp(job->chunk, "0") == 0 ? job->bytes : bench_size(job->chunk);
	job->page_bytes = bench_size(job->page);
	if (job->bytes == 0 || job->bytes > SIZE_MAX / 2)
		return cli_failf(cli, "Invalid size:%s", job->size);
	if (job->chunk_bytes == 0)
		return cli_failf(cli, "Invalid chunk-size:%s", job->chunk);
	if (job->page_bytes != 4096 && !bench_mem_page_flags(job->page_bytes))
		return cli_failf(cli, "Invalid page-size:%s (4KB, 2MB or 1GB)", job->page);
	if (job->loops == 0 || job->loops > UINT64_MAX / job->bytes / BENCH_MEM_MAX_THREADS)
		return cli_failf(cli, "Invalid number of loops:%" PRIu64, job->loops);
	if (job->threads == 0 || job->threads > BENCH_MEM_MAX_THREADS)
		return cli_failf(
			cli, "Invalid number of threads:%" PRIu64 " (1 to %d)", job->threads, BENCH_MEM_MAX_THREADS);
	return 0;
}

static int bench_mem_run(const struct bench *bench, const struct command *command, int argc, char **argv,
	const struct bench_mem_function *functions, size_t count)
{
	struct bench_mem job = {
		.function = "all", .size = "1MB", .chunk = "0", .page = "4KB", .loops = 1, .threads = 1};
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(bench->cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	bool is_all = strcmp(job.function, "all") == 0, is_known = is_all;
	if (strcmp(job.function, "help") == 0)
		return bench_mem_list(functions, count);
	code = bench_mem_check(bench, &job);
	for (size_t i = 0; i < count && code == 0; i++) {
		if (!is_all && strcmp(job.function, functions[i].name) != 0)
			continue;
		is_known = true;
		if (bench->format != BENCH_JSON)
			printf("# function '%s' (%s)\n", functions[i].name, functions[i].summary);
		bench_say(bench, "# Copying %s bytes ...\n\n", job.size);
		code = functions[i].call ? bench_mem_move(bench, &job, &functions[i])
					 : bench_mem_mmap(bench, &job, &functions[i]);
	}
	if (code != 0 || is_known)
		return code;
	printf("Unknown function: %s\n", job.function);
	return bench_mem_list(functions, count);
}

static int bench_mem_run_copy(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	return bench_mem_run(bench, command, argc, argv, copies, ARRAY_LEN(copies));
}

static int bench_mem_run_set(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	return bench_mem_run(bench, command, argc, argv, sets, ARRAY_LEN(sets));
}

static int bench_mem_run_mmap(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	return bench_mem_run(bench, command, argc, argv, maps, ARRAY_LEN(maps));
}

static const struct benchmark bench_mem_benchmarks[] = {
	{"memcpy", "Benchmark for memcpy() functions", &copy_table, bench_mem_run_copy},
	{"memset", "Benchmark for memset() functions", &copy_table, bench_mem_run_set},
	{"find_bit", "Benchmark for find_bit() functions", &bench_find_bit_table, bench_find_bit_run},
	{"mmap", "Benchmark for mmap() mappings", &mmap_table, bench_mem_run_mmap},
};
const struct bench_collection bench_mem = {"mem", "Memory access benchmarks", "Run all memory access benchmarks",
	bench_mem_benchmarks, ARRAY_LEN(bench_mem_benchmarks)};
