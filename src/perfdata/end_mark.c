/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/end_mark.h"

#include "abi/record.h"
#include "base/cursor.h"
#include "perfdata/payload.h"

/* "tallybeg" and "tallyend" as a little-endian machine writes them. */
#define BEGIN_MAGIC UINT64_C(0x676562796c6c6174)
#define END_MAGIC   UINT64_C(0x646e65796c6c6174)

#define BODY_BYTES    16 /* Magic and number of files. */
#define TRAILER_BYTES 16 /* Length of the record and magic. */
/* The size of a mark is never a multiple of this, so it cannot be mistaken for a feature table. */
#define TABLE_BYTES  16
#define HEAD_RECORDS 4096 /* Maximum number of records before the first mark of a pipe; they describe the recording. */

static void end_mark_put_header(struct writer *w, size_t bytes)
{
	writer_u32(w, RECORD_FINISHED_ROUND);
	writer_u16(w, 0);
	writer_u16(w, (uint16_t)bytes);
}

void end_mark_put_begin(struct writer *w)
{
	end_mark_put_header(w, RECORD_HEADER_BYTES + BODY_BYTES);
	writer_u64(w, BEGIN_MAGIC);
	writer_u64(w, 0);
}

void end_mark_put_end(struct writer *w, const uint64_t *part_bytes, size_t part_count)
{
	size_t listed = part_count <= END_MARK_PARTS ? part_count : 0;
	size_t bytes = RECORD_HEADER_BYTES + BODY_BYTES + listed * sizeof(uint64_t) + TRAILER_BYTES;
	size_t padding = bytes % TABLE_BYTES == 0 ? sizeof(uint64_t) : 0;
	end_mark_put_header(w, bytes + padding);
	writer_u64(w, END_MAGIC);
	writer_u64(w, listed);
	for (size_t i = 0; i < listed; i++)
		writer_u64(w, part_bytes[i]);
	writer_zeros(w, padding);
	writer_u64(w, bytes + padding);
	writer_u64(w, END_MAGIC);
}

/* Whether the record ends a round and its body begins with this magic. */
static bool is_mark(const struct record *record, uint64_t magic)
{
	if (record->type != RECORD_FINISHED_ROUND || record->bytes.len < RECORD_HEADER_BYTES + BODY_BYTES)
		return false;
	struct cursor c = cursor_make(record->bytes, record->swap);
	cursor_skip(&c, RECORD_HEADER_BYTES);
	return cursor_u64(&c) == magic;
}

static bool take_end(const struct record *record, struct end_mark *mark)
{
	if (!is_mark(record, END_MAGIC))
		return false;
	struct cursor c = cursor_make(record->bytes, record->swap);
	cursor_skip(&c, RECORD_HEADER_BYTES + sizeof(uint64_t));
	uint64_t count = cursor_u64(&c);
	struct tally_bytes sizes = count <= END_MARK_PARTS ? cursor_bytes(&c, (size_t)count * sizeof(uint64_t))
							   : (struct tally_bytes){NULL, 0};
	mark->state = END_REACHED;
	if (!c.failed && sizes.data) {
		mark->parts = sizes;
		mark->part_count = (size_t)count;
	}
	return true;
}

/* Normally the mark is the last record, and the data ends with its length and magic. */
static bool find_at_end(struct tally_bytes bytes, bool swap, struct end_mark *mark)
{
	struct record record;
	if (bytes.len < TRAILER_BYTES)
		return false;
	struct cursor c =
		cursor_make((struct tally_bytes){bytes.data + bytes.len - TRAILER_BYTES, TRAILER_BYTES}, swap);
	uint64_t len = cursor_u64(&c);
	if (cursor_u64(&c) != END_MAGIC || len > bytes.len || len > UINT16_MAX)
		return false;
	size_t at = bytes.len - (size_t)len;
	return record_at(bytes, swap, at, &record, NULL) == TALLY_OK && record.bytes.len == len &&
	       take_end(&record, mark);
}

static bool next_record(struct tally_bytes bytes, bool swap, bool is_pipe, size_t *at, struct record *record)
{
	if (record_at(bytes, swap, *at, record, NULL) != TALLY_OK)
		return false;
	uint64_t len = record->bytes.len + perfdata_payload_bytes(record, is_pipe);
	if (len > bytes.len - *at)
		return false;
	*at += (size_t)len;
	return true;
}

struct end_mark end_mark_find(struct tally_bytes bytes, bool swap, bool is_pipe)
{
	struct end_mark mark = {.state = END_UNSAID, .swap = swap};
	struct record record;
	size_t at = 0;
	for (size_t i = 0; i < (is_pipe ? HEAD_RECORDS : 1) && mark.state == END_UNSAID; i++) {
		if (!next_record(bytes, swap, is_pipe, &at, &record))
			return mark;
		if (is_mark(&record, BEGIN_MAGIC))
			mark.state = END_MISSING;
	}
	if (mark.state == END_UNSAID || find_at_end(bytes, swap, &mark))
		return mark;
	/* Programs that rewrite recordings may append records after the mark. */
	while (next_record(bytes, swap, is_pipe, &at, &record))
		if (take_end(&record, &mark))
			break;
	return mark;
}

void end_mark_follow(struct end_mark *mark, const struct record *record)
{
	struct end_mark end;
	if (mark->state == END_UNSAID && mark->followed < HEAD_RECORDS) {
		mark->followed++;
		if (is_mark(record, BEGIN_MAGIC))
			mark->state = END_MISSING;
	} else if (mark->state == END_MISSING && take_end(record, &end)) {
		mark->state = END_REACHED;
	}
}

uint64_t end_mark_part_bytes(const struct end_mark *mark, size_t part)
{
	struct cursor c = cursor_make(mark->parts, mark->swap);
	cursor_skip(&c, part * sizeof(uint64_t));
	return cursor_u64(&c);
}
