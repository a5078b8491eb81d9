/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf_instructions.c - counts the instructions of one printf (seeds/perf_event_open-manual.txt, EXAMPLES).
 *
 * If no PMU counts instructions, it shows the CPU time of the printf instead, and the reason.
 */
#include <stdio.h>
#include <tally/counter.h>

int main(void)
{
	const struct tally_counter_options options = {.starts_disabled = true};
	struct tally_error err;
	struct tally_counter *counter = tally_counter_open("instructions:u|task-clock:u", &options, &err);
	if (!counter) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	tally_counter_reset(counter);
	tally_counter_enable(counter);
	printf("Measuring instruction count for this printf\n");
	tally_counter_disable(counter);

	const char *reason = tally_counter_fallback_reason(counter);
	if (reason)
		printf("Used %llu ns of CPU time (%s)\n", (unsigned long long)tally_counter_value(counter), reason);
	else
		printf("Used %llu instructions\n", (unsigned long long)tally_counter_value(counter));
	tally_counter_close(counter);
	return 0;
}
