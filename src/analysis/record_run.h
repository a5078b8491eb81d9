/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_run.h - presents all records of a reader as one run of bytes that several passes and workers can share: mapped
 * if the file or a pipe's spool allows it, else copied (compressed recordings).
 *
 * The caller owns the run; records borrow from it. Walking is read-only and may be done by several threads.
 *
 *	record_run_open(reader, &run, err);
 *	while (record_run_next(&run, &position, &record, err) == TALLY_OK) ...
 */
#ifndef ANALYSIS_RECORD_RUN_H
#define ANALYSIS_RECORD_RUN_H

#include "base/file.h"
#include "base/progress.h"
#include "base/spool.h"
#include "perfdata/reader.h"

struct record_piece {
	size_t begin, end; /* positions in a run */
};

struct record_run {
	const struct perfdata_reader *reader;
	struct tally_bytes bytes;
	uint64_t offset; /* of bytes in the file; 0 for a copy */
	bool swap;
	bool is_copy;
	bool is_pipe; /* tracing data follows its record */
	struct spool copy;
	const struct record_piece *pieces; /* that records lie in, in order; borrowed */
	size_t piece_count; /* 0: they lie in all of bytes */
	unsigned threads; /* that may walk it side by side; 0: one for each CPU */
	struct progress *progress; /* of the code that reads; NULL: progress is not shown */
	/* Why the copy ended early; TALLY_OK: it did not. It holds complete records only. */
	struct tally_error end_error;
};

TALLY_MUST_CHECK enum tally_status record_run_open(
	struct perfdata_reader *reader, struct record_run *run, struct tally_error *err);
/* One that was never opened, or was closed already, may be all zero. */
void record_run_close(struct record_run *run);
/* Tells the kernel that the bytes from *left to position may leave memory and that the bytes after them will be read;
 * *left becomes position. Any thread. */
void record_run_move(const struct record_run *run, size_t *left, size_t position);
/* The same, once there is a window full of it: for each step of a walk. */
static inline void record_run_pass(const struct record_run *run, size_t *left, size_t position)
{
	if (position - *left >= FILE_WINDOW_BYTES)
		record_run_move(run, left, position);
}
/* The position in the run of the record that its reader returned last. */
static inline uint64_t record_run_position(const struct record_run *run, const struct record *record)
{
	return run->is_copy ? record->position : record->offset - run->offset;
}
/* Moves *position past the payload of the record that ends there. */
TALLY_MUST_CHECK enum tally_status record_run_skip_payload(
	const struct record_run *run, size_t *position, const struct record *record, struct tally_error *err);
/* Gives the record at *position, and moves *position past it and its payload. TALLY_END: after the last record.
 * TALLY_CORRUPT: the next record cannot be found. */
TALLY_MUST_CHECK static inline enum tally_status record_run_next(
	const struct record_run *run, size_t *position, struct record *record, struct tally_error *err)
{
	enum tally_status status = record_at(run->bytes, run->swap, *position, record, err);
	if (status != TALLY_OK)
		return status;
	record->offset = run->offset + *position;
	size_t next = *position + record->bytes.len;
	if (record->type >= RECORD_HEADER_ATTR) {
		status = record_run_skip_payload(run, &next, record, err);
		if (status != TALLY_OK)
			return status;
	}
	*position = next;
	return TALLY_OK;
}

#endif
