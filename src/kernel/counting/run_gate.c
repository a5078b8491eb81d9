/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/run_gate.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "kernel/counting/run_statistics.h"
#include "kernel/counting/student.h"

#define RUN_GATE_RANKS_MOST 1000 /* Maximum number of values per side for which all pairs are compared. */
#define RUN_GATE_ROUNDING   1e-12 /* Relative rounding error of a mean: means of equal values may differ by it. */
/* Efficiency of the rank test relative to the t test (3/pi) if values are distributed normally. */
#define RUN_GATE_EFFICIENCY 0.955
#define RUN_GATE_RUNS_MOST  1000000

struct run_gate_side run_gate_side_of(const double *sorted, size_t len)
{
	struct run_gate_side side = {.len = len, .sorted = sorted};
	double squares = 0;
	for (size_t i = 0; i < len; i++)
		side.mean += sorted[i] / (double)len;
	for (size_t i = 0; i < len; i++)
		squares += (sorted[i] - side.mean) * (sorted[i] - side.mean);
	bool is_alike = len < 2 || sorted[0] == sorted[len - 1];
	side.deviation = is_alike ? 0 : sqrt(squares / (double)(len - 1));
	if (is_alike && len > 0)
		side.mean = sorted[0];
	return side;
}

/* Whether the rank test can reach the level: its smallest one-sided p is that of a single order out of all. */
static bool run_gate_ranks_suffice(const struct run_gate_side *a, const struct run_gate_side *b, double level)
{
	if (!a->sorted || !b->sorted || a->len > RUN_GATE_RANKS_MOST || b->len > RUN_GATE_RANKS_MOST)
		return false;
	double least = 1;
	for (uint64_t i = 1; i <= a->len; i++)
		least *= (double)i / (double)(b->len + i);
	return least < level;
}

static enum tally_status run_gate_by_ranks(const struct run_gate_side *a, const struct run_gate_side *b,
	const struct run_gate_limit *limit, struct run_gate_result *result, struct tally_error *err)
{
	struct run_comparison comparison;
	double *raised = reallocarray(NULL, a->len, sizeof(*raised));
	if (!raised)
		return error_nomem(err);
	for (size_t i = 0; i < a->len; i++)
		raised[i] = a->sorted[i] * (1 + limit->part) + limit->difference;
	enum tally_status status = run_compare(raised, a->len, b->sorted, b->len, &comparison, err);
	free(raised);
	if (status != TALLY_OK)
		return status;
	result->by_ranks = true;
	result->p_exceeds = comparison.shift > 0 ? comparison.p / 2 : 1 - comparison.p / 2;
	result->p_below = comparison.shift < 0 ? comparison.p / 2 : 1 - comparison.p / 2;
	return TALLY_OK;
}

/* Standard error of the difference between B's mean and the limit, and its degrees of freedom. */
struct run_gate_error {
	double error, degrees;
};

/* Welch's t test. A side with a single run is assumed to vary as the other does. */
static struct run_gate_error run_gate_error_of(
	const struct run_gate_side *a, const struct run_gate_side *b, const struct run_gate_limit *limit)
{
	double scale = limit->is_fixed ? 0 : 1 + limit->part;
	double of_a = scale * a->deviation, of_b = b->deviation;
	double a_len = (double)a->len, b_len = (double)b->len;
	if (limit->is_fixed)
		return (struct run_gate_error){of_b / sqrt(b_len), b_len - 1};
	if (a->len == 1 || b->len == 1) {
		double both = a->len == 1 ? of_b : of_a;
		return (struct run_gate_error){both * sqrt(1 / a_len + 1 / b_len), fmax(a_len, b_len) - 1};
	}
	double part_a = of_a * of_a / a_len, part_b = of_b * of_b / b_len, sum = part_a + part_b;
	double degrees = sum * sum / (part_a * part_a / (a_len - 1) + part_b * part_b / (b_len - 1));
	return (struct run_gate_error){sqrt(sum), degrees};
}

static double run_gate_upper_p(double t, double degrees)
{
	double both = student_p(t, degrees) / 2;
	return t > 0 ? both : 1 - both;
}

/* Distance beyond the limit, in standard errors, at which a difference is found with probability RUN_GATE_POWER. */
static double run_gate_reach(double level, double degrees)
{
	return student_quantile(2 * level, degrees) + student_quantile(2 * (1 - RUN_GATE_POWER), degrees);
}

/* Number of runs that detect the distance between A and the limit, if the error shrinks with the square root of the
 * runs; 0 if the present runs suffice or too many would be necessary. */
static uint64_t run_gate_needed(const struct run_gate_side *a, const struct run_gate_side *b,
	const struct run_gate_limit *limit, const struct run_gate_error *error, double level)
{
	double allowed =
		limit->is_fixed ? fabs(limit->difference - b->mean) : a->mean * limit->part + limit->difference;
	double runs = limit->is_fixed ? (double)b->len : 2 / (1 / (double)a->len + 1 / (double)b->len);
	if (!(allowed > 0))
		return 0;
	double reach = run_gate_reach(level, fmax(error->degrees, 20)) * error->error / allowed;
	double needed = ceil(runs * reach * reach);
	return needed > runs && needed < RUN_GATE_RUNS_MOST ? (uint64_t)needed : 0;
}

enum tally_status run_gate_decide(const struct run_gate_side *a, const struct run_gate_side *b,
	const struct run_gate_limit *limit, double level, struct run_gate_result *result, struct tally_error *err)
{
	struct run_gate_result made = {.p_exceeds = 1, .p_below = 1};
	enum tally_status status = TALLY_OK;
	if (b->len == 0 || (a->len == 0 && !limit->is_fixed))
		return error_set(err, TALLY_INVALID, "nothing to compare with");
	double at = limit->is_fixed ? limit->difference : a->mean * (1 + limit->part) + limit->difference;
	double distance = b->mean - at;
	made.has_spread = b->deviation > 0 || (!limit->is_fixed && a->deviation > 0);
	if (!made.has_spread) {
		bool exceeds = distance > RUN_GATE_ROUNDING * fabs(at);
		made.verdict = exceeds ? RUN_EXCEEDS : RUN_DOES_NOT_EXCEED;
		made.p_exceeds = exceeds ? 0 : 1;
		made.p_below = exceeds ? 1 : 0;
		*result = made;
		return TALLY_OK;
	}
	struct run_gate_error error = run_gate_error_of(a, b, limit);
	double reach = run_gate_reach(level, error.degrees);
	if (!limit->is_fixed && run_gate_ranks_suffice(a, b, level)) {
		status = run_gate_by_ranks(a, b, limit, &made, err);
		reach /= sqrt(RUN_GATE_EFFICIENCY);
	} else {
		made.p_exceeds = run_gate_upper_p(distance / error.error, error.degrees);
		made.p_below = run_gate_upper_p(-distance / error.error, error.degrees);
	}
	if (status != TALLY_OK)
		return status;
	made.found = reach * error.error;
	made.verdict = made.p_exceeds < level ? RUN_EXCEEDS : made.p_below < level ? RUN_DOES_NOT_EXCEED : RUN_OPEN;
	if (made.verdict == RUN_OPEN)
		made.needed = run_gate_needed(a, b, limit, &error, level);
	*result = made;
	return TALLY_OK;
}
