/*
 * writer.h - writes a perf.data file that is valid from its first byte, or a pipe stream.
 *
 * The caller owns the writer and destroys it; close completes the file. The order is: create, add events, set features,
 * begin (header, attrs, ids on disk), append record bytes, close (features behind the data, header patched). The
 *header's data size is kept current every PERFDATA_WRITER_SYNC_BYTES and by perfdata_writer_sync, so that a killed
 *recording opens. Records are appended as raw bytes of whole records; nothing is decoded. One thread. A full disk:
 *append returns TALLY_IO once, drops what follows to the last whole record, and close still completes.
 *
 *	perfdata_writer_create_file("perf.data", &w, err);
 *	perfdata_writer_add_event(w, &attr, "cycles", ids, n, err);
 *	perfdata_writer_begin(w, err);
 *	perfdata_writer_append(w, slices, slice_count, err);
 *	perfdata_writer_close(w, &features, err); perfdata_writer_destroy(w);
 */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include "abi/attr.h"
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
/* features: what is known before the run; written behind the data at close, and in a pipe now. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_begin(
	struct perfdata_writer *writer, const struct perfdata_features *features, struct tally_error *err);
/* Slices together are whole records; written with one writev where possible. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_append(
	struct perfdata_writer *writer, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status perfdata_writer_finish_round(
	struct perfdata_writer *writer, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status perfdata_writer_sync(struct perfdata_writer *writer, struct tally_error *err);
uint64_t perfdata_writer_data_bytes(const struct perfdata_writer *writer);
/* features now complete (build ids, sample times); bits to write are features->present. */
TALLY_MUST_CHECK enum tally_status perfdata_writer_close(
	struct perfdata_writer *writer, const struct perfdata_features *features, struct tally_error *err);

#endif
