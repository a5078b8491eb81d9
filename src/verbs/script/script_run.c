/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_run.h"

#include <inttypes.h>
#include <unistd.h>

#include "analysis/wait_events.h"
#include "base/error.h"
#include "cli/progress_line.h"
#include "perfdata/time_order.h"
#include "verbs/script/script_json.h"

static struct text *script_run_text_of(struct script *script, const struct perfdata_event *event)
{
	return script->dumps.items ? script_dumps_text(&script->dumps, event) : &script->out;
}

/* Applies the filters of the options between the early and the late stage of the dlfilter. */
static enum tally_status script_run_choose(
	struct script *script, const struct script_probe *probe, bool *wanted, struct tally_error *err)
{
	struct script_dlfilter *dlfilter = &script->dlfilter;
	if (!dlfilter->handle)
		return script_filter_wants(&script->filter, &script->printer.places, probe, wanted) ? TALLY_OK
												    : error_nomem(err);
	if (!script_dlfilter_pass(dlfilter, &script->out))
		return TALLY_END; /* The reader of the output has closed it. */
	enum tally_status status = script_dlfilter_wants(dlfilter, probe, DLFILTER_EARLY, wanted, err);
	if (status == TALLY_OK && *wanted &&
		!script_filter_wants(&script->filter, &script->printer.places, probe, wanted))
		status = error_nomem(err);
	if (status == TALLY_OK && *wanted)
		status = script_dlfilter_wants(dlfilter, probe, DLFILTER_LATE, wanted, err);
	return status;
}

static enum tally_status script_run_print_sample(struct script *script, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock, struct tally_error *err)
{
	struct script_probe probe = {.event = event,
		.sample = sample,
		.cpumode = record->misc & MISC_CPUMODE_MASK,
		.misc = record->misc,
		.clock = clock};
	bool is_wanted;
	if (script_is_dumping(&script->settings) && sample_filter_is_within(&script->filter.samples, sample))
		dump_raw_place(&script->dump, &script->out, record, sample, clock);
	enum tally_status status = script_run_choose(script, &probe, &is_wanted, err);
	if (status != TALLY_OK || !is_wanted)
		return status;
	struct text *out = script_run_text_of(script, event);
	bool is_done = script->settings.is_json
			       ? script_json_sample(&script->json, &script->printer, event, record, sample, clock)
			       : script_print_sample(&script->printer, out, event, record, sample, clock);
	if (!is_done)
		return error_nomem(err);
	script->printed++;
	bool has_all = script->settings.max_events > 0 && script->printed >= script->settings.max_events;
	/* text_line_end fails if the reader of the output has closed it. */
	return !text_line_end(out) || has_all ? TALLY_END : TALLY_OK;
}

static enum tally_status script_run_print_group(struct script *script, const struct record *record,
	const struct sample *sample, uint64_t clock, struct tally_error *err)
{
	const struct perfdata_event *leader = perfdata_reader_event_of(script->recording.reader, record);
	uint64_t position = 0, printed = script->printed;
	struct group_read read;
	enum tally_status status;
	script_metrics_begin(&script->metrics);
	while ((status = group_reads_next(
			&script->recording.reads, script->recording.reader, sample, &position, &read)) == TALLY_OK) {
		struct sample one = *sample;
		one.period = read.grown;
		script_metrics_count(&script->metrics, read.event->index, read.grown);
		status = script_run_print_sample(script, read.event, record, &one, clock, err);
		if (status != TALLY_OK)
			return status;
	}
	struct script_row row = {.event = leader, .record = record, .sample = sample, .clock = clock};
	if (status != TALLY_NOMEM && !script->settings.is_json && script->printed > printed &&
		script->fields[leader->index] & FIELD_METRIC)
		script_metrics_print(&script->metrics, &script->printer, script_run_text_of(script, leader), &row);
	return status == TALLY_NOMEM ? error_nomem(err) : TALLY_OK;
}

static void check_time(struct script *script, uint64_t time_ns)
{
	if (time_ns < script->last_ns) {
		cli_failf(script->cli, "Samples misordered, previous: %" PRIu64 " this: %" PRIu64, script->last_ns,
			time_ns);
		script->misordered++;
	}
	script->last_ns = time_ns;
}

/* Prints a deferred call chain. Filters treat it as a sample of its thread without an address. */
static enum tally_status print_deferred(struct script *script, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	struct sample_id id;
	const struct perfdata_event *event = perfdata_reader_event_of(script->recording.reader, record);
	bool is_whole = event && record_decode(record, &fields, NULL) == TALLY_OK &&
			perfdata_reader_sample_id(script->recording.reader, record, &id);
	if (!is_whole) /* Damaged records were counted when the recording was first read. */
		return TALLY_OK;
	const struct record_callchain_deferred *chain = &fields.callchain_deferred;
	struct sample sample = {.present = event->attr.sample_type & (SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU),
		.swap = record->swap,
		.pid = event->attr.sample_type & SAMPLE_TID ? id.pid : UINT32_MAX,
		.tid = event->attr.sample_type & SAMPLE_TID ? id.tid : UINT32_MAX,
		.cpu = id.cpu,
		.time = id.time,
		.callchain = {chain->ips.data, (uint32_t)chain->count}};
	struct script_row row = {.event = event, .record = record, .sample = &sample};
	row.clock = sample_clock_at(&script->recording.pass.sideband.clock, event,
		record_run_position(&script->recording.pass.run, record), sample.time);
	struct script_probe probe = {event, &sample, record->misc & MISC_CPUMODE_MASK, record->misc, row.clock};
	bool is_wanted;
	if (!script_filter_wants(&script->filter, &script->printer.places, &probe, &is_wanted))
		return error_nomem(err);
	struct text *out = script_run_text_of(script, event);
	if (is_wanted && !script_print_deferred(&script->printer, out, &row, chain->cookie))
		return error_nomem(err);
	return text_line_end(out) ? TALLY_OK : TALLY_END;
}

/* Prints a record that is not a sample. */
static enum tally_status script_run_print_other(
	struct script *script, const struct time_order_item *item, struct tally_error *err)
{
	const struct record *record = &item->record;
	struct sample_id id;
	bool is_elsewhere = script->filter.samples.cpus &&
			    perfdata_reader_sample_id(script->recording.reader, record, &id) &&
			    !sample_filter_has_cpu(&script->filter.samples, id.cpu);
	if (!script_records_print(&script->records, is_elsewhere ? NULL : &script->out, record))
		return error_nomem(err);
	return text_line_end(&script->out) ? TALLY_OK : TALLY_END;
}

static enum tally_status script_run_print_record(
	struct script *script, const struct time_order_item *item, struct tally_error *err)
{
	const struct record *record = &item->record;
	if (script_is_dumping(&script->settings))
		dump_raw_record(&script->dump, &script->out, record);
	bool is_deferred = record->type == RECORD_CALLCHAIN_DEFERRED && script->settings.keeps_deferred;
	if (is_deferred && !script->settings.only_checks)
		return print_deferred(script, record, err);
	if (record->type != RECORD_SAMPLE)
		return script_run_print_other(script, item, err);
	const struct perfdata_event *event = perfdata_reader_event_of(script->recording.reader, record);
	if (!event) {
		script->recording.pass.sideband.health.unattributed_samples++;
		return TALLY_OK;
	}
	struct sample sample;
	if (sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK) {
		damaged_records_add(&script->recording.pass.sideband.health.damaged, record->offset, record->type);
		return TALLY_OK;
	}
	if (!(event->attr.sample_type & SAMPLE_TID))
		sample.pid = sample.tid = UINT32_MAX;
	if (!(event->attr.sample_type & SAMPLE_PERIOD))
		sample.period = event->attr.sample_period_or_freq;
	if (script->settings.only_checks) {
		if (event->attr.sample_type & SAMPLE_TIME)
			check_time(script, sample.time);
		return TALLY_OK;
	}
	uint64_t clock = sample_clock_at(&script->recording.pass.sideband.clock, event,
		record_run_position(&script->recording.pass.run, record), wait_sample_time(event, &sample));
	if (event->attr.sample_type & SAMPLE_READ)
		return script_run_print_group(script, record, &sample, clock, err);
	return script_run_print_sample(script, event, record, &sample, clock, err);
}

/* Prints a live stream. The output is flushed whenever all records that have arrived are printed. */
static enum tally_status print_live(struct script *script, struct tally_error *err)
{
	enum tally_status status;
	struct time_order_item item;
	while ((status = data_source_next_record(&script->recording, &item, err)) == TALLY_OK) {
		status = script_run_print_record(script, &item, err);
		bool is_drained = status == TALLY_OK && live_records_is_drained(script->recording.live);
		if (is_drained &&
			(!script_dlfilter_flush(&script->dlfilter, &script->out) || !text_flush(&script->out)))
			status = TALLY_END; /* The reader of the output has closed it. */
		if (status != TALLY_OK)
			break;
	}
	return status;
}

static enum tally_status print_ordered(struct script *script, struct tally_error *err)
{
	struct data_source *recording = &script->recording;
	struct time_order_item item;
	enum tally_status status;
	struct progress_line line = {.is_on = false};
	perfdata_reader_rewind(recording->reader);
	/* Records that mark the end of a recording round (--show-round-events) are meaningful only in file order. */
	if (script->settings.show_round || script->settings.dump_unsorted)
		time_order_keep_file_order(recording->order);
	if (isatty(STDOUT_FILENO) != 1) /* On a terminal, the output itself shows the progress. */
		progress_line_start(&line);
	progress_begin(&line.progress, "writing samples", perfdata_reader_bytes(recording->reader));
	while ((status = data_source_next_record(recording, &item, err)) == TALLY_OK) {
		if (line.is_on)
			progress_add(&line.progress, item.record.bytes.len);
		if ((status = script_run_print_record(script, &item, err)) != TALLY_OK)
			break;
	}
	progress_line_stop(&line);
	return status;
}

enum tally_status script_print_all(struct script *script, struct tally_error *err)
{
	enum tally_status status = script->recording.live ? print_live(script, err) : print_ordered(script, err);
	data_source_end_records(&script->recording);
	return status == TALLY_END ? TALLY_OK : status;
}
