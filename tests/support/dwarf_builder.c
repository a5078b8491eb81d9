/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf_builder.h"

#include <stdlib.h>

#include "base/array.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/frame_numbers.h"

enum {
	ABBREV_UNIT = 1,
	ABBREV_OUTER,
	ABBREV_MIDDLE,
	ABBREV_DEEP,
	ABBREV_NAMESPACE,
	ABBREV_SECOND,
	ABBREV_ABSTRACT,
	ABBREV_STRUCT,
	ABBREV_MEMBER
};

struct building {
	struct dwarf_builder *b;
	const struct dwarf_builder_kind *kind;
	size_t unit_length; /* Offset of the unit's length field in DWARF_INFO, which is patched at the end. */
	/* Offsets of the references to the abstract entries of middle and deep, and to the ranges of deep. */
	size_t references[3];
	size_t strings; /* Number of strings in DWARF_STR_OFFSETS so far. */
	size_t addresses;
};

static void uleb(struct writer *w, uint64_t v)
{
	while (v >= 0x80) {
		writer_u8(w, (uint8_t)(v | 0x80));
		v >>= 7;
	}
	writer_u8(w, (uint8_t)v);
}

static void text(struct writer *w, const char *t)
{
	writer_bytes(w, t, strlen(t) + 1);
}

static void offset(const struct building *g, struct writer *w, uint64_t v)
{
	if (g->kind->is_64)
		writer_u64(w, v);
	else
		writer_u32(w, (uint32_t)v);
}

/* Begins the length field of a table. Returns the offset of the contents that follow it. */
static size_t begin_length(const struct building *g, struct writer *w)
{
	if (g->kind->is_64)
		writer_u32(w, UINT32_MAX);
	offset(g, w, 0);
	return w->len;
}

static void end_length(const struct building *g, struct writer *w, size_t begin)
{
	if (g->kind->is_64)
		writer_patch_u64(w, begin - 8, w->len - begin);
	else
		writer_patch_u32(w, begin - 4, (uint32_t)(w->len - begin));
}

static void attr(struct writer *w, unsigned name, unsigned form)
{
	uleb(w, name);
	uleb(w, form);
}

static void begin_abbrev(struct writer *w, unsigned code, unsigned tag, bool has_children)
{
	uleb(w, code);
	uleb(w, tag);
	writer_u8(w, has_children);
}

static unsigned text_form(const struct building *g)
{
	return g->kind->is_indexed ? DW_FORM_strx1 : DW_FORM_strp;
}

static void make_abbrevs(const struct building *g, struct writer *w)
{
	unsigned address = g->kind->is_indexed ? DW_FORM_addrx : DW_FORM_addr;
	unsigned high = g->kind->version >= 4 ? DW_FORM_data4 : DW_FORM_addr;
	unsigned section = g->kind->version >= 4 ? DW_FORM_sec_offset : g->kind->is_64 ? DW_FORM_data8 : DW_FORM_data4;
	begin_abbrev(w, ABBREV_UNIT, DW_TAG_compile_unit, true);
	attr(w, DW_AT_name, text_form(g)); /* Compilers also write the name before the DW_AT_*_base attributes. */
	attr(w, DW_AT_comp_dir, DW_FORM_string);
	attr(w, DW_AT_language, DW_FORM_data2);
	attr(w, DW_AT_low_pc, address);
	attr(w, DW_AT_high_pc, high);
	attr(w, DW_AT_stmt_list, section);
	if (g->kind->is_indexed) {
		attr(w, DW_AT_str_offsets_base, DW_FORM_sec_offset);
		attr(w, DW_AT_addr_base, DW_FORM_sec_offset);
		attr(w, DW_AT_rnglists_base, DW_FORM_sec_offset);
	}
	attr(w, 0, 0);
	begin_abbrev(w, ABBREV_OUTER, DW_TAG_subprogram, true);
	attr(w, DW_AT_external, g->kind->version >= 4 ? DW_FORM_flag_present : DW_FORM_flag);
	attr(w, DW_AT_linkage_name, DW_FORM_string);
	attr(w, DW_AT_name, text_form(g));
	attr(w, DW_AT_frame_base, g->kind->version >= 4 ? DW_FORM_exprloc : DW_FORM_block1);
	attr(w, DW_AT_low_pc, address);
	attr(w, DW_AT_high_pc, high);
	attr(w, 0, 0);
	begin_abbrev(w, ABBREV_MIDDLE, DW_TAG_inlined_subroutine, true);
	attr(w, DW_AT_abstract_origin, DW_FORM_ref4);
	attr(w, DW_AT_low_pc, address);
	attr(w, DW_AT_high_pc, high);
	attr(w, DW_AT_call_file, DW_FORM_data1);
	attr(w, DW_AT_call_line, DW_FORM_udata);
	attr(w, 0, 0);
	begin_abbrev(w, ABBREV_DEEP, DW_TAG_inlined_subroutine, false);
	attr(w, DW_AT_abstract_origin, DW_FORM_ref_udata);
	attr(w, DW_AT_ranges, g->kind->is_indexed ? DW_FORM_rnglistx : section);
	attr(w, DW_AT_call_file, DW_FORM_data1);
	attr(w, DW_AT_call_line, DW_FORM_data2);
	attr(w, 0, 0);
	begin_abbrev(w, ABBREV_NAMESPACE, DW_TAG_namespace, true);
	attr(w, DW_AT_name, DW_FORM_string);
	attr(w, 0, 0);
	begin_abbrev(w, ABBREV_SECOND, DW_TAG_subprogram, false);
	attr(w, DW_AT_name, DW_FORM_string);
	attr(w, DW_AT_low_pc, address);
	attr(w, DW_AT_high_pc, high);
	attr(w, 0, 0);
	begin_abbrev(w, ABBREV_ABSTRACT, DW_TAG_subprogram, false);
	attr(w, DW_AT_name, DW_FORM_string);
	attr(w, DW_AT_inline, DW_FORM_data1);
	attr(w, 0, 0);
	begin_abbrev(w, ABBREV_STRUCT, DW_TAG_structure_type, true);
	attr(w, DW_AT_sibling, DW_FORM_ref4);
	attr(w, 0, 0);
	begin_abbrev(w, ABBREV_MEMBER, DW_TAG_member, false);
	attr(w, DW_AT_name, DW_FORM_string);
	attr(w, DW_AT_decl_line, DW_FORM_sdata);
	attr(w, 0, 0);
	writer_u8(w, 0);
}

static void put_text(struct building *g, const char *t)
{
	struct writer *info = &g->b->bytes[DWARF_INFO];
	struct writer *strings = &g->b->bytes[DWARF_STR];
	if (g->kind->is_indexed) {
		offset(g, &g->b->bytes[DWARF_STR_OFFSETS], strings->len);
		writer_u8(info, (uint8_t)g->strings++);
	} else {
		offset(g, info, strings->len);
	}
	text(strings, t);
}

static void put_address(struct building *g, uint64_t address)
{
	struct writer *info = &g->b->bytes[DWARF_INFO];
	if (!g->kind->is_indexed) {
		writer_u64(info, address);
		return;
	}
	uleb(info, g->addresses++);
	writer_u64(&g->b->bytes[DWARF_ADDR], address);
}

static void put_range(struct building *g, uint64_t low, uint64_t high)
{
	put_address(g, low);
	if (g->kind->version >= 4)
		writer_u32(&g->b->bytes[DWARF_INFO], (uint32_t)(high - low));
	else
		writer_u64(&g->b->bytes[DWARF_INFO], high);
}

static void put_unit(struct building *g)
{
	struct writer *w = &g->b->bytes[DWARF_INFO];
	uleb(w, ABBREV_UNIT);
	put_text(g, "unit.c");
	text(w, "/src");
	writer_u16(w, DW_LANG_C99);
	put_range(g, 0x1000, 0x1200);
	offset(g, w, 0); /* Offset of the line table. */
	if (g->kind->is_indexed) {
		/* The bases point past the headers of the tables (DWARF 5, section 7.26). */
		offset(g, w, g->kind->is_64 ? 16 : 8);
		offset(g, w, g->kind->is_64 ? 16 : 8);
		offset(g, w, g->kind->is_64 ? 20 : 12);
	}
}

static void put_outer(struct building *g)
{
	struct writer *w = &g->b->bytes[DWARF_INFO];
	uleb(w, ABBREV_OUTER);
	if (g->kind->version < 4)
		writer_u8(w, 1);
	text(w, "_outer");
	put_text(g, "outer");
	uleb(w, 1);
	writer_u8(w, DW_OP_call_frame_cfa);
	put_range(g, 0x1000, 0x1100);
	uleb(w, ABBREV_MIDDLE);
	g->references[0] = w->len;
	writer_u32(w, 0);
	put_range(g, 0x1010, 0x1050);
	writer_u8(w, 2);
	uleb(w, 20);
	uleb(w, ABBREV_DEEP);
	g->references[1] = w->len;
	writer_u8(w, 0);
	if (g->kind->is_indexed)
		uleb(w, 0);
	else
		offset(g, w, g->kind->version >= 5 ? (g->kind->is_64 ? 20u : 12u) : 0);
	writer_u8(w, 1);
	writer_u16(w, 30);
	uleb(w, 0); /* Ends the children of middle. */
	uleb(w, 0); /* Ends the children of outer. */
}

static void make_info(struct building *g)
{
	struct writer *w = &g->b->bytes[DWARF_INFO];
	size_t begin = begin_length(g, w);
	writer_u16(w, (uint16_t)g->kind->version);
	if (g->kind->version >= 5) {
		writer_u8(w, DW_UT_compile);
		writer_u8(w, 8);
	}
	offset(g, w, 0); /* Offset of the abbreviations. */
	if (g->kind->version < 5)
		writer_u8(w, 8);
	put_unit(g);
	/* The abstract entries come first, so that their offsets fit into one byte. */
	size_t deep = w->len;
	uleb(w, ABBREV_ABSTRACT);
	text(w, "deep");
	writer_u8(w, DW_INL_inlined);
	uleb(w, ABBREV_STRUCT);
	size_t sibling = w->len;
	writer_u32(w, 0);
	uleb(w, ABBREV_MEMBER);
	text(w, "field");
	writer_u8(w, 0x7f); /* SLEB128 of -1. */
	uleb(w, 0);
	writer_patch_u32(w, sibling, (uint32_t)w->len);
	put_outer(g);
	w->data[g->references[1]] = (uint8_t)deep;
	uleb(w, ABBREV_NAMESPACE);
	text(w, "space");
	uleb(w, ABBREV_SECOND);
	text(w, "second");
	put_range(g, 0x1100, 0x1180);
	uleb(w, 0);
	writer_patch_u32(w, g->references[0], (uint32_t)w->len);
	uleb(w, ABBREV_ABSTRACT);
	text(w, "middle");
	writer_u8(w, DW_INL_inlined);
	uleb(w, 0);
	end_length(g, w, begin);
}

static void make_ranges(struct building *g)
{
	struct writer *w = &g->b->bytes[DWARF_RANGES];
	if (g->kind->version < 5) {
		const uint64_t pairs[] = {0x20, 0x30, UINT64_MAX, 0x1000, 0x40, 0x44, 0, 0};
		for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
			writer_u64(w, pairs[i]);
		return;
	}
	w = &g->b->bytes[DWARF_RNGLISTS];
	size_t begin = begin_length(g, w);
	writer_u16(w, 5);
	writer_u8(w, 8);
	writer_u8(w, 0);
	writer_u32(w, g->kind->is_indexed);
	if (g->kind->is_indexed)
		offset(g, w, g->kind->is_64 ? 8 : 4);
	writer_u8(w, DW_RLE_offset_pair);
	uleb(w, 0x20);
	uleb(w, 0x30);
	writer_u8(w, DW_RLE_start_length);
	writer_u64(w, 0x1040);
	uleb(w, 4);
	writer_u8(w, DW_RLE_end_of_list);
	end_length(g, w, begin);
}

static void put_names(struct building *g, struct writer *w)
{
	if (g->kind->version < 5) {
		text(w, "include");
		writer_u8(w, 0);
		text(w, "unit.c");
		writer_zeros(w, 3);
		text(w, "header.h");
		uleb(w, 1);
		writer_zeros(w, 2);
		writer_u8(w, 0);
		return;
	}
	struct writer *strings = &g->b->bytes[DWARF_LINE_STR];
	const char *const directories[] = {"/src", "include"};
	const char *const files[] = {"unit.c", "unit.c", "header.h"};
	writer_u8(w, 1);
	attr(w, DW_LNCT_path, DW_FORM_line_strp);
	uleb(w, 2);
	for (size_t i = 0; i < 2; i++) {
		offset(g, w, strings->len);
		text(strings, directories[i]);
	}
	writer_u8(w, 3);
	attr(w, DW_LNCT_path, DW_FORM_string);
	attr(w, DW_LNCT_directory_index, DW_FORM_udata);
	attr(w, DW_LNCT_MD5, DW_FORM_data16);
	uleb(w, 3);
	for (size_t i = 0; i < 3; i++) {
		text(w, files[i]);
		uleb(w, i == 2);
		writer_zeros(w, 16);
	}
}

static void make_lines(struct building *g)
{
	struct writer *w = &g->b->bytes[DWARF_LINE];
	size_t begin = begin_length(g, w);
	writer_u16(w, (uint16_t)g->kind->version);
	if (g->kind->version >= 5) {
		writer_u8(w, 8);
		writer_u8(w, 0);
	}
	size_t header_length = w->len;
	offset(g, w, 0);
	writer_u8(w, 1); /* minimum_instruction_length */
	if (g->kind->version >= 4)
		writer_u8(w, 1); /* maximum_operations_per_instruction */
	writer_u8(w, 1);
	writer_u8(w, (uint8_t)-3);
	writer_u8(w, 12);
	writer_u8(w, 10);
	writer_bytes(w, "\0\1\1\1\1\0\0\0\1", 9);
	put_names(g, w);
	if (g->kind->is_64)
		writer_patch_u64(w, header_length, w->len - header_length - 8);
	else
		writer_patch_u32(w, header_length, (uint32_t)(w->len - header_length - 4));
	writer_bytes(w, "\0\x9\x2", 3); /* Extended opcode DW_LNE_set_address. */
	writer_u64(w, 0x1000);
	writer_u8(w, DW_LNS_copy);
	writer_bytes(w, "\x4\x2\x3\xa\x2\x10\x1", 7); /* file 2, line + 10, address + 16, copy */
	writer_u8(w, (uint8_t)(10 + 12 * 16 + 4)); /* address + 16, line + 1 */
	writer_bytes(w, "\0\2\4\7", 4); /* Extended opcode: discriminator 7, which applies to the next row. */
	writer_u8(w, (uint8_t)(10 + 12 * 16 + 4));
	writer_bytes(w, "\0\3\4\xff\x7f", 5); /* A discriminator that is too large to be stored. */
	writer_bytes(w, "\x4\x1\x3\x78\x9", 5); /* file 1, line - 8, address + 0x20 */
	writer_u16(w, 0x20);
	writer_u8(w, DW_LNS_copy);
	writer_bytes(w, "\x3\x23\x2\xb0\x1\x1", 6); /* line + 35, address + 0xb0, copy */
	writer_bytes(w, "\x2\x80\x1\0\x1\x1", 6); /* address + 0x80, end */
	end_length(g, w, begin);
}

static void begin_tables(struct building *g)
{
	if (!g->kind->is_indexed)
		return;
	for (int i = DWARF_ADDR; i <= DWARF_STR_OFFSETS; i++) {
		struct writer *w = &g->b->bytes[i];
		(void)begin_length(g, w);
		writer_u16(w, 5);
		writer_u16(w, i == DWARF_ADDR ? 8 : 0);
	}
}

void dwarf_builder_make(struct dwarf_builder *b, const struct dwarf_builder_kind *kind)
{
	*b = (struct dwarf_builder){.swap = kind->is_big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)};
	struct building g = {.b = b, .kind = kind};
	for (int i = 0; i < DWARF_SECTIONS; i++)
		b->bytes[i].swap = b->swap;
	begin_tables(&g);
	make_abbrevs(&g, &b->bytes[DWARF_ABBREV]);
	make_info(&g);
	make_ranges(&g);
	make_lines(&g);
	for (int i = 0; i < DWARF_SECTIONS; i++)
		b->sections[i] = writer_view(&b->bytes[i]);
}

static void change(struct dwarf_builder *b, size_t at, uint8_t value)
{
	size_t total = 0;
	for (int i = 0; i < DWARF_SECTIONS; i++)
		total += b->bytes[i].len;
	at %= total;
	for (int i = 0; i < DWARF_SECTIONS; i++) {
		if (at < b->bytes[i].len) {
			b->bytes[i].data[at] = value;
			return;
		}
		at -= b->bytes[i].len;
	}
}

void dwarf_builder_make_from(struct dwarf_builder *b, const uint8_t *data, size_t size)
{
	uint8_t first = size ? data[0] : 0;
	struct dwarf_builder_kind kind = {.version = 2 + (first & 3), .is_big = first & 4, .is_64 = first & 8};
	kind.is_indexed = kind.version == 5 && (first & 16);
	kind.is_64 = kind.is_64 && kind.version > 2;
	if (!(first & 0x80)) {
		dwarf_builder_make(b, &kind);
		for (size_t i = 1; i + 2 < size; i += 3)
			change(b, (size_t)data[i] | (size_t)data[i + 1] << 8, data[i + 2]);
		return;
	}
	*b = (struct dwarf_builder){.swap = kind.is_big};
	size_t at = 1;
	for (int i = 0; i < DWARF_SECTIONS && at + 2 <= size; i++) {
		size_t length = (size_t)data[at] | (size_t)data[at + 1] << 8;
		at += 2;
		length = MIN(length, size - at);
		writer_bytes(&b->bytes[i], data + at, length);
		b->sections[i] = writer_view(&b->bytes[i]);
		at += length;
	}
}

void dwarf_builder_deinit(struct dwarf_builder *b)
{
	for (int i = 0; i < DWARF_SECTIONS; i++)
		writer_deinit(&b->bytes[i]);
}
