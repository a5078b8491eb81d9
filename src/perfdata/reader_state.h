/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_state.h - declares the internals of a reader, which its parts share: reader.c (opening, walking),
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
	struct directory_parts parts; /* of a recording that is a directory */
	size_t part; /* which of them is read */
	bool was_part_cut;
	size_t first_end; /* data_end of the first part */
	struct tally_bytes bytes; /* the whole file, or what has come of the stream; of a directory, the first part */
	struct spool stream;
	int fd; /* what the stream comes from; -1: all of it is in bytes */
	bool is_passing; /* a stream that is read once: records that were read are forgotten */
	bool is_followed; /* a stream of records whose end had not come when it was opened */
	struct end_mark followed;
	bool is_beginning; /* its recorder still runs */
	bool is_pipe;
	bool swap;
	bool has_compressed;
	size_t data_offset, data_end; /* of the record stream, or of the part that is read */
	size_t feature_offset; /* of the table; 0: none was read */
	size_t gap_offset, gap_bytes; /* the table, if records follow it */
	bool has_features_in_front; /* before the data: tally writes them there */
	size_t position; /* next record */
	uint64_t handed_bytes; /* of the records returned so far, without payloads */
	size_t window_begin, window_end; /* the part of handed_bytes that is still in memory */
	struct tally_bytes payload; /* of the last record */
	bool ended;
	bool is_described; /* the whole stream was read once: its descriptions are known */
	struct decompressor *decompressor;
	struct tally_bytes unpacked; /* records out of the last COMPRESSED */
	size_t unpacked_position;
	struct arena arena;
	struct event_set events;
	struct perfdata_features features;
	struct input_health health;
};

#endif
