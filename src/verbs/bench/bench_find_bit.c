/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/bench/bench_find_bit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define MAX_BITS 2048

struct bench_find_bit {
	uint64_t outer, inner;
};

static const struct option bench_find_bit_options[] = {
	{.name = "outer-iterations",
		.letter = 'i',
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct bench_find_bit, outer),
		.help = "Number of outer iterations used"},
	{.name = "inner-iterations",
		.letter = 'j',
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct bench_find_bit, inner),
		.help = "Number of inner iterations used"},
};
const struct option_table bench_find_bit_table = {bench_find_bit_options, ARRAY_LEN(bench_find_bit_options), false};

static volatile uint64_t bench_find_bit_sink;

static void bench_find_bit_by_words(const uint64_t *map, unsigned bits)
{
	uint64_t sum = 0;
	for (unsigned word = 0; word * 64 < bits; word++)
		for (uint64_t left = map[word]; left; left &= left - 1)
			sum += word * 64 + (unsigned)__builtin_ctzll(left);
	bench_find_bit_sink = sum;
}

static void bench_find_bit_one_by_one(const uint64_t *map, unsigned bits)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < bits; i++)
		if (map[i / 64] >> i % 64 & 1)
			sum += i;
	bench_find_bit_sink = sum;
}

static double bench_find_bit_time(
	const struct bench_find_bit *job, void (*go)(const uint64_t *, unsigned), const uint64_t *map, unsigned bits)
{
	uint64_t start = clock_ns();
	for (uint64_t i = 0; i < job->inner; i++)
		go(map, bits);
	return (double)(clock_ns() - start) / 1000;
}

static void bench_find_bit_measure(
	const struct bench *bench, const struct bench_find_bit *job, unsigned bits, unsigned set)
{
	static const char *const names[] = {"bits", "set_bits", "for_each_set_bit_usec", "test_bit_usec", NULL};
	uint64_t map[MAX_BITS / 64] = {0};
	struct running_mean words = {0}, singles = {0};
	for (unsigned i = 0; i < set; i++) {
		unsigned bit = i * (bits / set);
		map[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	for (uint64_t i = 0; i < job->outer; i++) {
		running_mean_add(&words, bench_find_bit_time(job, bench_find_bit_by_words, map, bits));
		running_mean_add(&singles, bench_find_bit_time(job, bench_find_bit_one_by_one, map, bits));
	}
	const double values[] = {bits, set, words.mean, singles.mean};
	bench_figures(bench, names, values);
	if (bench->format == BENCH_JSON)
		return;
	printf("%" PRIu64 " operations %u bits set of %u bits\n", job->inner, set, bits);
	printf("  Average for_each_set_bit took: %.3f usec (+- %.3f usec)\n", words.mean, running_mean_error(&words));
	printf("  Average test_bit loop took:    %.3f usec (+- %.3f usec)\n", singles.mean,
		running_mean_error(&singles));
}

int bench_find_bit_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_find_bit job = {.outer = 5, .inner = 100000};
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job.outer == 0 || job.inner == 0)
		return cli_usagef(bench->cli, command, "outer-iterations,inner-iterations",
			"find_bit needs at least one iteration and no words");
	for (unsigned bits = 1; bits <= MAX_BITS; bits *= 2)
		for (unsigned set = 1; set <= bits; set *= 2)
			bench_find_bit_measure(bench, &job, bits, set);
	return 0;
}
