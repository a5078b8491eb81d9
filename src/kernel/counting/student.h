/* SPDX-License-Identifier: Apache-2.0 */
/*
 * student.h - implements Student's t distribution: how likely a difference of so many standard errors is with few
 * degrees of freedom. Pure functions.
 *
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.5 and 26.7 (the incomplete beta function, by
 * its continued fraction).
 */
#ifndef KERNEL_COUNTING_STUDENT_H
#define KERNEL_COUNTING_STUDENT_H

/* The two-sided probability of |t| or more by chance. degrees: above 0. An infinite t gives 0, and NAN gives 1. */
double student_p(double t, double degrees);
/* The t with this two-sided p, which is between 0 and 1. */
double student_quantile(double p, double degrees);

#endif
