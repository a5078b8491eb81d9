/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/encode.h"

#define ENCODE_RECORD_BYTES_MAX 65535

static void encode_put_text(struct writer *w, struct tally_str text)
{
	writer_bytes(w, text.data, text.len);
	writer_u8(w, 0);
	writer_align(w, 8);
}

static void encode_put_bytes(struct writer *w, struct tally_bytes bytes)
{
	writer_bytes(w, bytes.data, bytes.len);
}

static void put_mmap(struct writer *w, const struct record_fields *f, uint16_t misc)
{
	const struct record_mmap *m = &f->mmap;
	writer_u32(w, m->pid);
	writer_u32(w, m->tid);
	writer_u64(w, m->start);
	writer_u64(w, m->len);
	writer_u64(w, m->pgoff);
	if (f->type == RECORD_MMAP2) {
		if (misc & MISC_MMAP_BUILD_ID) {
			writer_u8(w, m->build_id.size);
			writer_zeros(w, 3);
			writer_bytes(w, m->build_id.bytes, sizeof(m->build_id.bytes));
		} else {
			writer_u32(w, m->major);
			writer_u32(w, m->minor);
			writer_u64(w, m->inode);
			writer_u64(w, m->inode_generation);
		}
		writer_u32(w, m->prot);
		writer_u32(w, m->flags);
	}
	encode_put_text(w, m->filename);
}

static void encode_put_comm(struct writer *w, const struct record_fields *f)
{
	writer_u32(w, f->comm.pid);
	writer_u32(w, f->comm.tid);
	encode_put_text(w, f->comm.comm);
}

static void encode_put_task(struct writer *w, const struct record_fields *f)
{
	writer_u32(w, f->task.pid);
	writer_u32(w, f->task.ppid);
	writer_u32(w, f->task.tid);
	writer_u32(w, f->task.ptid);
	writer_u64(w, f->task.time);
}

static void put_ksymbol(struct writer *w, const struct record_fields *f)
{
	writer_u64(w, f->ksymbol.addr);
	writer_u32(w, f->ksymbol.len);
	writer_u16(w, f->ksymbol.ksym_type);
	writer_u16(w, f->ksymbol.flags);
	encode_put_text(w, f->ksymbol.name);
}

static void put_bpf(struct writer *w, const struct record_fields *f)
{
	writer_u16(w, f->bpf.bpf_type);
	writer_u16(w, f->bpf.flags);
	writer_u32(w, f->bpf.id);
	writer_bytes(w, f->bpf.tag, sizeof(f->bpf.tag));
}

static void put_namespaces(struct writer *w, const struct record_fields *f)
{
	writer_u32(w, f->namespaces.pid);
	writer_u32(w, f->namespaces.tid);
	writer_u64(w, f->namespaces.count);
	encode_put_bytes(w, f->namespaces.entries);
}

static void put_throttle(struct writer *w, const struct record_fields *f)
{
	writer_u64(w, f->throttle.time);
	writer_u64(w, f->throttle.id);
	writer_u64(w, f->throttle.stream_id);
}

static void put_time_conv(struct writer *w, const struct record_fields *f)
{
	writer_u64(w, f->time_conv.shift);
	writer_u64(w, f->time_conv.mult);
	writer_u64(w, f->time_conv.zero);
	if (!f->time_conv.has_cap_bits)
		return;
	writer_u64(w, f->time_conv.cycles);
	writer_u64(w, f->time_conv.mask);
	writer_u8(w, f->time_conv.cap_time_zero);
	writer_u8(w, f->time_conv.cap_time_short);
}

static void encode_put_build_id(struct writer *w, const struct record_fields *f)
{
	writer_u32(w, (uint32_t)f->build_id.pid);
	writer_bytes(w, f->build_id.bytes, sizeof(f->build_id.bytes));
	writer_u8(w, f->build_id.size);
	writer_zeros(w, 3);
	encode_put_text(w, f->build_id.filename);
}

/* Returns false if there is no encoder for this type. */
static bool put_kernel_fields(struct writer *w, const struct record_fields *f, uint16_t misc)
{
	switch (f->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		put_mmap(w, f, misc);
		return true;
	case RECORD_COMM:
		encode_put_comm(w, f);
		return true;
	case RECORD_FORK:
	case RECORD_EXIT:
		encode_put_task(w, f);
		return true;
	case RECORD_LOST:
		writer_u64(w, f->lost.id);
		writer_u64(w, f->lost.lost);
		return true;
	case RECORD_LOST_SAMPLES:
		writer_u64(w, f->lost_samples.lost);
		return true;
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
		put_throttle(w, f);
		return true;
	case RECORD_SWITCH:
		return true;
	case RECORD_SWITCH_CPU_WIDE:
		writer_u32(w, f->context_switch.next_prev_pid);
		writer_u32(w, f->context_switch.next_prev_tid);
		return true;
	case RECORD_NAMESPACES:
		put_namespaces(w, f);
		return true;
	case RECORD_KSYMBOL:
		put_ksymbol(w, f);
		return true;
	case RECORD_BPF_EVENT:
		put_bpf(w, f);
		return true;
	case RECORD_CGROUP:
		writer_u64(w, f->cgroup.id);
		encode_put_text(w, f->cgroup.path);
		return true;
	case RECORD_READ:
		writer_u32(w, f->read.pid);
		writer_u32(w, f->read.tid);
		encode_put_bytes(w, f->read.values);
		return true;
	default:
		return false;
	}
}

static bool put_user_fields(struct writer *w, const struct record_fields *f)
{
	switch (f->type) {
	case RECORD_FINISHED_ROUND:
	case RECORD_FINISHED_INIT:
		return true;
	case RECORD_HEADER_ATTR:
		encode_put_bytes(w, f->attr.attr_and_ids);
		return true;
	case RECORD_HEADER_BUILD_ID:
		encode_put_build_id(w, f);
		return true;
	case RECORD_HEADER_TRACING_DATA:
		writer_u32(w, f->tracing_data.size);
		return true;
	case RECORD_HEADER_FEATURE:
		writer_u64(w, f->feature.feature);
		encode_put_bytes(w, f->feature.payload);
		return true;
	case RECORD_ID_INDEX:
		writer_u64(w, f->id_index.count);
		encode_put_bytes(w, f->id_index.entries);
		return true;
	case RECORD_THREAD_MAP:
		writer_u64(w, f->thread_map.count);
		encode_put_bytes(w, f->thread_map.entries);
		return true;
	case RECORD_CPU_MAP:
		writer_u16(w, f->cpu_map.encoding);
		encode_put_bytes(w, f->cpu_map.payload);
		return true;
	case RECORD_TIME_CONV:
		put_time_conv(w, f);
		return true;
	case RECORD_EVENT_UPDATE:
		writer_u64(w, f->event_update.update_type);
		writer_u64(w, f->event_update.id);
		encode_put_bytes(w, f->event_update.payload);
		return true;
	default:
		return false;
	}
}

bool record_encode(struct writer *w, const struct record_fields *fields, uint16_t misc,
	const struct record_layout *layout, const struct sample_id *id)
{
	size_t start = w->len;
	bool is_kernel = fields->type < RECORD_HEADER_ATTR;
	writer_align(w, 8);
	start = w->len;
	writer_u32(w, fields->type);
	writer_u16(w, misc);
	writer_u16(w, 0);
	bool is_known = is_kernel ? put_kernel_fields(w, fields, misc) : put_user_fields(w, fields);
	while (!w->failed && (w->len - start) % 8)
		writer_u8(w, 0);
	if (is_known && is_kernel && layout) {
		if (layout->trailer_tid) {
			writer_u32(w, id->pid);
			writer_u32(w, id->tid);
		}
		if (layout->trailer_time)
			writer_u64(w, id->time);
		if (layout->trailer_id)
			writer_u64(w, id->id);
		if (layout->trailer_stream_id)
			writer_u64(w, id->stream_id);
		if (layout->trailer_cpu) {
			writer_u32(w, id->cpu);
			writer_u32(w, 0);
		}
		if (layout->trailer_identifier)
			writer_u64(w, id->id);
	}
	if (w->failed)
		return false;
	if (!is_known || w->len - start > ENCODE_RECORD_BYTES_MAX) {
		w->len = start;
		return false;
	}
	writer_patch_u16(w, start + 6, (uint16_t)(w->len - start));
	return true;
}
