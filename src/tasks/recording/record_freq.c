/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_freq.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/system/kernel_files.h"

#define MAX_RATE_PATH	 "/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_RATE_DEFAULT 100000

uint64_t record_freq_limit(const struct kernel_seam *kernel)
{
	return (uint64_t)kernel_number(kernel, MAX_RATE_DEFAULT, MAX_RATE_PATH);
}

int record_freq_find(const struct kernel_seam *kernel, const struct record_settings *s, struct record_rate *rate)
{
	uint64_t max = record_freq_limit(kernel);
	uint64_t freq = s->wall ? RECORD_FREQ_WALL : RECORD_FREQ_DEFAULT;
	if (s->freq_text && strcmp(s->freq_text, "max") == 0) {
		freq = max;
		if (!s->quiet)
			fprintf(stderr, "info: Using a maximum frequency rate of %llu Hz\n", (unsigned long long)max);
	} else if (s->freq_text && !str_to_u64(str_from(s->freq_text), 10, &freq)) {
		freq = 0;
	}
	if (s->freq_text && s->period) {
		fprintf(stderr, "cannot set frequency and period at the same time\n");
		return EXIT_OF(EINVAL);
	}
	if (freq == 0 && s->period == 0) {
		fprintf(stderr, "frequency and count are zero, aborting\n");
		return EXIT_OF(EINVAL);
	}
	if (s->period == 0 && freq > max) {
		if (s->strict_freq && s->freq_text) {
			fprintf(stderr,
				"error: Maximum frequency rate (%llu Hz) exceeded.\n"
				"       Please use -F freq option with a lower value or consider\n"
				"       tweaking " MAX_RATE_PATH ".\n",
				(unsigned long long)max);
			return EXIT_OF(EINVAL);
		}
		if (s->freq_text && !s->quiet)
			fprintf(stderr,
				"warning: Maximum frequency rate (%llu Hz) exceeded, throttling from %llu Hz to %llu "
				"Hz.\n"
				"         The limit can be raised via " MAX_RATE_PATH ".\n"
				"         The kernel will lower it when perf's interrupts take too long.\n"
				"         Use --strict-freq to disable this throttling, refusing to record.\n",
				(unsigned long long)max, (unsigned long long)freq, (unsigned long long)max);
		freq = max;
	}
	*rate = (struct record_rate){.freq = freq,
		.period = s->period,
		.is_freq_given = s->freq_text != NULL,
		.is_period_given = s->period != 0};
	return 0;
}
