/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata_builder.h"

#include <string.h>

#include "base/array.h"

void perfdata_builder_init(struct perfdata_builder *b, bool swap)
{
	memset(b, 0, sizeof(*b));
	b->swap = b->records.swap = b->features.swap = b->out.swap = swap;
}

void perfdata_builder_deinit(struct perfdata_builder *b)
{
	writer_deinit(&b->records);
	writer_deinit(&b->features);
	writer_deinit(&b->out);
}

void perfdata_builder_event(struct perfdata_builder *b, const struct perf_attr *attr, uint64_t id)
{
	b->attrs[b->event_count] = *attr;
	b->attrs[b->event_count].size = ATTR_SIZE_VER7;
	b->ids[b->event_count++] = id;
}

void perfdata_builder_sample(struct perfdata_builder *b, size_t event, uint16_t misc, const struct sample *sample)
{
	struct record_layout layout = record_layout_make(&b->attrs[event], b->swap);
	struct sample with_id = *sample;
	with_id.id = b->ids[event];
	(void)sample_encode(&b->records, &layout, misc, &with_id);
}

void perfdata_builder_record(
	struct perfdata_builder *b, const struct record_fields *fields, uint16_t misc, uint64_t time)
{
	struct record_layout layout = record_layout_make(&b->attrs[0], b->swap);
	struct sample_id id = {.time = time, .id = b->ids[0]};
	(void)record_encode(&b->records, fields, misc, &layout, &id);
}

void perfdata_builder_round(struct perfdata_builder *b)
{
	struct record_fields fields = {.type = RECORD_FINISHED_ROUND};
	(void)record_encode(&b->records, &fields, 0, NULL, NULL);
}

void perfdata_builder_feature(struct perfdata_builder *b, unsigned bit, const void *body, size_t len)
{
	b->feature_bits[bit / 64] |= UINT64_C(1) << bit % 64;
	b->feature_sizes[bit] = (uint32_t)len;
	writer_bytes(&b->features, body, len);
}

static void put_section(struct writer *w, uint64_t offset, uint64_t size)
{
	writer_u64(w, offset);
	writer_u64(w, size);
}

struct tally_bytes perfdata_builder_file(struct perfdata_builder *b)
{
	struct writer *w = &b->out;
	writer_clear(w);
	uint64_t entry = ATTR_SIZE_VER7 + 16;
	uint64_t ids_at = PERFDATA_HEADER_BYTES + entry * b->event_count;
	uint64_t data_at = ids_at + 8 * b->event_count;
	writer_u64(w, PERFDATA_MAGIC2);
	writer_u64(w, PERFDATA_HEADER_BYTES);
	writer_u64(w, entry);
	put_section(w, PERFDATA_HEADER_BYTES, entry * b->event_count);
	put_section(w, data_at, b->records.len);
	put_section(w, 0, 0);
	for (size_t i = 0; i < ARRAY_LEN(b->feature_bits); i++)
		writer_u64(w, b->feature_bits[i]);
	for (size_t i = 0; i < b->event_count; i++) {
		attr_encode(w, &b->attrs[i]);
		put_section(w, ids_at + 8 * i, 8);
	}
	for (size_t i = 0; i < b->event_count; i++)
		writer_u64(w, b->ids[i]);
	writer_bytes(w, b->records.data, b->records.len);
	uint64_t body = w->len;
	for (size_t i = 0; i < ARRAY_LEN(b->feature_bits); i++)
		body += 16 * (uint64_t)__builtin_popcountll(b->feature_bits[i]);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		if (!(b->feature_bits[bit / 64] >> bit % 64 & 1))
			continue;
		put_section(w, body, b->feature_sizes[bit]);
		body += b->feature_sizes[bit];
	}
	writer_bytes(w, b->features.data, b->features.len);
	return writer_view(w);
}

struct tally_bytes perfdata_builder_pipe(struct perfdata_builder *b)
{
	struct writer *w = &b->out;
	writer_clear(w);
	writer_u64(w, PERFDATA_MAGIC2);
	writer_u64(w, PERFDATA_PIPE_HEADER_BYTES);
	for (size_t i = 0; i < b->event_count; i++) {
		struct writer attr = {.swap = b->swap};
		attr_encode(&attr, &b->attrs[i]);
		writer_u64(&attr, b->ids[i]);
		struct record_fields fields = {.type = RECORD_HEADER_ATTR, .attr = {writer_view(&attr)}};
		(void)record_encode(w, &fields, 0, NULL, NULL);
		writer_deinit(&attr);
	}
	writer_bytes(w, b->records.data, b->records.len);
	return writer_view(w);
}
