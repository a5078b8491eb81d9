/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_state.h - declares the internals of a reader, which its parts share: reader.c (opening, iterating),
 * reader_header.c (the header of a file), reader_describe.c (the self-description of a stream). Private to them.
 */
#ifndef PERFDATA_READER_STATE_H
#define PERFDATA_READER_STATE_H

#include "base/file.h"
#include "base/spool.h"
#include "perfdata/compression.h"
#include "perfdata/directory.h"
#include "perfdata/end_mark.h"
#include "perfdata/event_set.h"
#include "perfdata/feature_table.h"
#include "perfdata/input_health.h"

struct perfdata_reader {
	struct file_map map;
	struct directory_parts parts; /* Files of a recording that is a directory. */
	size_t part; /* Index of the part that is being read. */
	bool was_part_cut; /* One of the parts is truncated. */
	size_t first_end; /* data_end of the first part. */
	/* The whole file, the part of the stream that was received, or the first part of a directory. */
	struct tally_bytes bytes;
	struct spool stream;
	int fd; /* Source of the stream; -1 if all of it is in bytes. */
	bool is_passing; /* The stream is read only once, and forgotten records are freed. */
	bool is_followed; /* The stream had not ended when it was opened; its marks are searched with followed. */
	struct end_mark followed; /* State of end_mark_follow. */
	bool is_beginning; /* The recorder is still running. */
	bool is_pipe;
	bool swap;
	bool has_compressed;
	size_t data_offset, data_end; /* Range of the records, or of those in the part that is being read. */
	size_t feature_offset; /* Offset of the feature table; 0 if none was read. */
	size_t gap_offset, gap_bytes; /* The feature table, if records follow it. */
	bool has_features_in_front; /* Features precede the data, as in files of tally. */
	size_t position; /* Offset of the next record. */
	uint64_t handed_bytes; /* Total size in bytes of the records returned so far, without payloads. */
	size_t window_begin, window_end; /* Range of the file that is still in memory. */
	struct tally_bytes payload; /* Data that follows the last record. */
	bool ended;
	bool is_described; /* The whole stream was read once, so that its descriptions are known. */
	struct decompressor *decompressor;
	struct tally_bytes unpacked; /* Records of the last COMPRESSED record. */
	size_t unpacked_position; /* Offset in unpacked of the next record. */
	struct arena arena;
	struct event_set events;
	struct perfdata_features features;
	struct input_health health;
};

#endif
