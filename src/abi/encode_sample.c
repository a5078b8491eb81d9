/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode_sample.c - writes the bytes of a sample field by field, in the order of perf_event_open(2): the inverse of
 * sample_decode.
 *
 * Arrays are slices in file order and are copied unchanged, so a sample can be written in the byte order in which it
 * was read.
 */
#include "abi/encode.h"

#define ENCODE_SAMPLE_RECORD_BYTES_MAX 65535

static void put_words(struct writer *w, const struct sample_array *array)
{
	writer_bytes(w, array->data, (size_t)array->count * sizeof(uint64_t));
}

static void encode_sample_put_fixed(struct writer *w, uint64_t type, const struct sample *s)
{
	if (type & SAMPLE_IDENTIFIER)
		writer_u64(w, s->id);
	if (type & SAMPLE_IP)
		writer_u64(w, s->ip);
	if (type & SAMPLE_TID) {
		writer_u32(w, s->pid);
		writer_u32(w, s->tid);
	}
	if (type & SAMPLE_TIME)
		writer_u64(w, s->time);
	if (type & SAMPLE_ADDR)
		writer_u64(w, s->addr);
	if (type & SAMPLE_ID)
		writer_u64(w, s->id);
	if (type & SAMPLE_STREAM_ID)
		writer_u64(w, s->stream_id);
	if (type & SAMPLE_CPU) {
		writer_u32(w, s->cpu);
		writer_u32(w, 0);
	}
	if (type & SAMPLE_PERIOD)
		writer_u64(w, s->period);
}

static void put_read(struct writer *w, uint64_t format, const struct read_values *r)
{
	bool is_group = (format & READ_FORMAT_GROUP) != 0;
	writer_u64(w, is_group ? r->count : r->single);
	if (format & READ_FORMAT_TOTAL_TIME_ENABLED)
		writer_u64(w, r->time_enabled);
	if (format & READ_FORMAT_TOTAL_TIME_RUNNING)
		writer_u64(w, r->time_running);
	writer_bytes(w, r->entries, (size_t)r->count * r->entry_bytes);
}

static void encode_sample_put_branches(struct writer *w, const struct record_layout *layout, const struct sample *s)
{
	writer_u64(w, s->branches.entries.count / 3);
	if (layout->branch_sample_type & BRANCH_HW_INDEX)
		writer_u64(w, s->branches.hw_idx);
	put_words(w, &s->branches.entries);
	if (layout->branch_sample_type & BRANCH_COUNTERS)
		put_words(w, &s->branches.counters);
}

static void put_regs(struct writer *w, const struct sample_regs *regs)
{
	writer_u64(w, regs->abi);
	if (regs->abi != REGS_ABI_NONE)
		put_words(w, &regs->values);
}

static void encode_sample_put_stack(struct writer *w, const struct sample *s)
{
	writer_u64(w, s->stack_user.bytes.len);
	if (s->stack_user.bytes.len == 0)
		return;
	writer_bytes(w, s->stack_user.bytes.data, s->stack_user.bytes.len);
	writer_u64(w, s->stack_user.dyn_size);
}

static void encode_sample_put_raw(struct writer *w, size_t start, const struct sample *s)
{
	writer_u32(w, (uint32_t)s->raw.len);
	writer_bytes(w, s->raw.data, s->raw.len);
	while (!w->failed && (w->len - start) % 8)
		writer_u8(w, 0);
}

static void put_tail(struct writer *w, const struct record_layout *layout, const struct sample *s)
{
	uint64_t type = layout->sample_type;
	if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		writer_u64(w, s->weight);
	if (type & SAMPLE_DATA_SRC)
		writer_u64(w, s->data_src);
	if (type & SAMPLE_TRANSACTION)
		writer_u64(w, s->transaction);
	if (type & SAMPLE_REGS_INTR)
		put_regs(w, &s->regs_intr);
	if (type & SAMPLE_PHYS_ADDR)
		writer_u64(w, s->phys_addr);
	if (type & SAMPLE_CGROUP)
		writer_u64(w, s->cgroup);
	if (type & SAMPLE_DATA_PAGE_SIZE)
		writer_u64(w, s->data_page_size);
	if (type & SAMPLE_CODE_PAGE_SIZE)
		writer_u64(w, s->code_page_size);
	if (type & SAMPLE_AUX) {
		writer_u64(w, s->aux.len);
		writer_bytes(w, s->aux.data, s->aux.len);
	}
}

bool sample_encode(struct writer *w, const struct record_layout *layout, uint16_t misc, const struct sample *sample)
{
	uint64_t type = layout->sample_type;
	writer_align(w, 8);
	size_t start = w->len;
	writer_u32(w, RECORD_SAMPLE);
	writer_u16(w, misc);
	writer_u16(w, 0);
	encode_sample_put_fixed(w, type, sample);
	if (type & SAMPLE_READ)
		put_read(w, layout->read_format, &sample->read);
	if (type & SAMPLE_CALLCHAIN) {
		writer_u64(w, sample->callchain.count);
		put_words(w, &sample->callchain);
	}
	if (type & SAMPLE_RAW)
		encode_sample_put_raw(w, start, sample);
	if (type & SAMPLE_BRANCH_STACK)
		encode_sample_put_branches(w, layout, sample);
	if (type & SAMPLE_REGS_USER)
		put_regs(w, &sample->regs_user);
	if (type & SAMPLE_STACK_USER)
		encode_sample_put_stack(w, sample);
	put_tail(w, layout, sample);
	while (!w->failed && (w->len - start) % 8)
		writer_u8(w, 0);
	if (w->failed)
		return false;
	if (w->len - start > ENCODE_SAMPLE_RECORD_BYTES_MAX) {
		w->len = start;
		return false;
	}
	writer_patch_u16(w, start + 6, (uint16_t)(w->len - start));
	return true;
}
