/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/jitdump.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/map_u64.h"
#include "base/order.h"

#define JITDUMP_MAGIC 0x4A695444u /* The string "JiTD". */
/* V8 writes this to a padding field of the header in which other runtimes write 0. */
#define V8_PADDING	   0xdeadbeefu
#define V8_LINE_SHIFT	   0x40 /* V8's addresses of lines are higher by the size of an ELF header. */
#define FLAG_CPU_TIME	   1u
#define JITDUMP_LINE_BYTES 17 /* Minimum size of a row: address, line, discriminator, and an empty name. */
#define LINE_FIXED_BYTES   16
#define SAME_NAME	   0xff

struct parsing {
	struct jitdump *dump;
	struct map_u64 by_index; /* Maps the runtime's number of a function to its index in codes. */
	struct jitdump_code next; /* Lines and unwinding information, which precede their function. */
	bool has_lines;
	uint64_t line_low, line_high; /* Lowest and highest address of the lines in next. */
	bool is_out_of_memory;
};

struct unit { /* One record. */
	struct cursor cursor; /* It covers the dump up to the end of the record. */
	uint32_t id;
	uint64_t time;
};

static bool add_place(struct parsing *p, const struct unit *unit, const struct jitdump_code *code, uint64_t address)
{
	struct jitdump_place place = {
		.time = unit->time, .address = address, .size = code->size, .offset = code->offset};
	if (code->size > UINT64_MAX - address)
		return false;
	if (!vec_push(&p->dump->places, place))
		p->is_out_of_memory = true;
	return true;
}

/* Takes a string that at least `behind` bytes follow in the record; returns NULL if there is none. */
static const char *take_text(struct cursor *c, size_t behind)
{
	size_t left = cursor_left(c);
	const uint8_t *text = c->data + c->pos;
	const uint8_t *nul = left > behind ? memchr(text, 0, left - behind) : NULL;
	if (!nul)
		return NULL;
	cursor_skip(c, (size_t)(nul - text) + 1);
	return (const char *)text;
}

/* Returns whether the lines that were read last belong to the function. Some versions of V8 write invalid names, and
 * invalid addresses after them, so lines outside of the function are rejected. */
static bool lines_are_of(const struct parsing *p, const struct jitdump_code *code)
{
	uint64_t start = code->address + p->dump->line_shift;
	return p->has_lines && p->next.address == code->address && p->line_low >= start &&
	       p->line_high - start <= code->size;
}

static bool read_load(struct parsing *p, struct unit *unit)
{
	struct cursor *c = &unit->cursor;
	struct jitdump_code code = p->next;
	cursor_skip(c, 4 + 4 + 8); /* Skips process, thread and virtual address. */
	code.address = cursor_u64(c);
	code.size = cursor_u64(c);
	uint64_t index = cursor_u64(c);
	if (!lines_are_of(p, &code))
		code.line_count = 0;
	p->next = (struct jitdump_code){.size = 0};
	p->has_lines = false;
	if (c->failed || code.size == 0 || code.size >= cursor_left(c))
		return false;
	code.offset = c->len - code.size;
	code.name = take_text(c, code.size);
	if (!code.name || p->dump->codes.len >= LIMIT_JIT_FUNCTIONS || !add_place(p, unit, &code, code.address))
		return false;
	bool is_new;
	uint64_t *slot = map_u64_at(&p->by_index, index, &is_new);
	if (slot)
		*slot = p->dump->codes.len;
	if (!slot || !vec_push(&p->dump->codes, code))
		p->is_out_of_memory = true;
	return true;
}

static bool read_move(struct parsing *p, struct unit *unit)
{
	struct cursor *c = &unit->cursor;
	cursor_skip(c, 4 + 4 + 8 + 8); /* Skips process, thread, virtual address and old address. */
	uint64_t address = cursor_u64(c);
	uint64_t size = cursor_u64(c);
	uint64_t index = cursor_u64(c);
	uint64_t found;
	if (c->failed || !map_u64_find(&p->by_index, index, &found) || p->dump->places.len >= LIMIT_JIT_FUNCTIONS)
		return false;
	const struct jitdump_code *code = &p->dump->codes.items[found];
	return size == code->size && add_place(p, unit, code, address);
}

static bool jitdump_read_lines(struct parsing *p, struct unit *unit)
{
	struct cursor *c = &unit->cursor;
	uint64_t address = cursor_u64(c);
	uint64_t count = cursor_u64(c);
	if (!cursor_count(c, count, JITDUMP_LINE_BYTES) || count > LIMIT_JIT_LINES)
		return false;
	p->next.address = address;
	p->next.line_position = c->pos;
	p->next.line_count = (size_t)count;
	p->has_lines = true;
	p->line_low = UINT64_MAX;
	p->line_high = 0;
	/* Checks all rows before any is used: each name must end within the record. */
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = cursor_u64(c);
		cursor_skip(c, LINE_FIXED_BYTES - sizeof(at));
		p->line_low = MIN(at, p->line_low);
		p->line_high = MAX(at, p->line_high);
		if (c->failed || !take_text(c, 0)) {
			p->has_lines = false;
			return false;
		}
	}
	return true;
}

static bool read_unwinding(struct parsing *p, struct unit *unit)
{
	struct cursor *c = &unit->cursor;
	uint64_t size = cursor_u64(c);
	uint64_t header_size = cursor_u64(c);
	cursor_skip(c, 8); /* Skips the number of bytes that the runtime has mapped. */
	if (c->failed || size > cursor_left(c) || header_size > size)
		return false;
	p->next.eh_frame = cursor_bytes(c, (size_t)(size - header_size));
	p->next.eh_frame_header = cursor_bytes(c, (size_t)header_size);
	return true;
}

static bool read_unit(struct parsing *p, struct unit *unit)
{
	switch (unit->id) {
	case JITDUMP_CODE_LOAD:
		return read_load(p, unit);
	case JITDUMP_CODE_MOVE:
		return read_move(p, unit);
	case JITDUMP_CODE_DEBUG_INFO:
		return jitdump_read_lines(p, unit);
	case JITDUMP_CODE_UNWINDING:
		return read_unwinding(p, unit);
	default:
		return true; /* This is the end of the dump, or a type that newer runtimes may write. */
	}
}

static void jitdump_read_units(struct parsing *p, struct cursor *c)
{
	while (cursor_left(c) > 0 && !p->is_out_of_memory) {
		size_t start = c->pos;
		struct unit unit = {.id = cursor_u32(c)};
		uint32_t size = cursor_u32(c);
		unit.time = cursor_u64(c);
		if (c->failed || (size >= JITDUMP_RECORD_BYTES && size > c->len - start)) {
			p->dump->is_cut = true;
			return;
		}
		if (size < JITDUMP_RECORD_BYTES) {
			/* Some runtimes fill the rest of a page with zeros. */
			p->dump->damaged += unit.id != 0 || size != 0;
			return;
		}
		unit.cursor = *c;
		unit.cursor.len = start + size;
		if (!read_unit(p, &unit))
			p->dump->damaged++;
		c->pos = start + size;
		if (unit.id == JITDUMP_CODE_CLOSE)
			return;
	}
}

bool jitdump_read_header(struct cursor *c, struct jitdump_header *header)
{
	struct jitdump_header read = {.pid = 0};
	uint32_t magic = cursor_u32(c);
	if (magic == __builtin_bswap32(JITDUMP_MAGIC))
		c->swap = read.swap = !c->swap;
	else if (magic != JITDUMP_MAGIC)
		return false;
	uint32_t version = cursor_u32(c);
	uint32_t size = cursor_u32(c);
	read.elf_machine = (uint16_t)cursor_u32(c);
	read.line_shift = cursor_u32(c) == V8_PADDING ? V8_LINE_SHIFT : 0;
	read.pid = cursor_u32(c);
	cursor_skip(c, 8); /* Skips the creation time. */
	read.has_cpu_time = cursor_u64(c) & FLAG_CPU_TIME;
	if (c->failed || version != 1 || size < JITDUMP_HEADER_BYTES)
		return false;
	cursor_skip(c, size - JITDUMP_HEADER_BYTES);
	*header = read;
	return !c->failed;
}

enum tally_status jitdump_parse(struct jitdump *dump, struct tally_bytes bytes, struct tally_error *err)
{
	*dump = (struct jitdump){.bytes = bytes};
	struct cursor c = cursor_make(bytes, false);
	struct parsing p = {.dump = dump};
	struct jitdump_header header;
	if (!jitdump_read_header(&c, &header))
		return error_set(err, TALLY_INVALID, "not a jitdump of version 1");
	dump->pid = header.pid;
	dump->elf_machine = header.elf_machine;
	dump->line_shift = header.line_shift;
	dump->swap = header.swap;
	dump->has_cpu_time = header.has_cpu_time;
	jitdump_read_units(&p, &c);
	map_u64_deinit(&p.by_index);
	if (!p.is_out_of_memory)
		return TALLY_OK;
	jitdump_deinit(dump);
	return error_nomem(err);
}

void jitdump_deinit(struct jitdump *dump)
{
	vec_free(&dump->codes);
	vec_free(&dump->places);
}

const struct jitdump_code *jitdump_find(const struct jitdump *dump, uint64_t offset)
{
	size_t low; /* codes is sorted by offset, because records were read in that order. */
	LOWER_BOUND(low, dump->codes.len, middle, dump->codes.items[middle].offset <= offset);
	const struct jitdump_code *code = low > 0 ? &dump->codes.items[low - 1] : NULL;
	return code && offset - code->offset < code->size ? code : NULL;
}

struct jitdump_lines jitdump_lines_of(const struct jitdump *dump, const struct jitdump_code *code)
{
	struct jitdump_lines lines = {.at = cursor_make(dump->bytes, dump->swap),
		.left = code->line_count,
		.start = code->address + dump->line_shift};
	cursor_skip(&lines.at, code->line_position);
	return lines;
}

bool jitdump_lines_next(struct jitdump_lines *lines, struct jitdump_row *row)
{
	if (lines->left == 0)
		return false;
	lines->left--;
	uint64_t address = cursor_u64(&lines->at);
	uint32_t line = cursor_u32(&lines->at);
	cursor_skip(&lines->at, 4); /* Skips the discriminator. */
	const char *name = take_text(&lines->at, 0);
	if (!name)
		return false;
	if ((uint8_t)name[0] != SAME_NAME || name[1] != '\0')
		lines->path = name;
	*row = (struct jitdump_row){address - lines->start, line, lines->path};
	return true;
}

bool jitdump_line(const struct jitdump *dump, uint64_t offset, struct source_place *place)
{
	const struct jitdump_code *code = jitdump_find(dump, offset);
	if (!code)
		return false;
	struct jitdump_lines lines = jitdump_lines_of(dump, code);
	struct jitdump_row row;
	uint64_t best = 0;
	bool found = false;
	while (jitdump_lines_next(&lines, &row)) {
		if (row.offset > offset - code->offset || (found && row.offset < best))
			continue;
		found = true;
		best = row.offset;
		*place = (struct source_place){.function = code->name, .path = row.path, .line = row.line};
	}
	return found;
}
