/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record.h"

#include "abi/record_table.h"
#include "base/array.h"
#include "base/error.h"

void record_missing(struct tally_bytes bytes, bool swap, size_t offset, struct tally_error *err)
{
	if (offset >= bytes.len)
		return;
	struct cursor c = cursor_make((struct tally_bytes){bytes.data + offset, bytes.len - offset}, swap);
	uint32_t type = cursor_u32(&c);
	cursor_skip(&c, sizeof(uint16_t));
	uint16_t size = cursor_u16(&c);
	if (c.failed)
		error_set_at(
			err, TALLY_CORRUPT, offset, "a record header is truncated: %zu of 8 bytes", bytes.len - offset);
	else if (size < RECORD_HEADER_BYTES)
		error_set_at(
			err, TALLY_CORRUPT, offset, "a record of type %u has an invalid size of %u bytes", type, size);
	else
		error_set_at(err, TALLY_CORRUPT, offset, "a record of type %u has %u bytes, but only %zu are left",
			type, size, bytes.len - offset);
}

/* Compilers turn each half into a few stores; for the whole, they emit a string instruction, which is slow to start. */
static void record_clear(struct record_fields *fields)
{
	const size_t half = sizeof(*fields) / 2;
	memset(fields, 0, half);
	memset((char *)fields + half, 0, sizeof(*fields) - half);
}

enum tally_status record_decode(const struct record *record, struct record_fields *fields, struct tally_error *err)
{
	const struct record_type_row *row = record_type_find(record->type);
	if (!row || !row->decode)
		return error_set_at(
			err, TALLY_UNSUPPORTED, record->offset, "a record of unknown type %u", record->type);
	struct cursor c = record_body(record);
	/* Decodes in place: copying fields right after they were stored would stall. */
	record_clear(fields);
	fields->type = record->type;
	if (c.len >= row->least_bytes)
		row->decode(&c, record, fields);
	else
		c.failed = true;
	if (c.failed) {
		record_clear(fields);
		return error_set_at(err, TALLY_CORRUPT, record->offset,
			"a %s record of %zu bytes is too short for its fields", row->name, record->bytes.len);
	}
	fields->trailer_area = cursor_bytes(&c, cursor_left(&c));
	return TALLY_OK;
}

struct tally_str record_mmap_name(const struct record *record)
{
	if (record->type != RECORD_MMAP && record->type != RECORD_MMAP2)
		return STR("");
	struct cursor c = record_body(record);
	cursor_skip(&c, record_type_find(record->type)->least_bytes); /* Skips all fields but the name. */
	return cursor_text(&c, cursor_left(&c));
}

const char *record_type_name(uint32_t type)
{
	const struct record_type_row *row = record_type_find(type);
	return row ? row->name : NULL;
}

const char *record_trace_name(uint32_t auxtrace_type)
{
	static const char *const names[] = {
		NULL, "intel_pt", "intel_bts", "cs_etm", "arm_spe", "s390_cpumsf", "hisi_ptt", "vpa_dtl"};
	return auxtrace_type < ARRAY_LEN(names) ? names[auxtrace_type] : NULL;
}

bool record_is_of_trace(uint32_t type)
{
	switch (type) {
	case RECORD_AUX:
	case RECORD_ITRACE_START:
	case RECORD_AUX_OUTPUT_HW_ID:
	case RECORD_AUXTRACE_INFO:
	case RECORD_AUXTRACE:
	case RECORD_AUXTRACE_ERROR:
		return true;
	default:
		return false;
	}
}
