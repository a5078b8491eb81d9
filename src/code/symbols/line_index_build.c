#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/thread_pool.h"
#include "code/symbols/line_index_form.h"
#include "object/dwarf/dwarf_entry.h"
#include "object/dwarf/dwarf_functions.h"
#include "object/dwarf/dwarf_lines.h"

struct part { /* of one unit: what becomes its block */
	uint32_t unit;
	struct writer bytes; /* len 0: it cannot be held */
	bool out_of_memory;
};

struct build {
	const struct line_index_source *source;
	struct line_index *older;
	VEC(struct part) parts; /* units that older has not, by unit */
};

struct strings {
	struct intern seen;
	VEC(uint32_t) offsets; /* by id */
	struct writer bytes; /* each ends in a zero byte */
};

/* 0: none, or out of memory, which the writer remembers. */
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

/* The lowest address of the unit. False: it reaches farther than offsets do. */
static bool find_base(const struct debug_unit *unit, uint64_t *base)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t i = 0; i < unit->lines->rows.len; i++) {
		uint64_t address = unit->lines->rows.items[i].address;
		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	for (size_t i = 0; i < unit->functions->ranges.len; i++) {
		const struct dwarf_code_range *range = &unit->functions->ranges.items[i];
		low = range->low < low ? range->low : low;
		high = range->high > high ? range->high : high;
	}
	*base = low;
	return high <= low || high - low < UINT32_MAX;
}

static void put_rows(struct writer *w, const struct debug_unit *unit, uint64_t base)
{
	for (size_t i = 0; i < unit->lines->rows.len; i++) {
		const struct dwarf_line_row *row = &unit->lines->rows.items[i];
		const struct line_index_row stored = {(uint32_t)(row->address - base), row->file, row->line};
		writer_bytes(w, &stored, sizeof(stored));
	}
}

static void put_functions(struct writer *w, const struct debug_info *info, struct dwarf_reader *reader,
	const struct debug_unit *unit, struct part *part, struct strings *strings)
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
	const struct part *part, struct strings *strings)
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
	const struct build *build = context;
	const struct debug_info *info = build->source->info;
	struct part *part = &build->parts.items[index];
	struct debug_unit unit;
	struct line_index_block head = {0};
	struct dwarf_reader reader;
	struct strings strings = {0};
	struct writer *w = &part->bytes;
	(void)worker;
	if (!debug_info_unit(info, part->unit, &unit) || !find_base(&unit, &head.base))
		return;
	intern_init(&strings.seen);
	dwarf_reader_init(&reader);
	writer_u8(&strings.bytes, 0);
	writer_bytes(w, &head, sizeof(head));
	put_rows(w, &unit, head.base);
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

static void put_header(
	struct writer *out, const struct line_index_source *source, uint32_t range_count, uint32_t unit_count)
{
	struct line_index_header header = {.version = LINE_INDEX_VERSION,
		.byte_order = LINE_INDEX_BYTE_ORDER,
		.range_count = range_count,
		.unit_count = unit_count,
		.source_bytes = (uint32_t)strlen(source->path) + 1,
		.id_size = source->id.size};
	memcpy(header.magic, LINE_INDEX_MAGIC, sizeof(header.magic));
	memcpy(header.id, source->id.bytes, source->id.size);
	writer_bytes(out, &header, sizeof(header));
}

static void put_ranges(struct writer *out, const struct debug_unit_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct line_index_range stored = {
			ranges[i].low, ranges[i].high, ranges[i].unit, ranges[i].enclosing};
		writer_bytes(out, &stored, sizeof(stored));
	}
}

/* The block behind what is there, and its place in the table of units at table. */
static void put_block(struct writer *out, size_t table, uint32_t unit, struct tally_bytes block)
{
	writer_align(out, 8);
	const struct line_index_unit stored = {.offset = out->len,
		.bytes = (uint32_t)block.len,
		.checksum = (uint32_t)crc32_z(0, block.data, block.len)};
	writer_bytes(out, block.data, block.len);
	if (!out->failed)
		memcpy(out->data + table + unit * sizeof(stored), &stored, sizeof(stored));
}

static void put_all(const struct build *build, struct writer *out)
{
	const struct line_index_source *source = build->source;
	size_t range_count;
	const struct debug_unit_range *ranges = debug_info_ranges(source->info, &range_count);
	uint32_t unit_count = debug_info_unit_count(source->info);
	put_header(out, source, (uint32_t)range_count, unit_count);
	put_ranges(out, ranges, range_count);
	size_t table = out->len, next = 0;
	writer_zeros(out, unit_count * sizeof(struct line_index_unit));
	writer_bytes(out, source->path, strlen(source->path) + 1);
	size_t tables_end = out->len;
	for (uint32_t unit = 0; unit < unit_count; unit++) {
		if (next < build->parts.len && build->parts.items[next].unit == unit) {
			struct tally_bytes block = writer_view(&build->parts.items[next++].bytes);
			if (block.len > 0 && block.len < UINT32_MAX)
				put_block(out, table, unit, block);
		} else if (build->older->unit_count == unit_count && line_index_has_unit(build->older, unit)) {
			const struct line_index_unit *entry = &build->older->units[unit];
			put_block(out, table, unit,
				(struct tally_bytes){build->older->bytes.data + entry->offset, entry->bytes});
		}
	}
	if (out->failed)
		return;
	uint64_t file_bytes = out->len;
	memcpy(out->data + offsetof(struct line_index_header, file_bytes), &file_bytes, sizeof(file_bytes));
	uint32_t sum = (uint32_t)crc32_z(0, out->data + LINE_INDEX_SUMMED_FROM, tables_end - LINE_INDEX_SUMMED_FROM);
	memcpy(out->data + offsetof(struct line_index_header, checksum), &sum, sizeof(sum));
}

enum tally_status line_index_build(
	const struct line_index_source *source, struct line_index *older, struct writer *out, struct tally_error *err)
{
	struct build build = {.source = source, .older = older};
	uint32_t unit_count = debug_info_unit_count(source->info);
	enum tally_status status = TALLY_OK;
	struct debug_unit unit;
	for (uint32_t i = 0; i < unit_count && status == TALLY_OK; i++) {
		bool is_old = older->unit_count == unit_count && line_index_has_unit(older, i);
		if (!is_old && debug_info_unit(source->info, i, &unit) &&
			!vec_push(&build.parts, (struct part){.unit = i}))
			status = error_nomem(err);
	}
	if (status == TALLY_OK && build.parts.len == 0)
		status = TALLY_NOT_FOUND;
	if (status == TALLY_OK)
		thread_pool_for(build.parts.len, source->threads, build_part, &build);
	for (size_t i = 0; i < build.parts.len; i++)
		if (build.parts.items[i].out_of_memory)
			status = error_nomem(err);
	if (status == TALLY_OK) {
		put_all(&build, out);
		status = out->failed ? error_nomem(err) : TALLY_OK;
	}
	for (size_t i = 0; i < build.parts.len; i++)
		writer_deinit(&build.parts.items[i].bytes);
	vec_free(&build.parts);
	return status;
}
