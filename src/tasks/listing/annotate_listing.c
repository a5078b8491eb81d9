/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_listing.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "tasks/listing/annotate_objdump.h"
#include "tasks/listing/annotate_spans.h"
#include "tasks/listing/instruction_line.h"

/* Maximum number of instruction bytes on a line, as in objdump. */
#define BYTES_A_LINE 7
#define SHORT_BYTES  1024
/* Limit for the total size of all texts longer than SHORT_BYTES in a listing; C++ programs need a few MB. */
#define LONG_BYTES (256U << 20)

struct annotate_listing_making {
	struct annotate_listing *listing;
	struct annotate_samples *samples;
	const struct annotate_target *target;
	struct annotate_source *source;
	const struct annotate_listing_options *options;
	struct disassembler *disassembler;
	uint32_t number; /* Number of the next line in perf's numbering. */
	size_t next_hit;
	struct source_place last; /* Source line of the last heading. */
	size_t long_left; /* How much of LONG_BYTES is left. */
	bool failed; /* Set if memory runs out. */
};

static const char *annotate_listing_keep(struct annotate_listing_making *m, const char *text)
{
	const char *kept = arena_string(&m->listing->arena, text, strlen(text));
	m->failed = m->failed || !kept;
	return kept ? kept : "";
}

/* Returns the text in the arena of the listing. It is cut to SHORT_BYTES when the limit LONG_BYTES is reached. */
static TALLY_PRINTF(2, 3) const char *annotate_listing_print(struct annotate_listing_making *m, const char *format, ...)
{
	char text[SHORT_BYTES], *whole = NULL;
	va_list arguments;
	va_start(arguments, format);
	va_list again;
	va_copy(again, arguments);
	int len = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (len >= SHORT_BYTES && (size_t)len <= m->long_left) {
		m->long_left -= (size_t)len;
		whole = arena_alloc(&m->listing->arena, (size_t)len + 1, 1);
	}
	if (whole)
		vsnprintf(whole, (size_t)len + 1, format, again);
	va_end(again);
	return whole ? whole : annotate_listing_keep(m, len < 0 ? "" : text);
}

static void annotate_listing_add_line(struct annotate_listing_making *m, const struct annotate_line *line)
{
	m->failed = m->failed || !vec_push(&m->listing->lines, *line);
	m->number++;
}

static void annotate_listing_add_text(struct annotate_listing_making *m, const char *text, bool is_source)
{
	struct annotate_line line = {.kind = ANNOTATE_TEXT,
		.text = text,
		.number = m->number,
		.values = ANNOTATE_NONE,
		.place = ANNOTATE_NONE,
		.target = ANNOTATE_NONE,
		.is_source = is_source};
	annotate_listing_add_line(m, &line);
}

static const char *annotate_listing_name_of(struct annotate_listing_making *m, uint64_t address)
{
	struct arena scratch;
	arena_init(&scratch);
	const char *name = instruction_name(m->samples->source.store, m->target->store_id, address, &scratch);
	const char *kept = name ? annotate_listing_print(m, "%s", name) : NULL;
	arena_deinit(&scratch);
	return kept;
}

static bool is_nop(const struct instruction *from)
{
	return !strcmp(from->mnemonic, "nop") || !strcmp(from->mnemonic, "nopw") || !strcmp(from->mnemonic, "nopl");
}

/* Removes the symbol version from the name of a function ("f@V1"). A name with "@plt" or an offset stays as objdump
 * prints it. */
static const char *without_version(struct annotate_listing_making *m, const char *name)
{
	const char *version = strchr(name, '@');
	if (!version || str_starts_with(str_from(version), STR("@plt")) || version[strcspn(version, "+")])
		return name;
	return annotate_listing_print(m, "%.*s", (int)(version - name), name);
}

/* Returns the operands in the compact form: addresses are replaced by names, and targets of jumps by offsets in the
 * function. */
static const char *short_operands(struct annotate_listing_making *m, const struct instruction *from, const char *name)
{
	const struct binary_code *code = &m->listing->code;
	size_t len = strlen(from->operands);
	if (is_nop(from))
		return "";
	if (from->has_target) {
		/* The operands end with the target. */
		size_t before = len;
		while (before > 0 && from->operands[before - 1] != ' ' && from->operands[before - 1] != ',')
			before--;
		bool is_inside = from->target - code->address < code->bytes.len;
		/* A jump to a lower address, typically to the cold part of a function, keeps its operands. */
		if (from->kind == INSTRUCTION_JUMP && from->target < code->address && name)
			return annotate_listing_print(m, "%s <%s>", from->operands, name);
		if (from->kind == INSTRUCTION_JUMP && (is_inside || (name && strstr(name, "+0x"))))
			return annotate_listing_print(
				m, "%.*s%" PRIx64, (int)before, from->operands, from->target - code->address);
		return annotate_listing_print(m, "%.*s%s", (int)before, from->operands,
			name ? without_version(m, name) : from->operands + before);
	}
	bool leads_away = from->kind == INSTRUCTION_JUMP || from->kind == INSTRUCTION_CALL;
	if (from->has_data && name && leads_away)
		return annotate_listing_print(m, "%s        # %" PRIx64 " <%s>", from->operands, from->data, name);
	const char *pc = from->has_data && name ? strstr(from->operands, "rip") : NULL;
	if (!pc)
		return annotate_listing_keep(m, from->operands);
	const char *start = pc, *end = strpbrk(pc, ")]");
	char open = m->options->is_intel ? '[' : ',';
	while (start > from->operands && start[-1] != open && start[-1] != '*')
		start--;
	if (m->options->is_intel && start > from->operands)
		start--;
	return annotate_listing_print(
		m, "%.*s%s%s", (int)(start - from->operands), from->operands, name, end ? end + 1 : "");
}

/* Makes the text of an instruction with the names that it refers to. */
static void make_row(struct annotate_listing_making *m, const struct instruction *from, struct instruction_row *row)
{
	*row = (struct instruction_row){.address = from->address,
		.size = from->size,
		.kind = from->kind,
		.has_target = from->has_target,
		.target = from->target};
	if (from->has_target || from->has_data)
		row->name = annotate_listing_name_of(m, from->has_target ? from->target : from->data);
	/* The compact form has columns. As in perf, an instruction prefix is in the first one. */
	const char *prefix_end = strchr(from->mnemonic, ' ');
	row->operands = short_operands(m, from, row->name);
	if (is_nop(from))
		row->mnemonic = "nop";
	else if (!prefix_end)
		row->mnemonic = annotate_listing_keep(m, from->mnemonic);
	else {
		row->mnemonic = annotate_listing_print(m, "%.*s", (int)(prefix_end - from->mnemonic), from->mnemonic);
		row->operands = annotate_listing_print(m, "%s %s", prefix_end + 1, row->operands);
	}
	struct arena scratch;
	arena_init(&scratch);
	const char *text = instruction_line(m->disassembler, from, row->name, &scratch);
	row->text = annotate_listing_print(m, "%s", text ? text : from->mnemonic);
	arena_deinit(&scratch);
}

/* Makes the row of an instruction with text from objdump, and adds the names. */
static void make_given_row(
	struct annotate_listing_making *m, const struct objdump_line *given, struct instruction_row *row)
{
	struct instruction own;
	const struct binary_code *code = &m->listing->code;
	size_t at = (size_t)(given->address - code->address);
	disassembler_next(m->disassembler, (struct tally_bytes){code->bytes.data + at, code->bytes.len - at},
		given->address, &own);
	bool is_known = own.size == given->size && own.kind != INSTRUCTION_BAD;
	if (!is_known)
		own = (struct instruction){.address = given->address, .size = given->size};
	snprintf(own.mnemonic, sizeof(own.mnemonic), "%s", given->mnemonic);
	snprintf(own.operands, sizeof(own.operands), "%s", given->operands);
	own.size = given->size;
	make_row(m, &own, row);
	bool has_name = row->name && (own.has_target || own.has_data);
	const char *last = strrchr(given->text, ' ');
	size_t len = strlen(given->text);
	/* objdump prints the prefix 0x only for an address without a name. */
	bool has_zero = has_name && last && !strncmp(last + 1, "0x", 2);
	size_t before = has_zero ? (size_t)(last + 1 - given->text) : len;
	row->text = annotate_listing_print(m, "%.*s%s%s%s%s", (int)before, given->text, has_zero ? last + 3 : "",
		has_name ? " <" : "", has_name ? row->name : "", has_name ? ">" : "");
}

static enum tally_status disassemble_by_objdump(struct annotate_listing_making *m, struct tally_error *err)
{
	struct objdump_lines lines = {0};
	enum tally_status status = objdump_run(m->options->objdump, m->options->style, &m->listing->code, &lines, err);
	for (size_t i = 0; i < lines.items.len && status == TALLY_OK && !m->failed; i++) {
		struct instruction_row row;
		make_given_row(m, &lines.items.items[i], &row);
		m->failed = !vec_push(&m->listing->rows, row);
	}
	objdump_lines_deinit(&lines);
	return status;
}

static enum tally_status disassemble_here(struct annotate_listing_making *m)
{
	const struct binary_code *code = &m->listing->code;
	for (size_t at = 0; at < code->bytes.len && !m->failed;) {
		struct instruction instruction;
		struct instruction_row row;
		struct tally_bytes left = {code->bytes.data + at, code->bytes.len - at};
		disassembler_next(m->disassembler, left, code->address + at, &instruction);
		make_row(m, &instruction, &row);
		m->failed = m->failed || !vec_push(&m->listing->rows, row);
		at += instruction.size;
	}
	return TALLY_OK;
}

static enum tally_status annotate_listing_disassemble(struct annotate_listing_making *m, struct tally_error *err)
{
	const struct binary_code *code = &m->listing->code;
	struct disassembler_options options = {.elf_machine = code->elf_machine,
		.is_big_endian = code->is_big_endian,
		.is_64 = code->is_64,
		.is_intel = m->options->is_intel};
	enum tally_status status = disassembler_create(&options, &m->disassembler, err);
	if (status != TALLY_OK)
		return status;
	status = m->options->objdump ? disassemble_by_objdump(m, err) : disassemble_here(m);
	disassembler_destroy(m->disassembler);
	return m->failed ? error_nomem(err) : status;
}

/* Converts the address of a row to the address space of the store's symbols. */
static uint64_t store_address(const struct annotate_listing_making *m, const struct instruction_row *row)
{
	return row->address - m->listing->code.address + m->target->symbol->start;
}

static enum tally_status load_places(struct annotate_listing_making *m, struct tally_error *err)
{
	VEC(uint64_t) addresses = {0};
	size_t count = m->listing->rows.len;
	if (!vec_reserve(&addresses, count))
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		addresses.items[addresses.len++] = store_address(m, &m->listing->rows.items[i]);
	enum tally_status status = binary_store_load_places(
		m->samples->source.store, m->target->store_id, addresses.items, addresses.len, err);
	vec_free(&addresses);
	return status == TALLY_NOMEM ? status : TALLY_OK;
}

static bool annotate_listing_is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* C++ functions that are local to a file have no linkage name in the debug information, so objdump (and perf) show the
 * name of their symbol. NULL: the name does not change. */
static const char *heading_of_symbol(struct annotate_listing_making *m, const struct source_place *place)
{
	const char *symbol = m->target->symbol->name;
	if (place->is_inlined || !symbol)
		return NULL;
	struct arena scratch;
	arena_init(&scratch);
	const char *whole = binary_store_readable(m->samples->source.store, symbol, &scratch);
	const char *heading = whole != symbol ? annotate_listing_print(m, "%s:", whole) : NULL;
	arena_deinit(&scratch);
	return heading;
}

static void annotate_listing_add_function(struct annotate_listing_making *m, const struct source_place *place)
{
	struct arena scratch;
	if (!place->function || annotate_listing_is_same(place->function, m->last.function))
		return;
	arena_init(&scratch);
	const char *whole = binary_store_readable(m->samples->source.store, place->function, &scratch);
	const char *heading =
		whole != place->function ? annotate_listing_print(m, "%s:", whole) : heading_of_symbol(m, place);
	arena_deinit(&scratch);
	annotate_listing_add_text(m, heading ? heading : annotate_listing_print(m, "%s():", place->function), false);
	m->last.line = 0;
}

/* Adds the headings and source lines before an instruction. */
static void annotate_listing_add_source(struct annotate_listing_making *m, const struct source_place *place)
{
	uint32_t first;
	annotate_listing_add_function(m, place);
	m->last.function = place->function;
	if (!place->path || place->line == 0)
		return;
	if (place->line != m->last.line || place->discriminator != m->last.discriminator ||
		!annotate_listing_is_same(place->path, m->last.path)) {
		/* As in perf, a heading that starts with a slash is not shown, but changes the line number. */
		if (place->path[0] == '/')
			m->number = place->line;
		else if (place->discriminator)
			annotate_listing_add_text(m,
				annotate_listing_print(
					m, "%s:%u (discriminator %u)", place->path, place->line, place->discriminator),
				false);
		else
			annotate_listing_add_text(
				m, annotate_listing_print(m, "%s:%u", place->path, place->line), false);
	}
	m->last.path = place->path;
	m->last.line = place->line;
	m->last.discriminator = place->discriminator;
	if (!m->options->with_source || !annotate_source_move(m->source, place->path, place->line, &first))
		return;
	for (uint32_t line = first; line <= place->line; line++) {
		const char *text = annotate_source_line(m->source, line);
		if (!text)
			break;
		annotate_listing_add_text(m, annotate_listing_keep(m, text), true);
		if (m->failed)
			break;
		struct annotate_line *added = &m->listing->lines.items[m->listing->lines.len - 1];
		added->source_number = line;
		added->path = place->path;
	}
}

/* Adds a heading for code without source lines if the file has a symbol table. */
static void add_symbol(struct annotate_listing_making *m)
{
	const struct source_place place = {.function = m->target->symbol->name};
	if (!m->listing->code.has_symtab)
		return;
	annotate_listing_add_function(m, &place);
	m->last.function = place.function;
}

static uint32_t new_values(struct annotate_listing_making *m)
{
	uint32_t at = (uint32_t)m->listing->values.len;
	for (uint32_t i = 0; i < m->options->event_count; i++) {
		struct annotate_value none = {0};
		m->failed = m->failed || !vec_push(&m->listing->values, none);
	}
	return at;
}

/* Adds up the hits (samples at one address) of an instruction, and returns the index of the first of its values, or
 * ANNOTATE_NONE. Hits are sorted by address, so all that remain before the end of the instruction belong to it. */
static uint32_t annotate_listing_take_hits(struct annotate_listing_making *m, const struct instruction_row *row)
{
	uint32_t values = ANNOTATE_NONE, first = m->options->first_event, count = m->options->event_count;
	uint64_t end = store_address(m, row) + row->size;
	for (; m->next_hit < m->target->hits.len && m->target->hits.items[m->next_hit].address < end; m->next_hit++) {
		const struct annotate_hit *hit = &m->target->hits.items[m->next_hit];
		if (hit->event < first || hit->event - first >= count)
			continue;
		if (values == ANNOTATE_NONE)
			values = new_values(m);
		if (m->failed)
			return ANNOTATE_NONE;
		struct annotate_value *value = &m->listing->values.items[values + hit->event - first];
		value->count += hit->sum.count;
		value->period += hit->sum.period;
	}
	return values;
}

/* perf does not treat a return after a prefix ("repz ret") as a return. */
static enum annotate_flow flow_of(const struct instruction_row *row)
{
	switch (row->kind) {
	case INSTRUCTION_JUMP:
		return ANNOTATE_JUMP;
	case INSTRUCTION_CALL:
		return ANNOTATE_CALL;
	case INSTRUCTION_RETURN:
		return str_starts_with(str_from(row->mnemonic), STR("rep")) ? ANNOTATE_PLAIN : ANNOTATE_RETURN;
	case INSTRUCTION_OTHER:
	case INSTRUCTION_BAD:
		break;
	}
	return ANNOTATE_PLAIN;
}

static void annotate_listing_add_code(struct annotate_listing_making *m, const struct instruction_row *row)
{
	struct source_place places[LIMIT_INLINE_DEPTH];
	const struct binary_code *code = &m->listing->code;
	size_t count = binary_store_places(
		m->samples->source.store, m->target->store_id, store_address(m, row), places, LIMIT_INLINE_DEPTH);
	if (count > 0)
		annotate_listing_add_source(m, &places[0]);
	else
		add_symbol(m);
	size_t offset = (size_t)(row->address - code->address);
	struct annotate_line line = {.kind = ANNOTATE_CODE,
		.flow = flow_of(row),
		.text = row->text,
		.mnemonic = row->mnemonic,
		.operands = row->operands,
		.address = row->address,
		.values = annotate_listing_take_hits(m, row),
		.place = ANNOTATE_NONE,
		.target = ANNOTATE_NONE,
		.bytes = {code->bytes.data + offset, row->size}};
	bool is_outside = row->target - code->address >= code->bytes.len;
	line.leads_out =
		row->has_target && (row->kind == INSTRUCTION_CALL || (row->kind == INSTRUCTION_JUMP && is_outside));
	line.callee = line.leads_out ? row->target : 0;
	if (count > 0 && places[0].path) {
		line.path = places[0].path;
		line.source_line = places[0].line;
	}
	annotate_listing_add_line(m, &line);
	for (size_t at = BYTES_A_LINE; at < row->size; at += BYTES_A_LINE) {
		struct annotate_line more = line;
		more.kind = ANNOTATE_MORE_BYTES;
		more.address += at;
		more.values = more.place = ANNOTATE_NONE;
		more.bytes = (struct tally_bytes){line.bytes.data + at, row->size - at};
		m->failed = m->failed || !vec_push(&m->listing->lines, more);
		m->number += m->options->with_bytes;
	}
}

static void add_heading(struct annotate_listing_making *m)
{
	const struct binary_code *code = &m->listing->code;
	const char *name = annotate_listing_name_of(m, code->address);
	for (unsigned i = 0; i < 3; i++)
		annotate_listing_add_text(m, "", false);
	annotate_listing_add_text(m, annotate_listing_print(m, "Disassembly of section %s:", code->section), false);
	annotate_listing_add_text(m, "", false);
	if (!name)
		name = m->target->frame->symbol;
	annotate_listing_add_text(
		m, annotate_listing_print(m, "%0*" PRIx64 " <%s>:", code->is_64 ? 16 : 8, code->address, name), false);
	m->last = (struct source_place){0};
}

static int by_line_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return COMPARE(a[0], b[0]);
}

struct line_at {
	uint64_t address, line;
};

/* Links jumps to the lines of their targets. */
static void link_jumps(struct annotate_listing_making *m)
{
	struct annotate_listing *listing = m->listing;
	VEC(struct line_at) lines = {0};
	for (size_t i = 0; i < listing->lines.len && !m->failed; i++) {
		struct line_at at = {listing->lines.items[i].address, i};
		if (listing->lines.items[i].kind == ANNOTATE_CODE)
			m->failed = !vec_push(&lines, at);
	}
	for (size_t i = 0, code = 0; i < listing->rows.len && !m->failed; i++, code++) {
		const struct instruction_row *row = &listing->rows.items[i];
		if (!row->has_target || row->kind != INSTRUCTION_JUMP)
			continue;
		const struct line_at *found =
			bsearch(&row->target, lines.items, lines.len, sizeof(struct line_at), by_line_address);
		if (!found)
			continue;
		listing->lines.items[lines.items[code].line].target = (uint32_t)found->line;
		listing->lines.items[found->line].is_target = true;
	}
	vec_free(&lines);
}

static enum tally_status sum_events(struct annotate_listing_making *m, struct tally_error *err)
{
	struct annotate_listing *listing = m->listing;
	uint32_t first = m->options->first_event;
	size_t total;
	const struct perfdata_event *events = perfdata_reader_events(m->samples->source.reader, &total);
	listing->events = arena_array(&listing->arena, struct annotate_event, m->options->event_count);
	if (!listing->events)
		return error_nomem(err);
	for (uint32_t i = 0; i < m->options->event_count; i++) {
		const struct annotate_sum *own = &m->target->sums[first + i], *whole = &m->samples->events[first + i];
		listing->events[i] = (struct annotate_event){.name = events[first + i].name,
			.function = {own->count, own->period},
			.whole = {whole->count, whole->period}};
	}
	return TALLY_OK;
}

/* Adds the line's counts to those of its place: the source line, or the address if there is none, as text. Returns the
 * index of the place. */
static uint32_t take_place(struct annotate_listing_making *m, const struct annotate_line *line)
{
	char text[SHORT_BYTES];
	const char *slash = line->path ? strrchr(line->path, '/') : NULL;
	const char *path = slash && !m->options->with_whole_paths ? slash + 1 : line->path;
	if (line->path)
		snprintf(text, sizeof(text), "%s:%u", path, line->source_line);
	else
		snprintf(text, sizeof(text), "%s[%" PRIx64 "]", m->listing->function.short_file, line->address);
	struct annotate_listing *listing = m->listing;
	size_t at = 0;
	while (at < listing->places.len && strcmp(listing->places.items[at].text, text) != 0)
		at++;
	if (at == listing->places.len) {
		struct annotate_place made = {.text = annotate_listing_keep(m, text), .values = new_values(m)};
		m->failed = m->failed || !vec_push(&listing->places, made);
	}
	for (uint32_t i = 0; i < m->options->event_count && !m->failed; i++) {
		const struct annotate_value *from = &listing->values.items[line->values + i];
		struct annotate_value *to = &listing->values.items[listing->places.items[at].values + i];
		to->count += from->count;
		to->period += from->period;
	}
	listing->function.values = listing->values.items;
	return (uint32_t)at;
}

static void take_places(struct annotate_listing_making *m)
{
	struct annotate_listing *listing = m->listing;
	for (size_t i = 0; i < listing->lines.len && m->options->with_places && !m->failed; i++) {
		struct annotate_line *line = &listing->lines.items[i];
		if (line->values != ANNOTATE_NONE && (line->path || m->options->with_bare_places) &&
			annotate_hottest(&listing->function, m->options->percent, line->values) >
				m->options->place_limit)
			line->place = take_place(m, line);
	}
	listing->function.places = listing->places.items;
	listing->function.place_count = listing->places.len;
}

struct ranked_place {
	const struct annotate_function *function;
	enum annotate_percent percent;
	uint32_t index;
};

/* As in perf, places (source lines or addresses) are sorted by the first event, then by the other events, and then by
 * name in reverse order. */
static int annotate_listing_by_heat(const void *left, const void *right)
{
	const struct ranked_place *a = left, *b = right;
	const struct annotate_place *first = &a->function->places[a->index], *second = &b->function->places[b->index];
	for (uint32_t e = 0; e < a->function->event_count; e++) {
		double hot = annotate_percent_of(a->function, a->percent, first->values, e);
		double other = annotate_percent_of(b->function, b->percent, second->values, e);
		if (hot != other)
			return hot > other ? -1 : 1;
	}
	return strcmp(second->text, first->text);
}

static void rank_places(struct annotate_listing_making *m)
{
	struct annotate_listing *listing = m->listing;
	size_t count = listing->places.len;
	struct ranked_place *ranked = arena_array(&listing->arena, struct ranked_place, count);
	uint32_t *order = arena_array(&listing->arena, uint32_t, count);
	m->failed = m->failed || !ranked || !order;
	for (size_t i = 0; i < count && !m->failed; i++)
		ranked[i] = (struct ranked_place){&listing->function, m->options->percent, (uint32_t)i};
	if (m->failed)
		return;
	qsort(ranked, count, sizeof(*ranked), annotate_listing_by_heat);
	for (size_t i = 0; i < count; i++)
		order[i] = ranked[i].index;
	listing->function.place_order = order;
}

static void annotate_listing_finish(struct annotate_listing_making *m)
{
	struct annotate_listing *listing = m->listing;
	struct tally_str path = m->target->frame->path;
	const char *file = arena_string(&listing->arena, path.data, path.len),
		   *slash = file ? strrchr(file, '/') : NULL;
	m->failed = m->failed || !file;
	listing->function = (struct annotate_function){.name = m->target->frame->symbol,
		.file = file,
		.short_file = slash ? slash + 1 : file,
		.events = listing->events,
		.event_count = m->options->event_count,
		.lines = listing->lines.items,
		.line_count = listing->lines.len,
		.values = listing->values.items,
		.start = listing->code.address,
		.sample_count = listing->events[0].function.count};
	if (!m->failed)
		take_places(m);
	if (!m->failed)
		rank_places(m);
}

static enum tally_status annotate_listing_make_lines(struct annotate_listing_making *m, struct tally_error *err)
{
	enum tally_status status = load_places(m, err);
	if (status == TALLY_OK)
		status = sum_events(m, err);
	if (status != TALLY_OK)
		return status;
	annotate_source_of(m->source, m->samples->source.store, m->target->store_id);
	annotate_source_restart(m->source);
	add_heading(m);
	for (size_t i = 0; i < m->listing->rows.len && !m->failed; i++)
		annotate_listing_add_code(m, &m->listing->rows.items[i]);
	link_jumps(m);
	bool has_cycles = false;
	uint64_t moved = m->listing->code.address - m->target->symbol->start;
	m->failed = m->failed || !annotate_spans_apply(
					 m->target, moved, m->listing->lines.items, m->listing->lines.len, &has_cycles);
	annotate_listing_finish(m);
	m->listing->function.has_cycles = has_cycles;
	return m->failed ? error_nomem(err) : TALLY_OK;
}

enum tally_status annotate_listing_make(struct annotate_listing *listing, struct annotate_samples *samples,
	const struct annotate_target *target, struct annotate_source *source,
	const struct annotate_listing_options *options, struct tally_error *err)
{
	struct annotate_listing_making m = {.listing = listing,
		.samples = samples,
		.target = target,
		.source = source,
		.options = options,
		.long_left = LONG_BYTES};
	*listing = (struct annotate_listing){0};
	arena_init(&listing->arena);
	uint64_t end = target->symbol->end;
	if (end - target->symbol->start > LIMIT_FUNCTION_BYTES)
		end = target->symbol->start + LIMIT_FUNCTION_BYTES;
	enum tally_status status = binary_store_code(
		samples->source.store, target->store_id, target->symbol->start, end, &listing->code, err);
	if (status == TALLY_OK)
		status = annotate_listing_disassemble(&m, err);
	if (status == TALLY_OK)
		status = annotate_listing_make_lines(&m, err);
	return status;
}

void annotate_listing_deinit(struct annotate_listing *listing)
{
	vec_free(&listing->lines);
	vec_free(&listing->values);
	vec_free(&listing->places);
	vec_free(&listing->rows);
	arena_deinit(&listing->arena);
}
