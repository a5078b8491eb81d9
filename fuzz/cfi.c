/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as .eh_frame or .debug_frame: every row of every function, and the expressions in the rows. */
#include "object/dwarf/cfi.h"

#include "object/dwarf/expression.h"

static bool read_register(void *context, uint64_t number, uint64_t *value)
{
	(void)context;
	*value = number;
	return number < 32;
}

static bool read_memory(void *context, uint64_t address, unsigned size, uint64_t *value)
{
	(void)context;
	*value = address ^ size;
	return true;
}

static void run(const struct cfi_table *table, const struct cfi_rule *rule)
{
	const struct dwarf_machine machine = {
		.read_register = read_register, .read_memory = read_memory, .has_cfa = true, .address_size = 8};
	uint64_t value;
	if (rule->kind == CFI_AT_EXPRESSION || rule->kind == CFI_IS_EXPRESSION)
		(void)dwarf_expression_run(cfi_expression(table, rule), &machine, &machine.cfa, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_table table;
	uint8_t first = size ? data[0] : 0;
	struct cfi_section section = {.bytes = {data + (size > 0), size - (size > 0)},
		.address = 0x4000,
		.is_eh = first & 1,
		.swap = first & 2,
		.address_size = first & 4 ? 4 : 8};
	if (cfi_open(&table, &section, NULL) != TALLY_OK)
		return 0;
	for (size_t i = 0; i < table.fdes.len; i++) {
		const struct cfi_fde *fde = &table.fdes.items[i];
		uint64_t pc = fde->low;
		for (unsigned rows = 0; rows < 64 && pc < fde->high; rows++) {
			struct cfi_row row;
			struct cfi_frame frame;
			if (!cfi_row_at(&table, fde, pc, &row, &frame) || row.high <= pc)
				break;
			run(&table, &row.cfa);
			for (int r = 0; r < CFI_REGISTERS; r++)
				run(&table, &row.registers[r]);
			pc = row.high;
		}
	}
	cfi_deinit(&table);
	return 0;
}
