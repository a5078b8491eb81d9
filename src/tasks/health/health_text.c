/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <time.h>

#include "perfdata/feature_table.h"
#include "perfdata/origin.h"
#include "tasks/header/header_text.h"
#include "tasks/health/health_report.h"
#include "tasks/session/advice_notes.h"
#include "tasks/session/stack_notes.h"

#define LABEL_WIDTH 18
#define NSEC	    UINT64_C(1000000000)

static void health_text_label(struct text *t, const char *name)
{
	text_str(t, "  ");
	text_str_left(t, str_from(name), LABEL_WIDTH);
}

static void put_seconds(struct text *t, uint64_t ns)
{
	text_printf(t, "%" PRIu64 ".%06" PRIu64 " s", ns / NSEC, ns % NSEC / 1000);
}

static void health_text_put_count(struct text *t, uint64_t count, const char *what)
{
	text_u64_grouped(t, count, ",");
	text_char(t, ' ');
	text_str(t, what);
}

/* Prints a line unless the count is 0. */
static void line_if(struct text *t, const char *name, uint64_t count, const char *what)
{
	if (count == 0)
		return;
	health_text_label(t, name);
	health_text_put_count(t, count, what);
	text_char(t, '\n');
}

static void health_text_put_end(struct text *t, const struct recording_health *health)
{
	if (health->input.missing_parts) {
		health_text_label(t, "directory");
		health_text_put_count(
			t, health->input.missing_parts, "of its files are missing, or shorter than they were\n");
	}
	health_text_label(t, "end");
	if (health->input.is_unfinished && health->end.status == TALLY_OK) {
		text_str(t,
			"whole records, but the recorder did not finish: it was killed, or ran out of memory or disk "
			"space; what it had not written is missing\n");
		return;
	}
	if (health->end.status == TALLY_OK) {
		text_str(t, "complete\n");
		return;
	}
	uint64_t offset = health->input.is_cut ? health->input.cut_offset : health->end.offset;
	text_printf(t, "cut at offset %" PRIu64 " (%#" PRIx64 "): %s\n", offset, offset, health->end.text);
}

static void health_text_put_file(struct text *t, const struct health_source *source)
{
	const struct perfdata_reader *reader = source->reader;
	struct perfdata_layout layout = perfdata_reader_layout(reader);
	health_text_label(t, "file");
	text_printf(t, "%s, %s byte order, ",
		perfdata_reader_is_pipe(reader) ? "pipe"
		: layout.is_v1			? "file of the first format"
						: "file",
		perfdata_reader_is_swapped(reader) ? "foreign" : "this machine's");
	health_text_put_count(t, perfdata_reader_bytes(reader), "bytes\n");
	health_text_put_end(t, source->health);
	const struct recording_health *health = source->health;
	health_text_label(t, "records");
	health_text_put_count(t, health->input.records, "records, ");
	health_text_put_count(t, health->input.samples, "samples");
	if (health->has_times) {
		text_str(t, ", over ");
		put_seconds(t, health->last_ns - health->first_ns);
	}
	text_char(t, '\n');
}

static void health_text_put_clock(struct text *t, const struct health_source *source)
{
	const struct perfdata_features *features = perfdata_reader_features(source->reader);
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(source->reader, &count);
	health_text_label(t, "clock");
	if (!source->health->has_times)
		text_str(t, "none: records have no times\n");
	else if (count > 0 && ATTR_HAS(&events[0].attr, USE_CLOCKID))
		text_printf(t, "%s\n", header_clock_name((uint32_t)events[0].attr.clockid));
	else
		text_str(t, "the kernel's own (local) clock\n");
	health_text_label(t, "wall clock");
	if (!feature_is_present(features, FEATURE_CLOCK_DATA) || feature_is_damaged(features, FEATURE_CLOCK_DATA)) {
		text_str(t, "unknown: not recorded with -k\n");
		return;
	}
	time_t seconds = (time_t)(features->wall_clock_ns / NSEC);
	struct tm tm;
	char day[64] = "";
	if (gmtime_r(&seconds, &tm))
		strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%SZ", &tm);
	text_printf(t, "known: %s at %s\n", day, header_clock_name(features->clock_data_clockid));
}

static void put_losses(struct text *t, const struct recording_health *health)
{
	uint64_t lost = recording_health_lost(health);
	if (health->input.filtered_samples > 0) {
		health_text_label(t, "filtered");
		health_text_put_count(t, health->input.filtered_samples, "samples did not pass --filter\n");
	}
	health_text_label(t, "lost");
	if (lost == 0) {
		text_str(t, "nothing\n");
		return;
	}
	health_text_put_count(t, health->input.lost_events, "events, ");
	health_text_put_count(t, health->input.lost_samples, "samples\n");
	health_text_label(t, "  by time");
	for (size_t i = 0; i < HEALTH_SLICES; i++) {
		if (i > 0)
			text_char(t, ' ');
		text_u64(t, health->lost_by_slice[i]);
	}
	text_printf(t, " (tenths of the recording)\n");
	line_if(t, "  without a time", health->lost_without_time, "");
	line_if(t, "  of no event", health->lost_without_event, "");
}

static void put_unknown_features(struct text *t, const struct perfdata_features *features)
{
	const char *separator = "";
	health_text_label(t, "unknown features");
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		if (!feature_is_present(features, bit) || feature_name(bit))
			continue;
		text_printf(t, "%s%u", separator, bit);
		separator = ", ";
	}
	text_char(t, '\n');
}

static void put_trace(struct text *t, const struct input_health *input)
{
	const char *name = record_trace_name(input->trace_type);
	if (input->trace_bytes == 0)
		return;
	health_text_label(t, "hardware trace");
	text_printf(t, "%s, ", name ? name : "of an unknown kind");
	health_text_put_count(t, input->trace_bytes, "bytes, which are not decoded\n");
}

static void health_text_put_origin(struct text *t, const struct perfdata_features *features)
{
	const struct perfdata_origin origin = origin_of(features);
	if (origin.kind == ORIGIN_EVENTS)
		return;
	health_text_label(t, "origin");
	origin_text(t, &origin);
	text_char(t, '\n');
}

static void health_text_put_damage(struct text *t, const struct health_source *source)
{
	const struct input_health *input = &source->health->input;
	const struct perfdata_features *features = perfdata_reader_features(source->reader);
	line_if(t, "damaged", input->damaged.count, "records");
	line_if(t, "damaged", input->damaged_features, "header sections");
	line_if(t, "out of order", input->unordered, "records arrived after their round");
	line_if(t, "of no event", input->unattributed_samples, "samples");
	line_if(t, "unknown records", input->unknown_records, "records of types that tally does not know");
	if (input->unknown_features > 0)
		put_unknown_features(t, features);
	line_if(t, "attr excess", input->attr_excess_bytes, "bytes of attributes that tally does not know");
	line_if(t, "truncated AUX", source->health->aux_truncated, "AUX records say that data is missing");
	line_if(t, "still throttled", source->health->throttled_to_the_end, "counters when the recording ended");
}

static void health_text_put_event(struct text *t, const struct perfdata_event *event, const struct health_event *counts)
{
	text_str(t, "    ");
	text_bytes(t, event->name.data, event->name.len);
	text_str(t, ": ");
	health_text_put_count(t, counts->samples, "samples");
	if (counts->lost > 0) {
		text_str(t, ", ");
		health_text_put_count(t, counts->lost, "lost");
	}
	if (counts->throttles > 0) {
		text_str(t, ", throttled ");
		health_text_put_count(t, counts->throttles, "times for ");
		put_seconds(t, counts->throttled_ns);
	}
	if (counts->enabled_ns > 0) {
		text_str(t, ", counted ");
		text_fixed(t, 100.0 * (double)counts->running_ns / (double)counts->enabled_ns, 2);
		text_str(t, "% of its time");
	}
	if (counts->full_chains > 0) {
		text_str(t, ", ");
		health_text_put_count(t, counts->full_chains, "call chains of full length");
	}
	if (counts->full_stacks > 0) {
		text_str(t, ", ");
		health_text_put_count(t, counts->full_stacks, "stack dumps cut at their size");
	}
	if (attr_is_unwound(&event->attr))
		text_printf(t, ", call chains unwound while recording from %u bytes of stack",
			event->attr.sample_stack_user);
	text_char(t, '\n');
}

static void health_text_put_events(struct text *t, const struct health_source *source)
{
	static const struct health_event none;
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(source->reader, &count);
	text_str(t, "  events\n");
	for (size_t i = 0; i < count; i++)
		health_text_put_event(
			t, &events[i], i < source->health->events.len ? &source->health->events.items[i] : &none);
}

static void health_text_put_stacks(struct text *t, const struct stack_ends *ends)
{
	if (!ends || stack_ends_unwound(ends) == 0)
		return;
	health_text_label(t, "call chains");
	stack_notes_text(t, ends);
	text_char(t, '\n');
}

static void health_text_put_chains(struct text *t, const struct chain_survey *chains)
{
	if (!chains)
		return;
	health_text_label(t, "call chains");
	text_printf(t, "%" PRIu64 " of the first %" PRIu64 " stop after one or two functions", chains->broken,
		chains->chains);
	if (chain_survey_tells_of_broken(chains))
		text_str(t, ": " ADVICE_FRAME_POINTERS);
	text_char(t, '\n');
}

static void health_text_put_types(struct text *t, const struct recording_health *health)
{
	text_str(t, "  records by type\n");
	for (uint32_t type = 0; type < HEALTH_KNOWN_TYPES; type++) {
		const char *name = record_type_name(type);
		if (health->by_type[type] == 0)
			continue;
		text_str(t, "    ");
		text_u64_right(t, health->by_type[type], 10);
		text_char(t, ' ');
		if (name)
			text_str(t, name);
		else
			text_printf(t, "type %u", (unsigned)type);
		text_char(t, '\n');
	}
	if (health->other_types > 0) {
		text_str(t, "    ");
		text_u64_right(t, health->other_types, 10);
		text_printf(t, " of types above %u\n", HEALTH_KNOWN_TYPES - 1);
	}
}

const char *health_word(const struct health_source *source)
{
	if (!source->reader)
		return "unusable";
	if (source->health->end.status != TALLY_OK)
		return "cut";
	if (recording_health_is_unfinished(source->health))
		return "unfinished";
	if (recording_health_is_damaged(source->health))
		return "damaged";
	return recording_health_is_good(source->health) ? "good" : "lossy";
}

void health_text(struct text *out, const struct health_source *source)
{
	text_printf(out, "%s: %s\n", source->path, health_word(source));
	if (!source->reader) {
		health_text_label(out, "header");
		text_printf(out, "%s\n", source->unusable->text);
		health_text_label(out, "stock perf 6.1");
		text_str(out, "does not read it either\n");
		return;
	}
	health_text_put_file(out, source);
	health_text_put_origin(out, perfdata_reader_features(source->reader));
	health_text_put_clock(out, source);
	put_losses(out, source->health);
	health_text_put_damage(out, source);
	put_trace(out, &source->health->input);
	health_text_put_stacks(out, source->ends);
	health_text_put_chains(out, source->chains);
	health_text_label(out, "stock perf 6.1");
	if (source->refusal)
		text_printf(out, "does not read it: %s\n", source->refusal);
	else
		text_str(out, "reads it\n");
	health_text_put_events(out, source);
	health_text_put_types(out, source->health);
}
