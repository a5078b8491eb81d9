/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/data_source.h"

#include <stdio.h>

#include "base/error.h"
#include "tasks/session/pack_damage.h"
#include "tasks/session/recording_input.h"

static void data_source_name_frames(struct data_source *source)
{
	frame_names_init(&source->names, &source->pass.resolver, source->pass.sideband.machine, source->store);
}

bool data_source_forget_frames(struct data_source *source)
{
	frame_names_deinit(&source->names);
	bool is_done = recording_pass_forget_frames(&source->pass, NULL) == TALLY_OK;
	data_source_name_frames(source);
	return is_done;
}

enum tally_status data_source_open_reader(
	const struct data_input *input, struct data_source *source, struct tally_error *err)
{
	*source = (struct data_source){0};
	return trace_options_open(&input->file, &input->traces, &source->reader, err);
}

enum tally_status data_source_open_store(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err)
{
	struct binary_store_options options = symbol_options_of(cli, &input->symbols, source->reader);
	options.kept = input->kept;
	if (input->recorded_ns)
		options.recorded_ns = input->recorded_ns;
	enum tally_status status = binary_store_create(&options, &source->store, err);
	if (status == TALLY_OK && !input->is_quiet)
		pack_tell_damage(cli, source->store);
	return status;
}

/* Reads the mappings and other side-band records: of a stream only its first records if these suffice, else of the
 * whole recording. */
static enum tally_status data_source_read_history(
	const struct data_input *input, struct data_source *source, struct tally_error *err)
{
	struct recording_pass *pass = &source->pass;
	if (input->is_live && perfdata_reader_is_stream(source->reader)) {
		*pass = (struct recording_pass){.reader = source->reader};
		enum tally_status live = live_records_create(source->reader, &pass->sideband, &source->live, err);
		if (live != TALLY_UNSUPPORTED)
			return live;
	}
	const struct recording_pass_input all = {source->store, input->max_bytes, input->progress};
	return recording_pass_read(pass, source->reader, &all, err);
}

static void data_source_tell_formats(const struct cli *cli, const struct data_source *source)
{
	if (source->tracepoint_error.text[0])
		cli_failf(cli, "%s: %s", cli->program, source->tracepoint_error.text);
}

enum tally_status data_source_read(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err)
{
	enum tally_status status = source->store ? TALLY_OK : data_source_open_store(cli, input, source, err);
	if (status == TALLY_OK)
		status = data_source_read_history(input, source, err);
	if (status == TALLY_OK)
		status = recording_pass_resolve(&source->pass, source->store, err);
	if (status != TALLY_OK)
		return status;
	if (source->live)
		live_records_tell(source->live, &source->pass.resolver);
	data_source_name_frames(source);
	struct tally_bytes formats = perfdata_reader_features(source->reader)->tracing_data;
	if (formats.len > 0 &&
		tracepoint_printer_create(formats, &source->tracepoints, &source->tracepoint_error) != TALLY_OK)
		source->tracepoints = NULL;
	if (!input->is_quiet)
		data_source_tell_formats(cli, source);
	if (!source->live)
		perfdata_reader_rewind(source->reader);
	status = sample_filter_init(&source->filter, &input->samples, source->reader, err);
	if (status == TALLY_OK && !source->live)
		status = time_order_create(source->reader, &source->order, err);
	if (status == TALLY_OK && !input->is_quiet && !input->shows_origin)
		cli_note_origin(cli, source->reader);
	if (status == TALLY_OK && !input->is_quiet && !input->shows_counts)
		cli_note_counts(cli, source->reader, input->file.path);
	return status;
}

void data_source_tell(const struct cli *cli, const struct data_input *input, const struct data_source *source)
{
	if (source->store)
		pack_tell_damage(cli, source->store);
	data_source_tell_formats(cli, source);
	if (!input->shows_counts)
		cli_note_counts(cli, source->reader, input->file.path);
}

enum tally_status data_source_open(
	const struct cli *cli, const struct data_input *input, struct data_source *source, struct tally_error *err)
{
	enum tally_status status = data_source_open_reader(input, source, err);
	if (status == TALLY_OK)
		status = data_source_read(cli, input, source, err);
	if (status != TALLY_OK)
		data_source_close(source);
	return status;
}

enum tally_status data_source_take(const struct cli *cli, const struct data_input *input,
	struct perfdata_reader *reader, struct binary_store *store, struct data_source *source, struct tally_error *err)
{
	*source = (struct data_source){.reader = reader, .store = store};
	enum tally_status status = data_source_read(cli, input, source, err);
	if (status != TALLY_OK)
		data_source_close(source);
	return status;
}

void data_source_close(struct data_source *source)
{
	time_order_destroy(source->order);
	live_records_destroy(source->live);
	tracepoint_printer_destroy(source->tracepoints);
	frame_names_deinit(&source->names);
	recording_pass_close(&source->pass);
	binary_store_destroy(source->store);
	group_reads_deinit(&source->reads);
	sample_filter_deinit(&source->filter);
	perfdata_reader_destroy(source->reader);
	*source = (struct data_source){0};
}

bool data_source_decode(struct data_source *source, const struct record *record, struct data_sample *out)
{
	struct input_health *health = &source->pass.sideband.health;
	out->record = *record;
	out->event = perfdata_reader_event_of(source->reader, record);
	if (!out->event) {
		health->unattributed_samples++;
		return false;
	}
	if (sample_decode(&out->event->layout, record, &out->sample, NULL) != TALLY_OK) {
		damaged_records_add(&health->damaged, record->offset, record->type);
		return false;
	}
	if (!(out->sample.present & SAMPLE_PERIOD))
		out->sample.period = out->event->attr.sample_period_or_freq;
	out->clock = sample_clock_at(&source->pass.sideband.clock, out->event,
		record_run_position(&source->pass.run, record), out->sample.time);
	return true;
}

/* Returns the next event of the group with a changed count, or TALLY_END if there are no more. */
static enum tally_status next_of_group(struct data_source *source, struct data_sample *out, struct tally_error *err)
{
	struct group_read read;
	enum tally_status status =
		group_reads_next(&source->reads, source->reader, &source->group.sample, &source->group_position, &read);
	if (status != TALLY_OK)
		return status == TALLY_NOMEM ? error_nomem(err) : status;
	*out = source->group;
	out->event = read.event;
	out->sample.id = read.id;
	out->sample.period = read.grown;
	return TALLY_OK;
}

static bool is_sideband(const struct record *record)
{
	return record->type == RECORD_MMAP || record->type == RECORD_MMAP2 || record->type == RECORD_COMM ||
	       record->type == RECORD_FORK || record->type == RECORD_EXIT;
}

static void data_source_take_sideband(
	const struct data_source *source, const struct time_order_item *item, struct data_sample *out)
{
	struct sample_id id;
	*out = (struct data_sample){.record = item->record, .sample.time = item->has_time ? item->time_ns : 0};
	if (perfdata_reader_sample_id(source->reader, &item->record, &id) && id.has_cpu) {
		out->sample.cpu = id.cpu;
		out->sample.present = SAMPLE_CPU;
	}
}

enum tally_status data_source_next_record(
	struct data_source *source, struct time_order_item *item, struct tally_error *err)
{
	return source->live ? live_records_next(source->live, item, err) : time_order_next(source->order, item, err);
}

void data_source_end_records(struct data_source *source)
{
	source->pass.sideband.health.unordered =
		source->live ? live_records_late(source->live) : time_order_late(source->order);
}

enum tally_status data_source_next(struct data_source *source, struct data_sample *out, struct tally_error *err)
{
	for (;;) {
		struct time_order_item item;
		enum tally_status status = next_of_group(source, out, err);
		if (status != TALLY_END)
			return status;
		status = data_source_next_record(source, &item, err);
		if (status != TALLY_OK) {
			data_source_end_records(source);
			return status;
		}
		if (source->pass.end_offset && item.record.offset >= source->pass.end_offset)
			return TALLY_END;
		bool is_loss = source->with_losses && item.record.type == RECORD_LOST;
		if (source->with_sideband && (is_sideband(&item.record) || is_loss)) {
			data_source_take_sideband(source, &item, out);
			return TALLY_OK;
		}
		if (item.record.type != RECORD_SAMPLE || !data_source_decode(source, &item.record, out))
			continue;
		if (!sample_filter_wants(&source->filter, source->pass.sideband.machine, &out->sample, out->clock)) {
			source->skipped++;
			continue;
		}
		if (!(out->sample.present & SAMPLE_READ))
			return TALLY_OK;
		source->group = *out;
		source->group_position = 0;
	}
}

struct tally_str data_source_comm(const struct data_source *source, const struct data_sample *sample, char room[16])
{
	int32_t tid = (int32_t)sample->sample.tid;
	uint32_t comm = machine_comm_at(source->pass.sideband.machine, tid, sample->clock);
	if (comm != INTERN_NONE)
		return machine_string(source->pass.sideband.machine, comm);
	snprintf(room, 16, ":%d", tid);
	return str_from(room);
}
