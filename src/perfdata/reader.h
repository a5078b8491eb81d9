/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - opens a perf.data file or pipe and returns its events, features and records in file order.
 *
 * A path may be a directory (directory.h), of which all files are read one after the other.
 *
 * The caller owns the reader. Slices (records, names, features) are valid until the reader is destroyed; therefore a
 * pipe is stored in a spool (base/spool.h). A pipe is read when its records are requested. After perfdata_reader_pass,
 * a stream can be read only once, and a record is valid and in memory until it is forgotten. COMPRESSED records are
 * decompressed, and the records in them are returned. AUXTRACE payloads and tracing data that follow a record are
 * available as payload, and `next` skips them.
 *
 * Bad input: a file with an invalid header is unusable; a damaged record or section is counted in health and skipped.
 * After all complete records of a truncated file, `next` returns TALLY_CORRUPT with the offset once, then TALLY_END. If
 * the recorder was killed, so that the header has data size 0 or records instead of features follow the data, the file
 * is read up to its last complete record.
 *
 *	struct perfdata_reader *r;
 *	if (perfdata_reader_open("perf.data", &r, err) != TALLY_OK) return ...;
 *	while ((status = perfdata_reader_next(r, &record, err)) == TALLY_OK) ...
 *	perfdata_reader_destroy(r);
 */
#ifndef PERFDATA_READER_H
#define PERFDATA_READER_H

#include "abi/sample.h"
#include "perfdata/event.h"
#include "perfdata/features.h"
#include "perfdata/input_health.h"
#include "perfdata/payload.h"

struct perfdata_reader;

/* Opens a file or a saved pipe; "-" is standard input (pipe mode). */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open(
	const char *path, struct perfdata_reader **reader, struct tally_error *err);
/* Opens a recording in memory, which must outlive the reader. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open_bytes(
	struct tally_bytes bytes, struct perfdata_reader **reader, struct tally_error *err);
/* Opens a recording in memory that is still being written; that it has no end mark is not reported. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open_beginning(
	struct tally_bytes bytes, struct perfdata_reader **reader, struct tally_error *err);
/* Opens a pipe by its descriptor, which is not closed and must remain open as long as the reader. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open_fd(
	int fd, struct perfdata_reader **reader, struct tally_error *err);
void perfdata_reader_destroy(struct perfdata_reader *reader);

/* Returns the next record. END: there is none. CORRUPT: the recording is truncated; the next call returns END. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_next(
	struct perfdata_reader *reader, struct record *record, struct tally_error *err);
/* Returns the data that follows the last record that was returned: AUX data, or the tracing data of a pipe. */
struct tally_bytes perfdata_reader_payload(const struct perfdata_reader *reader);
struct perfdata_mark { /* A position between two records. */
	size_t stream, unpacked;
};
/* Returns the position after the last record that was returned. */
struct perfdata_mark perfdata_reader_mark(const struct perfdata_reader *reader);
/* Announces, before the first record, that no record will be read twice, so that forgotten records can be freed. */
void perfdata_reader_pass(struct perfdata_reader *reader);
/* Frees the records before the mark; does nothing without perfdata_reader_pass. */
void perfdata_reader_forget(struct perfdata_reader *reader, struct perfdata_mark mark);
/* Returns to the first record. A stream must have been read to its end before. */
void perfdata_reader_rewind(struct perfdata_reader *reader);

bool perfdata_reader_is_pipe(const struct perfdata_reader *reader);
/* Returns whether the input is a live pipe, not a saved one. */
bool perfdata_reader_is_stream(const struct perfdata_reader *reader);
/* Returns whether the recording has the other byte order than this host. */
bool perfdata_reader_is_swapped(const struct perfdata_reader *reader);
/* Returns the events; their number grows while a pipe is read. */
const struct perfdata_event *perfdata_reader_events(const struct perfdata_reader *reader, size_t *count);
/* Returns whether one of the events is a tracepoint. */
bool perfdata_reader_has_tracepoints(const struct perfdata_reader *reader);
/* Returns whether samples of any event have one of the SAMPLE_ bits; in a stream, only of the attrs read so far. */
bool perfdata_reader_has_samples_with(const struct perfdata_reader *reader, uint64_t sample_type);
const struct perfdata_features *perfdata_reader_features(const struct perfdata_reader *reader);
const struct input_health *perfdata_reader_health(const struct perfdata_reader *reader);
/* Returns all records of an uncompressed file, or of a stream that was read to its end, for parallel reading. len is 0
 * if this is not possible. */
struct tally_bytes perfdata_reader_data(const struct perfdata_reader *reader, uint64_t *data_offset);
/* Advises the kernel that this part of the data will be read soon. Any thread. */
void perfdata_reader_expect(const struct perfdata_reader *reader, struct tally_bytes part);
/* Advises the kernel that this part is unlikely to be read again, so that its pages can be dropped. Any thread. */
void perfdata_reader_drop(const struct perfdata_reader *reader, struct tally_bytes part);
/* Returns a part of the data, for callers that read it once. It is copied to room, which has the same size, if that is
 * cheaper than mapping it. Any thread. */
struct tally_bytes perfdata_reader_view(const struct perfdata_reader *reader, struct tally_bytes part, uint8_t *room);
struct perfdata_layout { /* Positions of the parts of a file; 0 for a pipe. */
	uint64_t data_offset, data_size, feature_offset; /* In bytes. */
	uint64_t mtime_ns; /* Modification time of the file. */
	bool is_v1; /* The magic is PERFFILE. */
};
/* Returns the size of the file, or the number of bytes read of a stream. */
uint64_t perfdata_reader_bytes(const struct perfdata_reader *reader);
/* Returns the size of the data in the header of the file; 0 if the recorder ended before it wrote the size. */
uint64_t perfdata_reader_stated_data_size(const struct perfdata_reader *reader);
struct perfdata_layout perfdata_reader_layout(const struct perfdata_reader *reader);
/* Returns the event of a sample or of a record with a trailer; the first event if records have no ID by which events
 * can be distinguished. NULL: no event has its ID. For files: any thread. */
const struct perfdata_event *perfdata_reader_event_of(
	const struct perfdata_reader *reader, const struct record *record);
/* Returns the offset of the event ID in all samples; 0 if some samples have none, or the offset differs. */
size_t perfdata_reader_id_offset(const struct perfdata_reader *reader);
/* Returns the event of an ID (of a group read, LOST, ...); NULL if there is none. */
const struct perfdata_event *perfdata_reader_event_by_id(const struct perfdata_reader *reader, uint64_t id);
/* Decodes the trailer of a record that is not a sample; returns false if there is none. */
bool perfdata_reader_sample_id(const struct perfdata_reader *reader, const struct record *record, struct sample_id *id);
/* Decodes only the time of the trailer; returns false if there is none. */
bool perfdata_reader_time(const struct perfdata_reader *reader, const struct record *record, uint64_t *time_ns);

#endif
