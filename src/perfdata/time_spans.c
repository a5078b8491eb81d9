/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/time_spans.h"

#include "abi/wait_record.h"
#include "base/array.h"
#include "base/error.h"

#define NS_DIGITS 9

static bool take_digits(struct tally_str *text, struct tally_str *digits)
{
	digits->data = text->data;
	digits->len = 0;
	while (text->len > 0 && text->data[0] >= '0' && text->data[0] <= '9') {
		text->data++;
		text->len--;
		digits->len++;
	}
	return digits->len > 0;
}

static bool take_char(struct tally_str *text, char c)
{
	if (text->len == 0 || text->data[0] != c)
		return false;
	text->data++;
	text->len--;
	return true;
}

/* Parses seconds such as "12.345", with at most nine decimal digits. A value beyond all times becomes the last time
 * before WAIT_SUMS_NS, where perf's sums of waits are, as perf's own tests expect. */
static bool parse_seconds(struct tally_str text, uint64_t *time_ns)
{
	struct tally_str whole, part = {"", 0};
	uint64_t seconds, ns = 0;
	if (!take_digits(&text, &whole) || !str_to_u64(whole, 10, &seconds))
		return false;
	if (take_char(&text, '.') && (!take_digits(&text, &part) || part.len > NS_DIGITS || !str_to_u64(part, 10, &ns)))
		return false;
	for (size_t i = part.len; i < NS_DIGITS; i++)
		ns *= 10;
	if (__builtin_mul_overflow(seconds, UINT64_C(1000000000), time_ns) ||
		__builtin_add_overflow(*time_ns, ns, time_ns))
		*time_ns = WAIT_SUMS_NS - 1;
	return text.len == 0;
}

/* Cuts off the next span. It ends at a blank that does not follow a comma or another blank: "1, 2" is one span. */
static bool next_absolute(struct tally_str *rest, struct tally_str *part)
{
	size_t len = 0;
	*rest = str_trim(*rest);
	while (len < rest->len && (rest->data[len] != ' ' || (len > 0 && strchr(", ", rest->data[len - 1]) != NULL)))
		len++;
	*part = (struct tally_str){rest->data, len};
	rest->data += len;
	rest->len -= len;
	return len > 0;
}

static bool parse_absolute(struct tally_str text, struct time_span *span)
{
	struct tally_str start, stop = text;
	*span = (struct time_span){0, UINT64_MAX};
	if (!memchr(text.data, ',', text.len) || !str_next(&stop, ',', &start))
		return false;
	if (start.len > 0 && !parse_seconds(start, &span->first_ns))
		return false;
	stop = str_trim(stop);
	if (stop.len > 0 && !parse_seconds(stop, &span->last_ns))
		return false;
	return span->first_ns <= span->last_ns;
}

/* Parses a percentage such as "33.3%", at most 100, as a share of 1. */
static bool take_percent(struct tally_str *text, double *share)
{
	struct tally_str whole, part;
	uint64_t number, fraction;
	double scale = 1;
	if (!take_digits(text, &whole) || !str_to_u64(whole, 10, &number) || number > 100)
		return false;
	double percent = (double)number;
	if (take_char(text, '.')) {
		if (!take_digits(text, &part) || part.len > NS_DIGITS || !str_to_u64(part, 10, &fraction))
			return false;
		for (size_t i = 0; i < part.len; i++)
			scale *= 10;
		percent += (double)fraction / scale;
	}
	*share = percent / 100;
	return percent <= 100 && take_char(text, '%');
}

/* In damaged files the total may exceed the exact range of doubles, and a product rounded up may not fit in 64 bits. */
static uint64_t time_spans_part_of(uint64_t total, double share)
{
	double part = (double)total * share;
	return part < (double)total ? (uint64_t)part : total;
}

static bool parse_percent(struct tally_str text, struct time_span whole, struct time_span *span)
{
	struct tally_str digits;
	double from, to;
	uint64_t number = 1;
	if (!take_percent(&text, &from))
		return false;
	if (take_char(&text, '-')) {
		if (!take_percent(&text, &to))
			return false;
	} else {
		if (take_char(&text, '/') && (!take_digits(&text, &digits) || !str_to_u64(digits, 10, &number)))
			return false;
		to = from * (double)number;
		from *= (double)number - 1;
		if (number == 0 || from >= to || to > 1)
			return false;
	}
	uint64_t total = whole.last_ns - whole.first_ns;
	span->first_ns = whole.first_ns + time_spans_part_of(total, from);
	span->last_ns = whole.first_ns + time_spans_part_of(total, to);
	return text.len == 0;
}

static bool is_relative(struct tally_str text)
{
	return text.len > 0 && memchr(text.data, '%', text.len);
}

/* Absolute spans must be in ascending order; percentages may be in any order. */
static enum tally_status parse_parts(
	struct tally_str text, struct time_span whole, struct time_spans *spans, struct tally_error *err)
{
	bool relative = is_relative(text);
	struct tally_str rest = str_trim(text), part;
	bool ok = rest.len > 0;
	while (ok && (relative ? str_next(&rest, ',', &part) : next_absolute(&rest, &part))) {
		struct time_span span;
		ok = relative ? parse_percent(part, whole, &span) : parse_absolute(part, &span);
		if (ok && !relative && spans->items.len > 0)
			ok = span.first_ns > spans->items.items[spans->items.len - 1].last_ns;
		if (ok && !vec_push(&spans->items, span))
			return error_nomem(err);
	}
	return ok ? TALLY_OK : error_set(err, TALLY_INVALID, "Invalid time string");
}

enum tally_status time_spans_parse(
	struct tally_str text, struct time_span whole, struct time_spans *spans, struct tally_error *err)
{
	struct time_spans result = {0};
	enum tally_status status = parse_parts(text, whole, &result, err);
	if (status == TALLY_OK)
		*spans = result;
	else
		time_spans_deinit(&result);
	return status;
}

bool time_spans_are_valid(const char *text)
{
	struct time_spans spans = {0};
	if (time_spans_parse(str_from(text), (struct time_span){0, 0}, &spans, NULL) == TALLY_INVALID)
		return false;
	time_spans_deinit(&spans);
	return true;
}

struct time_span time_bounds_read(struct perfdata_reader *reader)
{
	const struct perfdata_features *f = perfdata_reader_features(reader);
	struct time_span whole = {UINT64_MAX, 0};
	struct record record;
	/* perf writes all ones if the samples have no times. */
	if (feature_is_present(f, FEATURE_SAMPLE_TIME) && f->first_sample_time_ns &&
		f->first_sample_time_ns <= f->last_sample_time_ns && f->last_sample_time_ns < UINT64_MAX)
		return (struct time_span){f->first_sample_time_ns, f->last_sample_time_ns};
	while (perfdata_reader_next(reader, &record, NULL) == TALLY_OK) {
		const struct perfdata_event *event =
			record.type == RECORD_SAMPLE ? perfdata_reader_event_of(reader, &record) : NULL;
		struct sample sample;
		if (!event || sample_decode(&event->layout, &record, &sample, NULL) != TALLY_OK ||
			!(sample.present & SAMPLE_TIME))
			continue;
		whole.first_ns = MIN(sample.time, whole.first_ns);
		whole.last_ns = MAX(sample.time, whole.last_ns);
	}
	perfdata_reader_rewind(reader);
	return whole.first_ns <= whole.last_ns ? whole : (struct time_span){0, 0};
}

enum tally_status time_spans_read(
	const char *text, struct perfdata_reader *reader, struct time_spans *spans, struct tally_error *err)
{
	struct tally_str str = str_from(text);
	struct time_span whole = is_relative(str) ? time_bounds_read(reader) : (struct time_span){0, 0};
	enum tally_status status = time_spans_parse(str, whole, spans, err);
	for (size_t i = 0; status == TALLY_OK && is_relative(str) && whole.last_ns == 0 && i < spans->items.len; i++)
		spans->items.items[i] = (struct time_span){0, UINT64_MAX};
	return status;
}

bool time_spans_have(const struct time_spans *spans, uint64_t time_ns)
{
	for (size_t i = 0; i < spans->items.len; i++)
		if (time_ns >= spans->items.items[i].first_ns && time_ns <= spans->items.items[i].last_ns)
			return true;
	return false;
}

void time_spans_deinit(struct time_spans *spans)
{
	vec_free(&spans->items);
}
