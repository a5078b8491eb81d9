/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling_error.h - estimates the error of a scaled count from the changes of its rate between readings. Pure.
 *
 * The time in which an event had a counter is a sample of the time in which it was enabled. The missed time is assumed
 * to have the mean rate of the counted time; the rates of neighbouring readings show how much single intervals differ.
 * (Successive differences, as for systematic samples: Wolter, Introduction to Variance Estimation, chapter 8; with the
 * finite population correction.) Changes in step with the rotation of counters are not seen, nor is a steady rise
 * within one turn; if a program changes between all readings, the estimate is too large rather than too small.
 *
 *	struct scaling_error e = {0};
 *	scaling_error_add(&e, value, running_ns); ... at times, cumulative ...
 *	percent = 100 * scaling_error_relative(&e, value, enabled_ns, running_ns);
 */
#ifndef KERNEL_COUNTING_SCALING_ERROR_H
#define KERNEL_COUNTING_SCALING_ERROR_H

#include <stdint.h>

#define SCALING_WINDOWS_LEAST 8 /* readings; fewer say nothing */

struct scaling_error {
	double value, running_ns; /* at the last reading that was used */
	double rate; /* between the last two */
	double squares; /* of the differences of neighbouring rates, as counts */
	unsigned windows; /* rates so far */
};

/* Counts since the start. Readings between which the event hardly ran are joined with the next. */
void scaling_error_add(struct scaling_error *e, double value, double running_ns);
/* Twice the standard error relative to the scaled count: about 95 of 100 counts are within it. 0 if nothing was missed,
 * NAN if there are too few readings. */
double scaling_error_relative(const struct scaling_error *e, double value, double enabled_ns, double running_ns);

#endif
