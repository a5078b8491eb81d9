/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_run.h - presents all records of a reader as one run of bytes that several passes and workers can share: mapped
 * if the file or a pipe's spool allows it, otherwise copied (compressed recordings).
 *
 * The caller owns the run; records borrow from it. Several threads may walk it at the same time.
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
	size_t begin, end; /* Positions in a run. */
};

struct record_run {
	const struct perfdata_reader *reader;
	struct tally_bytes bytes;
	uint64_t offset; /* Offset of bytes in the file; 0 for a copy. */
	bool swap;
	bool is_copy;
	bool is_pipe; /* The recording is a pipe's stream, in which tracing data follows its record. */
	struct spool copy;
	const struct record_piece *pieces; /* Pieces of bytes that contain the records, in order; borrowed. */
	size_t piece_count; /* 0 if all of bytes contains records. */
	unsigned threads; /* Number of threads that may walk it in parallel; 0 for one per CPU. */
	struct progress *progress; /* Progress of the reading; NULL if it is not shown. */
	/* Why the records of a pipe or of a copy ended early; its status is TALLY_OK if they did not. A copy contains
	 * complete records only. */
	struct tally_error end_error;
};

TALLY_MUST_CHECK enum tally_status record_run_open(
	struct perfdata_reader *reader, struct record_run *run, struct tally_error *err);
/* Closes a run, which may also be zero-initialised or already closed. */
void record_run_close(struct record_run *run);
/* Advises the kernel that the bytes from *left to position are no longer needed and that the bytes after them will be
 * read; *left becomes position. Any thread. */
void record_run_move(const struct record_run *run, size_t *left, size_t position);
/* Calls record_run_move once per FILE_WINDOW_BYTES; cheap enough for each step of a walk. */
static inline void record_run_pass(const struct record_run *run, size_t *left, size_t position)
{
	if (position - *left >= FILE_WINDOW_BYTES)
		record_run_move(run, left, position);
}
/* Returns the position in the run of a record that perfdata_reader_next returned. */
static inline uint64_t record_run_position(const struct record_run *run, const struct record *record)
{
	return run->is_copy ? record->position : record->offset - run->offset;
}
/* Moves *position past the payload of the record that ends there. */
TALLY_MUST_CHECK enum tally_status record_run_skip_payload(
	const struct record_run *run, size_t *position, const struct record *record, struct tally_error *err);
/* Returns the record at *position, and moves *position past it and its payload. Returns TALLY_END after the last
 * record, and TALLY_CORRUPT if the next record cannot be found. */
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
