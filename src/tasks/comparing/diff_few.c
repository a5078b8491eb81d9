/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/comparing/diff_few.h"

#include <math.h>

#include "base/array.h"
#include "kernel/counting/student.h"

#define NEEDED_MAX 1000 /* Maximum number of recordings on a side that is considered. */

/* Returns the smallest p value of a rank test: 2 divided by the number of ways to assign the recordings to the sides,
 * computed with logarithms. */
static double least_p(size_t base, size_t other)
{
	double ways = 0;
	for (size_t i = 1; i <= base; i++)
		ways += log((double)(other + i) / (double)i);
	double p = exp(log(2) - ways);
	return base == 0 || other == 0 || p > 1 ? 1 : p;
}

double diff_few_least_p(const struct diff_sides *sides)
{
	return least_p(sides->base, sides->other);
}

size_t diff_few_needed(const struct diff_sides *sides, enum run_correction correction, size_t rows, double level)
{
	double times = correction == RUN_CORRECT_NONE || rows == 0 ? 1 : (double)rows;
	size_t needed = 2;
	if (diff_few_least_p(sides) * times < level)
		return 0;
	while (needed < NEEDED_MAX && !(least_p(needed, needed) * times < level))
		needed++;
	return needed;
}

struct few_side {
	double mean, squares; /* Mean, and sum of the squared deviations from it. */
	double sampling; /* Variance of a single value that is due to random sampling. */
	size_t count;
};

/* unit is the average amount of one sample. It is used for the sampling error of a recording without samples, which
 * could have had one. */
static struct few_side few_side_of(const struct diff_few_row *row, size_t first, size_t count, double unit)
{
	struct few_side side = {.count = count};
	double sum = 0;
	for (size_t i = first; i < first + count; i++)
		sum += row->values[i];
	side.mean = count ? sum / (double)count : 0;
	for (size_t i = first; i < first + count; i++) {
		double off = row->values[i] - side.mean;
		double samples = row->samples[i] ? (double)row->samples[i] : 1;
		double amount = row->samples[i] ? row->values[i] : unit;
		side.squares += off * off;
		side.sampling += amount * amount / samples / (double)count;
	}
	return side;
}

static void measure_sides(
	const struct diff_sides *sides, const struct diff_few_row *row, struct few_side *base, struct few_side *other)
{
	double sum = 0, samples = 0;
	for (size_t i = 0; i < sides->base + sides->other; i++) {
		sum += row->values[i];
		samples += (double)row->samples[i];
	}
	double unit = samples > 0 ? sum / samples : 0;
	*base = few_side_of(row, 0, sides->base, unit);
	*other = few_side_of(row, sides->base, sides->other, unit);
}

void diff_few_spread_add(struct diff_few_spread *spread, const struct diff_sides *sides, const struct diff_few_row *row)
{
	struct few_side parts[2];
	measure_sides(sides, row, &parts[0], &parts[1]);
	for (size_t i = 0; i < 2; i++) {
		double degrees = parts[i].count > 1 ? (double)(parts[i].count - 1) : 0;
		spread->squares += parts[i].count > 1 ? parts[i].squares - degrees * parts[i].sampling : 0;
		spread->weight += degrees * parts[i].mean * parts[i].mean;
	}
}

static double variance_of_mean(const struct few_side *side, double between, double own)
{
	double expected = side->sampling + between * side->mean * side->mean;
	return (MAX(expected, own)) / (double)side->count;
}

void diff_few_compare(const struct diff_few_spread *spread, const struct diff_sides *sides,
	const struct diff_few_row *row, struct diff_change *change)
{
	size_t degrees = sides->base + sides->other > 2 ? sides->base + sides->other - 2 : 0;
	change->p = change->adjusted_p = 1;
	if (degrees == 0 || sides->base == 0 || sides->other == 0)
		return;
	struct few_side base, other;
	measure_sides(sides, row, &base, &other);
	double between = spread->weight > 0 && spread->squares > 0 ? spread->squares / spread->weight : 0;
	double own = (base.squares + other.squares) / (double)degrees;
	double error = sqrt(variance_of_mean(&base, between, own) + variance_of_mean(&other, between, own));
	double difference = other.mean - base.mean;
	if (!(error > 0))
		return;
	change->p = change->adjusted_p = student_p(difference / error, (double)degrees);
	if (change->has_interval || !(base.mean > 0))
		return;
	double wide = student_quantile(1 - RUN_CONFIDENCE, (double)degrees) * error;
	change->has_interval = true;
	change->low = fmax((difference - wide) / base.mean, -1);
	change->high = (difference + wide) / base.mean;
}
