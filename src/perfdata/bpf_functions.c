/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/bpf_functions.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/map_u64.h"

/* Offsets in struct bpf_prog_info (linux/bpf.h). */
enum {
	INFO_ID = 4,
	INFO_TAG = 8,
	INFO_NAME = 64,
	INFO_NAME_BYTES = 16,
	INFO_FUNCTION_COUNT = 104, /* nr_jited_ksyms */
	INFO_ADDRESSES = 112,
	INFO_LENGTHS = 120,
	INFO_BTF_ID = 128,
	INFO_FUNC_INFO_SIZE = 132,
	INFO_FUNC_INFO = 136,
	INFO_FUNC_INFO_COUNT = 144,
	INFO_LINE_COUNT = 148,
	INFO_LINES = 152,
	INFO_LINE_ADDRESSES = 160,
	INFO_LINE_ADDRESS_COUNT = 168,
	INFO_LINE_SIZE = 172,
	INFO_LINE_ADDRESS_SIZE = 176,
	INFO_TAG_COUNT = 180,
	INFO_TAGS = 184,
};

#define ARRAYS_OF_LINES (UINT64_C(1) << 6 | UINT64_C(1) << 7) /* Bits of line_info and jited_line_info in `arrays`. */
#define LINE_SHIFT	10 /* The bits below it are the column. */
#define BTF_MAGIC	0xeb9f
#define BTF_TYPE_BYTES	12

/* Offset in `strings` of the name of each type; types count from 1. */
struct btf_names {
	uint32_t *offsets;
	size_t count;
	struct tally_bytes strings;
};

struct bpf_functions {
	bool swap;
	struct arena arena;
	struct map_u64 by_id;
	struct btf_names *btfs;
};

/* Number of bytes after a struct btf_type, by its kind (linux/btf.h); false for an unknown kind. */
static bool type_tail(uint32_t info, uint64_t *bytes)
{
	static const struct {
		uint8_t fixed, per_member;
	} tails[] = {
		[1] = {4, 0}, /* int */
		[2] = {0, 0},
		[3] = {12, 0}, /* array */
		[4] = {0, 12}, /* struct */
		[5] = {0, 12}, /* union */
		[6] = {0, 8}, /* enum */
		[13] = {0, 8}, /* function prototype */
		[14] = {4, 0}, /* variable */
		[15] = {0, 12}, /* data section */
		[17] = {4, 0}, /* declaration tag */
		[19] = {0, 12}, /* 64-bit enum */
	};
	uint32_t kind = info >> 24 & 0x1f;
	if (kind == 0 || kind >= ARRAY_LEN(tails))
		return false;
	*bytes = tails[kind].fixed + (uint64_t)tails[kind].per_member * (info & 0xffff);
	return true;
}

static enum tally_status bpf_functions_read_types(
	struct bpf_functions *f, struct tally_bytes data, struct btf_names *names, struct tally_error *err)
{
	struct cursor header = cursor_make(data, f->swap);
	uint16_t magic = cursor_u16(&header);
	cursor_skip(&header, 2); /* Version and flags. */
	uint32_t header_bytes = cursor_u32(&header);
	uint32_t type_offset = cursor_u32(&header), type_bytes = cursor_u32(&header);
	uint32_t string_offset = cursor_u32(&header), string_bytes = cursor_u32(&header);
	struct cursor types = cursor_make(data, f->swap);
	cursor_skip(&types, header_bytes);
	struct cursor strings = types;
	cursor_skip(&types, type_offset);
	types = cursor_sub(&types, type_bytes);
	cursor_skip(&strings, string_offset);
	names->strings = cursor_bytes(&strings, string_bytes);
	if (header.failed || magic != BTF_MAGIC || types.failed || strings.failed)
		return TALLY_OK;
	names->offsets = arena_array(&f->arena, uint32_t, cursor_left(&types) / BTF_TYPE_BYTES);
	if (!names->offsets)
		return error_nomem(err);
	while (cursor_left(&types) >= BTF_TYPE_BYTES) {
		uint64_t tail;
		uint32_t name = cursor_u32(&types);
		uint32_t info = cursor_u32(&types);
		cursor_skip(&types, 4); /* Size or type. */
		names->offsets[names->count++] = name;
		if (!type_tail(info, &tail) || !cursor_count(&types, tail, 1))
			break;
		cursor_skip(&types, (size_t)tail);
	}
	return TALLY_OK;
}

static enum tally_status read_all_types(
	struct bpf_functions *f, const struct perfdata_features *features, struct tally_error *err)
{
	f->btfs = arena_array(&f->arena, struct btf_names, features->btf_count);
	if (!f->btfs)
		return error_nomem(err);
	for (size_t i = 0; i < features->btf_count; i++) {
		f->btfs[i] = (struct btf_names){0};
		enum tally_status status = bpf_functions_read_types(f, features->btfs[i].data, &f->btfs[i], err);
		if (status != TALLY_OK)
			return status;
		if (!map_u64_set(&f->by_id, features->btfs[i].id, i))
			return error_nomem(err);
	}
	return TALLY_OK;
}

enum tally_status bpf_functions_create(
	const struct perfdata_features *features, bool swap, struct bpf_functions **functions, struct tally_error *err)
{
	struct bpf_functions *f = calloc(1, sizeof(*f));
	if (!f)
		return error_nomem(err);
	f->swap = swap;
	arena_init(&f->arena);
	enum tally_status status = read_all_types(f, features, err);
	if (status != TALLY_OK)
		bpf_functions_destroy(f);
	else
		*functions = f;
	return status;
}

void bpf_functions_destroy(struct bpf_functions *f)
{
	if (!f)
		return;
	map_u64_deinit(&f->by_id);
	arena_deinit(&f->arena);
	free(f);
}

/* Older and newer kernels have shorter or longer infos; a missing field is 0. */
static uint64_t bpf_functions_number_at(
	const struct bpf_functions *f, struct tally_bytes bytes, uint64_t offset, unsigned width)
{
	struct cursor c = cursor_make(bytes, f->swap);
	if (!cursor_count(&c, offset, 1))
		return 0;
	cursor_skip(&c, (size_t)offset);
	return width == 8 ? cursor_u64(&c) : cursor_u32(&c);
}

static uint32_t info_u32(const struct bpf_functions *f, const struct perfdata_bpf_program *program, unsigned offset)
{
	return (uint32_t)bpf_functions_number_at(f, program->info, offset, 4);
}

/* Offset of an item in the program's data; `array` is the offset in the info where the offset of the array is
 * stored. */
static uint64_t item_offset(const struct bpf_functions *f, const struct perfdata_bpf_program *program, unsigned array,
	uint64_t index, uint64_t item_bytes)
{
	uint64_t start = bpf_functions_number_at(f, program->info, array, 8);
	uint64_t limit = program->data.len;
	/* All factors are bounded by the data, so the sum cannot wrap. */
	return start < limit && index < limit && item_bytes < limit ? start + index * item_bytes : UINT64_MAX;
}

uint32_t bpf_program_id(const struct bpf_functions *f, const struct perfdata_bpf_program *program)
{
	return info_u32(f, program, INFO_ID);
}

size_t bpf_function_count(const struct bpf_functions *f, const struct perfdata_bpf_program *program)
{
	uint32_t count = info_u32(f, program, INFO_FUNCTION_COUNT);
	size_t room = program->data.len / sizeof(uint64_t);
	return MIN(count, room);
}

static struct tally_str bpf_functions_string_at(const struct btf_names *names, uint32_t offset)
{
	if (offset >= names->strings.len)
		return STR("");
	const char *text = (const char *)names->strings.data + offset;
	return (struct tally_str){text, strnlen(text, names->strings.len - offset)};
}

static struct tally_str name_by_type(const struct bpf_functions *f, uint32_t btf_id, uint32_t type)
{
	uint64_t index;
	if (type == 0 || !map_u64_find(&f->by_id, btf_id, &index) || type > f->btfs[index].count)
		return STR("");
	const struct btf_names *names = &f->btfs[index];
	return bpf_functions_string_at(names, names->offsets[type - 1]);
}

static struct tally_str bpf_functions_function_name(
	const struct bpf_functions *f, const struct perfdata_bpf_program *program, size_t index)
{
	struct tally_str name = STR("");
	if (index < info_u32(f, program, INFO_FUNC_INFO_COUNT)) {
		uint64_t item_bytes = info_u32(f, program, INFO_FUNC_INFO_SIZE);
		uint64_t at = item_offset(f, program, INFO_FUNC_INFO, index, item_bytes);
		uint64_t type = at < UINT64_MAX - 4 ? bpf_functions_number_at(f, program->data, at + 4, 4) : 0;
		name = name_by_type(f, info_u32(f, program, INFO_BTF_ID), (uint32_t)type);
	}
	if (name.len == 0 && bpf_function_count(f, program) == 1 && program->info.len >= INFO_NAME + INFO_NAME_BYTES) {
		const char *text = (const char *)program->info.data + INFO_NAME;
		name = (struct tally_str){text, strnlen(text, INFO_NAME_BYTES)};
	}
	return name.len > 0 ? name : STR("F");
}

bool bpf_function_at(const struct bpf_functions *f, const struct perfdata_bpf_program *program, size_t index,
	struct bpf_function *function)
{
	if (index >= bpf_function_count(f, program))
		return false;
	*function = (struct bpf_function){.name = bpf_functions_function_name(f, program, index)};
	function->address =
		bpf_functions_number_at(f, program->data, item_offset(f, program, INFO_ADDRESSES, index, 8), 8);
	function->size =
		(uint32_t)bpf_functions_number_at(f, program->data, item_offset(f, program, INFO_LENGTHS, index, 4), 4);
	struct cursor c = cursor_make(program->data, false);
	uint64_t tag = item_offset(f, program, INFO_TAGS, index, BPF_TAG_BYTES);
	if (index < info_u32(f, program, INFO_TAG_COUNT) && cursor_count(&c, tag, 1)) {
		cursor_skip(&c, (size_t)tag);
	} else { /* Older kernels have only the tag of the program. */
		c = cursor_make(program->info, false);
		cursor_skip(&c, INFO_TAG);
	}
	const uint8_t *bytes = cursor_take(&c, BPF_TAG_BYTES);
	if (bytes)
		memcpy(function->tag, bytes, BPF_TAG_BYTES);
	return true;
}

size_t bpf_line_count(const struct bpf_functions *f, const struct perfdata_bpf_program *program)
{
	uint32_t count = info_u32(f, program, INFO_LINE_COUNT);
	uint32_t addresses = info_u32(f, program, INFO_LINE_ADDRESS_COUNT);
	size_t room = program->data.len / sizeof(uint64_t);
	if ((program->arrays & ARRAYS_OF_LINES) != ARRAYS_OF_LINES)
		return 0;
	count = MIN(count, addresses);
	return MIN(count, room);
}

bool bpf_line_at(
	const struct bpf_functions *f, const struct perfdata_bpf_program *program, size_t index, struct bpf_line *line)
{
	uint64_t btf;
	if (index >= bpf_line_count(f, program))
		return false;
	uint64_t address_bytes = info_u32(f, program, INFO_LINE_ADDRESS_SIZE);
	uint64_t at = item_offset(f, program, INFO_LINES, index, info_u32(f, program, INFO_LINE_SIZE));
	*line = (struct bpf_line){.path = STR("")};
	line->address = bpf_functions_number_at(
		f, program->data, item_offset(f, program, INFO_LINE_ADDRESSES, index, address_bytes), 8);
	if (at > UINT64_MAX - 12)
		return true;
	/* struct bpf_line_info: insn_off, file_name_off, line_off, line_col. */
	line->number = (uint32_t)bpf_functions_number_at(f, program->data, at + 12, 4) >> LINE_SHIFT;
	if (map_u64_find(&f->by_id, info_u32(f, program, INFO_BTF_ID), &btf))
		line->path = bpf_functions_string_at(
			&f->btfs[btf], (uint32_t)bpf_functions_number_at(f, program->data, at + 4, 4));
	return true;
}
