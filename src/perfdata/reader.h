/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - opens a perf.data file or pipe and hands out its events, features and records in file order.
 *
 * A path may be a directory (directory.h): its files are read one after the other.
 *
 * The caller owns the reader. Slices (records, names, features) live until the reader is destroyed; for that a pipe is
 * kept in a spool (base/spool.h), and is read when its records are requested. After perfdata_reader_pass, a stream is
 * read only once: records live until they are forgotten, and only those are in memory. COMPRESSED records are
 * decompressed, and the records inside are returned (they live in the reader's memory). AUXTRACE payloads and tracing
 * data that follow a record in the stream are skipped past by `next` and available as payload.
 *
 * Bad input: a file with an invalid header is unusable; a damaged record or section is counted in health and skipped; a
 * truncated file delivers all complete records, then `next` returns TALLY_CORRUPT with the offset (once), then
 * TALLY_END. A file whose header says data size 0, or that has no features but records after its data (because its
 * recorder was killed), is read to the end of its last complete record.
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

/* path "-" is standard input (pipe mode). Also opens a saved pipe. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open(
	const char *path, struct perfdata_reader **reader, struct tally_error *err);
/* From memory that outlives the reader (tests, fuzzers). */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open_bytes(
	struct tally_bytes bytes, struct perfdata_reader **reader, struct tally_error *err);
/* The same for a recording that is still being written: it has no end mark, which is not reported as damage. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open_beginning(
	struct tally_bytes bytes, struct perfdata_reader **reader, struct tally_error *err);
/* Pipe mode from any descriptor, which stays open as long as the reader; not closed by it. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open_fd(
	int fd, struct perfdata_reader **reader, struct tally_error *err);
void perfdata_reader_destroy(struct perfdata_reader *reader);

TALLY_MUST_CHECK enum tally_status perfdata_reader_next(
	struct perfdata_reader *reader, struct record *record, struct tally_error *err);
/* The bytes after the last record that are not a record themselves: AUX data, or the tracing data of a pipe. */
struct tally_bytes perfdata_reader_payload(const struct perfdata_reader *reader);
struct perfdata_mark { /* a place between two records */
	size_t stream, unpacked;
};
struct perfdata_mark perfdata_reader_mark(const struct perfdata_reader *reader);
/* Says that no record will be read twice, so that forgotten records need no memory. Call it before the first record. */
void perfdata_reader_pass(struct perfdata_reader *reader);
/* Says that records before the mark will not be read again. Does nothing unless the reader was told to pass. */
void perfdata_reader_forget(struct perfdata_reader *reader, struct perfdata_mark mark);
/* Back to the first record. A stream must have been read to its end before. */
void perfdata_reader_rewind(struct perfdata_reader *reader);

bool perfdata_reader_is_pipe(const struct perfdata_reader *reader);
/* Whether the input is a live pipe, not a saved one. */
bool perfdata_reader_is_stream(const struct perfdata_reader *reader);
bool perfdata_reader_is_swapped(const struct perfdata_reader *reader);
/* While a pipe is read, the number of events grows. */
const struct perfdata_event *perfdata_reader_events(const struct perfdata_reader *reader, size_t *count);
/* Whether one of them is a tracepoint. */
bool perfdata_reader_has_tracepoints(const struct perfdata_reader *reader);
/* Whether the samples of some event have one of the SAMPLE_ bits. In a stream, only the attrs read so far count. */
bool perfdata_reader_has_samples_with(const struct perfdata_reader *reader, uint64_t sample_type);
const struct perfdata_features *perfdata_reader_features(const struct perfdata_reader *reader);
const struct input_health *perfdata_reader_health(const struct perfdata_reader *reader);
/* For direct, parallel reading: all records of an uncompressed file, or of a stream that was read to its end. len is 0
 * if that is not possible. */
struct tally_bytes perfdata_reader_data(const struct perfdata_reader *reader, uint64_t *data_offset);
/* Tells the kernel that this part of the data will be read soon. Any thread. */
void perfdata_reader_expect(const struct perfdata_reader *reader, struct tally_bytes part);
/* Tells the kernel that this part will hardly be read again, so that it leaves this process's memory. Any thread. */
void perfdata_reader_drop(const struct perfdata_reader *reader, struct tally_bytes part);
/* A part of the data, for callers that read it once. It is copied to room, which has its size, if that is cheaper.
 * Any thread. */
struct tally_bytes perfdata_reader_view(const struct perfdata_reader *reader, struct tally_bytes part, uint8_t *room);
struct perfdata_layout { /* where the parts of the file lie; zeros in a pipe */
	uint64_t data_offset, data_size, feature_offset; /* bytes */
	uint64_t mtime_ns;
	bool is_v1; /* by its magic, PERFFILE */
};
/* Bytes of the whole file, or of what was read of the stream. */
uint64_t perfdata_reader_bytes(const struct perfdata_reader *reader);
/* The size of the data in the file's header; 0: the recorder ended before it wrote the size. */
uint64_t perfdata_reader_stated_data_size(const struct perfdata_reader *reader);
struct perfdata_layout perfdata_reader_layout(const struct perfdata_reader *reader);
/* The event of a sample or of a trailer; NULL if no event has its id. It only reads: any thread may call it after open
 * (for files). */
const struct perfdata_event *perfdata_reader_event_of(
	const struct perfdata_reader *reader, const struct record *record);
/* The offset of the event's id in every sample; 0: some samples have none, or the offset differs. */
size_t perfdata_reader_id_offset(const struct perfdata_reader *reader);
/* The event that an id (of a group read, LOST, ...) belongs to; NULL if none. */
const struct perfdata_event *perfdata_reader_event_by_id(const struct perfdata_reader *reader, uint64_t id);
/* The trailer of a non-sample record; false if there is none. */
bool perfdata_reader_sample_id(const struct perfdata_reader *reader, const struct record *record, struct sample_id *id);
/* The time in it alone; false if there is none. */
bool perfdata_reader_time(const struct perfdata_reader *reader, const struct record *record, uint64_t *time_ns);

#endif
