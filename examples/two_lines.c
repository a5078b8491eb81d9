/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two_lines.c - opens and reads a counter in two lines (seeds/2008-announcement.txt).
 *
 * If no PMU counts cache misses, it counts page faults instead, and says so.
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
