/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - writes a perf.data file that is readable at any moment, or a pipe stream.
 *
 * The caller owns the writer and destroys it; close completes the file. The order is: create, add events, compress if
 * wanted, begin (header, ids, attrs, features on disk), append record bytes, close. Records are appended as raw bytes
 * of whole records; nothing is decoded. One thread.
 *
 * If the process is killed at any moment, readers can open the file up to the last sync, without repair. Features are
 * stored before the data, and only their table after it, where the format requires it. A sync writes a new table after
 * the new records, turns the old one into the body of a FINISHED_ROUND record (8 bytes), and writes the new size into
 * the header (one write), so that at least one complete table exists all the time. Between those last two writes the
 * first feature of the table has no position; perf 6.1 skips it then, newer versions would refuse the file. A sync is
 * allowed only at the end of a round.
 *
 * A full disk: append returns TALLY_IO once, the complete records that fit stay and the rest is cut off; close still
 * makes a valid file. fsync is never called: appended records survive the death of the process, but not a loss of
 * power.
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

/* An existing path is renamed to path.old first (perf's habit) when keep_old. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_create_file(
	const char *path, bool keep_old, struct perfdata_writer **writer, struct tally_error *err);
/* fd is borrowed; begin writes the pipe header and HEADER_ATTR records, features go out as FEATURE records at begin. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_create_pipe(
	int fd, struct perfdata_writer **writer, struct tally_error *err);
void perfdata_writer_destroy(struct perfdata_writer *writer);
/* Strings and ids are copied. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_add_event(struct perfdata_writer *writer,
	const struct perf_attr *attr, struct tally_str name, const uint64_t *ids, size_t id_count,
	struct tally_error *err);
/* Compresses records from now on. Call it before begin, whose features should describe it. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_compress(
	struct perfdata_writer *writer, int level, struct tally_error *err);
/* features: what is known before the run. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_begin(
	struct perfdata_writer *writer, const struct perfdata_features *features, struct tally_error *err);
/* Slices together are whole records; written with one writev where possible. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_append(
	struct perfdata_writer *writer, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
/* Writes the end of a round (all rings were read once), which readers need for sorting. It syncs the first time, and
 * when many bytes were written since the last sync. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_finish_round(
	struct perfdata_writer *writer, struct tally_error *err);
/* Updates the header, so that everything that was appended is part of the file. Ends a round. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_sync(struct perfdata_writer *writer, struct tally_error *err);
uint64_t perfdata_writer_data_bytes(const struct perfdata_writer *writer);
/* Zeros if nothing is compressed. */
struct compressor_totals perfdata_writer_totals(const struct perfdata_writer *writer);
/* Adds the size of another file of this recording (data.0 and so on) to the mark at the end. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_add_part(
	struct perfdata_writer *writer, uint64_t bytes, struct tally_error *err);
/* Writes the mark that the recorder has finished (end_mark.h). features now complete (build ids, sample times); bits to
 * write are features->present. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_close(
	struct perfdata_writer *writer, const struct perfdata_features *features, struct tally_error *err);

#endif
