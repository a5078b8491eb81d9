/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_notes.h"

#include <inttypes.h>

#include "analysis/tracepoint_fields.h"
#include "base/error.h"
#include "profile/flat/flat_chains.h"
#include "tasks/session/stack_notes.h"
#include "tasks/session/symbol_notes.h"

/* As in perf, samples of guests have no rows, while shares are relative to all samples. */
void report_notes_guests(struct diag *notes, const struct profile *p)
{
	uint64_t count = 0;
	for (size_t i = 0; i < p->sample_count && p->has_guests; i++)
		count += profile_frame_is_guest(&p->frames[p->samples[i].leaf]) ? p->samples[i].count : 0;
	if (count)
		diag_add(notes, DIAG_NOTE, "%" PRIu64 " samples of virtual machines are counted and not shown", count);
}

void report_notes_self(struct diag *notes, const struct profile *p)
{
	uint64_t count = 0, all = 0;
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		struct list stack = profile_stack(p, sample->stack);
		bool is_inlined =
			sample->stack != PROFILE_NONE && stack.count && profile_frame_is_inlined(p, stack.items[0]);
		count += is_inlined ? sample->count : 0;
		all += sample->count;
	}
	if (count)
		diag_add(notes, DIAG_NOTE,
			"%.0f%% of the samples are in inlined functions: self time here is that of the symbols that "
			"hold their code; --self inlined shows them as flame graphs do",
			100.0 * (double)count / (double)all);
}

/* Truncated chains reduce the counts of callers, so a note reports their number. */
void report_notes_cut_stacks(struct diag *notes, const struct flat_table *table)
{
	const struct profile *p = table->profile;
	uint32_t first = table->options.first_event, end = first + table->options.member_count;
	uint64_t count = 0;
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		if (sample->event < first || sample->event >= end)
			continue;
		struct flat_counted counted = flat_chains_counted(p, &table->options, sample->stack);
		if (flat_counted_frames(&counted) < profile_stack(p, sample->stack).count)
			count += sample->count;
	}
	diag_add(notes, DIAG_NOTE,
		"%" PRIu64
		" samples of %s have call chains longer than %u: outer callers are left out (see --max-stack)",
		count, profile_string(p, p->events[first].name).data, table->options.max_stack);
}

void report_notes_no_rows(struct diag *notes, const struct flat_table *table)
{
	uint64_t samples = 0;
	for (uint32_t m = 0; m < table->options.member_count; m++)
		samples += table->profile->events[table->options.first_event + m].sample_count;
	diag_add(notes, DIAG_NOTE, "none of the %" PRIu64 " samples of %s passes the filters", samples,
		profile_string(table->profile, table->profile->events[table->options.first_event].name).data);
}

void report_notes_input(
	struct diag *notes, const struct replay_result *result, const struct binary_store *store, bool is_verbose)
{
	const struct profile *p = result->profile;
	if (is_verbose)
		diag_add(notes, DIAG_NOTE,
			"%" PRIu64 " records, %" PRIu64 " samples (%zu apart), %zu stacks, %zu functions, %zu objects",
			result->health.records, result->hits.samples, p->sample_count, list_table_len(&p->stacks),
			p->function_count, p->binary_count);
	size_t remapped = machine_remapped_texts(result->machine);
	if (remapped)
		diag_add(notes, DIAG_NOTE,
			"%zu anonymous mappings hold text that programs moved to huge pages; it is named by the files "
			"that were there",
			remapped);
	stack_notes_add(notes, &result->ends, is_verbose);
	symbol_notes_add(notes, store, &result->hits, is_verbose);
}

void report_notes_times(struct diag *notes, struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.sample_type & SAMPLE_TIME)
			return;
	diag_add(notes, DIAG_NOTE,
		"samples have no timestamps: --time selects all of them by percentages, and none by seconds");
}

bool report_notes_quality(struct diag *notes, const struct quality *quality, const struct requirements *requirements)
{
	struct text t = {0};
	bool is_met = true;
	quality_text(&t, quality);
	diag_add(notes, DIAG_NOTE, "%.*s", (int)t.len, t.data);
	if (requirements->count && quality->is_unfinished) {
		is_met = false;
		diag_add(notes, DIAG_WARNING,
			"--require: the recording is unfinished, so no requirement can be met: how much is missing is "
			"not known");
	}
	for (size_t i = 0; i < requirements->count; i++) {
		if (requirement_is_met(&requirements->items[i], quality))
			continue;
		is_met = false;
		text_clear(&t);
		requirement_text(&t, &requirements->items[i], quality);
		diag_add(notes, DIAG_WARNING, "--require: %.*s", (int)t.len, t.data);
	}
	text_deinit(&t);
	return is_met;
}

bool report_notes_formats(const struct cli *cli, const struct perfdata_reader *reader)
{
	struct tracepoint_printer *printer = NULL;
	struct tally_error err;
	struct tally_bytes formats = perfdata_reader_features(reader)->tracing_data;
	bool is_read = tracepoint_printer_create(formats, &printer, &err) == TALLY_OK;
	tracepoint_printer_destroy(printer);
	if (!is_read)
		cli_failf(cli, "%s: %s: rows are not sorted by trace", cli->program, err.text);
	return is_read;
}
