#include "abi/encode.h"

static void put_words(struct writer *w, struct sample_array words)
{
	writer_bytes(w, words.data, (size_t)words.count * sizeof(uint64_t));
}

static void put_fixed(struct writer *w, uint64_t type, const struct sample *s)
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

static void put_read(struct writer *w, uint64_t format, const struct read_values *read)
{
	writer_u64(w, format & READ_FORMAT_GROUP ? read->count : read->single);
	if (format & READ_FORMAT_TOTAL_TIME_ENABLED)
		writer_u64(w, read->time_enabled);
	if (format & READ_FORMAT_TOTAL_TIME_RUNNING)
		writer_u64(w, read->time_running);
	writer_bytes(w, read->entries, (size_t)read->count * read->entry_bytes);
}

static void put_branches(struct writer *w, uint64_t branch_type, const struct sample *s)
{
	writer_u64(w, s->branches.entries.count / 3);
	if (branch_type & BRANCH_HW_INDEX)
		writer_u64(w, s->branches.hw_idx);
	put_words(w, s->branches.entries);
	if (branch_type & BRANCH_COUNTERS)
		put_words(w, s->branches.counters);
}

static void put_regs(struct writer *w, const struct sample_regs *regs)
{
	writer_u64(w, regs->abi);
	if (regs->abi != REGS_ABI_NONE)
		put_words(w, regs->values);
}

static void put_stack(struct writer *w, const struct sample *s)
{
	writer_u64(w, s->stack_user.bytes.len);
	if (s->stack_user.bytes.len == 0)
		return;
	writer_bytes(w, s->stack_user.bytes.data, s->stack_user.bytes.len);
	writer_u64(w, s->stack_user.dyn_size);
}

static void put_tail(struct writer *w, uint64_t type, const struct sample *s)
{
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

bool sample_encode(struct writer *w, const struct record_layout *layout, uint16_t misc, const struct sample *s)
{
	uint64_t type = layout->sample_type;
	size_t start = w->len;
	writer_u32(w, RECORD_SAMPLE);
	writer_u16(w, misc);
	writer_u16(w, 0);
	put_fixed(w, type, s);
	if (type & SAMPLE_READ)
		put_read(w, layout->read_format, &s->read);
	if (type & SAMPLE_CALLCHAIN) {
		writer_u64(w, s->callchain.count);
		put_words(w, s->callchain);
	}
	if (type & SAMPLE_RAW) {
		writer_u32(w, (uint32_t)s->raw.len);
		writer_bytes(w, s->raw.data, s->raw.len);
		while (!w->failed && (w->len - start) % 8)
			writer_u8(w, 0);
	}
	if (type & SAMPLE_BRANCH_STACK)
		put_branches(w, layout->branch_sample_type, s);
	if (type & SAMPLE_REGS_USER)
		put_regs(w, &s->regs_user);
	if (type & SAMPLE_STACK_USER)
		put_stack(w, s);
	put_tail(w, type, s);
	if (w->failed)
		return false;
	if (w->len - start > UINT16_MAX) {
		w->len = start;
		return false;
	}
	writer_patch_u16(w, start + 6, (uint16_t)(w->len - start));
	return true;
}
