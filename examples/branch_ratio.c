/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_ratio.c - counts the branches of a loop that are mispredicted, with one read of a group of two events
 * (seeds/book-chapter-perf.txt, listing 8.2).
 *
 * usage: branch_ratio COUNT
 *
 * If no PMU counts branches, it reads a group of page faults instead: all, and those that needed the disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tally/counter.h>

/* Alternates between two branches, which a predictor learns after a few rounds. The volatile result prevents the
 * compiler from removing the loop. */
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

int main(int argc, char **argv)
{
	const struct tally_counter_options options = {.starts_disabled = true};
	struct tally_error err;
	struct tally_count counts[2];
	if (argc != 2) {
		fprintf(stderr, "usage: branch_ratio COUNT\n");
		return 2;
	}
	struct tally_counter *group =
		tally_counter_open("{branches,branch-misses}:u|{page-faults,major-faults}:u", &options, &err);
	if (!group) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	tally_counter_reset(group);
	tally_counter_enable(group);
	unsigned long even = alternate(strtoul(argv[1], NULL, 10));
	tally_counter_disable(group);

	if (tally_counter_read(group, counts, 2, &err) != TALLY_OK) {
		fprintf(stderr, "%s\n", err.text);
		tally_counter_close(group);
		return 1;
	}
	const char *reason = tally_counter_fallback_reason(group);
	if (reason)
		printf("no branch counts: %s\n", reason);
	printf("%llu / %llu %s\n%lu\n", (unsigned long long)counts[1].value, (unsigned long long)counts[0].value,
		reason ? "page faults needed the disk" : "branches mispredicted", even);
	tally_counter_close(group);
	return 0;
}
