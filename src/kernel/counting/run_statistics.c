/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/run_statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"

#define RUN_STATISTICS_TAIL ((1 - RUN_CONFIDENCE) / 2)
#define NORMAL_TAIL	    1.959963984540054 /* Quantile of the normal distribution at 1 - RUN_STATISTICS_TAIL. */
#define LOG_2		    0.6931471805599453
#define SQRT_HALF	    0.7071067811865476
#define FENCE		    1.5
#define OUTLIER_MIN	    4 /* Quartiles of fewer values are meaningless. */

void run_values_sort(double *values, size_t len)
{
	if (len > 1)
		qsort(values, len, sizeof(*values), order_doubles);
}

double run_quantile(const double *sorted, size_t len, double part)
{
	if (len == 0)
		return 0;
	double at = part * (double)(len - 1);
	size_t below = (size_t)at;
	if (below + 1 >= len)
		return sorted[len - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double run_median(const double *sorted, size_t len)
{
	if (len == 0)
		return 0;
	return len % 2 ? sorted[len / 2] : sorted[len / 2 - 1] / 2 + sorted[len / 2] / 2;
}

/*
 * The k-th smallest and the k-th largest value enclose the median unless fewer than k values lie on one side of it,
 * which has the probability 2 P(Bin(len, 1/2) < k). The interval uses the largest k that meets the confidence level.
 */
struct run_interval run_median_interval(const double *sorted, size_t len)
{
	struct run_interval interval = {0};
	double log_term = -(double)len * LOG_2, below = 0;
	for (size_t k = 1; k <= len / 2; k++) {
		below += exp(log_term); /* Adds P(Bin(len, 1/2) = k - 1). */
		if (below > RUN_STATISTICS_TAIL)
			break;
		interval = (struct run_interval){sorted[k - 1], sorted[len - k], 1 - 2 * below, true};
		log_term += log((double)(len - k + 1) / (double)k);
	}
	return interval;
}

struct run_summary run_summarise(const double *sorted, size_t len)
{
	struct run_summary summary = {.len = len, .median = run_median(sorted, len)};
	summary.interval = run_median_interval(sorted, len);
	double first = run_quantile(sorted, len, 0.25), third = run_quantile(sorted, len, 0.75);
	summary.low_fence = first - FENCE * (third - first);
	summary.high_fence = third + FENCE * (third - first);
	for (size_t i = 0; len >= OUTLIER_MIN && i < len; i++)
		summary.outliers += sorted[i] < summary.low_fence || sorted[i] > summary.high_fence;
	return summary;
}

/* Returns P(U = u) for u in 0..a*b if both sides have the same distribution and no ties; NULL if memory allocation
 * fails. */
static double *u_distribution(size_t a, size_t b)
{
	size_t width = a * b + 1;
	double *all = calloc((a + 1) * width, sizeof(*all));
	if (!all)
		return NULL;
	/* Row i after step j holds the distribution for i values against j. The largest value belongs to the first side
	 * with probability i / (i + j), and then it exceeds all j values of the other side. */
	for (size_t j = 0; j <= b; j++) {
		all[0] = 1;
		for (size_t i = 1; i <= a; i++) {
			double *row = all + i * width, *before = row - width;
			double mine = (double)i / (double)(i + j), other = (double)j / (double)(i + j);
			for (size_t u = 0; u <= i * j; u++)
				row[u] = other * row[u] + (u >= j ? mine * before[u - j] : 0);
		}
	}
	double *result = malloc(width * sizeof(*result));
	for (size_t u = 0; result && u < width; u++)
		result[u] = all[a * width + u];
	free(all);
	return result;
}

struct ranks {
	double u; /* Number of pairs in which b's value is larger; a tie counts one half. */
	double tie_sum; /* Sum of t^3 - t over all runs of t equal values. */
};

static struct ranks ranks_of(const double *a, size_t a_len, const double *b, size_t b_len)
{
	struct ranks ranks = {0};
	size_t i = 0, j = 0;
	while (i < a_len || j < b_len) {
		double value = j == b_len || (i < a_len && a[i] <= b[j]) ? a[i] : b[j];
		size_t a_first = i, b_first = j;
		while (i < a_len && a[i] <= value)
			i++;
		while (j < b_len && b[j] <= value)
			j++;
		double a_ties = (double)(i - a_first), b_ties = (double)(j - b_first), ties = a_ties + b_ties;
		ranks.u += b_ties * ((double)a_first + a_ties / 2);
		ranks.tie_sum += ties * ties * ties - ties;
	}
	return ranks;
}

static double normal_p(const struct ranks *ranks, double a, double b)
{
	double n = a + b;
	double variance = a * b / 12 * (n + 1 - ranks->tie_sum / (n * (n - 1)));
	double distance = fabs(ranks->u - a * b / 2) - 0.5; /* Continuity correction: U is an integer. */
	if (variance <= 0 || distance <= 0)
		return 1;
	return erfc(distance / sqrt(variance) * SQRT_HALF);
}

static double exact_p(const double *distribution, double u, size_t pairs)
{
	double farther = u < (double)pairs / 2 ? u : (double)pairs - u, p = 0;
	for (size_t i = 0; i < pairs && (double)i <= farther; i++)
		p += distribution[i];
	return p * 2 < 1 ? p * 2 : 1;
}

/* Number of differences to exclude at each end of the confidence interval. */
static size_t tail_count(const double *distribution, size_t a_len, size_t b_len, double *coverage)
{
	double a = (double)a_len, b = (double)b_len;
	*coverage = RUN_CONFIDENCE;
	if (!distribution) {
		double count = a * b / 2 - NORMAL_TAIL * sqrt(a * b * (a + b + 1) / 12);
		return count >= 1 ? (size_t)count : 0;
	}
	size_t k = 0;
	double below = 0;
	while (k < a_len * b_len && below + distribution[k] <= RUN_STATISTICS_TAIL)
		below += distribution[k++];
	*coverage = 1 - 2 * below;
	return k;
}

enum tally_status run_compare(const double *a, size_t a_len, const double *b, size_t b_len,
	struct run_comparison *comparison, struct tally_error *err)
{
	*comparison = (struct run_comparison){.p = 1};
	size_t pairs;
	if (a_len == 0 || b_len == 0)
		return error_set(err, TALLY_INVALID, "nothing to compare with");
	if (__builtin_mul_overflow(a_len, b_len, &pairs))
		return error_nomem(err);
	double *distribution = NULL, *differences = reallocarray(NULL, pairs, sizeof(*differences));
	bool counts_out = a_len <= RUN_EXACT_MAX && b_len <= RUN_EXACT_MAX;
	if (counts_out)
		distribution = u_distribution(a_len, b_len);
	if (!differences || (counts_out && !distribution)) {
		free(differences);
		free(distribution);
		return error_nomem(err);
	}
	for (size_t i = 0; i < a_len; i++)
		for (size_t j = 0; j < b_len; j++)
			differences[i * b_len + j] = b[j] - a[i];
	run_values_sort(differences, pairs);
	comparison->shift = run_median(differences, pairs);
	struct run_interval *interval = &comparison->interval;
	size_t k = tail_count(distribution, a_len, b_len, &interval->coverage);
	interval->is_known = k > 0 && k <= pairs / 2;
	if (interval->is_known) {
		interval->low = differences[k - 1];
		interval->high = differences[pairs - k];
		comparison->sign = (interval->low > 0) - (interval->high < 0);
	}
	struct ranks ranks = ranks_of(a, a_len, b, b_len);
	comparison->is_exact = counts_out && ranks.tie_sum == 0;
	comparison->p = comparison->is_exact ? exact_p(distribution, ranks.u, pairs)
					     : normal_p(&ranks, (double)a_len, (double)b_len);
	free(differences);
	free(distribution);
	return TALLY_OK;
}
