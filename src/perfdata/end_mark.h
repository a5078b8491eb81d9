/* SPDX-License-Identifier: Apache-2.0 */
/*
 * end_mark.h - marks the beginning and the end of the data of a recording, so that readers know whether the recorder
 * finished.
 *
 * Both marks are FINISHED_ROUND records with a body, which perf and other readers treat as the end of a round. If a
 * recording has the first mark but not the second, its recorder did not finish: it was killed, or ran out of memory or
 * disk space. A recording without the first mark comes from another program and may or may not be complete. The second
 * mark lists the sizes of the files of a directory (record --threads).
 *
 *	begin: header, "tallybeg", 0
 *	end:   header, "tallyend", number of files, bytes of each, zeros, bytes of this record, "tallyend"
 *
 * Their sizes are never a multiple of 16, unlike that of a feature table in such a record (writer.h).
 */
#ifndef PERFDATA_END_MARK_H
#define PERFDATA_END_MARK_H

#include <stdbool.h>

#include "abi/record.h"
#include "base/bytes.h"
#include "base/writer.h"

#define END_MARK_PARTS 4096 /* Maximum number of listed files of a directory, which has one per CPU. */

enum end_mark_state {
	END_UNSAID, /* The program that wrote the file does not write marks. */
	END_REACHED,
	END_MISSING
};

struct end_mark {
	enum end_mark_state state;
	struct tally_bytes parts; /* Sizes of the files, in the byte order of the recording. */
	size_t part_count;
	bool swap;
	size_t followed; /* Number of records that end_mark_follow has searched for the first mark. */
};

void end_mark_put_begin(struct writer *w);
/* Writes the second mark. If there are more than END_MARK_PARTS parts, none is listed. */
void end_mark_put_end(struct writer *w, const uint64_t *part_bytes, size_t part_count);
/* Finds the marks in the data of a recording, which may end with an incomplete record. */
struct end_mark end_mark_find(struct tally_bytes bytes, bool swap, bool is_pipe);
/* Finds the marks of a stream that is not stored. Call it for each record in turn, with a mark that is all zeros before
 * the first call. Of the result, only mark->state may be used. */
void end_mark_follow(struct end_mark *mark, const struct record *record);
/* Returns the size of a part in bytes; part is less than part_count. */
uint64_t end_mark_part_bytes(const struct end_mark *mark, size_t part);

#endif
