/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record_print.h"

#include "abi/record_printers.h"
#include "base/array.h"

static void print_str(struct text *t, struct tally_str s)
{
	text_visible(t, s);
}

static void print_flag(struct text *t, bool is_set, char c)
{
	text_char(t, is_set ? c : '-');
}

static void record_print_range(struct text *t, const struct record_mmap *m)
{
	text_printf(t, " %d/%d: [", (int32_t)m->pid, (int32_t)m->tid);
	record_print_hex(t, m->start);
	text_char(t, '(');
	record_print_hex(t, m->len);
	text_str(t, ") @ ");
	record_print_hex(t, m->pgoff);
}

static void print_mmap(struct text *t, const struct record_printing *p)
{
	const struct record_mmap *m = &p->fields->mmap;
	record_print_range(t, m);
	text_str(t, p->record->misc & MISC_MMAP_DATA ? "]: r " : "]: x ");
	print_str(t, m->filename);
	text_char(t, '\n');
}

#define PROT_BIT_READ  1u
#define PROT_BIT_WRITE 2u
#define PROT_BIT_EXEC  4u
#define MAP_BIT_SHARED 1u

static void print_mmap2(struct text *t, const struct record_printing *p)
{
	const struct record_mmap *m = &p->fields->mmap;
	record_print_range(t, m);
	if (m->has_build_id) {
		text_str(t, " <");
		for (size_t i = 0; i < m->build_id.size; i++)
			text_hex(t, m->build_id.bytes[i], 2);
		text_char(t, '>');
	} else {
		text_printf(t, " %02x:%02x ", m->major, m->minor);
		text_u64(t, m->inode);
		text_char(t, ' ');
		text_u64(t, m->inode_generation);
	}
	text_str(t, "]: ");
	print_flag(t, m->prot & PROT_BIT_READ, 'r');
	print_flag(t, m->prot & PROT_BIT_WRITE, 'w');
	print_flag(t, m->prot & PROT_BIT_EXEC, 'x');
	text_char(t, m->flags & MAP_BIT_SHARED ? 's' : 'p');
	text_char(t, ' ');
	print_str(t, m->filename);
	text_char(t, '\n');
}

static void record_print_lost(struct text *t, const struct record_printing *p)
{
	const struct record_lost *lost = &p->fields->lost;
	if (p->hints->is_listing)
		text_printf(t, " lost %llu\n", (unsigned long long)lost->lost);
	else
		text_printf(t, ": id:%llu: lost:%llu\n", (unsigned long long)lost->id, (unsigned long long)lost->lost);
}

static void print_lost_samples(struct text *t, const struct record_printing *p)
{
	text_printf(t, ": id:%llu: lost samples :%llu\n", (unsigned long long)p->hints->id,
		(unsigned long long)p->fields->lost_samples.lost);
}

static void record_print_comm(struct text *t, const struct record_printing *p)
{
	const struct record_comm *comm = &p->fields->comm;
	text_str(t, comm->is_exec ? " exec: " : ": ");
	print_str(t, comm->comm);
	text_printf(t, ":%d/%d\n", (int32_t)comm->pid, (int32_t)comm->tid);
}

static void record_print_task(struct text *t, const struct record_printing *p)
{
	const struct record_task *task = &p->fields->task;
	text_printf(t, "(%d:%d):(%d:%d)\n", (int32_t)task->pid, (int32_t)task->tid, (int32_t)task->ppid,
		(int32_t)task->ptid);
}

static void record_print_read(struct text *t, const struct record_printing *p)
{
	const struct record_read *read = &p->fields->read;
	uint64_t format = p->hints->read_format & ~READ_FORMAT_GROUP;
	struct cursor c = cursor_make(read->values, p->record->swap);
	text_printf(t, ": %d %d %s %llu\n", (int32_t)read->pid, (int32_t)read->tid,
		p->hints->event_name ? p->hints->event_name : "<no event>", (unsigned long long)cursor_u64(&c));
	if (format & READ_FORMAT_TOTAL_TIME_ENABLED)
		text_printf(t, "... time enabled : %llu\n", (unsigned long long)cursor_u64(&c));
	if (format & READ_FORMAT_TOTAL_TIME_RUNNING)
		text_printf(t, "... time running : %llu\n", (unsigned long long)cursor_u64(&c));
	if (format & READ_FORMAT_ID)
		text_printf(t, "... id           : %llu\n", (unsigned long long)cursor_u64(&c));
	if (format & READ_FORMAT_LOST)
		text_printf(t, "... lost         : %llu\n", (unsigned long long)cursor_u64(&c));
}

static void print_aux(struct text *t, const struct record_printing *p)
{
	const struct record_aux *aux = &p->fields->aux;
	text_str(t, " offset: ");
	record_print_hex(t, aux->aux_offset);
	text_str(t, " size: ");
	record_print_hex(t, aux->aux_size);
	text_str(t, " flags: ");
	record_print_hex(t, aux->flags);
	/* The flags truncated, overwrite, partial and collision are bits 0 to 3. */
	static const char letters[] = "TOPC";
	text_str(t, " [");
	for (unsigned i = 0; letters[i]; i++)
		if (aux->flags & (UINT64_C(1) << i))
			text_char(t, letters[i]);
	text_str(t, "]\n");
}

static void print_itrace_start(struct text *t, const struct record_printing *p)
{
	const struct record_itrace_start *start = &p->fields->itrace_start;
	text_printf(t, " pid: %d tid: %d\n", (int32_t)start->pid, (int32_t)start->tid);
}

static void record_print_switch(struct text *t, const struct record_printing *p)
{
	const struct record_switch *s = &p->fields->context_switch;
	const char *way = "OUT preempt";
	if (!s->is_out)
		way = "IN         ";
	else if (!s->is_preempt)
		way = "OUT        ";
	text_char(t, ' ');
	text_str(t, way);
	if (s->is_cpu_wide)
		text_printf(t, "  %s pid/tid: %5d/%-5d", s->is_out ? "next" : "prev", (int32_t)s->next_prev_pid,
			(int32_t)s->next_prev_tid);
	text_char(t, '\n');
}

static void print_namespaces(struct text *t, const struct record_printing *p)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	const struct record_namespaces *spaces = &p->fields->namespaces;
	text_printf(t, " %d/%d - nr_namespaces: %llu\n\t\t[", (int32_t)spaces->pid, (int32_t)spaces->tid,
		(unsigned long long)spaces->count);
	size_t count = spaces->entries.len / 16;
	for (size_t i = 0; i < count; i++) {
		text_u64(t, i);
		text_char(t, '/');
		text_str(t, i < ARRAY_LEN(names) ? names[i] : "UNKNOWN");
		text_str(t, ": ");
		text_u64(t, sample_u64_at(spaces->entries.data, 2 * i, p->record->swap));
		text_char(t, '/');
		record_print_hex(t, sample_u64_at(spaces->entries.data, 2 * i + 1, p->record->swap));
		if (i + 1 == count)
			text_str(t, "]\n");
		else
			text_str(t, i % 4 == 3 ? ", \n\t\t " : ", ");
	}
}

static void print_ksymbol(struct text *t, const struct record_printing *p)
{
	const struct record_ksymbol *k = &p->fields->ksymbol;
	text_str(t, " addr ");
	text_hex(t, k->addr, 0);
	text_printf(t, " len %u type %u flags 0x%x name ", k->len, k->ksym_type, k->flags);
	print_str(t, k->name);
	text_char(t, '\n');
}

static void print_bpf(struct text *t, const struct record_printing *p)
{
	const struct record_bpf *bpf = &p->fields->bpf;
	text_printf(t, " type %u, flags %u, id %u\n", bpf->bpf_type, bpf->flags, bpf->id);
}

static void print_cgroup(struct text *t, const struct record_printing *p)
{
	text_printf(t, " cgroup: %llu ", (unsigned long long)p->fields->cgroup.id);
	print_str(t, p->fields->cgroup.path);
	text_char(t, '\n');
}

static void record_print_code(struct text *t, const char *label, struct tally_bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		if (i % 16 == 0)
			text_str(t, label);
		text_char(t, ' ');
		text_hex(t, bytes.data[i], 2);
		if (i % 16 == 15 || i + 1 == bytes.len)
			text_char(t, '\n');
	}
}

static void print_text_poke(struct text *t, const struct record_printing *p)
{
	const struct record_text_poke *poke = &p->fields->text_poke;
	text_char(t, ' ');
	text_hex(t, poke->addr, 0);
	text_printf(t, "  old len %u new len %u\n", poke->old_len, poke->new_len);
	record_print_code(t, "            Old bytes:", poke->old_bytes);
	record_print_code(t, "            New bytes:", poke->new_bytes);
}

static void print_aux_hw_id(struct text *t, const struct record_printing *p)
{
	text_str(t, " hw_id: ");
	record_print_hex(t, p->fields->aux_hw_id.hw_id);
	text_char(t, '\n');
}

static void print_callchain_deferred(struct text *t, const struct record_printing *p)
{
	text_printf(t, "(IP, 0x%x): %d/%d: ", p->record->misc, (int32_t)p->hints->trailer.pid,
		(int32_t)p->hints->trailer.tid);
	record_print_hex(t, p->fields->callchain_deferred.cookie);
	text_char(t, '\n');
}

static record_printer *const kernel_printers[RECORD_KERNEL_MAX] = {
	[RECORD_MMAP] = print_mmap,
	[RECORD_LOST] = record_print_lost,
	[RECORD_COMM] = record_print_comm,
	[RECORD_EXIT] = record_print_task,
	[RECORD_FORK] = record_print_task,
	[RECORD_READ] = record_print_read,
	[RECORD_MMAP2] = print_mmap2,
	[RECORD_AUX] = print_aux,
	[RECORD_ITRACE_START] = print_itrace_start,
	[RECORD_LOST_SAMPLES] = print_lost_samples,
	[RECORD_SWITCH] = record_print_switch,
	[RECORD_SWITCH_CPU_WIDE] = record_print_switch,
	[RECORD_NAMESPACES] = print_namespaces,
	[RECORD_KSYMBOL] = print_ksymbol,
	[RECORD_BPF_EVENT] = print_bpf,
	[RECORD_CGROUP] = print_cgroup,
	[RECORD_TEXT_POKE] = print_text_poke,
	[RECORD_AUX_OUTPUT_HW_ID] = print_aux_hw_id,
	[RECORD_CALLCHAIN_DEFERRED] = print_callchain_deferred,
};

void record_print_name(struct text *t, uint32_t type)
{
	const char *name = record_type_name(type);
	text_str(t, "PERF_RECORD_");
	text_str(t, name ? name : "UNKNOWN");
}

void record_print(struct text *t, const struct record *record, const struct record_fields *fields,
	const struct record_print_hints *hints)
{
	struct record_printing printing = {record, fields, hints};
	record_print_name(t, record->type);
	record_printer *print =
		record->type < RECORD_KERNEL_MAX ? kernel_printers[record->type] : record_printer_of_user(record->type);
	if (print)
		print(t, &printing);
}
