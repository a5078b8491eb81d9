/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/run_resampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/order.h"

#define RUN_RESAMPLING_TAIL ((1 - RUN_CONFIDENCE) / 2)

struct moments {
	double mean, error; /* error is the squared standard error of the mean. */
};

/* splitmix64, which is good enough to draw indexes. */
static uint64_t run_resampling_draw(uint64_t *state)
{
	uint64_t x = *state += HASH_FACTOR;
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static size_t draw_below(uint64_t *state, size_t limit)
{
	return (size_t)((double)(run_resampling_draw(state) >> 11) * 0x1p-53 * (double)limit);
}

static struct moments moments_from(double sum, double squares, size_t len)
{
	double n = (double)len, mean = sum / n;
	double spread = squares - n * mean * mean; /* Values are shifted first, so that few digits cancel. */
	return (struct moments){mean, len > 1 && spread > 0 ? spread / (n - 1) / n : 0};
}

static struct moments moments_of(struct run_values values)
{
	double sum = 0, squares = 0, shift = values.len ? values.items[0] : 0;
	for (size_t i = 0; i < values.len; i++) {
		double value = values.items[i] - shift;
		sum += value;
		squares += value * value;
	}
	struct moments m = values.len ? moments_from(sum, squares, values.len) : (struct moments){0};
	m.mean += shift;
	return m;
}

static struct moments run_resampling_resampled(struct run_values values, uint64_t *state)
{
	double sum = 0, squares = 0, shift = values.items[0];
	for (size_t i = 0; i < values.len; i++) {
		double value = values.items[draw_below(state, values.len)] - shift;
		sum += value;
		squares += value * value;
	}
	struct moments m = moments_from(sum, squares, values.len);
	m.mean += shift;
	return m;
}

/* Standard error of log(other / base), by first-order approximation. */
static double log_error(struct moments base, struct moments other)
{
	return sqrt(base.error / (base.mean * base.mean) + other.error / (other.mean * other.mean));
}

/* Bootstrap-t of the log of the ratio: the distribution of (resampled - found) / resampled error replaces that of
 * (found - true) / error, because the normal distribution fits the latter badly with few runs. */
static struct run_interval run_resampling_bootstrap(struct run_values base, struct run_values other, uint64_t seed)
{
	struct run_interval interval = {.coverage = RUN_CONFIDENCE};
	struct moments a = moments_of(base), b = moments_of(other);
	if (base.len < RUN_RESAMPLE_MIN || other.len < RUN_RESAMPLE_MIN || !(a.mean > 0) || !(b.mean > 0))
		return interval;
	double found = log(b.mean / a.mean), error = log_error(a, b);
	double ts[RUN_RESAMPLES];
	size_t count = 0;
	for (size_t i = 0; i < RUN_RESAMPLES && error > 0; i++) {
		struct moments ra = run_resampling_resampled(base, &seed), rb = run_resampling_resampled(other, &seed);
		double its_error = ra.mean > 0 && rb.mean > 0 ? log_error(ra, rb) : 0;
		if (its_error > 0)
			ts[count++] = (log(rb.mean / ra.mean) - found) / its_error;
	}
	if (error > 0 && count < RUN_RESAMPLES / 2)
		return interval;
	run_values_sort(ts, count);
	interval.low = expm1(found - run_quantile(ts, count, 1 - RUN_RESAMPLING_TAIL) * error);
	interval.high = expm1(found - run_quantile(ts, count, RUN_RESAMPLING_TAIL) * error);
	interval.is_known = true;
	return interval;
}

struct run_change run_change_of(struct run_values base, struct run_values other, uint64_t seed)
{
	struct run_change change = {.base_mean = moments_of(base).mean, .new_mean = moments_of(other).mean};
	if (change.base_mean > 0)
		change.change = change.new_mean / change.base_mean - 1;
	else if (change.new_mean > 0)
		change.change = INFINITY;
	change.interval = run_resampling_bootstrap(base, other, seed);
	return change;
}

/* Ranks are twice the midrank in the sorted pool, so that they are integers. */
static void rank_pool(const double *pool, size_t len, unsigned *ranks)
{
	for (size_t i = 0; i < len;) {
		size_t end = i;
		while (end < len && pool[end] <= pool[i])
			end++;
		for (size_t j = i; j < end; j++)
			ranks[j] = (unsigned)(i + 1 + end);
		i = end;
	}
}

static unsigned run_resampling_rank_of(const double *pool, const unsigned *ranks, size_t len, double value)
{
	size_t low;
	LOWER_BOUND(low, len - 1, i, pool[i] < value);
	return ranks[low];
}

/* Probability that the ranks of `chosen` values drawn from the pool have a sum at least as far from its mean as `sum`;
 * -1 if memory allocation fails. */
static double permuted_p(const unsigned *ranks, size_t len, size_t chosen, unsigned sum)
{
	size_t width = 2 * RUN_PERMUTED_MAX * RUN_PERMUTED_MAX + 1, total = 0;
	double *ways = calloc((chosen + 1) * width, sizeof(*ways));
	if (!ways)
		return -1;
	ways[0] = 1;
	for (size_t i = 0; i < len; i++) {
		for (size_t k = i < chosen ? i + 1 : chosen; k > 0; k--)
			for (size_t s = ranks[i]; s < width; s++)
				ways[k * width + s] += ways[(k - 1) * width + s - ranks[i]];
		total += ranks[i];
	}
	double mean = (double)chosen * (double)total / (double)len, all = 0, far = 0;
	double distance = fabs((double)sum - mean) - 1e-6;
	for (size_t s = 0; s < width; s++) {
		double count = ways[chosen * width + s];
		all += count;
		far += fabs((double)s - mean) >= distance ? count : 0;
	}
	free(ways);
	return far / all;
}

static double approximate_p(struct run_values base, struct run_values other)
{
	struct run_comparison comparison;
	struct tally_error err;
	double *copies = malloc((base.len + other.len) * sizeof(*copies));
	if (!copies)
		return 1;
	memcpy(copies, base.items, base.len * sizeof(*copies));
	memcpy(copies + base.len, other.items, other.len * sizeof(*copies));
	run_values_sort(copies, base.len);
	run_values_sort(copies + base.len, other.len);
	enum tally_status status = run_compare(copies, base.len, copies + base.len, other.len, &comparison, &err);
	free(copies);
	return status == TALLY_OK ? comparison.p : 1;
}

double run_rank_p(struct run_values base, struct run_values other)
{
	size_t len = base.len + other.len;
	double pool[RUN_PERMUTED_MAX];
	unsigned ranks[RUN_PERMUTED_MAX], sum = 0;
	if (base.len == 0 || other.len == 0)
		return 1;
	if (len > RUN_PERMUTED_MAX)
		return approximate_p(base, other);
	memcpy(pool, base.items, base.len * sizeof(*pool));
	memcpy(pool + base.len, other.items, other.len * sizeof(*pool));
	run_values_sort(pool, len);
	rank_pool(pool, len, ranks);
	for (size_t i = 0; i < base.len; i++)
		sum += run_resampling_rank_of(pool, ranks, len, base.items[i]);
	double p = permuted_p(ranks, len, base.len, sum);
	return p < 0 ? 1 : p;
}

double run_noise_floor(struct run_values same, size_t base_len, size_t other_len, uint64_t seed)
{
	size_t half = same.len / 2, count = 0;
	if (half < RUN_RESAMPLE_MIN / 2 || base_len == 0 || other_len == 0)
		return -1;
	double *shuffled = malloc(same.len * sizeof(*shuffled));
	double changes[RUN_RESAMPLES];
	if (!shuffled)
		return -1;
	memcpy(shuffled, same.items, same.len * sizeof(*shuffled));
	for (size_t round = 0; round < RUN_RESAMPLES; round++) {
		double first = 0, second = 0;
		for (size_t i = 0; i < 2 * half; i++) {
			size_t other = i + draw_below(&seed, same.len - i);
			double value = shuffled[other];
			shuffled[other] = shuffled[i];
			shuffled[i] = value;
			*(i < half ? &first : &second) += value;
		}
		if (first > 0 && second > 0)
			changes[count++] = fabs(log(second / first));
	}
	free(shuffled);
	if (count < RUN_RESAMPLES / 2)
		return -1;
	run_values_sort(changes, count);
	/* The changes are those of means of `half` runs; means of fewer runs vary more. */
	double scale = sqrt((1 / (double)base_len + 1 / (double)other_len) / (2 / (double)half));
	return expm1(run_quantile(changes, count, RUN_NOISE_QUANTILE) * scale);
}

struct ordered {
	double p; /* Must be the first member: order_doubles reads it. */
	size_t index;
};

enum tally_status run_adjust(double *p, size_t count, enum run_correction correction, struct tally_error *err)
{
	if (count == 0 || correction == RUN_CORRECT_NONE)
		return TALLY_OK;
	struct ordered *sorted = calloc(count, sizeof(*sorted));
	if (!sorted)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct ordered){p[i], i};
	qsort(sorted, count, sizeof(*sorted), order_doubles);
	double bound = correction == RUN_CORRECT_HOLM ? 0 : 1;
	for (size_t i = 0; i < count; i++) {
		/* Holm's method goes up from the smallest p, Benjamini-Hochberg's down from the largest. */
		size_t at = correction == RUN_CORRECT_HOLM ? i : count - 1 - i;
		double adjusted = correction == RUN_CORRECT_HOLM ? sorted[at].p * (double)(count - at)
								 : sorted[at].p * (double)count / (double)(at + 1);
		if (correction == RUN_CORRECT_HOLM ? adjusted > bound : adjusted < bound)
			bound = adjusted;
		p[sorted[at].index] = MIN(bound, 1);
	}
	free(sorted);
	return TALLY_OK;
}
