/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - decodes records of a ring, a perf.data file or a pipe: checks the header, and decodes the fields of the
 * body.
 *
 * A struct record borrows its bytes from its source. record_decode copies nothing: its result points into the record.
 * All kernel and user record types with fixed fields decode into the union of record_fields.h. Fields, minimum sizes
 * and names come from record_table. Pure.
 *
 *	struct record r;  struct record_fields f;
 *	if (record_at(bytes, swap, offset, &r, err) == TALLY_OK && record_decode(&r, &f, err) == TALLY_OK)
 *		switch (r.type) { case RECORD_MMAP2: f.mmap.filename ... }
 *
 * Bad input: a record with a size below 8 or beyond the bytes ends the stream, because the next record cannot be found.
 * A record with fields that exceed it is damaged, but the next one can be read.
 */
#ifndef ABI_RECORD_H
#define ABI_RECORD_H

#include <string.h>
#include <tally/status.h>

#include "abi/perf_constants.h"
#include "abi/record_fields.h"
#include "base/cursor.h"
#include "base/text.h"

#define RECORD_HEADER_BYTES 8

/* Sets err to the reason why there is no complete record at offset. Does nothing if the bytes end exactly at offset. */
void record_missing(struct tally_bytes bytes, bool swap, size_t offset, struct tally_error *err);
/* Reads the record that starts at offset of bytes. Returns TALLY_END exactly at the end, and TALLY_CORRUPT if the size
 * is not possible. */
TALLY_MUST_CHECK static inline enum tally_status record_at(
	struct tally_bytes bytes, bool swap, size_t offset, struct record *record, struct tally_error *err)
{
	size_t left = offset < bytes.len ? bytes.len - offset : 0;
	uint32_t type;
	uint16_t misc, size;
	if (left < RECORD_HEADER_BYTES) {
		record_missing(bytes, swap, offset, err);
		return left ? TALLY_CORRUPT : TALLY_END;
	}
	const uint8_t *header = bytes.data + offset;
	memcpy(&type, header, sizeof(type));
	memcpy(&misc, header + sizeof(type), sizeof(misc));
	memcpy(&size, header + sizeof(type) + sizeof(misc), sizeof(size));
	if (swap) {
		type = __builtin_bswap32(type);
		misc = __builtin_bswap16(misc);
		size = __builtin_bswap16(size);
	}
	if (size < RECORD_HEADER_BYTES || size > left) {
		record_missing(bytes, swap, offset, err);
		return TALLY_CORRUPT;
	}
	*record = (struct record){.type = type, .misc = misc, .swap = swap, .bytes = {header, size}, .offset = offset};
	return TALLY_OK;
}
/* Returns whether the record reports samples that a filter dropped, which do not count as lost. */
static inline bool record_is_of_filter(const struct record *record)
{
	return record->type == RECORD_LOST_SAMPLES && (record->misc & MISC_LOST_SAMPLES_BPF);
}
/* Decodes a record other than SAMPLE (sample.h). Returns TALLY_UNSUPPORTED for an unknown type, and TALLY_CORRUPT, with
 * all fields 0, if the record is too short. */
TALLY_MUST_CHECK enum tally_status record_decode(
	const struct record *record, struct record_fields *fields, struct tally_error *err);
/* Returns the file name of an MMAP or MMAP2 record; empty for other records, or if the record is too short. */
struct tally_str record_mmap_name(const struct record *record);
/* Returns the name after PERF_RECORD_, such as "MMAP2", that perf script -D prints; NULL if unknown. */
const char *record_type_name(uint32_t type);
/* Returns whether records of this type contain or describe a hardware trace. */
bool record_is_of_trace(uint32_t type);
/* Returns the name of the PMU of a type in AUXTRACE_INFO; NULL if unknown. */
const char *record_trace_name(uint32_t auxtrace_type);
/* Returns a cursor over the bytes after the header. */
static inline struct cursor record_body(const struct record *record)
{
	return cursor_make(
		(struct tally_bytes){record->bytes.data + RECORD_HEADER_BYTES, record->bytes.len - RECORD_HEADER_BYTES},
		record->swap);
}

#endif
