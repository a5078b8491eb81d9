/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record_printers.h"
#include "base/array.h"

/* The state of printing a list of CPUs, in which consecutive ones become "2-5". */
struct cpu_list {
	struct text *text;
	int64_t first, last; /* The run that is not printed yet. */
	bool has_run, has_printed;
};

static void cpu_list_flush(struct cpu_list *list)
{
	if (!list->has_run)
		return;
	if (list->has_printed)
		text_char(list->text, ',');
	text_i64(list->text, list->first);
	if (list->last > list->first) {
		text_char(list->text, '-');
		text_i64(list->text, list->last);
	}
	list->has_printed = true;
	list->has_run = false;
}

static void cpu_list_add(struct cpu_list *list, int64_t cpu)
{
	if (list->has_run && list->last >= 0 && cpu == list->last + 1) {
		list->last = cpu;
		return;
	}
	cpu_list_flush(list);
	list->first = list->last = cpu;
	list->has_run = true;
}

static void record_print_user_add_listed(struct cpu_list *list, struct cursor *c)
{
	uint16_t count = cursor_u16(c);
	for (uint16_t i = 0; i < count && cursor_left(c) >= 2; i++) {
		uint16_t cpu = cursor_u16(c);
		cpu_list_add(list, cpu == UINT16_MAX ? -1 : cpu); /* UINT16_MAX stands for any CPU. */
	}
}

/* Words of 4 bytes follow the header immediately; words of 8 bytes are aligned as in a C struct. */
static void add_mask(struct cpu_list *list, struct cursor *c)
{
	uint16_t count = cursor_u16(c);
	uint16_t word_bytes = cursor_u16(c);
	if (word_bytes != 4 && word_bytes != 8)
		return;
	if (word_bytes == 8)
		cursor_skip(c, 4);
	for (uint32_t i = 0; i < count && cursor_left(c) >= word_bytes; i++) {
		uint64_t word = word_bytes == 8 ? cursor_u64(c) : cursor_u32(c);
		for (uint32_t bit = 0; bit < word_bytes * 8u; bit++)
			if (word >> bit & 1)
				cpu_list_add(list, (int64_t)i * word_bytes * 8 + bit);
	}
}

static void record_print_user_add_range(struct cpu_list *list, struct cursor *c)
{
	if (cursor_u8(c))
		cpu_list_add(list, -1);
	cursor_skip(c, 1);
	uint16_t start = cursor_u16(c);
	uint16_t end = cursor_u16(c);
	for (uint32_t cpu = start; cpu <= end && !c->failed; cpu++)
		cpu_list_add(list, cpu);
}

/* Prints nothing and returns false if the encoding is unknown. */
static bool record_print_user_print_cpus(struct text *t, uint16_t encoding, struct cursor *c)
{
	struct cpu_list list = {.text = t};
	if (encoding == CPU_MAP_CPUS)
		record_print_user_add_listed(&list, c);
	else if (encoding == CPU_MAP_MASK)
		add_mask(&list, c);
	else if (encoding == CPU_MAP_RANGE)
		record_print_user_add_range(&list, c);
	else
		return false;
	cpu_list_flush(&list);
	return true;
}

static void print_cpu_map(struct text *t, const struct record_printing *p)
{
	struct cursor c = cursor_make(p->fields->cpu_map.payload, p->record->swap);
	text_str(t, ": ");
	if (!record_print_user_print_cpus(t, p->fields->cpu_map.encoding, &c))
		text_str(t, "failed to get cpumap from event");
	text_char(t, '\n');
}

static void print_thread_map(struct text *t, const struct record_printing *p)
{
	const struct record_thread_map *map = &p->fields->thread_map;
	text_str(t, " nr: ");
	text_u64(t, map->count);
	text_str(t, map->count > 1 ? " threads: " : " thread: ");
	for (size_t i = 0; i < map->entries.len / 24; i++) {
		if (i > 0)
			text_str(t, ", ");
		text_i64(t, (int32_t)sample_u64_at(map->entries.data, 3 * i, p->record->swap));
	}
	text_char(t, '\n');
}

static void print_labelled(struct text *t, const char *label, uint64_t v)
{
	text_str(t, label);
	text_i64(t, (int64_t)v);
}

static void print_id_index(struct text *t, const struct record_printing *p)
{
	const struct record_id_index *index = &p->fields->id_index;
	size_t count = index->entries.len / 32;
	const uint8_t *machines = index->entries.data ? index->entries.data + index->entries.len : NULL;
	text_printf(t, " nr: %llu\n", (unsigned long long)index->count);
	for (size_t i = 0; i < count; i++) {
		const uint8_t *entry = index->entries.data + i * 32;
		text_str(t, " ... id: ");
		text_u64(t, sample_u64_at(entry, 0, p->record->swap));
		text_str(t, "  idx: ");
		text_u64(t, sample_u64_at(entry, 1, p->record->swap));
		print_labelled(t, "  cpu: ", sample_u64_at(entry, 2, p->record->swap));
		print_labelled(t, "  tid: ", sample_u64_at(entry, 3, p->record->swap));
		if (index->has_machine) {
			print_labelled(t, "  machine_pid: ", sample_u64_at(machines, 2 * i, p->record->swap));
			print_labelled(t, "  vcpu: ", sample_u64_at(machines, 2 * i + 1, p->record->swap));
		}
		text_char(t, '\n');
	}
}

static void print_auxtrace_info(struct text *t, const struct record_printing *p)
{
	text_printf(t, " type: %u\n", p->fields->auxtrace_info.auxtrace_type);
}

static void record_print_user_print_auxtrace(struct text *t, const struct record_printing *p)
{
	const struct record_auxtrace *aux = &p->fields->auxtrace;
	text_str(t, " size: ");
	record_print_hex(t, aux->size);
	text_str(t, "  offset: ");
	record_print_hex(t, aux->aux_offset);
	text_str(t, "  ref: ");
	record_print_hex(t, aux->reference);
	text_printf(t, "  idx: %u  tid: %d  cpu: %d\n", aux->idx, (int32_t)aux->tid, (int32_t)aux->cpu);
}

#define AUXTRACE_ERROR_INSTRUCTION_TRACE 1

static void print_auxtrace_error(struct text *t, const struct record_printing *p)
{
	const struct record_auxtrace_error *e = &p->fields->auxtrace_error;
	bool is_known = e->error_type == AUXTRACE_ERROR_INSTRUCTION_TRACE;
	text_str(t, is_known ? " instruction trace" : " unknown AUX");
	text_printf(t, " error type %u time ", e->error_type);
	if (e->time)
		text_printf(t, "%llu.%09llu", (unsigned long long)(e->time / 1000000000),
			(unsigned long long)(e->time % 1000000000));
	else
		text_char(t, '0');
	text_printf(t, " cpu %d pid %d tid %d ip ", (int32_t)e->cpu, (int32_t)e->pid, (int32_t)e->tid);
	record_print_hex(t, e->ip);
	text_printf(t, " code %u: ", e->code);
	text_bytes(t, e->message.data, e->message.len);
	if (e->machine_pid)
		text_printf(t, " machine_pid %d vcpu %d", (int32_t)e->machine_pid, (int32_t)e->vcpu);
	text_char(t, '\n');
}

static void print_stat_config(struct text *t, const struct record_printing *p)
{
	static const char *const names[] = {
		[STAT_CONFIG_AGGR_MODE] = "aggr_mode ",
		[STAT_CONFIG_INTERVAL] = "interval  ",
		[STAT_CONFIG_SCALE] = "scale     ",
		[STAT_CONFIG_AGGR_LEVEL] = "aggr_level ",
	};
	const struct record_stat_config *config = &p->fields->stat_config;
	text_char(t, '\n');
	for (size_t i = 0; i < config->entries.len / 16; i++) {
		uint64_t tag = sample_u64_at(config->entries.data, 2 * i, p->record->swap);
		if (tag >= ARRAY_LEN(names))
			continue;
		text_str(t, "... ");
		text_str(t, names[tag]);
		text_u64(t, sample_u64_at(config->entries.data, 2 * i + 1, p->record->swap));
		text_char(t, '\n');
	}
}

static void record_print_user_print_stat(struct text *t, const struct record_printing *p)
{
	const struct record_stat *stat = &p->fields->stat;
	text_printf(t, "\n... id %llu, cpu %d, thread %d\n", (unsigned long long)stat->id, (int32_t)stat->cpu,
		(int32_t)stat->thread);
	text_printf(t, "... value %llu, enabled %llu, running %llu\n", (unsigned long long)stat->value,
		(unsigned long long)stat->enabled, (unsigned long long)stat->running);
}

static void print_stat_round(struct text *t, const struct record_printing *p)
{
	text_printf(t, "\n... time %llu, type %s\n", (unsigned long long)p->fields->stat_round.time,
		p->fields->stat_round.round_type ? "FINAL" : "INTERVAL");
}

static void print_event_update(struct text *t, const struct record_printing *p)
{
	const struct record_event_update *update = &p->fields->event_update;
	struct cursor c = cursor_make(update->payload, p->record->swap);
	text_printf(t, "\n... id:    %llu\n", (unsigned long long)update->id);
	if (update->update_type == EVENT_UPDATE_UNIT || update->update_type == EVENT_UPDATE_NAME) {
		struct tally_str value = cursor_text(&c, cursor_left(&c));
		text_str(t, update->update_type == EVENT_UPDATE_UNIT ? "... unit:  " : "... name:  ");
		text_bytes(t, value.data, value.len);
	} else if (update->update_type == EVENT_UPDATE_SCALE) {
		uint64_t bits = cursor_u64(&c);
		double scale;
		memcpy(&scale, &bits, sizeof(scale));
		text_str(t, "... scale: ");
		text_fixed(t, scale, 6);
	} else if (update->update_type == EVENT_UPDATE_CPUS) {
		text_str(t, "... ");
		if (!record_print_user_print_cpus(t, cursor_u16(&c), &c))
			text_str(t, "failed to get cpus");
	} else {
		text_str(t, "... unknown type");
	}
	text_char(t, '\n');
}

static void print_time_conv(struct text *t, const struct record_printing *p)
{
	const struct record_time_conv *conv = &p->fields->time_conv;
	text_printf(t, "\n... Time Shift      %llu\n... Time Muliplier  %llu\n... Time Zero       %llu\n",
		(unsigned long long)conv->shift, (unsigned long long)conv->mult, (unsigned long long)conv->zero);
	if (!conv->has_cap_bits)
		return;
	text_printf(t, "... Time Cycles     %llu\n... Time Mask       ", (unsigned long long)conv->cycles);
	record_print_hex(t, conv->mask);
	text_printf(t, "\n... Cap Time Zero   %d\n... Cap Time Short  %d\n", conv->cap_time_zero, conv->cap_time_short);
}

static void print_line_end(struct text *t, const struct record_printing *p)
{
	text_char(t, '\n');
}

static record_printer *const printers[RECORD_USER_MAX - RECORD_HEADER_ATTR] = {
	[RECORD_FINISHED_ROUND - RECORD_HEADER_ATTR] = print_line_end,
	[RECORD_ID_INDEX - RECORD_HEADER_ATTR] = print_id_index,
	[RECORD_AUXTRACE_INFO - RECORD_HEADER_ATTR] = print_auxtrace_info,
	[RECORD_AUXTRACE - RECORD_HEADER_ATTR] = record_print_user_print_auxtrace,
	[RECORD_AUXTRACE_ERROR - RECORD_HEADER_ATTR] = print_auxtrace_error,
	[RECORD_THREAD_MAP - RECORD_HEADER_ATTR] = print_thread_map,
	[RECORD_CPU_MAP - RECORD_HEADER_ATTR] = print_cpu_map,
	[RECORD_STAT_CONFIG - RECORD_HEADER_ATTR] = print_stat_config,
	[RECORD_STAT - RECORD_HEADER_ATTR] = record_print_user_print_stat,
	[RECORD_STAT_ROUND - RECORD_HEADER_ATTR] = print_stat_round,
	[RECORD_EVENT_UPDATE - RECORD_HEADER_ATTR] = print_event_update,
	[RECORD_TIME_CONV - RECORD_HEADER_ATTR] = print_time_conv,
};

record_printer *record_printer_of_user(uint32_t type)
{
	if (type < RECORD_HEADER_ATTR || type >= RECORD_USER_MAX)
		return NULL;
	return printers[type - RECORD_HEADER_ATTR];
}
