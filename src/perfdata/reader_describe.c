/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/reader_describe.h"

#include "base/error.h"
#include "perfdata/origin.h"

/* Copies a description from a stream, because it must outlive its part of the stream. */
static const uint8_t *reader_describe_lasting(struct perfdata_reader *r, const uint8_t *data, size_t len)
{
	return r->stream.base && len > 0 ? arena_copy(&r->arena, data, len) : data;
}

static enum tally_status apply_attr_record(struct perfdata_reader *r, const struct record *record,
	const struct record_fields *fields, struct tally_error *err)
{
	struct cursor c = cursor_make(fields->attr.attr_and_ids, r->swap);
	struct perf_attr attr;
	if (attr_decode(&c, &attr, NULL) != TALLY_OK) {
		damaged_records_add(&r->health.damaged, record->offset, record->type);
		return TALLY_OK;
	}
	struct tally_bytes stored = {fields->attr.attr_and_ids.data, c.pos};
	struct tally_bytes ids = cursor_bytes(&c, cursor_left(&c) / 8 * 8);
	enum tally_status status = event_set_add(&r->events, &attr, stored, ids, r->swap, err);
	r->health.attr_excess_bytes = r->events.attr_excess_bytes;
	return status;
}

static enum tally_status apply_feature(
	struct perfdata_reader *r, uint64_t bit, struct tally_bytes section, struct tally_error *err)
{
	/* An empty feature that is not a flag ends the list. Its number is the first that its writer does not know: 32
	 * in perf 6.8, 35 in 7.3. */
	bool is_end = section.len == 0 && !feature_is_flag((unsigned)bit);
	if (bit >= FEATURE_BITS || is_end)
		return TALLY_OK;
	r->features.present[bit / 64] |= UINT64_C(1) << bit % 64;
	if (!feature_name((unsigned)bit))
		r->health.unknown_features++;
	section.data = reader_describe_lasting(r, section.data, section.len);
	if (!section.data && section.len > 0)
		return error_nomem(err);
	struct feature_input input = {
		.section = section, .swap = r->swap, .arena = &r->arena, .features = &r->features};
	uint64_t damaged = r->features.damaged;
	enum tally_status status = feature_decode((unsigned)bit, &input, err);
	r->health.damaged_features += r->features.damaged - damaged;
	/* The names of EVENT_DESC are for files: in a stream, perf derives names from the attrs, and tools expect the
	 * same. */
	if (status == TALLY_OK && bit == FEATURE_GROUP_DESC)
		status = event_set_apply_features(&r->events, &r->features, err);
	return status;
}

static enum tally_status apply_tracing_data(
	struct perfdata_reader *r, struct tally_bytes payload, size_t size, struct tally_error *err)
{
	if (size > payload.len)
		return TALLY_OK;
	const uint8_t *data = reader_describe_lasting(r, payload.data, size);
	if (!data && size > 0)
		return error_nomem(err);
	r->features.tracing_data = (struct tally_bytes){data, size};
	r->features.present[0] |= UINT64_C(1) << FEATURE_TRACING_DATA;
	return event_set_name_tracepoints(&r->events, r->features.tracing_data, err);
}

enum tally_status reader_describe(
	struct perfdata_reader *r, const struct record *record, struct tally_bytes payload, struct tally_error *err)
{
	struct record_fields fields;
	struct tally_bytes origin;
	if (r->is_pipe && !r->is_described && origin_record_section(record, &origin))
		return apply_feature(r, FEATURE_ORIGIN, origin, err);
	if (r->is_described || record->type < RECORD_HEADER_ATTR || record_decode(record, &fields, NULL) != TALLY_OK)
		return TALLY_OK;
	switch (record->type) {
	case RECORD_HEADER_ATTR:
		return r->is_pipe ? apply_attr_record(r, record, &fields, err) : TALLY_OK;
	case RECORD_HEADER_FEATURE:
		return r->is_pipe ? apply_feature(r, fields.feature.feature, fields.feature.payload, err) : TALLY_OK;
	case RECORD_HEADER_TRACING_DATA:
		return r->is_pipe ? apply_tracing_data(r, payload, fields.tracing_data.size, err) : TALLY_OK;
	case RECORD_EVENT_UPDATE:
		return event_set_update(&r->events, &fields.event_update, r->swap, err);
	default:
		return TALLY_OK;
	}
}
