/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling_error.h - estimates the error of a scaled count from the changes of its rate between readings. Pure.
 *
 * The time for which an event had a counter is a sample of the time for which it was enabled. The rate in the missed
 * time is assumed to be the mean rate of the counted time; the rates of successive readings show how much intervals
 * differ. (Successive differences, as for systematic samples: Wolter, Introduction to Variance Estimation, chapter 8;
 * with the finite population correction.) Changes of the rate that are synchronous with the multiplexing of counters
 * are not detected, nor is a steady rise within one turn of the multiplexing. If the rate changes between all readings,
 * the estimate is too large.
 *
 *	struct scaling_error e = {0};
 *	scaling_error_add(&e, value, running_ns); ... repeatedly, with cumulative counts ...
 *	percent = 100 * scaling_error_relative(&e, value, enabled_ns, running_ns);
 */
#ifndef KERNEL_COUNTING_SCALING_ERROR_H
#define KERNEL_COUNTING_SCALING_ERROR_H

#include <stdint.h>

#define SCALING_WINDOWS_LEAST 8 /* Minimum number of readings for an estimate. */

struct scaling_error {
	double value, running_ns; /* Cumulative, at the last reading that was used. */
	double rate; /* Rate between the last two readings, in counts per ns. */
	double squares; /* Sum of the squared differences of successive rates, each multiplied by the running time. */
	unsigned windows; /* Number of rates so far. */
};

/* Adds a reading with cumulative numbers; skips it if the event hardly ran since the previous reading. */
void scaling_error_add(struct scaling_error *e, double value, double running_ns);
/* Returns twice the standard error, relative to the scaled count: about 95 % of scaled counts differ less from the true
 * count. 0 if no time was missed; NAN if there are too few readings or the value is 0. */
double scaling_error_relative(const struct scaling_error *e, double value, double enabled_ns, double running_ns);

#endif
