/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_lines.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/leb128.h"
#include "base/order.h"
#include "object/dwarf/dwarf_budget.h"
#include "object/dwarf/dwarf_numbers.h"

#define FORMATS_MAX 16 /* Maximum number of content types per file; DWARF 5 defines five. */

struct dwarf_lines_line_program {
	struct dwarf_walk walk; /* Its cursor is in DWARF_LINE; it reads the values of forms in the header. */
	struct dwarf_unit unit; /* Copy of the unit with the sizes of this line table. */
	struct dwarf_lines *lines;
	size_t program; /* Offset of the first opcode. */
	size_t end;
	uint16_t version;
	uint8_t min_length, max_operations, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *operand_counts;
	/* Registers of the line-number state machine. */
	uint64_t address;
	uint32_t file, line, operation, discriminator;
	bool is_statement, ends_prologue;
	/* First row and first statement of the current sequence. */
	size_t sequence, first_statement;
	bool with_statements, begins_with_statement;
	bool out_of_memory, is_unordered;
};

static bool dwarf_lines_add_file(struct dwarf_lines_line_program *p, struct tally_str name, uint64_t directory)
{
	bool ok = vec_push(&p->lines->files, ((struct dwarf_line_file){name, directory}));
	p->out_of_memory |= !ok;
	return ok;
}

static struct tally_str header_text(struct cursor *c)
{
	struct tally_str text = {(const char *)c->data + c->pos, 0};
	text.len = strnlen(text.data, cursor_left(c));
	cursor_skip(c, text.len + 1);
	return text;
}

/* DWARF 2 to 4: an empty name ends each list. Directory 0 and file 0 are those of the unit. */
static void read_old_names(struct dwarf_lines_line_program *p)
{
	struct cursor *c = &p->walk.cursor;
	struct tally_str text;
	p->out_of_memory |= !vec_push(&p->lines->directories, p->unit.comp_dir);
	while (!c->failed && (text = header_text(c)).len > 0)
		p->out_of_memory |= !vec_push(&p->lines->directories, text);
	dwarf_lines_add_file(p, p->unit.name, 0);
	while (!c->failed && (text = header_text(c)).len > 0) {
		uint64_t directory = cursor_uleb(c);
		cursor_uleb(c); /* Skips the modification time. */
		cursor_uleb(c); /* Skips the size. */
		dwarf_lines_add_file(p, text, directory);
	}
}

/* DWARF 5: each list begins with a description of its format. */
static void dwarf_lines_read_names(struct dwarf_lines_line_program *p, bool are_files)
{
	struct cursor *c = &p->walk.cursor;
	struct dwarf_attr_spec formats[FORMATS_MAX];
	uint8_t format_count = cursor_u8(c);
	if (format_count > FORMATS_MAX) {
		c->failed = true;
		return;
	}
	for (uint8_t i = 0; i < format_count; i++) {
		formats[i].name = (uint32_t)cursor_uleb(c);
		formats[i].form = (uint32_t)cursor_uleb(c);
		formats[i].implicit = 0;
	}
	uint64_t count = cursor_uleb(c);
	if (format_count == 0 || !cursor_count(c, count, 1))
		return;
	for (uint64_t i = 0; i < count && !p->walk.failed && !p->out_of_memory; i++) {
		struct dwarf_line_file item = {.name = {"", 0}};
		for (uint8_t f = 0; f < format_count; f++) {
			struct dwarf_value value;
			if (!dwarf_read_value(&p->walk, &formats[f], &value))
				return;
			if (formats[f].name == DW_LNCT_path && value.class == DWARF_TEXT)
				item.name = value.text;
			else if (formats[f].name == DW_LNCT_directory_index)
				item.directory = value.number;
		}
		if (are_files)
			dwarf_lines_add_file(p, item.name, item.directory);
		else
			p->out_of_memory |= !vec_push(&p->lines->directories, item.name);
	}
}

static bool dwarf_lines_read_header(struct dwarf_lines_line_program *p)
{
	struct cursor *c = &p->walk.cursor;
	p->unit.offset_size = 4;
	uint64_t length = cursor_u32(c);
	if (length == UINT32_MAX) {
		length = cursor_u64(c);
		p->unit.offset_size = 8;
	}
	if (c->failed || length > cursor_left(c))
		return false;
	p->end = c->len = c->pos + (size_t)length;
	p->version = cursor_u16(c);
	if (p->version < 2 || p->version > 5)
		return false;
	if (p->version >= 5)
		/* Skips the sizes of addresses, which the unit also has, and of segment selectors. */
		cursor_skip(c, 2);
	uint64_t header_length = cursor_uint(c, p->unit.offset_size);
	if (header_length > cursor_left(c))
		return false;
	p->program = c->pos + (size_t)header_length;
	p->min_length = cursor_u8(c);
	p->max_operations = p->version >= 4 ? cursor_u8(c) : 1;
	p->begins_with_statement = p->is_statement = cursor_u8(c) != 0;
	p->line_base = (int8_t)cursor_u8(c);
	p->line_range = cursor_u8(c);
	p->opcode_base = cursor_u8(c);
	if (c->failed || p->line_range == 0 || p->opcode_base == 0)
		return false;
	if (p->max_operations == 0)
		p->max_operations = 1;
	p->operand_counts = cursor_take(c, (size_t)p->opcode_base - 1);
	if (p->version >= 5) {
		dwarf_lines_read_names(p, false);
		dwarf_lines_read_names(p, true);
	} else {
		read_old_names(p);
	}
	return !c->failed && !p->out_of_memory;
}

static void dwarf_lines_advance(struct dwarf_lines_line_program *p, uint64_t operations)
{
	uint64_t sum = p->operation + operations;
	p->address += p->min_length * (sum / p->max_operations);
	p->operation = (uint32_t)(sum % p->max_operations);
}

static void dwarf_lines_emit_statement(struct dwarf_lines_line_program *p)
{
	struct dwarf_lines *lines = p->lines;
	size_t count = lines->statements.len;
	struct dwarf_statement row = {.address = p->address,
		.file = MIN(p->file, DWARF_ROW_OTHER),
		.line = p->line,
		.order = (uint32_t)count,
		.ends_prologue = p->ends_prologue};
	p->ends_prologue = false;
	const struct dwarf_statement *last = count > p->first_statement ? &lines->statements.items[count - 1] : NULL;
	bool is_again = last && last->address == row.address && last->file == row.file && last->line == row.line;
	if (p->is_statement && (!is_again || row.ends_prologue))
		p->out_of_memory |= !vec_push(&lines->statements, row);
}

static void dwarf_lines_emit(struct dwarf_lines_line_program *p, bool is_end)
{
	struct dwarf_lines *lines = p->lines;
	if (p->with_statements && !is_end)
		dwarf_lines_emit_statement(p);
	struct dwarf_line_row row = {.address = p->address, .line = p->line};
	uint32_t file = MIN(p->file, DWARF_ROW_OTHER);
	row.file = (is_end ? DWARF_ROW_END : file) & DWARF_ROW_END;
	row.discriminator = p->discriminator & DWARF_DISCRIMINATOR_MAX;
	p->discriminator = 0;
	struct dwarf_line_row *last = lines->rows.len > p->sequence ? &lines->rows.items[lines->rows.len - 1] : NULL;
	if (last && last->address == row.address) {
		*last = row;
		return;
	}
	/* A row that repeats the previous one is not needed. */
	if (last && last->file == row.file && last->line == row.line && last->discriminator == row.discriminator)
		return;
	p->is_unordered |= last && row.address < last->address;
	p->out_of_memory |= !vec_push(&lines->rows, row);
}

static bool dwarf_lines_is_dropped(const struct dwarf_lines_line_program *p, uint64_t start)
{
	uint64_t highest = p->unit.address_size == 8 ? UINT64_MAX : UINT32_MAX;
	return start == 0 || start >= highest - 1;
}

static void end_sequence(struct dwarf_lines_line_program *p)
{
	struct dwarf_lines *lines = p->lines;
	p->discriminator = 0;
	dwarf_lines_emit(p, true);
	if (p->is_unordered ||
		(lines->rows.len > p->sequence && dwarf_lines_is_dropped(p, lines->rows.items[p->sequence].address))) {
		lines->rows.len = p->sequence;
		lines->statements.len = p->first_statement;
	}
	lines->is_damaged |= p->is_unordered;
	p->sequence = lines->rows.len;
	p->first_statement = lines->statements.len;
	p->is_unordered = false;
	p->address = 0;
	p->operation = 0;
	p->file = p->line = 1;
	p->is_statement = p->begins_with_statement;
}

static void dwarf_lines_extended(struct dwarf_lines_line_program *p)
{
	struct cursor *c = &p->walk.cursor;
	struct cursor e = cursor_sub(c, cursor_uleb(c));
	uint8_t opcode = cursor_u8(&e);
	if (opcode == DW_LNE_end_sequence) {
		end_sequence(p);
	} else if (opcode == DW_LNE_set_address) {
		p->address = cursor_uint(&e, (unsigned)cursor_left(&e));
		p->operation = 0;
	} else if (opcode == DW_LNE_define_file) {
		struct tally_str name = header_text(&e);
		dwarf_lines_add_file(p, name, cursor_uleb(&e));
	} else if (opcode == DW_LNE_set_discriminator) {
		uint64_t discriminator = cursor_uleb(&e);
		p->discriminator = discriminator <= DWARF_DISCRIMINATOR_MAX ? (uint32_t)discriminator : 0;
	}
}

static void dwarf_lines_standard(struct dwarf_lines_line_program *p, uint8_t opcode)
{
	struct cursor *c = &p->walk.cursor;
	switch (opcode) {
	case DW_LNS_copy:
		dwarf_lines_emit(p, false);
		break;
	case DW_LNS_advance_pc:
		dwarf_lines_advance(p, cursor_uleb(c));
		break;
	case DW_LNS_advance_line:
		p->line += (uint32_t)cursor_sleb(c);
		break;
	case DW_LNS_set_file:
		p->file = (uint32_t)cursor_uleb(c);
		break;
	case DW_LNS_const_add_pc:
		dwarf_lines_advance(p, (uint64_t)((255 - p->opcode_base) / p->line_range));
		break;
	case DW_LNS_fixed_advance_pc:
		p->address += cursor_u16(c);
		p->operation = 0;
		break;
	case DW_LNS_negate_stmt:
		p->is_statement = !p->is_statement;
		break;
	case DW_LNS_set_prologue_end:
		p->ends_prologue = true;
		break;
	default: /* These are columns, basic blocks, and opcodes that are newer than this reader. */
		for (uint8_t i = 0; i < p->operand_counts[opcode - 1]; i++)
			cursor_uleb(c);
		break;
	}
}

static void dwarf_lines_run(struct dwarf_lines_line_program *p)
{
	struct cursor *c = &p->walk.cursor;
	c->pos = p->program;
	p->sequence = p->lines->rows.len;
	p->file = p->line = 1;
	while (cursor_left(c) > 0 && !p->out_of_memory) {
		uint8_t opcode = cursor_u8(c);
		if (opcode >= p->opcode_base) {
			unsigned adjusted = (unsigned)(opcode - p->opcode_base);
			dwarf_lines_advance(p, adjusted / p->line_range);
			p->line += (uint32_t)(p->line_base + (int)(adjusted % p->line_range));
			dwarf_lines_emit(p, false);
		} else if (opcode == 0) {
			dwarf_lines_extended(p);
		} else {
			dwarf_lines_standard(p, opcode);
		}
	}
	p->lines->is_damaged |= c->failed || p->lines->rows.len > p->sequence;
	p->lines->rows.len = p->sequence; /* A sequence without its end covers no addresses. */
	p->lines->statements.len = p->first_statement;
}

struct sequence {
	uint64_t address;
	size_t first, count;
};

static int dwarf_lines_by_address(const void *a, const void *b)
{
	const struct sequence *left = a;
	const struct sequence *right = b;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return COMPARE(left->first, right->first);
}

/* Sequences are in the order of sections in object files, but rows are looked up by address. */
static bool sort_sequences(struct dwarf_lines *lines)
{
	VEC(struct sequence) sequences = {0};
	bool ok = true;
	bool is_sorted = true;
	size_t first = 0;
	for (size_t i = 0; i < lines->rows.len && ok; i++) {
		if (lines->rows.items[i].file != DWARF_ROW_END)
			continue;
		struct sequence s = {lines->rows.items[first].address, first, i + 1 - first};
		is_sorted = is_sorted &&
			    (sequences.len == 0 || dwarf_lines_by_address(&sequences.items[sequences.len - 1], &s) < 0);
		ok = vec_push(&sequences, s);
		first = i + 1;
	}
	struct dwarf_line_row *sorted = NULL;
	if (ok && !is_sorted) {
		sorted = malloc(lines->rows.len * sizeof(*sorted));
		ok = sorted != NULL;
	}
	if (sorted) {
		size_t at = 0;
		qsort(sequences.items, sequences.len, sizeof(*sequences.items), dwarf_lines_by_address);
		for (size_t i = 0; i < sequences.len; i++) {
			memcpy(sorted + at, lines->rows.items + sequences.items[i].first,
				sequences.items[i].count * sizeof(*sorted));
			at += sequences.items[i].count;
		}
		free(lines->rows.items);
		lines->rows.items = sorted;
		lines->rows.cap = lines->rows.len;
	}
	vec_free(&sequences);
	return ok;
}

static int dwarf_lines_by_order(const void *a, const void *b)
{
	const struct dwarf_statement *left = a;
	const struct dwarf_statement *right = b;
	return left->address != right->address ? COMPARE(left->address, right->address)
					       : COMPARE(left->order, right->order);
}

/* p has the unit and the lines to fill. */
static enum tally_status dwarf_lines_read_table(struct dwarf_lines_line_program *p, struct dwarf_reader *reader,
	const struct dwarf_file *file, struct tally_error *err)
{
	struct dwarf_lines *lines = p->lines;
	*lines = (struct dwarf_lines){.rows = {0}};
	struct tally_bytes section = file->sections[DWARF_LINE];
	uint64_t offset = p->unit.line_offset;
	if (!p->unit.has_lines || offset >= section.len)
		return TALLY_OK;
	p->walk = (struct dwarf_walk){.reader = reader, .file = file, .unit = &p->unit};
	p->walk.cursor = cursor_make(section, file->swap);
	p->walk.cursor.pos = (size_t)offset;
	if (dwarf_lines_read_header(p) && dwarf_spend(file, DWARF_COST_LINE_BYTE * (uint64_t)(p->end - (size_t)offset)))
		dwarf_lines_run(p);
	else
		lines->is_damaged = true;
	if (p->out_of_memory || !sort_sequences(lines))
		return error_nomem(err);
	if (lines->statements.len > 0)
		qsort(lines->statements.items, lines->statements.len, sizeof(*lines->statements.items),
			dwarf_lines_by_order);
	return TALLY_OK;
}

enum tally_status dwarf_lines_read(struct dwarf_lines *lines, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err)
{
	struct dwarf_lines_line_program p = {.unit = *unit, .lines = lines};
	return dwarf_lines_read_table(&p, reader, file, err);
}

enum tally_status dwarf_lines_read_statements(struct dwarf_lines *lines, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err)
{
	struct dwarf_lines_line_program p = {.unit = *unit, .lines = lines, .with_statements = true};
	return dwarf_lines_read_table(&p, reader, file, err);
}

void dwarf_lines_deinit(struct dwarf_lines *lines)
{
	vec_free(&lines->rows);
	vec_free(&lines->statements);
	vec_free(&lines->files);
	vec_free(&lines->directories);
}

const struct dwarf_line_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, lines->rows.len, middle, lines->rows.items[middle].address <= address);
	if (low == 0 || lines->rows.items[low - 1].file == DWARF_ROW_END)
		return NULL;
	return &lines->rows.items[low - 1];
}

const char *dwarf_lines_path(const struct dwarf_lines *lines, uint32_t file, struct arena *arena)
{
	if (file >= lines->files.len || file >= DWARF_ROW_OTHER)
		return NULL;
	const struct dwarf_line_file *f = &lines->files.items[file];
	struct tally_str directory = {"", 0};
	struct tally_str root = {"", 0};
	if (f->name.len > 0 && f->name.data[0] == '/')
		return arena_string(arena, f->name.data, f->name.len);
	if (f->directory < lines->directories.len)
		directory = lines->directories.items[f->directory];
	if (f->directory != 0 && lines->directories.len > 0 && (directory.len == 0 || directory.data[0] != '/'))
		root = lines->directories.items[0];
	return arena_printf(arena, "%.*s%s%.*s%s%.*s", (int)root.len, root.data, root.len ? "/" : "",
		(int)directory.len, directory.data, directory.len ? "/" : "", (int)f->name.len, f->name.data);
}
