/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two_lines.c - opening and reading a counter takes two lines (seeds/2008-announcement.txt).
 *
 * Where no PMU counts cache misses, page faults are counted instead, and said to be.
 */
#include <stdio.h>
#include <tally/counter.h>

int main(void)
{
	struct tally_counter *counter = tally_counter_open("cache-misses:u|page-faults:u", NULL, NULL);
	printf("Current count: %llu %s\n", (unsigned long long)tally_counter_value(counter),
		tally_counter_label(counter));
	tally_counter_close(counter);
	return counter ? 0 : 1;
}
