/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c - measures two regions of its own code, one inside the other, without stopping any event: each takes two
 * reads of a group, or no system call at all if the kernel permits reading the counters of the CPU directly.
 *
 * usage: regions
 *
 * If no PMU counts instructions, it shows the CPU time in nanoseconds beside the page faults.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tally/region.h>

#define NUMBERS 200000

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	struct tally_error err;
	struct tally_count names[2];
	struct tally_mark all, part;
	uint64_t of_all[2], of_part[2];
	struct tally_counter *counter =
		tally_counter_open("{instructions,page-faults}:u|{task-clock,page-faults}:u", NULL, &err);
	if (!counter || tally_counter_read(counter, names, 2, &err) != TALLY_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	if (tally_region_begin(counter, &all) != TALLY_OK)
		return 1;
	int *numbers = malloc(NUMBERS * sizeof(*numbers));
	if (!numbers)
		return 1;
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = rand();
	if (tally_region_begin(counter, &part) != TALLY_OK)
		return 1;
	qsort(numbers, NUMBERS, sizeof(*numbers), compare);
	if (tally_region_end(counter, &part, of_part, 2) != TALLY_OK ||
		tally_region_end(counter, &all, of_all, 2) != TALLY_OK)
		return 1;
	for (int i = 0; i < 2; i++)
		printf("sorting %llu of %llu %s\n", (unsigned long long)of_part[i], (unsigned long long)of_all[i],
			names[i].name);
	free(numbers);
	tally_counter_close(counter);
	return 0;
}
