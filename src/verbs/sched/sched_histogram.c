/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/sched/sched_histogram.h"

#include <inttypes.h>

#include "base/array.h"

#define RULE_COLUMNS 67
#define RANGE_WIDTH  16
#define BAR_COLUMNS  40 /* Width of a bar that represents all delays. */
#define US_PER_MS    1000.0
/* Doubling buckets per unit: after this many, the range is shown in milliseconds, and after twice as many, in
 * seconds. */
#define LOG_US_MAX 10

static size_t bucket_count(bool is_linear)
{
	return is_linear ? SCHED_LATENCY_LINEAR : SCHED_LATENCY_LOG;
}

static const uint64_t *buckets_of(const struct sched_latency *l, bool is_linear)
{
	return is_linear ? l->linear_waits : l->log_waits;
}

/* Stores the bucket's range in microseconds: from range[0] inclusive to range[1] exclusive. */
static void sched_histogram_range_of(bool is_linear, size_t bucket, uint64_t range[2])
{
	range[0] = is_linear ? bucket * SCHED_LATENCY_STEP_US : bucket > 0 ? UINT64_C(1) << (bucket - 1) : 0;
	range[1] = is_linear ? (bucket + 1) * SCHED_LATENCY_STEP_US : UINT64_C(1) << bucket;
}

static void name_log_range(struct text *t, size_t bucket)
{
	static const char *const units[] = {"us", "ms", "s"};
	size_t power = bucket - 1, unit = power / LOG_US_MAX;
	if (unit >= ARRAY_LEN(units))
		unit = ARRAY_LEN(units) - 1;
	uint64_t low = UINT64_C(1) << (power - unit * LOG_US_MAX);
	text_printf(t, "%" PRIu64 " - %" PRIu64 " %s", low, 2 * low, units[unit]);
}

static void name_linear_range(struct text *t, size_t bucket, const uint64_t range[2])
{
	if (bucket + 1 == SCHED_LATENCY_LINEAR)
		text_printf(t, ">= %.1f ms", (double)range[0] / US_PER_MS);
	else if (range[1] <= 1000)
		text_printf(t, "%" PRIu64 " - %" PRIu64 " us", range[0], range[1]);
	else
		text_printf(t, "%.1f - %.1f ms", (double)range[0] / US_PER_MS, (double)range[1] / US_PER_MS);
}

static void print_bucket(struct text *out, bool is_linear, size_t bucket, uint64_t count, uint64_t total)
{
	uint64_t range[2];
	double share = (double)count / (double)total;
	size_t bar = (size_t)(share * BAR_COLUMNS);
	sched_histogram_range_of(is_linear, bucket, range);
	text_str(out, "  ");
	size_t start = out->len;
	if (bucket == 0)
		text_printf(out, "< %" PRIu64 " us", range[1]);
	else if (is_linear)
		name_linear_range(out, bucket, range);
	else
		name_log_range(out, bucket);
	text_align_from(out, start, -RANGE_WIDTH);
	text_printf(out, " | %10" PRIu64 " | %5.1f%% | ", count, 100 * share);
	text_repeat(out, '#', bar ? bar : 1);
	text_char(out, '\n');
}

static void sched_histogram_rule(struct text *out)
{
	text_char(out, ' ');
	text_repeat(out, '-', RULE_COLUMNS);
	text_char(out, '\n');
}

void sched_histogram_print(const struct sched_latency *l, bool is_linear, struct text *out)
{
	const uint64_t *buckets = buckets_of(l, is_linear);
	uint64_t total = 0;
	for (size_t i = 0; i < bucket_count(is_linear); i++)
		total += buckets[i];
	text_printf(out,
		"\n CPU Wait Latency Distribution Histogram (between snapshots) (total samples: %" PRIu64 ")\n", total);
	sched_histogram_rule(out);
	text_str(out, "  Latency Range    |      Count |    Pct | Histogram Graph\n");
	sched_histogram_rule(out);
	for (size_t i = 0; i < bucket_count(is_linear); i++)
		if (buckets[i] > 0)
			print_bucket(out, is_linear, i, buckets[i], total);
	sched_histogram_rule(out);
}

void sched_histogram_json(const struct sched_latency *l, bool is_linear, const char *name, struct json *j)
{
	const uint64_t *buckets = buckets_of(l, is_linear);
	json_array(j, name);
	for (size_t i = 0; i < bucket_count(is_linear); i++) {
		uint64_t range[2];
		sched_histogram_range_of(is_linear, i, range);
		if (buckets[i] == 0)
			continue;
		json_object(j, NULL);
		json_u64(j, "from_us", range[0]);
		if (i + 1 < bucket_count(is_linear))
			json_u64(j, "below_us", range[1]);
		json_u64(j, "delays", buckets[i]);
		json_object_end(j);
	}
	json_array_end(j);
}
