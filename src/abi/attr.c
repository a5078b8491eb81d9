/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/attr.h"

#include "base/array.h"
#include "base/error.h"

#define ATTR_FLAG_BYTES 8

/* Reverses the 64 bits: a writer of the other byte order allocates bit-fields from the other end of the word. */
static uint64_t mirror_bits(uint64_t v)
{
	v = (v >> 1 & UINT64_C(0x5555555555555555)) | (v & UINT64_C(0x5555555555555555)) << 1;
	v = (v >> 2 & UINT64_C(0x3333333333333333)) | (v & UINT64_C(0x3333333333333333)) << 2;
	v = (v >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (v & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
	return __builtin_bswap64(v);
}

/* precise_ip is a two-bit number, so the reversal swaps its bits. */
static uint64_t flags_from_foreign(uint64_t word)
{
	uint64_t flags = mirror_bits(word);
	uint64_t low = flags >> ATTR_BIT_PRECISE_IP & 1;
	uint64_t high = flags >> (ATTR_BIT_PRECISE_IP + 1) & 1;
	flags &= ~(UINT64_C(3) << ATTR_BIT_PRECISE_IP);
	return flags | high << ATTR_BIT_PRECISE_IP | low << (ATTR_BIT_PRECISE_IP + 1);
}

static void decode_fields(struct cursor *c, struct perf_attr *attr)
{
	attr->type = cursor_u32(c);
	attr->declared_size = cursor_u32(c);
	attr->config = cursor_u64(c);
	attr->sample_period_or_freq = cursor_u64(c);
	attr->sample_type = cursor_u64(c);
	attr->read_format = cursor_u64(c);
	uint64_t flags = cursor_u64(c);
	attr->flags = c->swap ? flags_from_foreign(flags) : flags;
	attr->wakeup = cursor_u32(c);
	attr->bp_type = cursor_u32(c);
	attr->config1 = cursor_u64(c);
	attr->config2 = cursor_u64(c);
	attr->branch_sample_type = cursor_u64(c);
	attr->sample_regs_user = cursor_u64(c);
	attr->sample_stack_user = cursor_u32(c);
	attr->clockid = (int32_t)cursor_u32(c);
	attr->sample_regs_intr = cursor_u64(c);
	attr->aux_watermark = cursor_u32(c);
	attr->sample_max_stack = cursor_u16(c);
	cursor_skip(c, 2);
	attr->aux_sample_size = cursor_u32(c);
	attr->aux_action = cursor_u32(c);
	attr->sig_data = cursor_u64(c);
	attr->config3 = cursor_u64(c);
	attr->config4 = cursor_u64(c);
}

enum tally_status attr_decode_sized(
	struct cursor *c, size_t stored_size, struct perf_attr *attr, struct tally_error *err)
{
	size_t offset = c->pos;
	if (stored_size < ATTR_SIZE_VER0 || stored_size > UINT16_MAX)
		return error_set_at(
			err, TALLY_CORRUPT, offset, "an event attribute has an invalid size of %zu bytes", stored_size);
	const uint8_t *data = cursor_take(c, stored_size);
	if (!data)
		return error_set_at(err, TALLY_CORRUPT, offset, "an event attribute is truncated");
	/* Shorter attributes are padded with zeros, so that one decoder handles all sizes. */
	uint8_t full[ATTR_SIZE_KNOWN] = {0};
	memcpy(full, data, MIN(stored_size, sizeof(full)));
	struct cursor fields = cursor_make((struct tally_bytes){full, sizeof(full)}, c->swap);
	struct perf_attr result = {.size = (uint32_t)stored_size};
	decode_fields(&fields, &result);
	for (size_t i = sizeof(full); i < stored_size; i++)
		result.excess_is_nonzero = result.excess_is_nonzero || data[i] != 0;
	if (stored_size > sizeof(full))
		result.excess_bytes = (uint32_t)(stored_size - sizeof(full));
	*attr = result;
	return TALLY_OK;
}

enum tally_status attr_decode(struct cursor *c, struct perf_attr *attr, struct tally_error *err)
{
	struct cursor peek = *c;
	cursor_skip(&peek, 4);
	uint32_t size = cursor_u32(&peek);
	if (peek.failed)
		return error_set_at(err, TALLY_CORRUPT, c->pos, "an event attribute is truncated");
	return attr_decode_sized(c, size == 0 ? ATTR_SIZE_VER0 : size, attr, err);
}

void attr_encode(struct writer *w, const struct perf_attr *attr)
{
	uint32_t size = attr->size ? attr->size : ATTR_SIZE_KNOWN;
	struct writer full = {.swap = w->swap};
	writer_u32(&full, attr->type);
	writer_u32(&full, size);
	writer_u64(&full, attr->config);
	writer_u64(&full, attr->sample_period_or_freq);
	writer_u64(&full, attr->sample_type);
	writer_u64(&full, attr->read_format);
	/* The reversal is its own inverse. */
	writer_u64(&full, w->swap ? mirror_bits(flags_from_foreign(mirror_bits(attr->flags))) : attr->flags);
	writer_u32(&full, attr->wakeup);
	writer_u32(&full, attr->bp_type);
	writer_u64(&full, attr->config1);
	writer_u64(&full, attr->config2);
	writer_u64(&full, attr->branch_sample_type);
	writer_u64(&full, attr->sample_regs_user);
	writer_u32(&full, attr->sample_stack_user);
	writer_u32(&full, (uint32_t)attr->clockid);
	writer_u64(&full, attr->sample_regs_intr);
	writer_u32(&full, attr->aux_watermark);
	writer_u16(&full, attr->sample_max_stack);
	writer_u16(&full, 0);
	writer_u32(&full, attr->aux_sample_size);
	writer_u32(&full, attr->aux_action);
	writer_u64(&full, attr->sig_data);
	writer_u64(&full, attr->config3);
	writer_u64(&full, attr->config4);
	if (full.failed) {
		w->failed = true;
	} else {
		writer_bytes(w, full.data, MIN(size, full.len));
		if (size > full.len)
			writer_zeros(w, size - full.len);
	}
	writer_deinit(&full);
}
