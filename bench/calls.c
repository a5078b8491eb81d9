/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - a load with deep stacks, for measuring the cost of samplers: calls THREADS UNITS. Each unit calls 20
 * levels deep, through 64 functions in random order, and reads memory there. Its stack has 6 KB, like most stacks of
 * a C++ compiler. The threads share the units, after a quarter of a second of the same work, in which a recorder can
 * read the files of the program. At the end it prints the CPU time of the units and of the whole process, in ns.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH	  20
#define LOCALS	  28 /* Words of local variables per function. */
#define FUNCTIONS 64
#define WORDS	  (1u << 17) /* 1 MB, about the size of the second-level cache of a core. */
#define WARM_NS	  250000000
#define NS	  1000000000L

typedef uint64_t calls_function(uint64_t seed, unsigned depth);

static calls_function *const functions[FUNCTIONS];
static uint64_t words[WORDS];
static atomic_long units;
static pthread_barrier_t is_warm;

static uint64_t calls_next(uint64_t seed)
{
	return seed * 6364136223846793005u + 1442695040888963407u;
}

static uint64_t calls_read(uint64_t seed)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < 200; i++) {
		seed = calls_next(seed);
		sum += words[seed >> 47];
	}
	return sum;
}

/* The different numbers prevent the compiler from merging the functions. */
#define FUNCTION(n)                                                                            \
	__attribute__((noinline)) static uint64_t calls_##n(uint64_t seed, unsigned depth)     \
	{                                                                                      \
		volatile uint64_t locals[LOCALS];                                              \
		locals[depth] = 0x##n;                                                         \
		seed = calls_next(seed + 0x##n);                                               \
		seed = depth == 0 ? calls_read(seed) : functions[seed >> 58](seed, depth - 1); \
		return seed + locals[depth];                                                   \
	}
#define EIGHT(n, does) does(n##0) does(n##1) does(n##2) does(n##3) does(n##4) does(n##5) does(n##6) does(n##7)
#define ALL(does)      \
	EIGHT(1, does) \
	EIGHT(2, does) EIGHT(3, does) EIGHT(4, does) EIGHT(5, does) EIGHT(6, does) EIGHT(7, does) EIGHT(8, does)
ALL(FUNCTION)
#define NAME(n) calls_##n,
static calls_function *const functions[FUNCTIONS] = {ALL(NAME)};

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

static void calls_unit(uint64_t *seed)
{
	*seed += functions[*seed >> 58](calls_next(*seed), DEPTH);
}

static void *run(void *seed)
{
	for (int64_t until = now(CLOCK_MONOTONIC) + WARM_NS; now(CLOCK_MONOTONIC) < until;)
		calls_unit(seed);
	pthread_barrier_wait(&is_warm);
	while (atomic_fetch_sub(&units, 1) > 0)
		calls_unit(seed);
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	uint64_t *seeds = calloc((size_t)count, sizeof(*seeds));
	atomic_init(&units, argc > 2 ? atol(argv[2]) : 0);
	if (!threads || !seeds || pthread_barrier_init(&is_warm, NULL, (unsigned)count + 1) != 0)
		return 1;
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, &seeds[i]) != 0)
			return 1;
	pthread_barrier_wait(&is_warm);
	int64_t begin = now(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	int64_t end = now(CLOCK_PROCESS_CPUTIME_ID);
	printf("%lld %lld\n", (long long)(end - begin), (long long)end);
	return 0;
}
