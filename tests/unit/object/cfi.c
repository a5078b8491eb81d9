/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reader of call-frame information: sections made by hand in both byte orders, those of this program, and
 * truncated ones. */
#include "object/dwarf/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/writer.h"
#include "object/dwarf/expression.h"
#include "object/elf/elf_image.h"
#include "object/frame_numbers.h"
#include "unit_test.h"

static const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static void patch_length(struct writer *w, size_t start)
{
	while ((w->len - start) % 8 != 4)
		writer_u8(w, DW_CFA_nop);
	writer_patch_u32(w, start, (uint32_t)(w->len - start - 4));
}

/* Writes a .debug_frame of one function at [0x1000, 0x1040) that pushes register 6, uses DW_CFA_remember_state, and
 * pops. */
static void make_frame(struct writer *w, bool is_big)
{
	*w = (struct writer){.swap = is_big != host_is_big};
	writer_u32(w, 0);
	writer_u32(w, UINT32_MAX);
	writer_u8(w, 3);
	writer_u8(w, 0); /* The augmentation string is empty. */
	writer_u8(w, 1);
	writer_u8(w, 0x78); /* SLEB128 of -8. */
	writer_u8(w, 16);
	const uint8_t initial[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
	writer_bytes(w, initial, sizeof(initial));
	patch_length(w, 0);
	size_t fde = w->len;
	writer_u32(w, 0);
	writer_u32(w, 0);
	writer_u64(w, 0x1000);
	writer_u64(w, 0x40);
	const uint8_t program[] = {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		DW_CFA_advance_loc1, 3, DW_CFA_def_cfa_register, 6, DW_CFA_remember_state, DW_CFA_advance_loc | 16,
		DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6, DW_CFA_advance_loc | 4, DW_CFA_restore_state,
		DW_CFA_val_expression, 3, 1, DW_OP_lit5};
	writer_bytes(w, program, sizeof(program));
	patch_length(w, fde);
}

static struct cfi_table open_frame(const struct writer *w, size_t len)
{
	struct cfi_table table;
	struct cfi_section section = {.bytes = {w->data, len}, .swap = w->swap, .address_size = 8};
	assert_int_equal(cfi_open(&table, &section, NULL), TALLY_OK);
	return table;
}

/* Returns the entry that covers pc, or NULL. */
static const struct cfi_fde *cfi_find(const struct cfi_table *table, uint64_t pc)
{
	for (size_t i = 0; i < table->fdes.len; i++)
		if (table->fdes.items[i].low <= pc && pc < table->fdes.items[i].high)
			return &table->fdes.items[i];
	return NULL;
}

static struct cfi_row row_at(const struct cfi_table *table, uint64_t pc)
{
	struct cfi_row row;
	struct cfi_frame frame;
	const struct cfi_fde *fde = cfi_find(table, pc);
	assert_non_null(fde);
	assert_true(cfi_row_at(table, fde, pc, &row, &frame));
	assert_int_equal(frame.return_register, 16);
	assert_false(frame.is_signal);
	return row;
}

static void rows_of_a_function(void **state)
{
	(void)state;
	for (int is_big = 0; is_big < 2; is_big++) {
		struct writer w;
		make_frame(&w, is_big);
		struct cfi_table table = open_frame(&w, w.len);
		assert_int_equal(table.fdes.len, 1);
		assert_int_equal(table.damaged, 0);
		assert_null(cfi_find(&table, 0xfff));
		assert_null(cfi_find(&table, 0x1040));
		struct cfi_row row = row_at(&table, 0x1000);
		assert_int_equal(row.high, 0x1001);
		assert_int_equal(row.cfa_register, 7);
		assert_int_equal(row.cfa.value, 8);
		assert_int_equal(row.registers[16].value, -8);
		assert_int_equal(row.registers[6].kind, CFI_UNSET);
		row = row_at(&table, 0x1003);
		assert_int_equal(row.cfa.value, 16);
		assert_int_equal(row.registers[6].value, -16);
		row = row_at(&table, 0x1004);
		assert_int_equal(row.cfa_register, 6);
		row = row_at(&table, 0x1014);
		assert_int_equal(row.cfa_register, 7);
		assert_int_equal(row.registers[6].kind, CFI_UNSET);
		row = row_at(&table, 0x103f);
		assert_int_equal(row.cfa_register, 6);
		assert_int_equal(row.registers[6].value, -16);
		assert_int_equal(row.registers[3].kind, CFI_IS_EXPRESSION);
		assert_int_equal(cfi_expression(&table, &row.registers[3]).data[0], DW_OP_lit5);
		assert_int_equal(row.high, 0x1040);
		cfi_deinit(&table);
		writer_deinit(&w);
	}
}

static void cut_anywhere(void **state)
{
	(void)state;
	struct writer w;
	make_frame(&w, false);
	for (size_t len = 0; len < w.len; len++) {
		struct writer exact = {.data = malloc(len ? len : 1), .swap = w.swap};
		assert_non_null(exact.data);
		memcpy(exact.data, w.data, len);
		struct cfi_table table = open_frame(&exact, len);
		assert_int_equal(table.fdes.len, 0);
		cfi_deinit(&table);
		free(exact.data);
	}
	writer_deinit(&w);
}

/* The CFA and return address at the entry of every function of this program are the same. */
static void own_program(void **state)
{
	(void)state;
	struct elf_image *image;
	assert_int_equal(elf_image_open("/proc/self/exe", &image, NULL), TALLY_OK);
	struct tally_bytes bytes = elf_image_section(image, ".eh_frame");
	if (bytes.len == 0) {
		elf_image_close(image);
		skip_because("this program has no .eh_frame");
	}
	uint64_t address = 0;
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	uint64_t offset = (uint64_t)(bytes.data - elf_image_bytes(image).data);
	for (size_t i = 0; i < count; i++)
		if (offset >= segments[i].offset && offset - segments[i].offset < segments[i].file_size)
			address = offset - segments[i].offset + segments[i].vaddr;
	struct cfi_table table;
	struct cfi_section section = {.bytes = bytes, .address = address, .is_eh = true, .address_size = 8};
	assert_int_equal(cfi_open(&table, &section, NULL), TALLY_OK);
	assert_int_equal(table.damaged, 0);
	assert_true(table.fdes.len > 10);
	for (size_t i = 0; i < table.fdes.len; i++) {
		const struct cfi_fde *fde = &table.fdes.items[i];
		for (uint64_t pc = fde->low; pc < fde->high;) {
			struct cfi_row row;
			struct cfi_frame frame;
			assert_true(cfi_row_at(&table, fde, pc, &row, &frame));
			assert_true(row.low <= pc && row.high > pc);
			pc = row.high;
		}
	}
	cfi_deinit(&table);
	elf_image_close(image);
}

static bool read_register(void *context, uint64_t number, uint64_t *value)
{
	(void)context;
	*value = number * 0x100;
	return number < 8;
}

static bool read_memory(void *context, uint64_t address, unsigned size, uint64_t *value)
{
	(void)context;
	*value = address + size;
	return address != 0;
}

static bool evaluate(const uint8_t *bytes, size_t len, uint64_t *value)
{
	const struct dwarf_machine machine = {
		.read_register = read_register, .read_memory = read_memory, .swap = host_is_big, .address_size = 8};
	const uint64_t cfa = 0x5000;
	return dwarf_expression_run((struct tally_bytes){bytes, len}, &machine, &cfa, value);
}

static void expressions(void **state)
{
	(void)state;
	static const struct {
		uint8_t bytes[12];
		size_t len;
		uint64_t value;
		bool ok;
	} cases[] = {
		{{DW_OP_nop}, 0, 0x5000, true},
		{{DW_OP_plus_uconst, 8}, 2, 0x5008, true},
		{{DW_OP_breg7, 8, DW_OP_breg0 + 1, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
			 DW_OP_shl, DW_OP_plus},
			11, 0x708, true}, /* The expression of the PLT that the linker generates. */
		{{DW_OP_breg6, 0x78, DW_OP_deref}, 3, 0x600, true},
		{{DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit9, DW_OP_lit7}, 6, 7, true},
		{{DW_OP_lit1, DW_OP_lit0, DW_OP_div}, 3, 0, false},
		{{DW_OP_drop, DW_OP_drop}, 2, 0, false},
		{{DW_OP_skip, 0xfd, 0xff}, 3, 0, false}, /* An endless loop. */
		{{DW_OP_breg0 + 9, 0}, 2, 0, false},
		{{0xff}, 1, 0, false},
		{{DW_OP_const4u, 1}, 2, 0, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t value = 0;
		assert_int_equal(evaluate(cases[i].bytes, cases[i].len, &value), cases[i].ok);
		if (cases[i].ok)
			assert_int_equal(value, cases[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_a_function),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(own_program),
		cmocka_unit_test(expressions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
