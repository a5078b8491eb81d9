/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/sample.h"

#include <string.h>

#include "abi/data_src.h"
#include "base/error.h"

static uint64_t load_u64(const uint8_t *p, bool swap)
{
	return sample_u64_at(p, 0, swap);
}

static uint32_t sample_load_u32(const uint8_t *p, bool swap)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

/* The caller has checked that the record has at least fixed_bytes. */
static void decode_fixed(const struct record_layout *layout, const uint8_t *data, struct sample *s)
{
	bool swap = layout->swap;
	if (layout->ip >= 0)
		s->ip = load_u64(data + layout->ip, swap);
	if (layout->tid >= 0) {
		s->pid = sample_load_u32(data + layout->tid, swap);
		s->tid = sample_load_u32(data + layout->tid + 4, swap);
	}
	if (layout->time >= 0)
		s->time = load_u64(data + layout->time, swap);
	if (layout->addr >= 0)
		s->addr = load_u64(data + layout->addr, swap);
	if (layout->id >= 0)
		s->id = load_u64(data + layout->id, swap);
	if (layout->identifier >= 0)
		s->id = load_u64(data + layout->identifier, swap);
	if (layout->stream_id >= 0)
		s->stream_id = load_u64(data + layout->stream_id, swap);
	if (layout->cpu >= 0)
		s->cpu = sample_load_u32(data + layout->cpu, swap);
	if (layout->period >= 0)
		s->period = load_u64(data + layout->period, swap);
}

static struct sample_array take_words(struct cursor *c, uint64_t count)
{
	if (!cursor_count(c, count, sizeof(uint64_t)))
		return (struct sample_array){NULL, 0};
	return (struct sample_array){cursor_take(c, (size_t)count * sizeof(uint64_t)), (uint32_t)count};
}

static void decode_branches(struct cursor *c, const struct record_layout *layout, struct sample *s)
{
	uint64_t count = cursor_u64(c);
	s->branches.has_hw_idx = (layout->branch_sample_type & BRANCH_HW_INDEX) != 0;
	if (s->branches.has_hw_idx)
		s->branches.hw_idx = cursor_u64(c);
	if (!cursor_count(c, count, 24))
		return;
	s->branches.entries = take_words(c, count * 3);
	if (layout->branch_sample_type & BRANCH_COUNTERS)
		s->branches.counters = take_words(c, count);
}

static void decode_regs(struct cursor *c, uint64_t mask, struct sample_regs *regs)
{
	regs->abi = cursor_u64(c);
	if (regs->abi == REGS_ABI_NONE)
		return;
	regs->mask = mask;
	regs->values = take_words(c, (uint64_t)__builtin_popcountll(mask));
}

static void decode_stack(struct cursor *c, struct sample *s)
{
	uint64_t size = cursor_u64(c);
	if (!cursor_count(c, size, 1))
		return;
	s->stack_user.size = size;
	s->stack_user.bytes = cursor_bytes(c, (size_t)size);
	if (size == 0)
		return;
	s->stack_user.dyn_size = cursor_u64(c);
	if (s->stack_user.dyn_size > size)
		c->failed = true;
}

static void decode_raw(struct cursor *c, struct sample *s)
{
	uint32_t size = cursor_u32(c);
	s->raw = cursor_bytes(c, size);
	/* The next field is aligned to 8 bytes; at the end of a record, old files may lack the padding. */
	size_t padding = (8 - c->pos % 8) % 8;
	cursor_skip(c, padding < cursor_left(c) ? padding : cursor_left(c));
}

static void decode_tail(struct cursor *c, const struct record_layout *layout, struct sample *s)
{
	uint64_t type = layout->sample_type;
	if (type & SAMPLE_WEIGHT || type & SAMPLE_WEIGHT_STRUCT)
		s->weight = cursor_u64(c);
	if (type & SAMPLE_DATA_SRC)
		s->data_src = cursor_u64(c);
	if (type & SAMPLE_TRANSACTION)
		s->transaction = cursor_u64(c);
	if (type & SAMPLE_REGS_INTR)
		decode_regs(c, layout->regs_intr_mask, &s->regs_intr);
	if (type & SAMPLE_PHYS_ADDR)
		s->phys_addr = cursor_u64(c);
	if (type & SAMPLE_CGROUP)
		s->cgroup = cursor_u64(c);
	if (type & SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = cursor_u64(c);
	if (type & SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = cursor_u64(c);
	if (type & SAMPLE_AUX) {
		uint64_t size = cursor_u64(c);
		if (cursor_count(c, size, 1))
			s->aux = cursor_bytes(c, (size_t)size);
	}
}

static enum tally_status cut_error(const struct record *record, const char *what, struct tally_error *err)
{
	return error_set_at(err, TALLY_CORRUPT, record->offset, "a sample of %zu bytes is too short for its %s",
		record->bytes.len, what);
}

/*
 * Being volatile, the size is unknown to the compiler: for a constant size it emits string instructions, which take
 * longer to start than decoding the whole sample.
 */
static const volatile size_t sample_bytes = sizeof(struct sample);

/* Process IDs have fewer bits, so raw data that begins with a greater number is not a wait of perf's. */
#define PID_BITS 30

/*
 * Since 6.16, perf stores a wait's thread, period and call chain only in raw data; the fields describe the thread that
 * was on the CPU.
 */
static void sample_take_wait(struct sample *s)
{
	struct cursor c = cursor_make(s->raw, s->swap);
	uint32_t pid = cursor_u32(&c), tid = cursor_u32(&c);
	uint64_t period = cursor_u64(&c);
	struct sample_array chain = take_words(&c, cursor_u64(&c));
	if (c.failed || pid >> PID_BITS)
		return;
	s->pid = pid;
	s->tid = tid;
	s->period = period;
	s->callchain = chain;
	s->present |= SAMPLE_CALLCHAIN;
	for (uint32_t i = 0; i < chain.count; i++) {
		uint64_t ip = sample_u64_at(chain.data, i, s->swap);
		if (ip < CONTEXT_MAX) {
			s->ip = ip;
			return;
		}
	}
}

enum tally_status sample_decode(
	const struct record_layout *layout, const struct record *record, struct sample *sample, struct tally_error *err)
{
	if (record->bytes.len < layout->fixed_bytes)
		return cut_error(record, "fixed fields", err);
	struct sample s;
	size_t bytes = sample_bytes;
	memset(&s, 0, bytes);
	s.present = layout->sample_type;
	s.swap = layout->swap;
	s.data_src = DATA_SRC_NOT_AVAILABLE;
	decode_fixed(layout, record->bytes.data, &s);
	struct cursor c = cursor_make(record->bytes, layout->swap);
	cursor_skip(&c, layout->fixed_bytes);
	uint64_t type = layout->sample_type;
	if (type & SAMPLE_READ) {
		enum tally_status status = read_values_decode(&c, layout->read_format, &s.read, err);
		if (status != TALLY_OK)
			return status;
	}
	if (type & SAMPLE_CALLCHAIN)
		s.callchain = take_words(&c, cursor_u64(&c));
	if (type & SAMPLE_RAW)
		decode_raw(&c, &s);
	if (type & SAMPLE_BRANCH_STACK)
		decode_branches(&c, layout, &s);
	if (type & SAMPLE_REGS_USER)
		decode_regs(&c, layout->regs_user_mask, &s.regs_user);
	if (type & SAMPLE_STACK_USER)
		decode_stack(&c, &s);
	decode_tail(&c, layout, &s);
	if (c.failed)
		return cut_error(record, "fields", err);
	if (layout->is_wait)
		sample_take_wait(&s);
	memcpy(sample, &s, bytes);
	return TALLY_OK;
}

enum tally_status sample_id_decode(
	const struct record_layout *layout, const struct record *record, struct sample_id *id, struct tally_error *err)
{
	struct sample_id result = {0};
	size_t len = record->bytes.len;
	if (len < (size_t)layout->trailer_bytes + RECORD_HEADER_BYTES)
		return error_set_at(
			err, TALLY_CORRUPT, record->offset, "a record of %zu bytes is too short for its trailer", len);
	const uint8_t *end = record->bytes.data + len;
	if (layout->trailer_tid) {
		result.has_tid = true;
		result.pid = sample_load_u32(end - layout->trailer_tid, layout->swap);
		result.tid = sample_load_u32(end - layout->trailer_tid + 4, layout->swap);
	}
	if (layout->trailer_time) {
		result.has_time = true;
		result.time = load_u64(end - layout->trailer_time, layout->swap);
	}
	if (layout->trailer_id || layout->trailer_identifier) {
		uint16_t distance = layout->trailer_identifier ? layout->trailer_identifier : layout->trailer_id;
		result.has_id = true;
		result.id = load_u64(end - distance, layout->swap);
	}
	if (layout->trailer_stream_id) {
		result.has_stream_id = true;
		result.stream_id = load_u64(end - layout->trailer_stream_id, layout->swap);
	}
	if (layout->trailer_cpu) {
		result.has_cpu = true;
		result.cpu = sample_load_u32(end - layout->trailer_cpu, layout->swap);
	}
	*id = result;
	return TALLY_OK;
}

enum tally_status read_values_decode(
	struct cursor *c, uint64_t read_format, struct read_values *values, struct tally_error *err)
{
	size_t offset = c->pos;
	struct read_values v = {.format = read_format, .swap = c->swap, .count = 1};
	bool is_group = (read_format & READ_FORMAT_GROUP) != 0;
	struct cursor single = {0};
	if (is_group)
		v.count = cursor_u64(c);
	else
		single = cursor_make(cursor_bytes(c, 8), c->swap); /* A single value precedes the times. */
	if (read_format & READ_FORMAT_TOTAL_TIME_ENABLED)
		v.time_enabled = cursor_u64(c);
	if (read_format & READ_FORMAT_TOTAL_TIME_RUNNING)
		v.time_running = cursor_u64(c);
	uint32_t words = is_group ? 1 : 0;
	words += (read_format & READ_FORMAT_ID) != 0;
	words += (read_format & READ_FORMAT_LOST) != 0;
	v.entry_bytes = words * 8;
	if (is_group) {
		if (cursor_count(c, v.count, v.entry_bytes))
			v.entries = cursor_take(c, (size_t)v.count * v.entry_bytes);
	} else {
		v.single = cursor_u64(&single);
		v.entries = cursor_take(c, v.entry_bytes);
	}
	if (c->failed)
		return error_set_at(err, TALLY_CORRUPT, offset, "a counter reading is truncated");
	*values = v;
	return TALLY_OK;
}

struct read_value read_value_get(const struct read_values *values, uint64_t index)
{
	struct read_value result = {0};
	const uint8_t *p = values->entries + (size_t)index * values->entry_bytes;
	if (values->format & READ_FORMAT_GROUP) {
		result.value = load_u64(p, values->swap);
		p += 8;
	} else {
		result.value = values->single;
	}
	if (values->format & READ_FORMAT_ID) {
		result.id = load_u64(p, values->swap);
		p += 8;
	}
	if (values->format & READ_FORMAT_LOST)
		result.lost = load_u64(p, values->swap);
	return result;
}
