/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/record_run.h"

#include "base/error.h"

/* Keeps an error in the run: it is reported after the records before it have been used. */
static enum tally_status note_end(struct record_run *run, enum tally_status status, const struct tally_error *end_error)
{
	if (status != TALLY_END)
		run->end_error = *end_error;
	return status == TALLY_NOMEM ? TALLY_NOMEM : TALLY_OK;
}

/* Reads the whole stream once, so that all event descriptions inside it are known. */
static enum tally_status read_through(struct perfdata_reader *reader, struct record_run *run)
{
	enum tally_status status;
	struct record record;
	struct tally_error end_error;
	while ((status = perfdata_reader_next(reader, &record, &end_error)) == TALLY_OK)
		;
	perfdata_reader_rewind(reader);
	return note_end(run, status, &end_error);
}

static enum tally_status copy_records(struct perfdata_reader *reader, struct record_run *run)
{
	enum tally_status status;
	struct record record;
	struct tally_error end_error;
	while ((status = perfdata_reader_next(reader, &record, &end_error)) == TALLY_OK) {
		/* Records with a payload (AUX or tracing data) are left out, because no user of the run reads them. */
		if (perfdata_payload_bytes(&record, perfdata_reader_is_pipe(reader)) > 0)
			continue;
		if (!spool_append(&run->copy, record.bytes.data, record.bytes.len))
			return TALLY_NOMEM;
	}
	run->bytes = spool_view(&run->copy);
	return note_end(run, status, &end_error);
}

enum tally_status record_run_open(struct perfdata_reader *reader, struct record_run *run, struct tally_error *err)
{
	*run = (struct record_run){.reader = reader,
		.swap = perfdata_reader_is_swapped(reader),
		.is_pipe = perfdata_reader_is_pipe(reader)};
	spool_init(&run->copy);
	if (run->is_pipe && read_through(reader, run) != TALLY_OK)
		return error_nomem(err);
	run->bytes = perfdata_reader_data(reader, &run->offset);
	if (run->bytes.len > 0)
		return TALLY_OK;
	run->is_copy = true;
	run->offset = 0;
	return copy_records(reader, run) == TALLY_OK ? TALLY_OK : error_nomem(err);
}

void record_run_close(struct record_run *run)
{
	if (run->reader)
		spool_deinit(&run->copy);
	*run = (struct record_run){0};
}

void record_run_move(const struct record_run *run, size_t *left, size_t position)
{
	struct tally_bytes behind = bytes_part(run->bytes, *left, position - *left);
	*left = position;
	if (run->is_copy) {
		spool_drop(&run->copy, behind);
		return;
	}
	perfdata_reader_drop(run->reader, behind);
	perfdata_reader_expect(run->reader, bytes_part(run->bytes, position, FILE_WINDOW_BYTES));
}

enum tally_status record_run_skip_payload(
	const struct record_run *run, size_t *position, const struct record *record, struct tally_error *err)
{
	uint64_t payload = perfdata_payload_bytes(record, run->is_pipe);
	if (payload > run->bytes.len - *position)
		return error_set_at(err, TALLY_CORRUPT, record->offset,
			"the payload of a record reaches beyond the recording's end");
	*position += (size_t)payload;
	return TALLY_OK;
}
