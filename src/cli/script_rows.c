#include "cli/script_rows.h"

#include "abi/data_src.h"
#include "cli/script_branches.h"

static void print_comm(
	struct script_printer *p, struct text *t, const struct sample *sample, uint64_t clock, bool has_chain)
{
	uint32_t comm = machine_comm_at(p->machine, (int32_t)sample->tid, clock);
	char buffer[16];
	struct tally_str name;
	if (comm == INTERN_NONE) {
		struct text number = {.data = buffer, .cap = sizeof(buffer)};
		text_char(&number, ':');
		text_i64(&number, (int32_t)sample->tid);
		name = (struct tally_str){buffer, number.len};
	} else {
		name = machine_string(p->machine, comm);
	}
	if (has_chain)
		text_bytes(t, name.data, name.len);
	else
		text_str_right(t, name, 16);
	text_char(t, ' ');
}

static void print_time(struct script_printer *p, struct text *t, uint64_t time_ns)
{
	uint64_t shown = time_ns;
	if (p->is_relative || p->is_delta) {
		uint64_t base = p->is_delta ? p->previous_time_ns : p->first_time_ns;
		shown = p->has_previous ? time_ns - base : 0;
		if (!p->has_previous)
			p->first_time_ns = time_ns;
		p->has_previous = true;
		p->previous_time_ns = time_ns;
	}
	uint64_t seconds = shown / 1000000000;
	uint64_t rest = shown % 1000000000;
	text_u64_right(t, seconds, 5);
	text_char(t, '.');
	if (p->time_form == TIME_NSEC)
		script_print_padded(t, rest, 9);
	else
		script_print_padded(t, rest / 1000, 6);
	text_str(t, ": ");
}

unsigned script_cpumode_of(const struct script_printer *p, uint64_t ip)
{
	uint64_t kernel_start = p->arch ? p->arch->kernel_start : UINT64_C(1) << 63;
	return ip >= kernel_start ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER;
}

static struct script_place place_of(
	const struct script_printer *p, const struct frame_name *name, uint32_t frame, uint64_t ip)
{
	struct resolved_frame resolved = resolved_frame_get(&p->resolver->frames, frame);
	struct script_place place = {.name = name, .ip = ip, .offset = resolved.address};
	if (resolved.binary == RESOLVE_NONE)
		return place;
	const struct machine_binary *binary = machine_binary_get(p->machine, resolved.binary);
	place.has_offset = !name->is_kernel;
	if (name->is_kernel)
		place.offset = ip - binary->start;
	return place;
}

bool script_place_find(struct script_printer *p, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct script_place *place)
{
	uint32_t frame = resolver_frame(p->resolver, where, cpumode, ip);
	struct frame_name *name = p->resolver->failed ? NULL : frame_names_get(p->names, frame, NULL);
	if (!name)
		return false;
	*place = place_of(p, name, frame, ip);
	return true;
}

void script_print_dso(const struct script_printer *p, struct text *t, const struct script_place *place, uint64_t fields)
{
	const struct frame_name *name = place->name;
	struct tally_str dso = name->is_kernel && !p->full_kernel_path ? name->shown : name->path;
	text_char(t, '(');
	text_bytes(t, dso.data, dso.len);
	if ((fields & FIELD_DSOFF) && place->has_offset) {
		text_str(t, "+0x");
		text_hex(t, place->offset, 0);
	}
	text_char(t, ')');
}

/* " name+0x1f (path)": what follows a frame's address. Made once per frame where the caller keeps it. */
static void print_frame_name(
	const struct script_printer *p, struct text *t, const struct script_place *place, uint64_t fields)
{
	const struct frame_name *name = place->name;
	if (fields & FIELD_SYM) {
		text_char(t, ' ');
		text_str(t, name->symbol ? name->symbol : "[unknown]");
		if (name->symbol && (fields & FIELD_SYMOFF)) {
			text_str(t, "+0x");
			text_hex(t, name->symbol_offset, 0);
		}
	}
	if (fields & (FIELD_DSO | FIELD_DSOFF)) {
		text_char(t, ' ');
		script_print_dso(p, t, place, fields);
	}
}

static void print_address(struct text *t, uint64_t address)
{
	text_hex_right(t, address, 16);
}

#define FRAME_FIELDS (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_DSOFF | FIELD_SRCLINE)

/* "\n  file.c:12" under the frame's line; where nothing says the line, "\n  program[1234]". */
static void print_source(const struct script_printer *p, struct text *t, const struct frame_name *name, size_t place)
{
	const struct source_place *at = place < name->place_count ? &name->places[place] : NULL;
	if (str_equal(name->path, STR("[unknown]")))
		return;
	text_str(t, "\n  ");
	if (at && at->path) {
		const char *slash = p->full_source_path ? NULL : strrchr(at->path, '/');
		text_str(t, slash ? slash + 1 : at->path);
		text_char(t, ':');
		text_u64(t, at->line);
	} else {
		text_bytes(t, name->shown.data, name->shown.len);
		text_char(t, '[');
		text_hex(t, name->link_address, 0);
		text_char(t, ']');
	}
}

/* " name+0x1f\n  file.c:12 (inlined)" */
static void print_inlined(
	const struct script_printer *p, struct text *t, const struct frame_name *name, size_t place, uint64_t fields)
{
	if (fields & FIELD_SYM) {
		text_char(t, ' ');
		text_str(t, name->places[place].function ? name->places[place].function : "[unknown]");
		if (name->symbol && (fields & FIELD_SYMOFF)) {
			text_str(t, "+0x");
			text_hex(t, name->symbol_offset, 0);
		}
	}
	if (fields & FIELD_SRCLINE)
		print_source(p, t, name, place);
	text_str(t, " (inlined)\n");
}

static bool keep_line(struct script_printer *p, struct frame_name *name, const struct text *line)
{
	char *copy = line->failed ? NULL : arena_string(&p->names->arena, line->data, line->len);
	name->lines[name->line_count++] = (struct tally_str){copy, line->len};
	return copy != NULL;
}

/* What follows the address in a frame's lines, one for each call that was inlined there; kept with the frame. */
static bool make_lines(struct script_printer *p, uint32_t frame, uint64_t ip, struct frame_name *name, uint64_t fields)
{
	if ((fields & FIELD_SRCLINE || !p->no_inline) && !frame_names_places(p->names, frame, name))
		return false;
	size_t inlined = p->no_inline || name->place_count == 0 ? 0 : name->place_count - 1;
	struct text line = {0};
	name->lines = arena_array(&p->names->arena, struct tally_str, inlined + 1);
	name->line_count = 0;
	name->line_form = (uint32_t)(fields & FRAME_FIELDS);
	bool ok = name->lines != NULL;
	for (size_t i = 0; i < inlined && ok; i++) {
		text_clear(&line);
		print_inlined(p, &line, name, i, fields);
		ok = keep_line(p, name, &line);
	}
	if (ok) {
		text_clear(&line);
		struct script_place where = place_of(p, name, frame, ip);
		print_frame_name(p, &line, &where, fields);
		if (fields & FIELD_SRCLINE)
			print_source(p, &line, name, inlined);
		text_char(&line, '\n');
		ok = keep_line(p, name, &line);
	}
	text_deinit(&line);
	if (!ok)
		name->lines = NULL;
	return ok;
}

static bool print_chain_frame(struct script_printer *p, struct text *t, uint32_t frame, uint64_t ip, uint64_t fields)
{
	struct frame_name *name = frame_names_get(p->names, frame, NULL);
	if (!name)
		return false;
	if ((!name->lines || name->line_form != (uint32_t)(fields & FRAME_FIELDS)) &&
		!make_lines(p, frame, ip, name, fields))
		return false;
	for (uint32_t i = 0; i < name->line_count; i++) {
		text_char(t, '\t');
		print_address(t, ip);
		text_bytes(t, name->lines[i].data, name->lines[i].len);
	}
	return true;
}

static bool print_chain(struct script_printer *p, struct text *t, const struct resolve_where *where,
	const struct sample *sample, uint64_t fields)
{
	struct resolved_chain chain = resolver_chain_frames(p->resolver, where, &sample->callchain);
	if (p->resolver->failed)
		return false;
	text_char(t, '\n');
	for (size_t i = 0; i < chain.count; i++)
		if (!print_chain_frame(p, t, chain.frames[i], chain.ips[i], fields))
			return false;
	if (chain.count > 0)
		frame_names_get(p->names, chain.frames[0], NULL)->samples++;
	return true;
}

static bool print_leaf(struct script_printer *p, struct text *t, const struct resolve_where *where, unsigned cpumode,
	uint64_t ip, uint64_t fields)
{
	uint32_t frame = resolver_frame(p->resolver, where, cpumode, ip);
	struct frame_name *name = p->resolver->failed ? NULL : frame_names_get(p->names, frame, NULL);
	if (!name)
		return false;
	name->samples++;
	struct script_place place = place_of(p, name, frame, ip);
	text_char(t, ' ');
	print_address(t, ip);
	print_frame_name(p, t, &place, fields);
	if (fields & FIELD_SRCLINE) {
		if (!frame_names_places(p->names, frame, name))
			return false;
		print_source(p, t, name, 0);
	}
	return true;
}

/* Every branch sampled, as by BTS: from ip to addr. */
static bool is_branch_trace(const struct perf_attr *attr)
{
	return attr->type == EVENT_HARDWARE && attr->config == HW_BRANCH_INSTRUCTIONS &&
	       attr->sample_period_or_freq == 1;
}

/* Whether the data address of an event is worth a name: as in perf, where it is a page's or where code goes to. */
static bool has_named_address(const struct perf_attr *attr)
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
	print_address(t, sample->addr);
	if (!(fields & (FIELD_SYM | FIELD_DSO | FIELD_DSOFF)))
		return true;
	if (!script_place_find(p, where, cpumode, sample->addr, &place))
		return false;
	print_frame_name(p, t, &place, fields);
	return true;
}

static void print_data_src(struct script_printer *p, struct text *t, uint64_t data_src)
{
	text_hex_right(t, data_src, 16);
	text_char(t, ' ');
	size_t start = t->len;
	data_src_print(t, data_src);
	size_t len = t->len - start;
	if (len > p->data_src_width)
		p->data_src_width = len;
	text_repeat(t, ' ', p->data_src_width - len);
}

/* What the access to memory was that the sample is of. */
static bool print_access(struct script_printer *p, struct text *t, const struct resolve_where *where, unsigned cpumode,
	const struct sample *sample, uint64_t fields)
{
	bool is_struct = (sample->present & SAMPLE_WEIGHT_STRUCT) != 0;
	if ((fields & FIELD_ADDR) && !print_data_address(p, t, where, cpumode, sample, fields))
		return false;
	if (fields & FIELD_DATA_SRC)
		print_data_src(p, t, sample->data_src);
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

/* What stands behind the place: registers, branches, raw data, pages. */
static bool print_end(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct resolve_where *where, const struct sample *sample, uint64_t fields)
{
	if (fields & FIELD_IREGS)
		script_print_registers(t, p->arch, &sample->regs_intr, sample->swap);
	if (fields & FIELD_UREGS)
		script_print_registers(t, p->arch, &sample->regs_user, sample->swap);
	if ((fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF)) &&
		!script_print_branches(p, t, where, sample, fields))
		return false;
	bool is_bpf_output = event->attr.type == EVENT_SOFTWARE && event->attr.config == SW_BPF_OUTPUT;
	if (is_bpf_output && (fields & FIELD_BPF_OUTPUT))
		script_print_bpf_output(t, sample->raw);
	if (fields & FIELD_PHYS_ADDR)
		print_address(t, sample->phys_addr);
	if (fields & FIELD_DATA_PAGE_SIZE)
		script_print_page_size(t, sample->data_page_size);
	if (fields & FIELD_CODE_PAGE_SIZE)
		script_print_page_size(t, sample->code_page_size);
	return true;
}

#define LATE_FIELDS                                                                                           \
	(FIELD_IREGS | FIELD_UREGS | FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF | FIELD_BPF_OUTPUT | \
		FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE)
#define ACCESS_FIELDS (FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_INS_LAT | FIELD_RETIRE_LAT | FIELD_CGROUP)
#define FLAGS_WIDTH   24 /* of the column of decoded hardware traces, which recorded samples leave empty */

static void print_start(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock)
{
	uint64_t fields = p->fields[event->index];
	bool has_chain = (fields & FIELD_IP) && (event->attr.sample_type & SAMPLE_CALLCHAIN) && !p->hide_call_graph;
	if (fields & FIELD_COMM)
		print_comm(p, t, sample, clock, has_chain);
	if ((fields & FIELD_PID) && (fields & FIELD_TID))
		text_printf(t, "%5d/%-5d ", (int32_t)sample->pid, (int32_t)sample->tid);
	else if (fields & FIELD_PID)
		text_printf(t, "%5d ", (int32_t)sample->pid);
	else if (fields & FIELD_TID) {
		if ((int32_t)sample->tid < 0)
			text_printf(t, "%5d", (int32_t)sample->tid);
		else
			text_u64_right(t, sample->tid, 5);
		text_char(t, ' ');
	}
	if (fields & FIELD_CPU) {
		text_char(t, '[');
		script_print_padded(t, sample->cpu, 3);
		text_str(t, "] ");
	}
	if (fields & FIELD_MISC)
		script_print_misc(t, record->type, record->misc);
	if (fields & FIELD_TOD)
		script_print_time_of_day(t, &p->clock, sample->time, p->time_form == TIME_NSEC ? 9 : 6);
	if (fields & FIELD_TIME)
		print_time(p, t, sample->time);
}

/* Where it was: the data address, the code address or the chain of calls. */
static bool print_places(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct resolve_where *where, unsigned cpumode, const struct sample *sample)
{
	uint64_t fields = p->fields[event->index];
	bool is_branch = is_branch_trace(&event->attr);
	uint64_t address_fields = fields;
	if (!has_named_address(&event->attr))
		address_fields &= ~(FIELD_SYM | FIELD_DSO | FIELD_DSOFF);
	if (is_branch)
		address_fields &= ~FIELD_ADDR;
	if ((address_fields & ACCESS_FIELDS) && !print_access(p, t, where, cpumode, sample, address_fields))
		return false;
	if (fields & FIELD_IP) {
		bool has_chain = (event->attr.sample_type & SAMPLE_CALLCHAIN) && !p->hide_call_graph;
		if (has_chain ? !print_chain(p, t, where, sample, fields)
			      : !print_leaf(p, t, where, cpumode, sample->ip, fields))
			return false;
	}
	if (is_branch && (fields & FIELD_ADDR)) {
		text_str(t, " => ");
		return print_data_address(p, t, where, cpumode, sample, fields);
	}
	return true;
}

bool script_print_sample(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock)
{
	uint64_t fields = p->fields[event->index];
	if (fields == 0)
		return true;
	unsigned cpumode = record->misc & MISC_CPUMODE_MASK;
	print_start(p, t, event, record, sample, clock);
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
	if ((fields & FIELD_TRACE) && event->attr.type == EVENT_TRACEPOINT && p->tracepoints)
		(void)tracepoint_print(p->tracepoints, sample->raw, t);
	struct resolve_where where = resolver_where(p->resolver, (int32_t)sample->pid, clock);
	bool ok = print_places(p, t, event, &where, cpumode, sample);
	if (ok && (fields & LATE_FIELDS))
		ok = print_end(p, t, event, &where, sample, fields);
	text_char(t, '\n');
	return ok && !t->failed;
}
