/* SPDX-License-Identifier: Apache-2.0 */
/*
 * end_mark.h - marks in a recording where its data begins and ends, so that a reader can tell whether the recorder
 * finished.
 *
 * Both are FINISHED_ROUND records with a body, so perf and other readers take them for the end of a round. If a
 * recording has the first mark but not the second, its recorder did not finish (it was killed, or ran out of memory or
 * disk). A recording without the first mark was written by another program, and may or may not be complete. The second
 * lists how many bytes the files of a directory have (record --threads).
 *
 *	begin: header, "tallybeg", 0
 *	end:   header, "tallyend", number of files, bytes of each, zeros, bytes of this record, "tallyend"
 *
 * Their lengths are never a multiple of 16, unlike that of a table of features in such a record (writer.h).
 */
#ifndef PERFDATA_END_MARK_H
#define PERFDATA_END_MARK_H

#include <stdbool.h>

#include "abi/record.h"
#include "base/bytes.h"
#include "base/writer.h"

#define END_MARK_PARTS 4096 /* files of a directory that are listed: one for each CPU */

enum end_mark_state {
	END_UNSAID, /* the program that wrote the file writes no marks */
	END_REACHED,
	END_MISSING
};

struct end_mark {
	enum end_mark_state state;
	struct tally_bytes parts; /* sizes, in the recording's byte order */
	size_t part_count;
	bool swap;
	size_t followed; /* records before the first mark, of a stream */
};

void end_mark_put_begin(struct writer *w);
/* If there are more parts than END_MARK_PARTS, none is listed. */
void end_mark_put_end(struct writer *w, const uint64_t *part_bytes, size_t part_count);
/* bytes: the data, which may end with an incomplete record. */
struct end_mark end_mark_find(struct tally_bytes bytes, bool swap, bool is_pipe);
/* For a stream that is not kept: call it with a zeroed mark and each stored record in turn. Sets only the state. */
void end_mark_follow(struct end_mark *mark, const struct record *record);
uint64_t end_mark_part_bytes(const struct end_mark *mark, size_t part);

#endif
