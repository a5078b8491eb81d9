#include "cli/script_rows.h"

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

static size_t digits(uint64_t v)
{
	size_t n = 1;
	while (v >= 10) {
		v /= 10;
		n++;
	}
	return n;
}

static void print_padded(struct text *t, uint64_t v, size_t width)
{
	for (size_t n = digits(v); n < width; n++)
		text_char(t, '0');
	text_u64(t, v);
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
	if (p->time_form == TIME_NSEC) {
		text_u64_right(t, seconds, 5);
		text_char(t, '.');
		print_padded(t, rest, 9);
	} else {
		size_t width = digits(seconds) + 7;
		if (width < 12)
			text_repeat(t, ' ', 12 - width);
		text_u64(t, seconds);
		text_char(t, '.');
		print_padded(t, rest / 1000, 6);
	}
	text_str(t, ": ");
}

/* " name+0x1f (path)": what follows a frame's address. Made once per frame where the caller keeps it. */
static void print_frame_name(
	const struct script_printer *p, struct text *t, const struct frame_name *name, uint32_t fields)
{
	if (fields & FIELD_SYM) {
		text_char(t, ' ');
		text_str(t, name->symbol ? name->symbol : "[unknown]");
		if (name->symbol && (fields & FIELD_SYMOFF)) {
			text_str(t, "+0x");
			text_hex(t, name->symbol_offset, 0);
		}
	}
	if (fields & FIELD_DSO) {
		struct tally_str dso = name->is_kernel && !p->full_kernel_path ? name->shown : name->path;
		text_str(t, " (");
		text_bytes(t, dso.data, dso.len);
		text_char(t, ')');
	}
}

static void print_address(struct text *t, uint64_t address)
{
	text_hex_right(t, address, 16);
}

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
	const struct script_printer *p, struct text *t, const struct frame_name *name, size_t place, uint32_t fields)
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
static bool make_lines(struct script_printer *p, uint32_t frame, struct frame_name *name, uint32_t fields)
{
	if ((fields & FIELD_SRCLINE || !p->no_inline) && !frame_names_places(p->names, frame, name))
		return false;
	size_t inlined = p->no_inline || name->place_count == 0 ? 0 : name->place_count - 1;
	struct text line = {0};
	name->lines = arena_array(&p->names->arena, struct tally_str, inlined + 1);
	name->line_count = 0;
	name->line_form = fields;
	bool ok = name->lines != NULL;
	for (size_t i = 0; i < inlined && ok; i++) {
		text_clear(&line);
		print_inlined(p, &line, name, i, fields);
		ok = keep_line(p, name, &line);
	}
	if (ok) {
		text_clear(&line);
		print_frame_name(p, &line, name, fields);
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

static bool print_chain_frame(struct script_printer *p, struct text *t, uint32_t frame, uint64_t ip, uint32_t fields)
{
	struct frame_name *name = frame_names_get(p->names, frame, NULL);
	if (!name)
		return false;
	if ((!name->lines || name->line_form != fields) && !make_lines(p, frame, name, fields))
		return false;
	for (uint32_t i = 0; i < name->line_count; i++) {
		text_char(t, '\t');
		print_address(t, ip);
		text_bytes(t, name->lines[i].data, name->lines[i].len);
	}
	return true;
}

static bool print_chain(struct script_printer *p, struct text *t, const struct resolve_where *where,
	const struct sample *sample, uint32_t fields)
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
	uint64_t ip, uint32_t fields)
{
	uint32_t frame = resolver_frame(p->resolver, where, cpumode, ip);
	struct frame_name *name = p->resolver->failed ? NULL : frame_names_get(p->names, frame, NULL);
	if (!name)
		return false;
	name->samples++;
	text_char(t, ' ');
	print_address(t, ip);
	print_frame_name(p, t, name, fields);
	if (fields & FIELD_SRCLINE) {
		if (!frame_names_places(p->names, frame, name))
			return false;
		print_source(p, t, name, 0);
	}
	return true;
}

static bool print_data_address(struct script_printer *p, struct text *t, const struct resolve_where *where,
	unsigned cpumode, const struct sample *sample, uint32_t fields)
{
	print_address(t, sample->addr);
	uint32_t frame = resolver_frame(p->resolver, where, cpumode, sample->addr);
	struct frame_name *name = p->resolver->failed ? NULL : frame_names_get(p->names, frame, NULL);
	if (!name)
		return false;
	print_frame_name(p, t, name, fields);
	return true;
}

static void print_start(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct sample *sample, uint64_t clock, uint32_t fields)
{
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
		print_padded(t, sample->cpu, 3);
		text_str(t, "] ");
	}
	if (fields & FIELD_TIME)
		print_time(p, t, sample->time);
}

bool script_print_sample(struct script_printer *p, struct text *t, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock)
{
	uint32_t fields = p->fields[event->index];
	unsigned cpumode = record->misc & MISC_CPUMODE_MASK;
	print_start(p, t, event, sample, clock, fields);
	if (fields & FIELD_PERIOD) {
		text_u64_right(t, sample->period, 10);
		text_char(t, ' ');
	}
	if (fields & FIELD_EVENT) {
		text_str_right(t, event->name, p->event_name_width);
		text_str(t, ": ");
	}
	if ((fields & FIELD_TRACE) && event->attr.type == EVENT_TRACEPOINT && p->tracepoints)
		(void)tracepoint_print(p->tracepoints, sample->raw, t);
	struct resolve_where where = resolver_where(p->resolver, (int32_t)sample->pid, clock);
	bool ok = true;
	if (fields & FIELD_ADDR)
		ok = print_data_address(p, t, &where, cpumode, sample, fields);
	if (ok && (fields & FIELD_IP)) {
		bool has_chain = (event->attr.sample_type & SAMPLE_CALLCHAIN) && sample->callchain.count > 0 &&
				 !p->hide_call_graph;
		ok = has_chain ? print_chain(p, t, &where, sample, fields)
			       : print_leaf(p, t, &where, cpumode, sample->ip, fields);
	}
	text_char(t, '\n');
	return ok && !t->failed;
}
