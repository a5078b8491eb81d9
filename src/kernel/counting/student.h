/* SPDX-License-Identifier: Apache-2.0 */
/*
 * student.h - implements Student's t distribution. Pure.
 *
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.5 and 26.7 (the incomplete beta function, by
 * its continued fraction).
 */
#ifndef KERNEL_COUNTING_STUDENT_H
#define KERNEL_COUNTING_STUDENT_H

/* Returns the two-sided probability of at least |t| for this many degrees of freedom, which are above 0; 0 for an
 * infinite t, 1 for NAN. */
double student_p(double t, double degrees);
/* Returns the t whose two-sided probability is p, which is between 0 and 1. */
double student_quantile(double p, double degrees);

#endif
