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

/* Two-sided: that |t| or more comes by chance. degrees: above 0; t: any, infinite gives 0, no number 1. */
double student_p(double t, double degrees);
/* The t whose two-sided p that is, between 0 and 1. */
double student_quantile(double p, double degrees);

#endif
