/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/scaling_error.h"

#include <math.h>

#define SHORT_WINDOW 0.25 /* Fraction of the mean window below which a window is ignored as too noisy. */

void scaling_error_add(struct scaling_error *e, double value, double running_ns)
{
	double ran = running_ns - e->running_ns;
	if (ran <= 0 || (e->windows > 0 && ran < SHORT_WINDOW * e->running_ns / e->windows))
		return;
	double rate = (value - e->value) / ran;
	if (e->windows > 0)
		e->squares += ran * ran * (rate - e->rate) * (rate - e->rate);
	e->rate = rate;
	e->value = value;
	e->running_ns = running_ns;
	e->windows++;
}

double scaling_error_relative(const struct scaling_error *e, double value, double enabled_ns, double running_ns)
{
	if (running_ns >= enabled_ns)
		return 0;
	if (e->windows < SCALING_WINDOWS_LEAST || running_ns <= 0 || value <= 0)
		return NAN;
	/* n windows have n - 1 differences between neighbours. */
	double variance = e->squares / 2 * e->windows / (e->windows - 1);
	double missed = 1 - running_ns / enabled_ns;
	return 2 * sqrt(variance * missed) / value;
}
