/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewriter.h - writes a recording that was read: attrs, ids and features by their stored bytes, records as the caller
 * passes them on. A file or a pipe stream, whichever the recording was, in the recording's own byte order.
 *
 * Unknown data is copied: attrs longer than ours, sections of unknown features, unknown records, AUX data. Features
 * that would be wrong in the copy are left out: COMPRESSED and DIR_FORMAT (records are written uncompressed, into one
 * file). Offsets of AUX data are adjusted to the new file. A pipe cannot have sections larger than a record, or an
 * index of AUX data; sections that are left out are counted.
 *
 * The caller owns the rewriter and destroys it. A file is written under another name and gets its own in finish; until
 * then, and if something fails, an older file stays. Anything but a regular file (/dev/null) is written directly. One
 * thread.
 *
 *	perfdata_rewriter_create_file("out.data", &w, err);
 *	perfdata_rewriter_begin(w, reader, features, err);
 *	while (perfdata_reader_next(reader, &record, err) == TALLY_OK)
 *		perfdata_rewriter_record(w, &record, perfdata_reader_payload(reader), err);
 *	perfdata_rewriter_finish(w, features, err); perfdata_rewriter_destroy(w);
 */
#ifndef PERFDATA_REWRITER_H
#define PERFDATA_REWRITER_H

#include "perfdata/reader.h"

struct perfdata_rewriter;

TALLY_MUST_CHECK enum tally_status perfdata_rewriter_create_file(
	const char *path, struct perfdata_rewriter **rewriter, struct tally_error *err);
/* A file in place, which tests and fuzz targets have without a name; fd is borrowed and stands at its start. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_create_fd(
	int fd, struct perfdata_rewriter **rewriter, struct tally_error *err);
/* fd is borrowed. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_create_pipe(
	int fd, struct perfdata_rewriter **rewriter, struct tally_error *err);
void perfdata_rewriter_destroy(struct perfdata_rewriter *rewriter);
/* The reader's events must be known: of a pipe that is turned into a file, after its end. From a pipe to a pipe only
 * the header is written, since the descriptions come with the records. features: those that a pipe begins with. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_begin(struct perfdata_rewriter *rewriter,
	const struct perfdata_reader *reader, const struct perfdata_features *features, struct tally_error *err);
/* attrs in place of the stored ones, by event, in the recording's byte order; borrowed. Before begin. */
void perfdata_rewriter_set_attrs(struct perfdata_rewriter *rewriter, const struct tally_bytes *attrs);
/* Writes a record of the reader and its payload. Descriptions of a pipe are not written to a file's data. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_record(struct perfdata_rewriter *rewriter,
	const struct record *record, struct tally_bytes payload, struct tally_error *err);
/* Writes complete records that the caller made, in the recording's byte order. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_bytes(
	struct perfdata_rewriter *rewriter, struct tally_bytes records, struct tally_error *err);
/* Writes the raw[] section of each feature that is present. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_finish(
	struct perfdata_rewriter *rewriter, const struct perfdata_features *features, struct tally_error *err);
/* The number of sections that a pipe cannot carry. */
unsigned perfdata_rewriter_left_out(const struct perfdata_rewriter *rewriter);

#endif
