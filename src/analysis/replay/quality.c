/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/replay/quality.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/error.h"
#include "base/thread_pool.h"

#define SAMPLES_AHEAD 8
#define TASK_SAMPLES  16384

static bool excludes_kernel(const struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++) {
		if (!(events[i].attr.flags & ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL)))
			return false;
	}
	return count > 0;
}

struct measuring {
	const struct profile *profile;
	struct quality *quality; /* Workers add to it atomically. */
};

static void quality_add_to(uint64_t *sum, uint64_t more)
{
	if (more)
		__atomic_fetch_add(sum, more, __ATOMIC_RELAXED);
}

static void measure_samples(void *context, size_t task, unsigned worker)
{
	const struct measuring *m = context;
	const struct profile *p = m->profile;
	struct quality sums = {0};
	size_t end = thread_pool_task_end(task, TASK_SAMPLES, p->sample_count);
	for (size_t i = task * TASK_SAMPLES; i < end; i++) {
		/* Frames are scattered in memory, so they are prefetched. */
		if (i + SAMPLES_AHEAD < p->sample_count)
			__builtin_prefetch(&p->frames[p->samples[i + SAMPLES_AHEAD].leaf]);
		const struct profile_sample *sample = &p->samples[i];
		const struct profile_frame *leaf = &p->frames[sample->leaf];
		bool is_named = leaf->function != PROFILE_NONE;
		sums.samples += sample->count;
		sums.named += is_named ? sample->count : 0;
		if (leaf->level != PROFILE_LEVEL_KERNEL)
			continue;
		sums.kernel_samples += sample->count;
		sums.kernel_named += is_named ? sample->count : 0;
	}
	quality_add_to(&m->quality->samples, sums.samples);
	quality_add_to(&m->quality->named, sums.named);
	quality_add_to(&m->quality->kernel_samples, sums.kernel_samples);
	quality_add_to(&m->quality->kernel_named, sums.kernel_named);
}

void quality_measure(struct quality *quality, const struct perfdata_reader *reader, const struct replay_result *result)
{
	const struct profile *p = result->profile;
	const struct input_health *health = &result->health;
	const struct stack_ends *ends = &result->ends;
	*quality = (struct quality){
		.lost = input_health_lost(health),
		.throttled = health->throttled,
		.stacks = stack_ends_unwound(ends) + ends->reached + ends->unknown,
		.complete = ends->ends[UNWIND_ROOT] + ends->reached,
		.is_unwound = stack_ends_unwound(ends) > 0,
		.is_cut = health->is_cut,
		.is_unfinished = health->is_unfinished || health->missing_parts,
	};
	thread_pool_for(
		thread_pool_tasks(p->sample_count, TASK_SAMPLES), 0, measure_samples, &(struct measuring){p, quality});
	if (quality->kernel_samples)
		quality->kernel = quality->kernel_named ? QUALITY_KERNEL_NAMED : QUALITY_KERNEL_HIDDEN;
	else
		quality->kernel = excludes_kernel(reader) ? QUALITY_KERNEL_EXCLUDED : QUALITY_KERNEL_UNSEEN;
}

static double quality_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_share(struct text *t, uint64_t part, uint64_t whole)
{
	/* Less than all is never rounded to 100 %. */
	double percent = quality_share(part, whole);
	if (part < whole && percent > 99.9)
		percent = 99.9;
	text_fixed(t, percent, part == whole ? 0 : 1);
	text_char(t, '%');
}

static void put_kernel(struct text *t, const struct quality *quality)
{
	switch (quality->kernel) {
	case QUALITY_KERNEL_UNSEEN:
		text_str(t, "no sample in the kernel)");
		break;
	case QUALITY_KERNEL_EXCLUDED:
		text_str(t, "kernel excluded)");
		break;
	case QUALITY_KERNEL_NAMED:
		text_str(t, "kernel: ");
		put_share(t, quality->kernel_named, quality->kernel_samples);
		text_char(t, ')');
		break;
	case QUALITY_KERNEL_HIDDEN:
		text_str(t, "kernel symbols are hidden)");
		break;
	}
}

void quality_text(struct text *t, const struct quality *quality)
{
	text_u64_grouped(t, quality->samples, ",");
	text_str(t, quality->samples == 1 ? " sample" : " samples");
	if (quality->lost) {
		text_str(t, ", ");
		text_u64_grouped(t, quality->lost, ",");
		text_str(t, " lost (");
		text_fixed(t, quality_share(quality->lost, quality->lost + quality->samples), 2);
		text_str(t, "%)");
	} else {
		text_str(t, ", none lost");
	}
	if (quality->throttled)
		text_printf(
			t, ", throttled %" PRIu64 " time%s", quality->throttled, quality->throttled == 1 ? "" : "s");
	else
		text_str(t, ", never throttled");
	if (quality->stacks) {
		text_str(t, "; ");
		put_share(t, quality->complete, quality->stacks);
		text_str(t, quality->is_unwound ? " of stacks are complete" : " of stacks are known to be complete");
	}
	if (quality->samples) {
		text_str(t, "; ");
		put_share(t, quality->named, quality->samples);
		text_str(t, " of samples resolved to a symbol (");
		put_kernel(t, quality);
	}
	if (quality->is_cut)
		text_str(t, "; the recording is cut");
	if (quality->is_unfinished)
		text_str(t, "; the recording is not finished");
}

static const struct {
	const char *name, *what;
	bool may_be_count, may_be_share;
} values[QUALITY_VALUES] = {
	[QUALITY_SAMPLES] = {"samples", "a number without %: samples>=1000", true, false},
	[QUALITY_LOST] = {"lost", "", true, true},
	[QUALITY_THROTTLED] = {"throttled", "a number without %: throttled=0", true, false},
	[QUALITY_COMPLETE] = {"complete", "a percentage: complete>95%", false, true},
	[QUALITY_SYMBOLS] = {"symbols", "a percentage: symbols>90%", false, true},
	[QUALITY_KERNEL] = {"kernel", "a percentage: kernel>90%", false, true},
};

/* "<=" must come before "<", because the first match counts. */
static const struct {
	const char *sign;
	enum quality_relation relation;
} relations[] = {{"<=", QUALITY_AT_MOST}, {">=", QUALITY_AT_LEAST}, {"==", QUALITY_EQUAL}, {"<", QUALITY_LESS},
	{">", QUALITY_MORE}, {"=", QUALITY_EQUAL}};

/* Parses at most 15 digits with an optional point: exact in a double except for the division. */
static bool read_decimal(struct tally_str text, double *value)
{
	uint64_t number = 0, scale = 1;
	bool has_point = false;
	size_t digits = 0;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		if (c == '.' && !has_point) {
			has_point = true;
			continue;
		}
		if (c < '0' || c > '9' || ++digits > 15)
			return false;
		number = number * 10 + (uint64_t)(c - '0');
		scale *= has_point ? 10 : 1;
	}
	*value = (double)number / (double)scale;
	return digits > 0;
}

static bool quality_find_value(struct tally_str name, enum quality_value *value)
{
	for (size_t i = 0; i < QUALITY_VALUES; i++) {
		if (!str_equal(name, str_from(values[i].name)))
			continue;
		*value = (enum quality_value)i;
		return true;
	}
	return false;
}

static const char *value_name(enum quality_value value)
{
	return value < QUALITY_VALUES ? values[value].name : "?";
}

static enum tally_status parse_one(struct tally_str text, struct requirement *requirement, struct tally_error *err)
{
	size_t at = 0, relation = 0, count = ARRAY_LEN(relations);
	int len = text.len < 80 ? (int)text.len : 80;
	while (at < text.len && !strchr("<>=", text.data[at]))
		at++;
	struct tally_str name = str_trim((struct tally_str){text.data, at});
	struct tally_str rest = {text.data + at, text.len - at};
	if (!quality_find_value(name, &requirement->value))
		return error_set(err, TALLY_INVALID,
			"'%.*s' is not a known requirement (samples, lost, throttled, complete, symbols, kernel)", len,
			text.data);
	while (relation < count && !str_starts_with(rest, str_from(relations[relation].sign)))
		relation++;
	if (relation == count)
		return error_set(err, TALLY_INVALID, "'%.*s' lacks one of < <= > >= =", len, text.data);
	requirement->relation = relations[relation].relation;
	size_t sign_len = strlen(relations[relation].sign);
	rest = str_trim((struct tally_str){rest.data + sign_len, rest.len - sign_len});
	requirement->is_share = str_ends_with(rest, STR("%"));
	if (requirement->is_share)
		rest = str_trim((struct tally_str){rest.data, rest.len - 1});
	if (!read_decimal(rest, &requirement->bound))
		return error_set(err, TALLY_INVALID, "'%.*s' lacks a number", len, text.data);
	if (requirement->is_share ? !values[requirement->value].may_be_share : !values[requirement->value].may_be_count)
		return error_set(err, TALLY_INVALID, "'%.*s': %s takes %s", len, text.data,
			values[requirement->value].name, values[requirement->value].what);
	return TALLY_OK;
}

enum tally_status requirements_parse(const char *text, struct requirements *requirements, struct tally_error *err)
{
	struct requirements made = {.count = 0};
	struct tally_str rest = str_from(text), part;
	while (text && str_next_item(&rest, &part)) {
		if (made.count == REQUIREMENTS_MAX)
			return error_set(err, TALLY_LIMIT, "at most %d requirements", REQUIREMENTS_MAX);
		enum tally_status status = parse_one(part, &made.items[made.count], err);
		if (status != TALLY_OK)
			return status;
		made.count++;
	}
	if (made.count == 0)
		return error_set(err, TALLY_INVALID, "no requirement is given");
	*requirements = made;
	return TALLY_OK;
}

/* Returns false if the value cannot be measured: a share of nothing, such as complete stacks where there are none. */
static bool quality_measure_value(
	const struct quality *quality, enum quality_value value, uint64_t *part, uint64_t *whole)
{
	switch (value) {
	case QUALITY_SAMPLES:
		*part = *whole = quality->samples;
		return true;
	case QUALITY_LOST:
		*part = quality->lost;
		*whole = quality->lost + quality->samples;
		return true;
	case QUALITY_THROTTLED:
		*part = *whole = quality->throttled;
		return true;
	case QUALITY_COMPLETE:
		*part = quality->complete;
		*whole = quality->stacks;
		break;
	case QUALITY_SYMBOLS:
		*part = quality->named;
		*whole = quality->samples;
		break;
	case QUALITY_KERNEL:
		*part = quality->kernel_named;
		*whole = quality->kernel_samples;
		break;
	case QUALITY_VALUES:
		return false;
	}
	return *whole > 0;
}

static bool quality_compare(double value, enum quality_relation relation, double bound)
{
	switch (relation) {
	case QUALITY_LESS:
		return value < bound;
	case QUALITY_AT_MOST:
		return value <= bound;
	case QUALITY_MORE:
		return value > bound;
	case QUALITY_AT_LEAST:
		return value >= bound;
	case QUALITY_EQUAL:
		return value >= bound && value <= bound;
	}
	return false;
}

bool requirement_is_met(const struct requirement *requirement, const struct quality *quality)
{
	uint64_t part = 0, whole = 0;
	if (!quality_measure_value(quality, requirement->value, &part, &whole))
		return false;
	return quality_compare(requirement->is_share ? quality_share(part, whole) : (double)part, requirement->relation,
		requirement->bound);
}

static void put_measured_share(struct text *t, uint64_t part, uint64_t whole)
{
	text_str(t, " is ");
	text_fixed(t, quality_share(part, whole), 2);
	text_printf(t, "%% (%" PRIu64 " of %" PRIu64 ")", part, whole);
}

/* Writes the number with as many decimals as it has, at most six. */
static void put_decimal(struct text *t, double value)
{
	unsigned decimals = 0;
	double scaled = value;
	while (decimals < 6 && scaled - (double)(uint64_t)scaled > 1e-9) {
		scaled *= 10;
		decimals++;
	}
	text_fixed(t, value, decimals);
}

void requirement_text(struct text *t, const struct requirement *requirement, const struct quality *quality)
{
	static const char *const signs[] = {"<", "<=", ">", ">=", "="};
	uint64_t part = 0, whole = 0;
	bool is_there = quality_measure_value(quality, requirement->value, &part, &whole);
	text_str(t, value_name(requirement->value));
	if (!is_there)
		text_str(t, requirement->value == QUALITY_COMPLETE ? ": there are no call chains"
								   : ": there are no samples");
	else if (requirement->is_share)
		put_measured_share(t, part, whole);
	else
		text_printf(t, " is %" PRIu64, part);
	text_printf(t, ", not %s ", signs[requirement->relation]);
	put_decimal(t, requirement->bound);
	text_str(t, requirement->is_share ? "%" : "");
}
