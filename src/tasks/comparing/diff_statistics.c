/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/comparing/diff_statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "kernel/counting/run_statistics.h"
#include "tasks/comparing/diff_few.h"

#define PERCENT 100.0
#define SPEED_RUNS \
	RUN_RESAMPLE_MIN /* Minimum number of recordings on each side, and of rows, to estimate the machine's speed. */
/* DIFF_AUTO chooses scaling only if that leaves less than this fraction of the sum of squares within the sides. */
#define SPEED_LEAVES 0.5

struct statistician {
	const struct diff_amounts *amounts;
	struct diff_test *test;
	size_t recordings;
	double *room; /* One value for each recording. */
	double *speeds; /* Divisors of the periods, one for each recording. */
	uint64_t *samples; /* Sample counts of a row, one for each recording. */
	bool *is_out; /* Set for rows that have changed, which are not used to estimate the machine's speed. */
};

static struct run_values diff_statistics_side(const struct statistician *s, size_t first, size_t len)
{
	return (struct run_values){s->room + first, len};
}

/* Returns how much the baseline program itself varies: the larger one of the noise among its recordings and the change
 * between them and the additional ones (A/A); negative if unknown. */
static double noise_of(const struct statistician *s, uint64_t seed)
{
	const struct diff_sides *sides = &s->test->sides;
	size_t base = sides->base, other = sides->other, same = sides->same;
	double *pool = malloc((base + same) * sizeof(*pool));
	if (!pool)
		return -1;
	memcpy(pool, s->room, base * sizeof(*pool));
	memcpy(pool + base, s->room + base + other, same * sizeof(*pool));
	double floor = run_noise_floor((struct run_values){pool, base + same}, base, other, seed);
	free(pool);
	if (same == 0 || floor < 0)
		return floor;
	struct run_change apart =
		run_change_of(diff_statistics_side(s, 0, base), diff_statistics_side(s, base + other, same), seed);
	return fabs(apart.change) > floor ? fabs(apart.change) : floor;
}

static void diff_statistics_compare(const struct statistician *s, uint64_t seed, struct diff_change *change)
{
	const struct diff_sides *sides = &s->test->sides;
	struct run_values base = diff_statistics_side(s, 0, sides->base),
			  other = diff_statistics_side(s, sides->base, sides->other);
	struct run_change found = run_change_of(base, other, seed);
	change->base_mean = found.base_mean;
	change->new_mean = found.new_mean;
	change->change = found.change;
	change->has_interval = found.interval.is_known;
	change->low = found.interval.low;
	change->high = found.interval.high;
	change->is_tested = true;
	change->p = change->adjusted_p = run_rank_p(base, other);
	change->noise = noise_of(s, seed);
}

static double mean_share(const struct statistician *s, size_t row, size_t first, size_t len)
{
	double sum = 0, total = 0;
	for (size_t i = first; i < first + len; i++) {
		sum += (double)s->amounts->values[row * s->recordings + i].period;
		total += (double)s->amounts->totals[i];
	}
	return total > 0 ? PERCENT * sum / total : 0;
}

/* Returns whether the row is large enough to be tested: by both sides together, so that the choice of rows does not
 * depend on the difference of the sides. */
static bool is_tested(const struct statistician *s, const struct diff_change *change)
{
	return (change->base_share + change->new_share) / 2 >= s->test->min_share;
}

static void measure_shares(const struct statistician *s, struct diff_changes *changes)
{
	const struct diff_sides *sides = &s->test->sides;
	for (size_t row = 0; row < changes->row_count; row++) {
		changes->rows[row].base_share = mean_share(s, row, 0, sides->base);
		changes->rows[row].new_share = mean_share(s, row, sides->base, sides->other);
	}
}

static double mean_period(const struct statistician *s, size_t row)
{
	double sum = 0;
	for (size_t i = 0; i < s->recordings; i++)
		sum += (double)s->amounts->values[row * s->recordings + i].period;
	return sum / (double)s->recordings;
}

/* Sets the speed of each recording to the median, over the tested rows that have not changed, of the row's period
 * divided by the row's mean: a median is not affected by a few rows with other changes. Returns false if memory runs
 * out. */
static bool find_scales(const struct statistician *s, const struct diff_changes *changes)
{
	double *means = calloc(2 * s->amounts->row_count + 1, sizeof(*means));
	if (!means)
		return false;
	double *ratios = means + s->amounts->row_count;
	for (size_t row = 0; row < s->amounts->row_count; row++)
		means[row] = is_tested(s, &changes->rows[row]) && !s->is_out[row] ? mean_period(s, row) : 0;
	for (size_t i = 0; i < s->recordings; i++) {
		size_t len = 0;
		for (size_t row = 0; row < s->amounts->row_count; row++) {
			uint64_t period = s->amounts->values[row * s->recordings + i].period;
			if (means[row] > 0 && period > 0)
				ratios[len++] = (double)period / means[row];
		}
		if (len)
			qsort(ratios, len, sizeof(*ratios), order_doubles);
		s->speeds[i] = len ? run_median(ratios, len) : 1;
	}
	free(means);
	return true;
}

static bool find_speeds(const struct statistician *s, const struct diff_changes *changes)
{
	if (s->test->measure == DIFF_SCALED)
		return find_scales(s, changes);
	for (size_t i = 0; i < s->recordings; i++) {
		double total = (double)s->amounts->totals[i];
		s->speeds[i] = s->test->measure == DIFF_SHARES && total > 0 ? total / PERCENT : 1;
	}
	return true;
}

static struct diff_few_row diff_statistics_take_row(const struct statistician *s, size_t row)
{
	for (size_t i = 0; i < s->recordings; i++) {
		const struct diff_value *value = &s->amounts->values[row * s->recordings + i];
		s->room[i] = (double)value->period / s->speeds[i];
		s->samples[i] = value->count;
	}
	return (struct diff_few_row){s->room, s->samples};
}

/* Compares the tested rows if there are too few recordings for a rank test. */
static void compare_few(const struct statistician *s, struct diff_changes *changes)
{
	const struct diff_sides *sides = &s->test->sides;
	struct diff_few_spread spread = {0};
	for (size_t i = 0; i < changes->tested_count; i++) {
		struct diff_few_row row = diff_statistics_take_row(s, changes->order[i]);
		diff_few_spread_add(&spread, sides, &row);
	}
	for (size_t i = 0; i < changes->tested_count; i++) {
		struct diff_few_row row = diff_statistics_take_row(s, changes->order[i]);
		diff_few_compare(&spread, sides, &row, &changes->rows[changes->order[i]]);
	}
}

static enum diff_verdict verdict_of(const struct diff_change *change, double level, bool is_few)
{
	enum diff_verdict otherwise = is_few && change->is_tested ? DIFF_UNDECIDED : DIFF_NOT_SHOWN;
	if (!change->is_tested || !(change->adjusted_p < level) || fabs(change->change) <= change->noise)
		return otherwise;
	return change->change > 0 ? DIFF_MORE : change->change < 0 ? DIFF_LESS : otherwise;
}

static enum tally_status diff_statistics_adjust(
	struct diff_changes *changes, const struct diff_test *test, struct tally_error *err)
{
	double *p = malloc((changes->tested_count + 1) * sizeof(*p));
	if (!p)
		return error_nomem(err);
	for (size_t i = 0; i < changes->tested_count; i++)
		p[i] = changes->rows[changes->order[i]].p;
	enum tally_status status = run_adjust(p, changes->tested_count, test->correction, err);
	for (size_t i = 0; status == TALLY_OK && i < changes->tested_count; i++) {
		struct diff_change *change = &changes->rows[changes->order[i]];
		change->adjusted_p = p[i];
		change->verdict = verdict_of(change, test->level, changes->needed > 0);
	}
	free(p);
	return status;
}

static int diff_statistics_compare_changes(const void *left, const void *right, void *data)
{
	const struct diff_changes *changes = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct diff_change *ca = &changes->rows[a], *cb = &changes->rows[b];
	int shown = diff_verdict_is_change(cb->verdict) - diff_verdict_is_change(ca->verdict);
	if (shown)
		return shown;
	double da = fabs(ca->new_mean - ca->base_mean), db = fabs(cb->new_mean - cb->base_mean);
	if (da < db || da > db)
		return da < db ? 1 : -1;
	return COMPARE(a, b);
}

static void compare_totals(const struct statistician *s, struct diff_changes *changes)
{
	if (s->test->measure == DIFF_SHARES)
		return;
	for (size_t i = 0; i < s->recordings; i++) {
		s->room[i] = (double)s->amounts->totals[i];
		s->samples[i] = 0;
		for (size_t row = 0; row < s->amounts->row_count; row++)
			s->samples[i] += s->amounts->values[row * s->recordings + i].count;
	}
	changes->total = (struct diff_change){.base_share = PERCENT, .new_share = PERCENT};
	diff_statistics_compare(s, 0, &changes->total);
	const struct diff_sides *sides = &s->test->sides;
	changes->total_needed = diff_few_needed(sides, RUN_CORRECT_NONE, 1, s->test->level);
	if (changes->total_needed) {
		struct diff_few_row row = {s->room, s->samples};
		struct diff_few_spread spread = {0};
		diff_few_spread_add(&spread, sides, &row);
		diff_few_compare(&spread, sides, &row, &changes->total);
	}
	changes->total.verdict = verdict_of(&changes->total, s->test->level, changes->total_needed > 0);
	changes->has_total = true;
}

/* Returns the sum of squares of the logarithms in room around the mean of their side. */
static double squares_within(const struct statistician *s)
{
	const struct diff_sides *sides = &s->test->sides;
	const size_t lens[] = {sides->base, sides->other, sides->same};
	double squares = 0;
	for (size_t k = 0, first = 0; k < ARRAY_LEN(lens); first += lens[k++]) {
		double sum = 0;
		for (size_t i = first; i < first + lens[k]; i++)
			sum += log(s->room[i]);
		for (size_t i = first; i < first + lens[k]; i++) {
			double from_mean = log(s->room[i]) - sum / (double)lens[k];
			squares += from_mean * from_mean;
		}
	}
	return squares;
}

/* Computes the fraction of a row's sum of squares within the sides that remains after division by the speeds. Returns
 * false if the row is not tested, or if a recording lacks it. */
static bool what_is_left(const struct statistician *s, const struct diff_change *change, size_t row, double *left)
{
	if (!is_tested(s, change))
		return false;
	for (size_t i = 0; i < s->recordings; i++) {
		s->room[i] = (double)s->amounts->values[row * s->recordings + i].period;
		if (!(s->room[i] > 0))
			return false;
	}
	double plain = squares_within(s);
	for (size_t i = 0; i < s->recordings; i++)
		s->room[i] /= s->speeds[i];
	*left = plain > 0 ? squares_within(s) / plain : 1;
	return true;
}

/* Replaces DIFF_AUTO: by DIFF_SCALED if division by the speeds removes most of the variation within the sides, else by
 * DIFF_PERIODS. The variation within a side does not depend on the difference of the sides. If the totals differ,
 * either the machine or the program may have changed; periods are used then, since scaled periods would hide a growth
 * of all rows. */
static enum tally_status choose_measure(
	const struct statistician *s, const struct diff_changes *changes, struct tally_error *err)
{
	struct diff_test *test = s->test;
	if (test->measure != DIFF_AUTO)
		return TALLY_OK;
	test->measure = DIFF_PERIODS;
	if (test->sides.base < SPEED_RUNS || test->sides.other < SPEED_RUNS || changes->total.p < test->loosest_level)
		return TALLY_OK;
	double *left = malloc((s->amounts->row_count + 1) * sizeof(*left));
	if (!left || !find_scales(s, changes)) {
		free(left);
		return error_nomem(err);
	}
	size_t len = 0;
	for (size_t row = 0; row < s->amounts->row_count; row++)
		len += what_is_left(s, &changes->rows[row], row, &left[len]);
	run_values_sort(left, len);
	if (len >= SPEED_RUNS && run_median(left, len) < SPEED_LEAVES)
		test->measure = DIFF_SCALED;
	free(left);
	return TALLY_OK;
}

static enum tally_status diff_statistics_compare_rows(
	const struct statistician *s, struct diff_changes *changes, struct tally_error *err)
{
	if (!find_speeds(s, changes))
		return error_nomem(err);
	changes->tested_count = 0;
	for (size_t row = 0; row < changes->row_count; row++) {
		struct diff_change *change = &changes->rows[row];
		*change = (struct diff_change){
			.noise = -1, .base_share = change->base_share, .new_share = change->new_share};
		if (!is_tested(s, change))
			continue;
		(void)diff_statistics_take_row(s, row);
		diff_statistics_compare(s, row + 1, change);
		if (change->is_tested)
			changes->order[changes->tested_count++] = (uint32_t)row;
	}
	changes->needed = diff_few_needed(&s->test->sides, s->test->correction, changes->tested_count, s->test->level);
	if (changes->needed)
		compare_few(s, changes);
	return diff_statistics_adjust(changes, s->test, err);
}

static bool is_surer(const struct diff_change *a, const struct diff_change *b)
{
	return a->p < b->p || (a->p <= b->p && fabs(a->change) > fabs(b->change));
}

/* With DIFF_SCALED, a changed row shifts the median by which recordings are scaled, and so makes the other rows look
 * changed. So the most certain change is excluded from the median and everything is compared again, as long as more
 * than half of the rows remain. Returns false if nothing was excluded. */
static bool diff_statistics_leave_out(const struct statistician *s, const struct diff_changes *changes)
{
	if (s->test->measure != DIFF_SCALED)
		return false;
	size_t out = 0;
	const struct diff_change *surest = NULL;
	for (size_t i = 0; i < changes->tested_count; i++) {
		const struct diff_change *change = &changes->rows[changes->order[i]];
		if (s->is_out[changes->order[i]])
			out++;
		else if (diff_verdict_is_change(change->verdict) && (!surest || is_surer(change, surest)))
			surest = change;
	}
	if (!surest || 2 * (out + 1) >= changes->tested_count)
		return false;
	s->is_out[surest - changes->rows] = true;
	return true;
}

enum tally_status diff_statistics(const struct diff_amounts *amounts, struct diff_test *test,
	struct diff_changes *changes, struct tally_error *err)
{
	struct statistician s = {.amounts = amounts, .test = test};
	s.recordings = test->sides.base + test->sides.other + test->sides.same;
	struct diff_changes made = {.row_count = amounts->row_count};
	s.room = calloc(s.recordings + 1, sizeof(*s.room));
	s.speeds = calloc(s.recordings + 1, sizeof(*s.speeds));
	s.samples = calloc(s.recordings + 1, sizeof(*s.samples));
	s.is_out = calloc(amounts->row_count + 1, sizeof(*s.is_out));
	made.rows = calloc(amounts->row_count + 1, sizeof(*made.rows));
	made.order = calloc(amounts->row_count + 1, sizeof(*made.order));
	bool has_room = s.room && s.speeds && s.samples && s.is_out && made.rows && made.order;
	enum tally_status status = has_room ? TALLY_OK : error_nomem(err);
	if (status == TALLY_OK) {
		compare_totals(&s, &made);
		measure_shares(&s, &made);
		status = choose_measure(&s, &made, err);
	}
	if (status == TALLY_OK) {
		do
			status = diff_statistics_compare_rows(&s, &made, err);
		while (status == TALLY_OK && diff_statistics_leave_out(&s, &made));
	}
	free(s.room);
	free(s.speeds);
	free(s.samples);
	free(s.is_out);
	if (status != TALLY_OK) {
		diff_changes_deinit(&made);
		return status;
	}
	if (made.tested_count)
		qsort_r(made.order, made.tested_count, sizeof(*made.order), diff_statistics_compare_changes, &made);
	*changes = made;
	return TALLY_OK;
}
