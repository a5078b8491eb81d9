/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/thread_pool.h"
#include "code/symbols/line_index_form.h"
#include "object/dwarf/dwarf_entry.h"
#include "object/dwarf/dwarf_functions.h"
#include "object/dwarf/dwarf_lines.h"

/* Only this many units are held in memory, because the index of a large program may be too large. */
#define PARTS_AT_ONCE 32

struct line_index_build_part { /* The block of one unit. */
	uint32_t unit;
	struct writer bytes; /* Empty if the unit cannot be indexed. */
	bool out_of_memory;
};

struct line_index_build_build {
	const struct line_index_source *source;
	const struct line_index_sink *sink;
	struct line_index *older;
	VEC(uint32_t) units; /* Units that are missing in `older`, the existing index, and have to be added. */
	struct line_index_build_part parts[PARTS_AT_ONCE];
	struct line_index_unit *table; /* Indexed by unit. */
	uint32_t unit_count;
	uint64_t end; /* Size of the file so far, in bytes. */
};

struct strings {
	struct intern seen;
	VEC(uint32_t) offsets; /* Offsets in bytes, indexed by the ID in seen. */
	struct writer bytes; /* Each string is terminated by a zero byte. */
};

/* Returns the offset of the string; 0 if it is empty or memory ran out, which sets bytes.failed. */
static uint32_t add_string(struct strings *strings, const char *text, size_t len)
{
	uint32_t id;
	if (len == 0)
		return 0;
	if (!intern_add(&strings->seen, text, len, &id)) {
		strings->bytes.failed = true;
		return 0;
	}
	if (id < strings->offsets.len)
		return strings->offsets.items[id];
	uint32_t offset = (uint32_t)strings->bytes.len;
	writer_bytes(&strings->bytes, text, len);
	writer_u8(&strings->bytes, 0);
	if (!vec_push(&strings->offsets, offset))
		strings->bytes.failed = true;
	return offset;
}

/* Finds the lowest address of the unit. Returns false if 32-bit offsets do not reach its highest one. */
static bool line_index_build_find_base(const struct debug_unit *unit, uint64_t *base)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t i = 0; i < unit->lines->rows.len; i++) {
		uint64_t address = unit->lines->rows.items[i].address;
		low = MIN(address, low);
		high = MAX(address, high);
	}
	for (size_t i = 0; i < unit->functions->ranges.len; i++) {
		const struct dwarf_code_range *range = &unit->functions->ranges.items[i];
		low = MIN(range->low, low);
		high = MAX(range->high, high);
	}
	*base = low;
	return high <= low || high - low < UINT32_MAX;
}

static void line_index_build_put_rows(struct writer *w, const struct debug_unit *unit, uint64_t base)
{
	for (size_t i = 0; i < unit->lines->rows.len; i++) {
		const struct dwarf_line_row *row = &unit->lines->rows.items[i];
		const struct line_index_row stored = {.offset = (uint32_t)(row->address - base),
			.file = row->file,
			.discriminator = row->discriminator,
			.line = row->line};
		writer_bytes(w, &stored, sizeof(stored));
	}
}

static void put_functions(struct writer *w, const struct debug_info *info, struct dwarf_reader *reader,
	const struct debug_unit *unit, struct line_index_build_part *part, struct strings *strings)
{
	for (size_t i = 0; i < unit->functions->functions.len; i++) {
		const struct dwarf_function *function = &unit->functions->functions.items[i];
		const struct debug_place place = {.unit = part->unit, .function = function->entry};
		struct tally_str name = debug_info_name(info, reader, &place);
		const struct line_index_function stored = {add_string(strings, name.data, name.len), function->caller,
			function->call_file, function->call_line};
		writer_bytes(w, &stored, sizeof(stored));
	}
}

static void put_codes(struct writer *w, const struct debug_unit *unit, uint64_t base)
{
	for (size_t i = 0; i < unit->functions->ranges.len; i++) {
		const struct dwarf_code_range *range = &unit->functions->ranges.items[i];
		const struct line_index_code stored = {(uint32_t)(range->low - base), (uint32_t)(range->high - base),
			range->function, range->enclosing};
		writer_bytes(w, &stored, sizeof(stored));
	}
}

static void put_files(struct writer *w, const struct debug_info *info, const struct debug_unit *unit,
	const struct line_index_build_part *part, struct strings *strings)
{
	struct arena arena;
	arena_init(&arena);
	for (size_t i = 0; i < unit->lines->files.len; i++) {
		const struct debug_place place = {.unit = part->unit, .file = (uint32_t)i};
		const char *path = debug_info_path(info, &place, &arena);
		writer_u32(w, path ? add_string(strings, path, strlen(path)) : 0);
	}
	arena_deinit(&arena);
}

static void build_part(void *context, size_t index, unsigned worker)
{
	struct line_index_build_build *build = context;
	const struct debug_info *info = build->source->info;
	struct line_index_build_part *part = &build->parts[index];
	struct debug_unit unit;
	struct line_index_block head = {0};
	struct dwarf_reader reader;
	struct strings strings = {0};
	struct writer *w = &part->bytes;
	(void)worker;
	if (!debug_info_unit(info, part->unit, &unit) || !line_index_build_find_base(&unit, &head.base))
		return;
	intern_init(&strings.seen);
	dwarf_reader_init(&reader);
	writer_u8(&strings.bytes, 0);
	writer_bytes(w, &head, sizeof(head));
	line_index_build_put_rows(w, &unit, head.base);
	put_functions(w, info, &reader, &unit, part, &strings);
	put_codes(w, &unit, head.base);
	put_files(w, info, &unit, part, &strings);
	writer_bytes(w, strings.bytes.data, strings.bytes.len);
	part->out_of_memory = w->failed || strings.bytes.failed;
	head.row_count = (uint32_t)unit.lines->rows.len;
	head.function_count = (uint32_t)unit.functions->functions.len;
	head.code_count = (uint32_t)unit.functions->ranges.len;
	head.file_count = (uint32_t)unit.lines->files.len;
	head.string_bytes = (uint32_t)strings.bytes.len;
	if (!part->out_of_memory)
		memcpy(w->data, &head, sizeof(head));
	dwarf_reader_deinit(&reader);
	intern_deinit(&strings.seen);
	vec_free(&strings.offsets);
	writer_deinit(&strings.bytes);
}

/* Formats everything that precedes the blocks: first to determine where blocks begin, and again at the end to write
 * it. */
static enum tally_status put_tables(struct line_index_build_build *build, bool is_first, struct tally_error *err)
{
	const struct line_index_source *source = build->source;
	struct line_index_header header = {.version = LINE_INDEX_VERSION,
		.byte_order = LINE_INDEX_BYTE_ORDER,
		.source_bytes = (uint32_t)strlen(source->path) + 1,
		.id_size = source->id.size,
		.program = source->program,
		.file = source->file};
	memcpy(header.magic, LINE_INDEX_MAGIC, sizeof(header.magic));
	memcpy(header.id, source->id.bytes, source->id.size);
	struct writer out = {0};
	size_t range_count;
	const struct debug_unit_range *ranges = debug_info_ranges(source->info, &range_count);
	header.range_count = (uint32_t)range_count;
	header.unit_count = build->unit_count;
	header.file_bytes = build->end;
	writer_bytes(&out, &header, sizeof(header));
	for (size_t i = 0; i < range_count; i++) {
		const struct line_index_range stored = {
			ranges[i].low, ranges[i].high, ranges[i].unit, ranges[i].enclosing};
		writer_bytes(&out, &stored, sizeof(stored));
	}
	writer_bytes(&out, build->table, build->unit_count * sizeof(*build->table));
	writer_bytes(&out, source->path, header.source_bytes);
	enum tally_status status = out.failed ? error_nomem(err) : TALLY_OK;
	if (status == TALLY_OK && is_first) {
		build->end = out.len;
	} else if (status == TALLY_OK) {
		header.checksum = checksum_crc32(
			(struct tally_bytes){out.data + LINE_INDEX_SUMMED_FROM, out.len - LINE_INDEX_SUMMED_FROM});
		memcpy(out.data, &header, sizeof(header));
		status = build->sink->put(build->sink->context, 0, writer_view(&out), err);
	}
	writer_deinit(&out);
	return status;
}

static enum tally_status line_index_build_put_block(
	struct line_index_build_build *build, uint32_t unit, struct tally_bytes block, struct tally_error *err)
{
	static const uint8_t zeros[8];
	size_t gap = (8 - build->end % 8) % 8;
	enum tally_status status =
		build->sink->put(build->sink->context, build->end, (struct tally_bytes){zeros, gap}, err);
	if (status != TALLY_OK)
		return status;
	build->end += gap;
	build->table[unit] = (struct line_index_unit){
		.offset = build->end, .bytes = (uint32_t)block.len, .checksum = checksum_crc32(block)};
	status = build->sink->put(build->sink->context, build->end, block, err);
	build->end += block.len;
	return status;
}

static enum tally_status put_older(struct line_index_build_build *build, struct tally_error *err)
{
	struct line_index *older = build->older;
	enum tally_status status = TALLY_OK;
	for (uint32_t i = 0; i < older->unit_count && older->unit_count == build->unit_count && status == TALLY_OK;
		i++) {
		if (!line_index_has_unit(older, i))
			continue;
		const struct line_index_unit *unit = &older->units[i];
		status = line_index_build_put_block(
			build, i, (struct tally_bytes){older->bytes.data + unit->offset, unit->bytes}, err);
	}
	return status;
}

static enum tally_status line_index_build_put_parts(
	struct line_index_build_build *build, size_t first, struct tally_error *err)
{
	size_t count = MIN(build->units.len - first, PARTS_AT_ONCE);
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < count; i++)
		build->parts[i] = (struct line_index_build_part){.unit = build->units.items[first + i]};
	thread_pool_for(count, build->source->threads, build_part, build);
	for (size_t i = 0; i < count; i++) {
		struct line_index_build_part *part = &build->parts[i];
		if (part->out_of_memory)
			status = error_nomem(err);
		else if (status == TALLY_OK && part->bytes.len > 0 && part->bytes.len < UINT32_MAX)
			status = line_index_build_put_block(build, part->unit, writer_view(&part->bytes), err);
		writer_deinit(&part->bytes);
	}
	return status;
}

static enum tally_status find_units(struct line_index_build_build *build, struct tally_error *err)
{
	struct line_index *older = build->older;
	struct debug_unit unit;
	for (uint32_t i = 0; i < build->unit_count; i++) {
		bool is_old = older->unit_count == build->unit_count && line_index_has_unit(older, i);
		if (!is_old && debug_info_unit(build->source->info, i, &unit) && !vec_push(&build->units, i))
			return error_nomem(err);
	}
	return build->units.len > 0 ? TALLY_OK : TALLY_NOT_FOUND;
}

enum tally_status line_index_build(const struct line_index_source *source, struct line_index *older,
	const struct line_index_sink *sink, struct tally_error *err)
{
	struct line_index_build_build *build = calloc(1, sizeof(*build));
	if (!build)
		return error_nomem(err);
	build->source = source;
	build->sink = sink;
	build->older = older;
	build->unit_count = debug_info_unit_count(source->info);
	enum tally_status status = find_units(build, err);
	if (status == TALLY_OK) {
		build->table = calloc(build->unit_count, sizeof(*build->table));
		status = build->table ? put_tables(build, true, err) : error_nomem(err);
	}
	if (status == TALLY_OK)
		status = put_older(build, err);
	for (size_t i = 0; i < build->units.len && status == TALLY_OK; i += PARTS_AT_ONCE)
		status = line_index_build_put_parts(build, i, err);
	if (status == TALLY_OK)
		status = put_tables(build, false, err);
	free(build->table);
	vec_free(&build->units);
	free(build);
	return status;
}
