/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/report_dump.h"

#include <unistd.h>

#include "analysis/group_reads.h"
#include "analysis/recording_pass.h"
#include "base/error.h"
#include "perfdata/time_order.h"
#include "tasks/session/dump_raw.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/report_stats.h"

struct report_dump {
	struct text *out;
	struct perfdata_reader *reader;
	struct recording_pass pass;
	struct dump_raw raw;
	struct group_reads reads;
	bool in_file_order;
};

/* A sample with group counts is printed once for each event with a changed count. */
static enum tally_status report_dump_print_places(struct report_dump *dump, const struct record *record,
	const struct sample *sample, uint64_t clock, struct tally_error *err)
{
	if (!(sample->present & SAMPLE_READ)) {
		dump_raw_place(&dump->raw, dump->out, record, sample, clock);
		return TALLY_OK;
	}
	uint64_t position = 0;
	struct group_read read;
	enum tally_status status;
	while ((status = group_reads_next(&dump->reads, dump->reader, sample, &position, &read)) == TALLY_OK)
		dump_raw_place(&dump->raw, dump->out, record, sample, clock);
	return status == TALLY_NOMEM ? error_nomem(err) : TALLY_OK;
}

static enum tally_status report_dump_print_record(
	struct report_dump *dump, const struct record *record, struct tally_error *err)
{
	dump_raw_record(&dump->raw, dump->out, record);
	const struct perfdata_event *event =
		record->type == RECORD_SAMPLE ? perfdata_reader_event_of(dump->reader, record) : NULL;
	struct sample sample;
	enum tally_status status = TALLY_OK;
	if (event && sample_decode(&event->layout, record, &sample, NULL) == TALLY_OK) {
		uint64_t clock = sample_clock_at(
			&dump->pass.sideband.clock, event, record_run_position(&dump->pass.run, record), sample.time);
		status = report_dump_print_places(dump, record, &sample, clock, err);
	}
	if (status == TALLY_OK && dump->out->failed)
		return error_nomem(err);
	return status == TALLY_OK && !text_line_end(dump->out) ? TALLY_END : status;
}

static enum tally_status report_dump_print_all(struct report_dump *dump, struct tally_error *err)
{
	struct time_order *order;
	perfdata_reader_rewind(dump->reader);
	enum tally_status status = time_order_create(dump->reader, &order, err);
	if (status != TALLY_OK)
		return status;
	if (dump->in_file_order)
		time_order_keep_file_order(order);
	struct time_order_item item;
	while ((status = time_order_next(order, &item, err)) == TALLY_OK)
		if ((status = report_dump_print_record(dump, &item.record, err)) != TALLY_OK)
			break;
	time_order_destroy(order);
	/* TALLY_END is the end of the recording, unless the output could not be written. */
	return status == TALLY_END && dump->out->write_errno == 0 ? TALLY_OK : status;
}

enum tally_status report_dump(struct text *out, struct perfdata_reader *reader,
	const struct report_dump_options *options, struct input_health *health, struct tally_error *err)
{
	struct report_dump dump = {.out = out, .reader = reader, .in_file_order = options->in_file_order};
	enum tally_status status = recording_pass_read(&dump.pass, reader, &(struct recording_pass_input){0}, err);
	if (status == TALLY_OK) {
		const struct perfdata_features *features = perfdata_reader_features(reader);
		dump.raw = (struct dump_raw){
			.reader = reader,
			.machine = dump.pass.sideband.machine,
			.arch = features->arch.len > 0 ? arch_find_named(features->arch.data) : NULL,
			.file_name = perfdata_reader_is_pipe(reader) ? "pipe" : options->file_name,
			.verb = DUMP_OF_REPORT,
			.in_file_order = options->in_file_order,
		};
		status = report_dump_print_all(&dump, err);
		*health = dump.pass.sideband.health;
	}
	if (status == TALLY_OK && !options->has_no_counts) {
		perfdata_reader_rewind(reader);
		status = report_stats(out, NULL, reader, options->with_zeros, false, err);
	}
	group_reads_deinit(&dump.reads);
	recording_pass_close(&dump.pass);
	return status;
}

enum tally_status report_dump_first(
	const struct cli *cli, struct perfdata_reader *reader, const char *path, struct tally_error *err)
{
	const struct report_dump_options options = {.file_name = recording_name(path)};
	struct text out = {0};
	struct input_health health = {0}; /* The caller reports the health when it reads the samples. */
	text_to_fd(&out, STDOUT_FILENO);
	enum tally_status status = report_dump(&out, reader, &options, &health, err);
	if (cli_finish_text(cli, &out) != 0 && status == TALLY_OK)
		status = error_set(err, TALLY_IO, "the records could not be written");
	return status;
}
