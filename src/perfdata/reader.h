/*
 * reader.h - opens a perf.data file or pipe and hands out its events, features and records in file order.
 *
 * A path may be a directory (directory.h): its files are read one after the other.
 *
 * The caller owns the reader. Slices (records, names, features) live until the reader is destroyed; a pipe is held in
 * memory for that. COMPRESSED records are unpacked on the way: their contents come out
 * as records (which then live in memory of the reader). AUXTRACE payloads and tracing data that follow a record in the
 * stream are skipped past by `next` and available as payload.
 *
 * Bad input: a header that is none is unusable; a damaged record or section is counted in health and skipped; a cut
 * file delivers all complete records, then `next` returns TALLY_CORRUPT with the offset (once), then TALLY_END. A file
 * whose header says data size 0, or that has no features and records behind its data (killed before it ended), is read
 * to the end of its last whole record.
 *
 *	struct perfdata_reader *r;
 *	if (perfdata_reader_open("perf.data", &r, err) != TALLY_OK) return ...;
 *	while ((st = perfdata_reader_next(r, &record, err)) == TALLY_OK) ...
 *	perfdata_reader_destroy(r);
 */
#ifndef PERFDATA_READER_H
#define PERFDATA_READER_H

#include "abi/sample.h"
#include "perfdata/event.h"
#include "perfdata/features.h"

struct perfdata_reader;

struct input_health { /* what was lost, cut or not understood; travels with every result */
	uint64_t records, samples, bytes;
	uint64_t compressed[2]; /* COMPRESSED and COMPRESSED2 records, whose contents are counted in records */
	uint64_t lost_events; /* sum of LOST */
	uint64_t lost_samples; /* sum of LOST_SAMPLES */
	uint64_t lost_records; /* number of LOST records: chunks */
	uint64_t throttled; /* THROTTLE records */
	uint64_t unknown_records, damaged_records, unknown_features, damaged_features;
	uint64_t unattributed_samples; /* id of no event */
	uint64_t attr_excess_bytes;
	uint64_t unordered; /* records that came after their round was flushed */
	bool is_cut;
	uint64_t cut_offset;
};

/* path "-" is standard input (pipe mode). Also opens a saved pipe. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open(
	const char *path, struct perfdata_reader **reader, struct tally_error *err);
/* From memory that outlives the reader (tests, fuzzers). */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open_bytes(
	struct tally_bytes bytes, struct perfdata_reader **reader, struct tally_error *err);
/* Pipe mode from any descriptor; not closed. */
TALLY_MUST_CHECK enum tally_status perfdata_reader_open_fd(
	int fd, struct perfdata_reader **reader, struct tally_error *err);
void perfdata_reader_destroy(struct perfdata_reader *reader);

TALLY_MUST_CHECK enum tally_status perfdata_reader_next(
	struct perfdata_reader *reader, struct record *record, struct tally_error *err);
/* What follows the last record in the stream without being a record: AUX data, a pipe's tracing data. */
struct tally_bytes perfdata_reader_payload(const struct perfdata_reader *reader);
/* Back to the first record. A stream must have been read to its end before. */
void perfdata_reader_rewind(struct perfdata_reader *reader);

bool perfdata_reader_is_pipe(const struct perfdata_reader *reader);
bool perfdata_reader_is_swapped(const struct perfdata_reader *reader);
/* In a pipe both grow as records are read. */
const struct perfdata_event *perfdata_reader_events(const struct perfdata_reader *reader, size_t *count);
const struct perfdata_features *perfdata_reader_features(const struct perfdata_reader *reader);
const struct input_health *perfdata_reader_health(const struct perfdata_reader *reader);
/* For direct, parallel reading: the whole data section of an uncompressed file; len 0 if that is not possible. */
struct tally_bytes perfdata_reader_data(const struct perfdata_reader *reader, uint64_t *data_offset);
struct perfdata_layout { /* where the parts of the file lie; zeros in a pipe */
	uint64_t data_offset, data_size, feature_offset; /* bytes */
	uint64_t mtime_ns;
	bool is_v1; /* by its magic, PERFFILE */
};
struct perfdata_layout perfdata_reader_layout(const struct perfdata_reader *reader);
/* The event of a sample or of a trailer: NULL if its id is of no event. Reading only: any thread after open (file
 * mode). */
const struct perfdata_event *perfdata_reader_event_of(
	const struct perfdata_reader *reader, const struct record *record);
/* The event that an id (of a group read, LOST, ...) belongs to; NULL if none. */
const struct perfdata_event *perfdata_reader_event_by_id(const struct perfdata_reader *reader, uint64_t id);
/* The trailer of a non-sample record; false if there is none. */
bool perfdata_reader_sample_id(const struct perfdata_reader *reader, const struct record *record, struct sample_id *id);

#endif
