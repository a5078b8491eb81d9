/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbr_sampler.c - shows which branches of a loop were mispredicted, and the branches before them, by samples with
 * branch stacks from a ring buffer (seeds/book-chapter-perf.txt, listing 8.3).
 *
 * usage: lbr_sampler COUNT
 *
 * If no PMU samples branches or records branch stacks, it samples a clock instead, and says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tally/sampler.h>

/* The volatile result prevents the compiler from removing the loop. */
static unsigned long alternate(unsigned long count)
{
	volatile unsigned long even = 0, odd = 0;
	for (unsigned long i = 0; i < count; i++) {
		if (i % 2 == 0)
			even++;
		else
			odd++;
	}
	return even;
}

static const char *prediction(const struct tally_branch *branch)
{
	if (tally_branch_is_mispredicted(branch))
		return "mispredicted";
	return tally_branch_is_predicted(branch) ? "predicted" : "unknown";
}

static unsigned long print_samples(struct tally_sampler *sampler, int has_branches)
{
	struct tally_sample sample;
	struct tally_error err;
	unsigned long count = 0;
	for (; tally_sampler_next(sampler, &sample, &err) == TALLY_OK; count++) {
		printf("SAMPLE 0x%llx\n", (unsigned long long)sample.ip);
		if (has_branches)
			printf("\t%zu Branches in Stack\n", sample.branch_count);
		for (size_t i = 0; i < sample.branch_count; i++)
			printf("\tFrom: %llx : %s\n", (unsigned long long)sample.branches[i].from,
				prediction(&sample.branches[i]));
	}
	return count;
}

int main(int argc, char **argv)
{
	struct tally_sampler_options options = {
		.event = "branch-misses:u", .period = 1, .with_branches = true, .starts_disabled = true};
	struct tally_error err, clock_err;
	if (argc != 2) {
		fprintf(stderr, "usage: lbr_sampler COUNT\n");
		return 2;
	}
	struct tally_sampler *sampler = tally_sampler_open(&options, &err);
	int has_branches = sampler != NULL;
	if (!sampler) {
		printf("no branch stacks: %s\n", err.text);
		options.event = "cpu-clock:u";
		options.period = 100000;
		options.with_branches = false;
		sampler = tally_sampler_open(&options, &clock_err);
	}
	if (!sampler) {
		fprintf(stderr, "%s\n", clock_err.text);
		return 1;
	}
	tally_sampler_enable(sampler);
	unsigned long even = alternate(strtoul(argv[1], NULL, 10));
	tally_sampler_disable(sampler);
	unsigned long samples = print_samples(sampler, has_branches);
	printf("%lu samples of %s, %llu lost\n%lu\n", samples, tally_sampler_label(sampler),
		(unsigned long long)tally_sampler_lost(sampler), even);
	tally_sampler_close(sampler);
	return 0;
}
