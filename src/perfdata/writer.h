/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - writes a perf.data file that is readable at any moment, or a pipe stream.
 *
 * The caller owns the writer and destroys it; close completes the file. The order of calls is: create, add events,
 * optionally compress, begin (which writes header, IDs, attrs and features), append records, close. Whole records are
 * appended as raw bytes; nothing is decoded. One thread.
 *
 * If the process is killed at any moment, readers can open the file up to the last sync, without repair. Features are
 * stored before the data, and only their table after it, where the format requires it. A sync writes a new table after
 * the new records, makes the old one the body of a FINISHED_ROUND record (by writing 8 bytes), and updates the size in
 * the header (by one write), so that there is always at least one complete table. Between these last two writes the
 * first entry of the table that the header refers to is overwritten; perf 6.1 then skips that feature, but newer
 * versions would refuse the file. A sync is allowed only at the end of a round.
 *
 * If the disk is full, append returns TALLY_IO once, the complete records that fit remain and the rest is cut off;
 * close still makes a valid file. fsync is never called: appended records survive the death of the process, but not a
 * loss of power.
 *
 *	perfdata_writer_create_file("perf.data", &w, err);
 *	perfdata_writer_add_event(w, &attr, "cycles", ids, n, err);
 *	perfdata_writer_begin(w, &features, err);
 *	perfdata_writer_append(w, slices, slice_count, err); perfdata_writer_finish_round(w, err);
 *	perfdata_writer_close(w, &features, err); perfdata_writer_destroy(w);
 */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include "abi/attr.h"
#include "perfdata/compressor.h"
#include "perfdata/features.h"

struct perfdata_writer;

/* Creates a file. With keep_old, an existing file is first renamed to path.old, as perf does. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_create_file(
	const char *path, bool keep_old, struct perfdata_writer **writer, struct tally_error *err);
/* Writes a pipe stream to a borrowed descriptor; begin writes the header, HEADER_ATTR and FEATURE records. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_create_pipe(
	int fd, struct perfdata_writer **writer, struct tally_error *err);
void perfdata_writer_destroy(struct perfdata_writer *writer);
/* Adds an event; name and ids are copied. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_add_event(struct perfdata_writer *writer,
	const struct perf_attr *attr, struct tally_str name, const uint64_t *ids, size_t id_count,
	struct tally_error *err);
/* Enables compression with a level of zstd. Call it before perfdata_writer_begin, whose features must then include
 * FEATURE_COMPRESSED. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_compress(
	struct perfdata_writer *writer, int level, struct tally_error *err);
/* Writes the header; features contains what is known before the run. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_begin(
	struct perfdata_writer *writer, const struct perfdata_features *features, struct tally_error *err);
/* Appends slices that together are whole records, by one writev(2) if possible. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_append(
	struct perfdata_writer *writer, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
/* Writes the end of a round, which readers need for sorting: all ring buffers were read once since the last end. Syncs
 * at the first call, and if many bytes were written since the last sync. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_finish_round(
	struct perfdata_writer *writer, struct tally_error *err);
/* Ends a round and updates the header, so that everything appended is part of the file. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_sync(struct perfdata_writer *writer, struct tally_error *err);
/* Returns the size of the data written so far, in bytes. */
uint64_t perfdata_writer_data_bytes(const struct perfdata_writer *writer);
/* Returns the sizes before and after compression; zeros without compression. */
struct compressor_totals perfdata_writer_totals(const struct perfdata_writer *writer);
/* Adds the size of another file of this recording (data.0 and so on) to the end mark. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_add_part(
	struct perfdata_writer *writer, uint64_t bytes, struct tally_error *err);
/* Writes the end mark (end_mark.h) and the final features (build IDs, sample times) in features->present. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_close(
	struct perfdata_writer *writer, const struct perfdata_features *features, struct tally_error *err);

#endif
