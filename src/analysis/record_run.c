#include "analysis/record_run.h"

#include "base/error.h"

static enum tally_status copy_records(struct perfdata_reader *reader, struct record_run *run, struct tally_error *err)
{
	enum tally_status status;
	struct record record;
	while ((status = perfdata_reader_next(reader, &record, &run->end_error)) == TALLY_OK) {
		/* The payload of AUX data is not part of the run, and nothing here asks for it. */
		if (record.type == RECORD_AUXTRACE)
			continue;
		writer_bytes(&run->copy, record.bytes.data, record.bytes.len);
		if (run->copy.failed)
			return error_nomem(err);
	}
	if (status == TALLY_END)
		run->end_error.status = TALLY_OK;
	run->bytes = writer_view(&run->copy);
	return TALLY_OK;
}

enum tally_status record_run_open(struct perfdata_reader *reader, struct record_run *run, struct tally_error *err)
{
	*run = (struct record_run){.swap = perfdata_reader_is_swapped(reader)};
	run->bytes = perfdata_reader_data(reader, &run->offset);
	if (run->bytes.len > 0)
		return TALLY_OK;
	run->is_copy = true;
	run->offset = 0;
	return copy_records(reader, run, err);
}

void record_run_close(struct record_run *run)
{
	writer_deinit(&run->copy);
}

enum tally_status record_run_next(
	const struct record_run *run, size_t *position, struct record *record, struct tally_error *err)
{
	enum tally_status status = record_at(run->bytes, run->swap, *position, record, err);
	if (status != TALLY_OK)
		return status;
	record->offset = run->offset + *position;
	size_t next = *position + record->bytes.len;
	if (record->type == RECORD_AUXTRACE) {
		struct record_fields fields;
		status = record_decode(record, &fields, err);
		if (status != TALLY_OK)
			return status;
		if (fields.auxtrace.size > run->bytes.len - next)
			return error_set_at(
				err, TALLY_CORRUPT, record->offset, "AUX data reaches beyond the recording's end");
		next += (size_t)fields.auxtrace.size;
	}
	*position = next;
	return TALLY_OK;
}
