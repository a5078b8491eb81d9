/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_rows.h"

#include "abi/data_src.h"
#include "base/array.h"
#include "base/text_cells.h"
#include "verbs/script/script_branches.h"

static struct tally_str script_rows_thread_name(
	const struct script_printer *p, const struct script_row *row, char *room, size_t room_bytes)
{
	if (row->comm.data)
		return row->comm;
	uint32_t comm = machine_comm_at(p->places.machine, (int32_t)row->sample->tid, row->clock);
	if (comm != INTERN_NONE)
		return machine_string(p->places.machine, comm);
	struct text number = text_over(room, room_bytes);
	text_char(&number, ':');
	text_i64(&number, (int32_t)row->sample->tid);
	return (struct tally_str){room, number.len};
}

static void script_rows_print_comm(
	struct script_printer *p, struct text *t, const struct script_row *row, bool has_chain)
{
	char room[16];
	struct tally_str name = script_rows_thread_name(p, row, room, sizeof(room));
	if (p->is_narrow)
		text_str_right(t, text_cells_cut(name, 8), 8);
	else if (has_chain)
		text_bytes(t, name.data, name.len);
	else
		text_str_right(t, name, 16);
	text_char(t, ' ');
}

static void script_rows_print_time(struct script_printer *p, struct text *t, uint64_t time_ns)
{
	uint64_t shown = time_ns;
	if (p->is_relative || p->is_delta) {
		/* Records that describe the state before the recording have no time and must not become the base. */
		if (!p->first_time_ns)
			p->first_time_ns = time_ns;
		uint64_t base = p->is_delta ? p->previous_time_ns : p->first_time_ns;
		shown = base ? time_ns - base : 0;
		p->previous_time_ns = time_ns;
	}
	uint64_t seconds = shown / 1000000000;
	uint64_t rest = shown % 1000000000;
	text_u64_right(t, seconds, 5);
	text_char(t, '.');
	if (p->time_form == TIME_NSEC)
		text_u64_padded(t, rest, 9);
	else
		text_u64_padded(t, rest / 1000, 6);
	text_str(t, ": ");
}

static bool print_leaf(struct script_printer *p, struct text *t, const struct resolve_where *where, unsigned cpumode,
	uint64_t ip, uint64_t fields)
{
	struct script_place place;
	if (!script_place_find(&p->places, where, cpumode, ip, &place))
		return false;
	place.name->samples++;
	return script_print_leaf(&p->places, t, &place, fields);
}

/* Returns whether the event samples every branch, as BTS does: from ip to addr. */
static bool is_branch_trace(const struct perf_attr *attr)
{
	return attr->type == EVENT_HARDWARE && attr->config == HW_BRANCH_INSTRUCTIONS &&
	       attr->sample_period_or_freq == 1;
}

bool script_has_named_address(const struct perf_attr *attr)
{
	if (attr->type == EVENT_SOFTWARE)
		return attr->config == SW_PAGE_FAULTS || attr->config == SW_PAGE_FAULTS_MIN ||
		       attr->config == SW_PAGE_FAULTS_MAJ;
	return is_branch_trace(attr);
}

static bool print_data_address(struct script_printer *p, struct text *t, const struct resolve_where *where,
	unsigned cpumode, const struct sample *sample, uint64_t fields)
{
	struct script_place place;
	script_print_address(t, sample->addr);
	if (!(fields & (FIELD_SYM | FIELD_DSO | FIELD_DSOFF)))
		return true;
	if (!script_place_find(
		    &p->places, where, script_data_cpumode(&p->places, cpumode, sample->addr), sample->addr, &place))
		return false;
	script_print_name(&p->places, t, &place, fields);
	return true;
}

/* Prints the columns of a memory access. */
static bool script_rows_print_access(struct script_printer *p, struct text *t, const struct resolve_where *where,
	unsigned cpumode, const struct sample *sample, uint64_t fields)
{
	bool is_struct = (sample->present & SAMPLE_WEIGHT_STRUCT) != 0;
	if ((fields & FIELD_ADDR) && !print_data_address(p, t, where, cpumode, sample, fields))
		return false;
	if (fields & FIELD_DATA_SRC) {
		text_hex_right(t, sample->data_src, 16);
		text_char(t, ' ');
		size_t start = t->len;
		data_src_print(t, sample->data_src);
		size_t len = t->len - start;
		if (len > p->data_src_width)
			p->data_src_width = len;
		text_repeat(t, ' ', p->data_src_width - len);
	}
	if (fields & FIELD_WEIGHT)
		text_u64_right(t, is_struct ? (uint32_t)sample->weight : sample->weight, 16);
	if (fields & FIELD_INS_LAT)
		text_u64_right(t, is_struct ? (uint16_t)(sample->weight >> 32) : 0, 16);
	if (fields & FIELD_RETIRE_LAT)
		text_u64_right(t, is_struct ? sample->weight >> 48 : 0, 16);
	if (fields & FIELD_CGROUP)
		script_print_cgroup(t, p->cgroups, sample->cgroup);
	return true;
}

#define CODE_FIELDS (FIELD_INSN | FIELD_INSNLEN | FIELD_DISASM)

/* Prints the columns after the address: registers, branches, raw data, code and pages. */
static bool script_rows_print_end(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct resolve_where *where, unsigned cpumode, const struct sample *sample)
{
	uint64_t fields = p->fields[event->index];
	if (fields & FIELD_IREGS)
		script_print_registers(t, p->places.arch, &sample->regs_intr, sample->swap);
	if (fields & FIELD_UREGS)
		script_print_registers(t, p->places.arch, &sample->regs_user, sample->swap);
	if ((fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF)) &&
		!script_print_branches(&p->places, t, where, sample, fields))
		return false;
	bool is_bpf_output = event->attr.type == EVENT_SOFTWARE && event->attr.config == SW_BPF_OUTPUT;
	if (is_bpf_output && (fields & FIELD_BPF_OUTPUT))
		script_print_bpf_output(t, sample->raw);
	if ((fields & CODE_FIELDS) && (sample->present & SAMPLE_IP) &&
		!script_print_code(p->path.code, t, where, cpumode, sample->ip, fields))
		return false;
	if ((fields & FIELD_PATHS) && !script_path_print(&p->path, t, where, cpumode, sample, fields))
		return false;
	if (fields & FIELD_PHYS_ADDR)
		script_print_address(t, sample->phys_addr);
	if (fields & FIELD_DATA_PAGE_SIZE) {
		text_char(t, ' ');
		script_print_page_size(t, sample->data_page_size);
	}
	if (fields & FIELD_CODE_PAGE_SIZE) {
		text_char(t, ' ');
		script_print_page_size(t, sample->code_page_size);
	}
	struct script_source_spot line = {where, cpumode, (int32_t)sample->tid, sample->ip};
	return !(fields & FIELD_SRCCODE) || script_source_print(p->path.source, t, &line, "\n");
}

#define LATE_FIELDS                                                                                           \
	(FIELD_IREGS | FIELD_UREGS | FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF | FIELD_BPF_OUTPUT | \
		FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE | CODE_FIELDS | FIELD_PATHS |   \
		FIELD_SRCCODE)
#define ACCESS_FIELDS (FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_INS_LAT | FIELD_RETIRE_LAT | FIELD_CGROUP)
#define ID_WIDTH      5
/* Width of the flags column. Recorded samples leave it empty; only decoded hardware traces have flags. */
#define FLAGS_WIDTH 24

/* Every row calls this function; printf would take a fifth of script's run time. */
static void print_right(struct text *t, int32_t v, size_t width)
{
	if (v >= 0)
		text_u64_right(t, (uint64_t)v, width);
	else
		text_printf(t, "%*d", (int)width, v);
}

static void print_thread(struct text *t, int32_t pid, int32_t tid, uint64_t fields)
{
	if (!(fields & FIELD_PID)) {
		print_right(t, tid, ID_WIDTH);
	} else {
		print_right(t, pid, ID_WIDTH);
		if (fields & FIELD_TID) {
			text_char(t, '/');
			size_t start = t->len;
			text_i64(t, tid);
			if (t->len - start < ID_WIDTH)
				text_repeat(t, ' ', ID_WIDTH - (t->len - start));
		}
	}
	text_char(t, ' ');
}

void script_print_start(struct script_printer *p, struct text *t, const struct script_row *row)
{
	const struct perfdata_event *event = row->event;
	const struct sample *sample = row->sample;
	uint64_t fields = p->fields[event->index];
	bool has_chain = (fields & FIELD_IP) && perfdata_event_has(event, SAMPLE_CALLCHAIN) && !p->hide_call_graph;
	if (fields & FIELD_COMM)
		script_rows_print_comm(p, t, row, has_chain);
	if (fields & (FIELD_PID | FIELD_TID))
		print_thread(t, (int32_t)sample->pid, (int32_t)sample->tid, fields);
	if ((fields & FIELD_CPU) && p->is_narrow) {
		print_right(t, sample->present & SAMPLE_CPU ? (int32_t)sample->cpu : -1, 3);
		text_char(t, ' ');
	} else if (fields & FIELD_CPU) {
		text_char(t, '[');
		if (sample->present & SAMPLE_CPU)
			text_u64_padded(t, sample->cpu, 3);
		else
			text_str(t, "-01"); /* The field is selected, but the CPU was not recorded. */
		text_str(t, "] ");
	}
	if (fields & FIELD_MISC)
		script_print_misc(t, row->record->type, row->record->misc);
	if (fields & FIELD_TOD)
		script_print_time_of_day(t, &p->clock, sample->time, p->time_form == TIME_NSEC ? 9 : 6);
	if (fields & FIELD_TIME)
		script_rows_print_time(p, t, sample->time);
}

/* Prints a stack dump that cannot be unwound because files are missing. Only its innermost frame is known, which
 * perf also prints if it has the file for unwinding. */
static bool print_copied_stack(struct script_printer *p, struct text *t, const struct resolve_where *where,
	unsigned cpumode, const struct sample *sample, uint64_t fields)
{
	struct script_place place;
	if (!script_place_find(&p->places, where, cpumode, sample->ip, &place))
		return false;
	place.name->samples++;
	text_char(t, '\n');
	return !place.name->symbol || script_print_frame(&p->places, t, &place, fields);
}

/* Prints the sample's address or its call chain. */
static bool script_rows_print_code(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct resolve_where *where, unsigned cpumode, const struct sample *sample)
{
	uint64_t fields = p->fields[event->index];
	if (!perfdata_event_has(event, SAMPLE_CALLCHAIN) || p->hide_call_graph)
		return print_leaf(p, t, where, cpumode, sample->ip, fields);
	if (p->without_frames) {
		text_char(t, '\n');
		return !t->failed;
	}
	struct sample_array chain = resolver_sample_chain(p->places.resolver, where, &event->layout, sample);
	if (chain.count == 0 && sample->stack_user.size > 0)
		return print_copied_stack(p, t, where, cpumode, sample, fields);
	return script_print_chain(&p->places, t, where, &chain, fields);
}

/* Prints the data address, and the code address or call chain. */
static bool script_rows_print_places(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct resolve_where *where, unsigned cpumode, const struct sample *sample)
{
	uint64_t fields = p->fields[event->index];
	bool is_branch = is_branch_trace(&event->attr);
	uint64_t address_fields = fields;
	if (!script_has_named_address(&event->attr))
		address_fields &= ~(FIELD_SYM | FIELD_DSO | FIELD_DSOFF);
	if (is_branch)
		address_fields &= ~FIELD_ADDR;
	if ((address_fields & ACCESS_FIELDS) && !script_rows_print_access(p, t, where, cpumode, sample, address_fields))
		return false;
	if ((fields & FIELD_IP) && !script_rows_print_code(p, t, event, where, cpumode, sample))
		return false;
	if (is_branch && (fields & FIELD_ADDR)) {
		text_str(t, " => ");
		return print_data_address(p, t, where, cpumode, sample, fields);
	}
	return true;
}

bool script_print_deferred(struct script_printer *p, struct text *t, const struct script_row *row, uint64_t cookie)
{
	uint64_t fields = p->fields[row->event->index];
	struct resolve_where where = resolver_where(p->places.resolver, (int32_t)row->sample->pid, row->clock);
	bool has_frames = (fields & FIELD_IP) && !p->hide_call_graph;
	bool ok = true;
	script_print_start(p, t, row);
	text_str(t, "DEFERRED CALLCHAIN [cookie: ");
	text_hex(t, cookie, 0);
	text_char(t, ']');
	if (has_frames && p->without_frames)
		text_char(t, '\n');
	resolver_begin_recorded(p->places.resolver);
	if (has_frames && !p->without_frames)
		ok = script_print_chain(&p->places, t, &where, &row->sample->callchain, fields);
	text_char(t, '\n');
	return ok && !t->failed;
}

bool script_print_sample(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock)
{
	uint64_t fields = p->fields[event->index];
	if (fields == 0)
		return true;
	unsigned cpumode = record->misc & MISC_CPUMODE_MASK;
	struct script_row row = {.event = event, .record = record, .sample = sample, .clock = clock};
	p->path.event = event;
	if (fields & FIELD_BRCNTR)
		script_counters_print_key(p->path.counters, t);
	script_print_start(p, t, &row);
	if (fields & FIELD_PERIOD) {
		text_u64_right(t, sample->period, 10);
		text_char(t, ' ');
	}
	if (fields & FIELD_EVENT) {
		text_str_right(t, event->name, p->event_name_width);
		text_str(t, ": ");
	}
	if (fields & FIELD_FLAGS)
		text_repeat(t, ' ', FLAGS_WIDTH);
	struct resolve_where where = resolver_where(p->places.resolver, (int32_t)sample->pid, clock);
	p->places.now = where;
	if ((fields & FIELD_TRACE) && event->attr.type == EVENT_TRACEPOINT && p->tracepoints)
		(void)tracepoint_print(p->tracepoints, sample->raw, t);
	bool ok = script_rows_print_places(p, t, event, &where, cpumode, sample);
	if (ok && (fields & LATE_FIELDS))
		ok = script_rows_print_end(p, t, event, &where, cpumode, sample);
	text_char(t, '\n');
	return ok && !t->failed;
}
