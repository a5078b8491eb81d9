/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/ftrace/ftrace_report.h"

#include <inttypes.h>

#define FTRACE_REPORT_JSON_SCHEMA 1
#define FTRACE_REPORT_BAR_WIDTH	  46
#define BAND			  10 /* Number of doubling buckets per unit of time: 1 to 1024. */

static const char *const units[] = {"ns", "us", "ms", "s"};

/* ---- latency ---- */

/* Prints the range of a doubling bucket. Buckets from 1024 on are shown in the next larger unit. */
static void ftrace_print_doubling(const struct duration_scale *scale, size_t index, bool is_last, struct text *out)
{
	size_t band = index > BAND ? (index - 1) / BAND : 0;
	size_t at = index - band * BAND;
	const char *unit = units[(scale->in_ns ? 0 : 1) + band];
	uint64_t from = at ? (uint64_t)1 << (at - 1) : 0;
	if (is_last)
		text_printf(out, "  %4" PRIu64 " - ...  %-2s", from, unit);
	else
		text_printf(out, "  %4" PRIu64 " - %4" PRIu64 " %s", from, (uint64_t)1 << at, unit);
}

static void ftrace_print_equal(
	const struct duration_scale *scale, const struct duration_bucket *bucket, struct text *out)
{
	uint64_t unit_ns = scale->in_ns ? 1 : 1000;
	uint64_t from = bucket->from_ns / unit_ns, to = bucket->to_ns / unit_ns;
	const char *unit = units[scale->in_ns ? 0 : 1];
	if (from < 1000) {
		text_str(out, "  ");
		text_u64_right(out, from, 4);
		if (bucket->is_last)
			text_printf(out, " -  ... %s", unit);
		else
			text_printf(out, " - %4" PRIu64 " %s", to, unit);
		return;
	}
	unit = units[scale->in_ns ? 1 : 2];
	text_str(out, "  ");
	text_fixed_right(out, (double)from / 1000, 2, 4);
	if (bucket->is_last) {
		text_printf(out, " - ...  %s", unit);
		return;
	}
	text_str(out, " - ");
	text_fixed_right(out, (double)to / 1000, 2, 4);
	text_printf(out, " %s", unit);
}

static void ftrace_print_statistics(const struct duration_histogram *h, struct text *out)
{
	uint64_t unit_ns = h->scale.in_ns ? 1 : 1000;
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{"  total time", h->total_ns / unit_ns},
		{"    avg time", h->total_ns / h->count / unit_ns},
		{"    max time", h->max_ns / unit_ns},
		{"    min time", h->min_ns / unit_ns},
		{"       count", h->count},
	};
	text_printf(out, "\n# statistics  (in %s)\n", h->scale.in_ns ? "nsec" : "usec");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		text_printf(out, "%s: %20" PRIu64 "\n", rows[i].name, rows[i].value);
}

void ftrace_print_latency(const struct duration_histogram *h, bool hides_empty, struct text *out)
{
	text_printf(out, "#   DURATION     |      COUNT | %-46s |\n", "GRAPH");
	for (size_t i = 0; i < h->len; i++) {
		uint64_t count = h->counts[i];
		if (count == 0 && hides_empty)
			continue;
		struct duration_bucket bucket = duration_bucket_at(&h->scale, i);
		size_t bar = (size_t)((double)count * FTRACE_REPORT_BAR_WIDTH / (double)h->count);
		if (h->scale.range == 0)
			ftrace_print_doubling(&h->scale, i, bucket.is_last, out);
		else
			ftrace_print_equal(&h->scale, &bucket, out);
		text_printf(out, " | %10" PRIu64 " | ", count);
		text_repeat(out, '#', bar);
		text_repeat(out, ' ', FTRACE_REPORT_BAR_WIDTH - bar);
		text_str(out, " |\n");
	}
	ftrace_print_statistics(h, out);
}

static void ftrace_json_begin(struct json *j, uint64_t lost)
{
	json_object(j, NULL);
	json_u64(j, "schema", FTRACE_REPORT_JSON_SCHEMA);
	json_u64(j, "lost_events", lost);
}

void ftrace_json_latency(const struct duration_histogram *h, bool hides_empty, uint64_t lost, struct text *out)
{
	struct json j = {.out = out};
	ftrace_json_begin(&j, lost);
	json_object(&j, "latency");
	json_u64(&j, "count", h->count);
	json_u64(&j, "total_ns", h->total_ns);
	if (h->count > 0) {
		json_u64(&j, "min_ns", h->min_ns);
		json_u64(&j, "max_ns", h->max_ns);
	}
	json_array(&j, "buckets");
	for (size_t i = 0; i < h->len; i++) {
		struct duration_bucket bucket = duration_bucket_at(&h->scale, i);
		if (h->counts[i] == 0 && hides_empty)
			continue;
		json_object(&j, NULL);
		json_u64(&j, "from_ns", bucket.from_ns);
		if (!bucket.is_last)
			json_u64(&j, "below_ns", bucket.to_ns);
		json_u64(&j, "count", h->counts[i]);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	json_object_end(&j);
}

/* ---- profile ---- */

/* Prints nanoseconds as microseconds with three decimals, without rounding. */
static void ftrace_print_us(struct text *out, uint64_t ns, int width)
{
	size_t start = out->len;
	text_u64(out, ns / 1000);
	text_char(out, '.');
	text_u64_padded(out, ns % 1000, 3);
	text_align_from(out, start, width);
}

void ftrace_print_profile(const struct function_sums *sums, struct text *out)
{
	text_str(out, "# Total (us)   Avg (us)   Max (us)      Count   Function\n");
	for (size_t i = 0; i < sums->rows.len; i++) {
		const struct function_sum *row = &sums->rows.items[i];
		ftrace_print_us(out, row->total_ns, 12);
		text_char(out, ' ');
		ftrace_print_us(out, row->total_ns / row->count, 10);
		text_char(out, ' ');
		ftrace_print_us(out, row->max_ns, 10);
		text_printf(out, " %10" PRIu64 "   ", row->count);
		text_visible(out, row->name);
		text_char(out, '\n');
	}
}

void ftrace_json_profile(const struct function_sums *sums, uint64_t lost, struct text *out)
{
	struct json j = {.out = out};
	ftrace_json_begin(&j, lost);
	json_array(&j, "profile");
	for (size_t i = 0; i < sums->rows.len; i++) {
		const struct function_sum *row = &sums->rows.items[i];
		json_object(&j, NULL);
		json_string(&j, "function", row->name);
		json_u64(&j, "total_ns", row->total_ns);
		json_u64(&j, "max_ns", row->max_ns);
		json_u64(&j, "count", row->count);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
}
