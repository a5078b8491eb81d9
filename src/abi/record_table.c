/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record_table.h"

#include "abi/perf_constants.h"
#include "base/array.h"

/*
 * A name at the end of the fixed fields is NUL-terminated and padded to 8; the trailer follows the padding. Its length
 * is not stored, so the name with its padding ends at the first multiple of 8 bytes after the NUL.
 */
static struct tally_str padded_text(struct cursor *c)
{
	size_t left = cursor_left(c);
	const char *start = (const char *)c->data + c->pos;
	size_t len = left > 0 ? strnlen(start, left) : 0;
	size_t padded = len + 8 - (c->pos + len) % 8;
	padded = MIN(padded, left);
	cursor_skip(c, padded);
	return (struct tally_str){left > 0 ? start : "", len};
}

static void read_build_id(struct cursor *c, uint8_t bytes[20])
{
	const uint8_t *p = cursor_take(c, 20);
	if (p)
		memcpy(bytes, p, 20);
}

static void decode_mmap(struct cursor *c, const struct record *record, struct record_fields *f)
{
	struct record_mmap *m = &f->mmap;
	m->pid = cursor_u32(c);
	m->tid = cursor_u32(c);
	m->start = cursor_u64(c);
	m->len = cursor_u64(c);
	m->pgoff = cursor_u64(c);
	m->prot = record->misc & MISC_MMAP_DATA ? 0 : 4; /* PROT_EXEC */
	m->filename = padded_text(c);
}

#define MMAP2_FIXED_BYTES    64 /* Size of the fields before the name. */
#define MMAP2_IDENTITY	     32 /* Offset of the file's identity: a build ID, or device, inode and generation. */
#define MMAP2_IDENTITY_BYTES 24
#define MMAP2_BUILD_ID	     4 /* Offset of the build ID in the identity, after its size and three zeros. */

/*
 * Kernels do not clear the bit: if another session requests build IDs, records of this session may have the bit too,
 * although they contain an inode. A real build ID has a valid size, and zeros after its bytes.
 */
static bool holds_build_id(const uint8_t identity[MMAP2_IDENTITY_BYTES])
{
	uint8_t size = identity[0];
	uint8_t others = identity[1] | identity[2] | identity[3];
	if (size == 0 || size > MMAP2_IDENTITY_BYTES - MMAP2_BUILD_ID)
		return false;
	for (size_t i = MMAP2_BUILD_ID + size; i < MMAP2_IDENTITY_BYTES; i++)
		others |= identity[i];
	return others == 0;
}

/* Most side-band records are of this type, so the bounds of its fields are checked only once. */
static void decode_mmap2(struct cursor *whole, const struct record *record, struct record_fields *f)
{
	struct record_mmap *m = &f->mmap;
	const uint8_t *fixed = cursor_take(whole, MMAP2_FIXED_BYTES);
	if (!fixed)
		return;
	struct cursor part = cursor_make((struct tally_bytes){fixed, MMAP2_FIXED_BYTES}, whole->swap), *c = &part;
	m->pid = cursor_u32(c);
	m->tid = cursor_u32(c);
	m->start = cursor_u64(c);
	m->len = cursor_u64(c);
	m->pgoff = cursor_u64(c);
	m->has_build_id = (record->misc & MISC_MMAP_BUILD_ID) && holds_build_id(fixed + MMAP2_IDENTITY);
	if (m->has_build_id) {
		m->build_id.size = cursor_u8(c);
		cursor_skip(c, 3);
		read_build_id(c, m->build_id.bytes);
	} else {
		m->major = cursor_u32(c);
		m->minor = cursor_u32(c);
		m->inode = cursor_u64(c);
		m->inode_generation = cursor_u64(c);
	}
	m->prot = cursor_u32(c);
	m->flags = cursor_u32(c);
	m->filename = padded_text(whole);
}

static void decode_lost(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->lost.id = cursor_u64(c);
	f->lost.lost = cursor_u64(c);
}

static void decode_comm(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->comm.pid = cursor_u32(c);
	f->comm.tid = cursor_u32(c);
	f->comm.is_exec = (record->misc & MISC_COMM_EXEC) != 0;
	f->comm.comm = padded_text(c);
}

static void decode_task(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->task.pid = cursor_u32(c);
	f->task.ppid = cursor_u32(c);
	f->task.tid = cursor_u32(c);
	f->task.ptid = cursor_u32(c);
	f->task.time = cursor_u64(c);
}

static void decode_throttle(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->throttle.time = cursor_u64(c);
	f->throttle.id = cursor_u64(c);
	f->throttle.stream_id = cursor_u64(c);
}

static void decode_read(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->read.pid = cursor_u32(c);
	f->read.tid = cursor_u32(c);
	/* The length of the values depends on the event's read_format. */
	f->read.values = cursor_bytes(c, cursor_left(c));
}

static void decode_aux(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->aux.aux_offset = cursor_u64(c);
	f->aux.aux_size = cursor_u64(c);
	f->aux.flags = cursor_u64(c);
}

static void decode_itrace_start(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->itrace_start.pid = cursor_u32(c);
	f->itrace_start.tid = cursor_u32(c);
}

static void decode_lost_samples(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->lost_samples.lost = cursor_u64(c);
}

static void decode_switch(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->context_switch.is_out = (record->misc & MISC_SWITCH_OUT) != 0;
	f->context_switch.is_preempt = (record->misc & MISC_SWITCH_OUT_PREEMPT) != 0;
	f->context_switch.is_cpu_wide = record->type == RECORD_SWITCH_CPU_WIDE;
	if (!f->context_switch.is_cpu_wide)
		return;
	f->context_switch.next_prev_pid = cursor_u32(c);
	f->context_switch.next_prev_tid = cursor_u32(c);
}

static void decode_namespaces(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->namespaces.pid = cursor_u32(c);
	f->namespaces.tid = cursor_u32(c);
	f->namespaces.count = cursor_u64(c);
	if (cursor_count(c, f->namespaces.count, 16))
		f->namespaces.entries = cursor_bytes(c, (size_t)f->namespaces.count * 16);
}

static void decode_ksymbol(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->ksymbol.addr = cursor_u64(c);
	f->ksymbol.len = cursor_u32(c);
	f->ksymbol.ksym_type = cursor_u16(c);
	f->ksymbol.flags = cursor_u16(c);
	f->ksymbol.name = padded_text(c);
}

static void decode_bpf(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->bpf.bpf_type = cursor_u16(c);
	f->bpf.flags = cursor_u16(c);
	f->bpf.id = cursor_u32(c);
	const uint8_t *tag = cursor_take(c, 8);
	if (tag)
		memcpy(f->bpf.tag, tag, 8);
}

static void decode_cgroup(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->cgroup.id = cursor_u64(c);
	f->cgroup.path = padded_text(c);
}

static void decode_text_poke(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->text_poke.addr = cursor_u64(c);
	f->text_poke.old_len = cursor_u16(c);
	f->text_poke.new_len = cursor_u16(c);
	f->text_poke.old_bytes = cursor_bytes(c, f->text_poke.old_len);
	f->text_poke.new_bytes = cursor_bytes(c, f->text_poke.new_len);
	size_t padding = (8 - c->pos % 8) % 8;
	cursor_skip(c, padding < cursor_left(c) ? padding : cursor_left(c));
}

static void decode_aux_hw_id(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->aux_hw_id.hw_id = cursor_u64(c);
}

static void decode_callchain_deferred(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->callchain_deferred.cookie = cursor_u64(c);
	f->callchain_deferred.count = cursor_u64(c);
	if (cursor_count(c, f->callchain_deferred.count, 8))
		f->callchain_deferred.ips = cursor_bytes(c, (size_t)f->callchain_deferred.count * 8);
}

static void decode_header_attr(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->attr.attr_and_ids = cursor_bytes(c, cursor_left(c));
}

static void decode_build_id(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->build_id.pid = (int32_t)cursor_u32(c);
	read_build_id(c, f->build_id.bytes);
	uint8_t size = cursor_u8(c);
	cursor_skip(c, 3);
	f->build_id.size = record->misc & MISC_BUILD_ID_SIZE && size <= 20 ? size : 20;
	f->build_id.filename = cursor_text(c, cursor_left(c));
}

static void decode_tracing_data(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->tracing_data.size = cursor_u32(c);
}

static void decode_id_index(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->id_index.count = cursor_u64(c);
	if (!cursor_count(c, f->id_index.count, 32))
		return;
	/* A second array, with 16 bytes per entry for the guest, follows the first. */
	f->id_index.has_machine = cursor_left(c) / 48 >= f->id_index.count && f->id_index.count > 0;
	f->id_index.entries = cursor_bytes(c, (size_t)f->id_index.count * 32);
}

static void decode_auxtrace_info(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->auxtrace_info.auxtrace_type = cursor_u32(c);
	cursor_skip(c, 4);
	f->auxtrace_info.priv = cursor_bytes(c, cursor_left(c));
}

static void decode_auxtrace(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->auxtrace.size = cursor_u64(c);
	f->auxtrace.aux_offset = cursor_u64(c);
	f->auxtrace.reference = cursor_u64(c);
	f->auxtrace.idx = cursor_u32(c);
	f->auxtrace.tid = cursor_u32(c);
	f->auxtrace.cpu = cursor_u32(c);
}

#define AUXTRACE_ERROR_MESSAGE_BYTES 64

/* Format 0 has no time; format 2 adds the guest. */
static void decode_auxtrace_error(struct cursor *c, const struct record *record, struct record_fields *f)
{
	struct record_auxtrace_error *e = &f->auxtrace_error;
	e->error_type = cursor_u32(c);
	e->code = cursor_u32(c);
	e->cpu = cursor_u32(c);
	e->pid = cursor_u32(c);
	e->tid = cursor_u32(c);
	uint32_t form = cursor_u32(c);
	e->ip = cursor_u64(c);
	if (form > 0)
		e->time = cursor_u64(c);
	size_t left = cursor_left(c);
	e->message = cursor_text(c, MIN(left, AUXTRACE_ERROR_MESSAGE_BYTES));
	if (form < 2 || cursor_left(c) < 8)
		return;
	e->machine_pid = cursor_u32(c);
	e->vcpu = cursor_u32(c);
}

static void decode_thread_map(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->thread_map.count = cursor_u64(c);
	if (cursor_count(c, f->thread_map.count, 24))
		f->thread_map.entries = cursor_bytes(c, (size_t)f->thread_map.count * 24);
}

static void decode_cpu_map(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->cpu_map.encoding = cursor_u16(c);
	f->cpu_map.payload = cursor_bytes(c, cursor_left(c));
}

static void decode_time_conv(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->time_conv.shift = cursor_u64(c);
	f->time_conv.mult = cursor_u64(c);
	f->time_conv.zero = cursor_u64(c);
	f->time_conv.has_cap_bits = cursor_left(c) >= 18;
	if (!f->time_conv.has_cap_bits)
		return;
	f->time_conv.cycles = cursor_u64(c);
	f->time_conv.mask = cursor_u64(c);
	f->time_conv.cap_time_zero = cursor_u8(c) != 0;
	f->time_conv.cap_time_short = cursor_u8(c) != 0;
}

static void decode_feature(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->feature.feature = cursor_u64(c);
	f->feature.payload = cursor_bytes(c, cursor_left(c));
}

static void decode_compressed(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->compressed.payload = cursor_bytes(c, cursor_left(c));
}

/* The payload is padded to 8 bytes, as records are, so its real length precedes it. */
static void decode_compressed2(struct cursor *c, const struct record *record, struct record_fields *f)
{
	uint64_t size = cursor_u64(c);
	if (cursor_count(c, size, 1))
		f->compressed.payload = cursor_bytes(c, (size_t)size);
}

static void decode_event_update(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->event_update.update_type = cursor_u64(c);
	f->event_update.id = cursor_u64(c);
	f->event_update.payload = cursor_bytes(c, cursor_left(c));
}

static void decode_stat(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->stat.id = cursor_u64(c);
	f->stat.cpu = cursor_u32(c);
	f->stat.thread = cursor_u32(c);
	f->stat.value = cursor_u64(c);
	f->stat.enabled = cursor_u64(c);
	f->stat.running = cursor_u64(c);
}

static void decode_stat_round(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->stat_round.round_type = cursor_u64(c);
	f->stat_round.time = cursor_u64(c);
}

static void decode_stat_config(struct cursor *c, const struct record *record, struct record_fields *f)
{
	f->stat_config.count = cursor_u64(c);
	if (cursor_count(c, f->stat_config.count, 16))
		f->stat_config.entries = cursor_bytes(c, (size_t)f->stat_config.count * 16);
}

static void decode_nothing(struct cursor *c, const struct record *record, struct record_fields *f)
{
}

static const struct record_type_row kernel_rows[] = {
	{RECORD_MMAP, "MMAP", 32, decode_mmap},
	{RECORD_LOST, "LOST", 16, decode_lost},
	{RECORD_COMM, "COMM", 8, decode_comm},
	{RECORD_EXIT, "EXIT", 24, decode_task},
	{RECORD_THROTTLE, "THROTTLE", 24, decode_throttle},
	{RECORD_UNTHROTTLE, "UNTHROTTLE", 24, decode_throttle},
	{RECORD_FORK, "FORK", 24, decode_task},
	{RECORD_READ, "READ", 8, decode_read},
	{RECORD_SAMPLE, "SAMPLE", 0, NULL},
	{RECORD_MMAP2, "MMAP2", MMAP2_FIXED_BYTES, decode_mmap2},
	{RECORD_AUX, "AUX", 24, decode_aux},
	{RECORD_ITRACE_START, "ITRACE_START", 8, decode_itrace_start},
	{RECORD_LOST_SAMPLES, "LOST_SAMPLES", 8, decode_lost_samples},
	{RECORD_SWITCH, "SWITCH", 0, decode_switch},
	{RECORD_SWITCH_CPU_WIDE, "SWITCH_CPU_WIDE", 8, decode_switch},
	{RECORD_NAMESPACES, "NAMESPACES", 16, decode_namespaces},
	{RECORD_KSYMBOL, "KSYMBOL", 16, decode_ksymbol},
	{RECORD_BPF_EVENT, "BPF_EVENT", 16, decode_bpf},
	{RECORD_CGROUP, "CGROUP", 8, decode_cgroup},
	{RECORD_TEXT_POKE, "TEXT_POKE", 12, decode_text_poke},
	{RECORD_AUX_OUTPUT_HW_ID, "AUX_OUTPUT_HW_ID", 8, decode_aux_hw_id},
	{RECORD_CALLCHAIN_DEFERRED, "CALLCHAIN_DEFERRED", 16, decode_callchain_deferred},
};

static const struct record_type_row user_rows[] = {
	{RECORD_HEADER_ATTR, "ATTR", 64, decode_header_attr},
	{RECORD_HEADER_EVENT_TYPE, "EVENT_TYPE", 0, decode_nothing},
	{RECORD_HEADER_TRACING_DATA, "TRACING_DATA", 4, decode_tracing_data},
	{RECORD_HEADER_BUILD_ID, "BUILD_ID", 28, decode_build_id},
	{RECORD_FINISHED_ROUND, "FINISHED_ROUND", 0, decode_nothing},
	{RECORD_ID_INDEX, "ID_INDEX", 8, decode_id_index},
	{RECORD_AUXTRACE_INFO, "AUXTRACE_INFO", 8, decode_auxtrace_info},
	{RECORD_AUXTRACE, "AUXTRACE", 36, decode_auxtrace},
	{RECORD_AUXTRACE_ERROR, "AUXTRACE_ERROR", 32, decode_auxtrace_error},
	{RECORD_THREAD_MAP, "THREAD_MAP", 8, decode_thread_map},
	{RECORD_CPU_MAP, "CPU_MAP", 2, decode_cpu_map},
	{RECORD_STAT_CONFIG, "STAT_CONFIG", 8, decode_stat_config},
	{RECORD_STAT, "STAT", 40, decode_stat},
	{RECORD_STAT_ROUND, "STAT_ROUND", 16, decode_stat_round},
	{RECORD_EVENT_UPDATE, "EVENT_UPDATE", 16, decode_event_update},
	{RECORD_TIME_CONV, "TIME_CONV", 24, decode_time_conv},
	{RECORD_HEADER_FEATURE, "FEATURE", 8, decode_feature},
	{RECORD_COMPRESSED, "COMPRESSED", 0, decode_compressed},
	{RECORD_FINISHED_INIT, "FINISHED_INIT", 0, decode_nothing},
	{RECORD_COMPRESSED2, "COMPRESSED2", 8, decode_compressed2},
	{RECORD_BPF_METADATA, "BPF_METADATA", 0, decode_nothing},
};

_Static_assert(ARRAY_LEN(kernel_rows) == RECORD_KERNEL_MAX - 1, "a row per kernel record, in order");
_Static_assert(ARRAY_LEN(user_rows) == RECORD_USER_MAX - RECORD_HEADER_ATTR, "a row per user record, in order");

const struct record_type_row *record_type_find(uint32_t type)
{
	if (type >= RECORD_MMAP && type < RECORD_KERNEL_MAX)
		return &kernel_rows[type - RECORD_MMAP];
	if (type >= RECORD_HEADER_ATTR && type < RECORD_USER_MAX)
		return &user_rows[type - RECORD_HEADER_ATTR];
	return NULL;
}
