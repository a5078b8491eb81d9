/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/reader_header.h"

#include "base/error.h"
#include "perfdata/reader_window.h"

struct reader_header_section {
	uint64_t offset, size;
};

static struct reader_header_section read_section(struct cursor *c)
{
	struct reader_header_section s;
	s.offset = cursor_u64(c);
	s.size = cursor_u64(c);
	return s;
}

static struct tally_bytes section_bytes(const struct perfdata_reader *r, struct reader_header_section s)
{
	if (s.offset > r->bytes.len || s.size > r->bytes.len - s.offset)
		return (struct tally_bytes){NULL, 0};
	return (struct tally_bytes){r->bytes.data + s.offset, (size_t)s.size};
}

static enum tally_status read_attrs(
	struct perfdata_reader *r, struct reader_header_section attrs, uint64_t entry_size, struct tally_error *err)
{
	struct tally_bytes bytes = section_bytes(r, attrs);
	if (!bytes.data && attrs.size > 0)
		return error_set_at(
			err, TALLY_CORRUPT, attrs.offset, "the event attributes reach beyond the file's end");
	if (entry_size < ATTR_SIZE_VER0 + 16 || entry_size > UINT16_MAX + 16u)
		return error_set_at(err, TALLY_CORRUPT, 16, "event attributes have an invalid size of %llu bytes",
			(unsigned long long)entry_size);
	struct cursor c = cursor_make(bytes, r->swap);
	while (cursor_left(&c) >= entry_size) {
		struct perf_attr attr;
		struct tally_bytes stored = {bytes.data + c.pos, (size_t)entry_size - 16};
		enum tally_status status = attr_decode_sized(&c, stored.len, &attr, err);
		if (status != TALLY_OK)
			return status;
		struct reader_header_section ids_section = read_section(&c);
		struct tally_bytes ids = section_bytes(r, ids_section);
		if (!ids.data && ids_section.size > 0)
			/* The event remains, but its samples cannot be distinguished from others. */
			r->health.damaged_features++;
		status = event_set_add(&r->events, &attr, stored, ids, r->swap, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

/* The bit set consists of longs: in a byte-swapped file with 32-bit longs, the halves are exchanged. */
static void read_feature_bits(struct perfdata_reader *r, struct cursor *c)
{
	for (size_t i = 0; i < 4; i++)
		r->features.present[i] = cursor_u64(c);
	if (!r->swap || feature_is_present(&r->features, FEATURE_HOSTNAME))
		return;
	uint64_t halves = r->features.present[0] >> 32 | r->features.present[0] << 32;
	if (halves >> FEATURE_HOSTNAME & 1)
		for (size_t i = 0; i < 4; i++)
			r->features.present[i] = r->features.present[i] >> 32 | r->features.present[i] << 32;
}

static bool has_features(const struct perfdata_reader *r)
{
	return (r->features.present[0] | r->features.present[1] | r->features.present[2] | r->features.present[3]) != 0;
}

static size_t feature_table_bytes(const struct perfdata_reader *r)
{
	size_t count = 0;
	for (unsigned bit = 0; bit < 256; bit++)
		count += feature_is_present(&r->features, bit);
	return count * 16;
}

/* Recognizes an old table of this size that tally's writer left: it is the body of a FINISHED_ROUND record, whose
 * header replaced the first offset. */
static bool is_table(const struct record *record, size_t bytes)
{
	return record->type == RECORD_FINISHED_ROUND && record->bytes.len > RECORD_HEADER_BYTES &&
	       record->bytes.len == bytes;
}

static bool is_wrapped_table(const struct perfdata_reader *r, size_t offset)
{
	struct record record;
	return record_at(r->bytes, r->swap, offset, &record, NULL) == TALLY_OK &&
	       is_table(&record, feature_table_bytes(r));
}

static struct reader_header_section read_first_section(struct perfdata_reader *r, struct cursor *c, bool is_wrapped)
{
	struct reader_header_section section = read_section(c);
	struct cursor ahead = *c;
	/* The header of a record has replaced the first offset; the first section ends where the second begins. */
	if (is_wrapped)
		section.offset = read_section(&ahead).offset - section.size;
	return section;
}

/* The feature sections' table follows the data, with one entry for each set bit, in the order of the bits. */
static enum tally_status reader_header_read_features(
	struct perfdata_reader *r, size_t table_offset, struct tally_error *err)
{
	if (table_offset > r->bytes.len)
		return TALLY_OK;
	struct cursor c =
		cursor_make((struct tally_bytes){r->bytes.data + table_offset, r->bytes.len - table_offset}, r->swap);
	bool is_wrapped = is_wrapped_table(r, table_offset);
	bool is_first = true;
	r->has_features_in_front = has_features(r);
	/* CPU topology requires NRCPUS, which has a lower bit, so the order of the bits suffices. */
	for (unsigned bit = 0; bit < 256; bit++) {
		if (!feature_is_present(&r->features, bit))
			continue;
		struct reader_header_section section =
			is_first ? read_first_section(r, &c, is_wrapped) : read_section(&c);
		struct tally_bytes bytes = section_bytes(r, section);
		is_first = false;
		r->has_features_in_front &= section.offset < r->data_offset;
		if (c.failed || !bytes.data) {
			feature_leave_out(&r->features, bit);
			r->health.damaged_features++;
			continue;
		}
		if (!feature_name(bit)) /* Its bytes are retained. */
			r->health.unknown_features++;
		struct feature_input input = {
			.section = bytes, .swap = r->swap, .arena = &r->arena, .features = &r->features};
		enum tally_status status = feature_decode(bit, &input, err);
		if (status != TALLY_OK)
			return status;
	}
	r->health.damaged_features += r->features.damaged;
	return TALLY_OK;
}

/* A writer updates the size only from time to time, so complete records may follow that the size does not include. */
static void take_what_a_killed_writer_left(struct perfdata_reader *r)
{
	struct record record;
	while (record_at(r->bytes, r->swap, r->data_end, &record, NULL) == TALLY_OK && record_type_name(record.type)) {
		r->data_end += record.bytes.len;
		reader_window_pass(r, r->data_end);
	}
}

/* These records follow the feature table if the features precede the data (see writer.h). */
static void take_what_follows_the_table(struct perfdata_reader *r, size_t table_bytes)
{
	size_t table = r->data_end;
	if (!r->has_features_in_front || table_bytes >= r->bytes.len - table)
		return;
	r->data_end += table_bytes;
	take_what_a_killed_writer_left(r);
	if (r->data_end > table + table_bytes) {
		r->gap_offset = table;
		r->gap_bytes = table_bytes;
	} else {
		r->data_end = table;
	}
}

/* Finds the last table among the intact records: one of all features, or else one of the features known earlier, and
 * then only their bits remain set. Returns 0 if there is none. */
static size_t find_former_table(struct perfdata_reader *r)
{
	struct record record;
	uint64_t all[4];
	size_t whole = 0, early = 0, bytes = feature_table_bytes(r);
	memcpy(all, r->features.present, sizeof(all));
	/* These features are known only at the end of the recording, so the tables among the records lack them. */
	feature_leave_out(&r->features, FEATURE_BUILD_ID);
	feature_leave_out(&r->features, FEATURE_SAMPLE_TIME);
	size_t early_bytes = feature_table_bytes(r);
	for (size_t at = r->data_offset; record_at(r->bytes, r->swap, at, &record, NULL) == TALLY_OK;
		at += record.bytes.len) {
		reader_window_pass(r, at);
		if (is_table(&record, bytes))
			whole = at;
		else if (is_table(&record, early_bytes))
			early = at;
	}
	if (whole || !early)
		memcpy(r->features.present, all, sizeof(all));
	return whole ? whole : early;
}

static enum tally_status read_features_of_cut_file(struct perfdata_reader *r, struct tally_error *err)
{
	size_t table = find_former_table(r);
	if (table)
		return reader_header_read_features(r, table, err);
	memset(r->features.present, 0, sizeof(r->features.present));
	return TALLY_OK;
}

/* Reads the table after the data, or an earlier one if that table is truncated. */
static enum tally_status read_last_features(struct perfdata_reader *r, struct tally_error *err)
{
	size_t bytes = feature_table_bytes(r), table = 0;
	if (bytes > r->bytes.len - r->data_end)
		table = find_former_table(r);
	r->health.damaged_features += (bytes - feature_table_bytes(r)) / 16;
	return reader_header_read_features(r, table ? table : r->data_end, err);
}

/* Searches the records, because a killed writer has not set the feature bit in the header. */
static bool has_compressed_records(struct perfdata_reader *r)
{
	struct tally_bytes data = {r->bytes.data, r->data_end};
	struct record record;
	size_t position = r->data_offset;
	while (record_at(data, r->swap, position, &record, NULL) == TALLY_OK) {
		if (record.type == RECORD_COMPRESSED || record.type == RECORD_COMPRESSED2)
			return true;
		position += record.bytes.len;
		reader_window_pass(r, position);
	}
	return false;
}

enum tally_status reader_open_file(struct perfdata_reader *r, bool is_v1, struct tally_error *err)
{
	struct cursor c = cursor_make(r->bytes, r->swap);
	cursor_skip(&c, 16); /* Magic and size. */
	uint64_t attr_size = cursor_u64(&c);
	struct reader_header_section attrs = read_section(&c);
	struct reader_header_section data = read_section(&c);
	(void)read_section(&c); /* Event types, unused since 2011. */
	size_t header_size = is_v1 ? 72 : PERFDATA_HEADER_BYTES;
	if (!is_v1 || cursor_left(&c) >= 32)
		read_feature_bits(r, &c);
	if (r->bytes.len < header_size || c.failed)
		return error_set_at(err, TALLY_CORRUPT, r->bytes.len, "the file ends inside its header");
	r->has_compressed = feature_is_present(&r->features, FEATURE_COMPRESSED);
	bool is_silent = !has_features(r);
	enum tally_status status = read_attrs(r, attrs, attr_size, err);
	if (status != TALLY_OK)
		return status;
	if (data.offset > r->bytes.len)
		return error_set_at(err, TALLY_CORRUPT, data.offset, "the data section starts beyond the file's end");
	r->data_offset = (size_t)data.offset;
	uint64_t available = r->bytes.len - data.offset;
	bool was_killed = data.size == 0 && available > 0;
	if (was_killed || data.size > available) {
		/* The writer was killed before it stored the size, or the file is truncated: all data present is
		 * read. */
		r->data_end = r->bytes.len;
		r->health.is_unfinished = was_killed;
		if (!was_killed) {
			r->health.is_cut = true;
			r->health.cut_offset = r->bytes.len;
			r->health.cut_record_bytes = UINT32_MAX;
		}
		if (is_silent)
			r->has_compressed = has_compressed_records(r);
		status = read_features_of_cut_file(r, err);
		return status == TALLY_OK ? event_set_apply_features(&r->events, &r->features, err) : status;
	}
	r->data_end = (size_t)(data.offset + data.size);
	if (is_silent) {
		take_what_a_killed_writer_left(r);
		r->has_compressed = has_compressed_records(r);
	}
	r->feature_offset = r->data_end;
	size_t table_bytes = feature_table_bytes(r);
	status = read_last_features(r, err);
	if (status == TALLY_OK)
		take_what_follows_the_table(r, table_bytes);
	return status == TALLY_OK ? event_set_apply_features(&r->events, &r->features, err) : status;
}
