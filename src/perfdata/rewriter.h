/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewriter.h - copies a recording: the stored bytes of attrs, IDs and features, and the records that the caller passes.
 * The copy is a file or a pipe stream in the byte order of the recording.
 *
 * Unknown data is copied: attrs with unknown fields, sections of unknown features, unknown records, AUX data. The
 * features COMPRESSED and DIR_FORMAT are left out, because records are written uncompressed to one file. Offsets of AUX
 * data are adjusted to the new file. A pipe cannot contain sections larger than a record, or an index of AUX data; the
 * sections that are left out are counted.
 *
 * The caller owns the rewriter and destroys it. A file is written under another name and renamed in finish; until then,
 * and after a failure, an older file is unchanged. Files that are not regular (/dev/null) are written directly. One
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
/* Writes a file directly to a borrowed descriptor at its start, for tests and fuzz targets. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_create_fd(
	int fd, struct perfdata_rewriter **rewriter, struct tally_error *err);
/* Writes a pipe stream to a borrowed descriptor. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_create_pipe(
	int fd, struct perfdata_rewriter **rewriter, struct tally_error *err);
void perfdata_rewriter_destroy(struct perfdata_rewriter *rewriter);
/* Writes the header. The events of the reader must be known, so a pipe that becomes a file must have been read to its
 * end. From pipe to pipe only the pipe header is written, because the descriptions are among the records. features are
 * written at the start of a pipe. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_begin(struct perfdata_rewriter *rewriter,
	const struct perfdata_reader *reader, const struct perfdata_features *features, struct tally_error *err);
/* Replaces the stored attrs: attrs has one item per event of the reader, in the byte order of the recording, and is
 * borrowed until the rewriter is destroyed. Call it before perfdata_rewriter_begin. */
void perfdata_rewriter_set_attrs(struct perfdata_rewriter *rewriter, const struct tally_bytes *attrs);
/* Writes a record of the reader and its payload. Descriptions of a pipe are not written to the data of a file. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_record(struct perfdata_rewriter *rewriter,
	const struct record *record, struct tally_bytes payload, struct tally_error *err);
/* Writes whole records that the caller made, in the byte order of the recording. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_bytes(
	struct perfdata_rewriter *rewriter, struct tally_bytes records, struct tally_error *err);
/* Completes the copy: writes the raw[] section of each feature that is present, and gives a file its name. A pipe got
 * its features from perfdata_rewriter_begin. */
TALLY_MUST_CHECK enum tally_status perfdata_rewriter_finish(
	struct perfdata_rewriter *rewriter, const struct perfdata_features *features, struct tally_error *err);
/* Returns the number of sections that were left out because a pipe cannot contain them. */
unsigned perfdata_rewriter_left_out(const struct perfdata_rewriter *rewriter);

#endif
