/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_go.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "code/disasm/disassembler.h"
#include "code/probing/probe_binary.h"
#include "code/probing/probe_symbols.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/dwarf/dwarf_unit.h"
#include "object/elf/elf_image.h"

#define PROBE_GO_RETURNS 6 /* Maximum number of return instructions that a message lists. */

bool probe_go_is_in(const struct probe_binary *binary)
{
	static const char *const sections[] = {
		".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo", ".note.go.buildid"};
	for (size_t i = 0; binary->image && i < ARRAY_LEN(sections); i++)
		if (elf_image_section(binary->image, sections[i]).len > 0)
			return true;
	return false;
}

/* Returns whether the code is not Go: C functions of a Go program run on stacks that the runtime does not move. */
static bool probe_go_is_other_code(const struct probe_place *place)
{
	const struct dwarf_unit *unit = place->scope.file ? place->scope.unit : NULL;
	return unit && unit->language != 0 && unit->language != DW_LANG_Go;
}

static struct tally_bytes probe_go_code(const struct probe_binary *binary, const struct probe_symbol *symbol)
{
	struct tally_bytes text = elf_image_section(binary->image, ".text");
	uint64_t start = elf_image_section_address(binary->image, ".text");
	bool is_there = symbol && symbol->address >= start && symbol->address - start < text.len;
	return is_there ? bytes_part(text, (size_t)(symbol->address - start), (size_t)symbol->size)
			: (struct tally_bytes){NULL, 0};
}

/* Prints "main.serve+27, main.serve+91", or nothing if the code is not available. */
static void probe_go_print_returns(struct probe_binary *binary, const struct probe_place *place, struct text *t)
{
	const struct disassembler_options options = {
		.elf_machine = elf_image_machine(binary->image), .is_64 = elf_image_pointer_bytes(binary->image) == 8};
	const struct probe_symbols *symbols;
	struct disassembler *disassembler;
	if (probe_binary_symbols(binary, &symbols, NULL) != TALLY_OK ||
		disassembler_create(&options, &disassembler, NULL) != TALLY_OK)
		return;
	const struct probe_symbol *symbol = probe_symbols_at(symbols, place->address);
	struct tally_bytes left = probe_go_code(binary, symbol);
	size_t count = 0;
	for (uint64_t at = 0; left.len > 0;) {
		struct instruction instruction;
		disassembler_next(disassembler, left, symbol->address + at, &instruction);
		if (instruction.kind == INSTRUCTION_RETURN && count++ < PROBE_GO_RETURNS)
			text_printf(t, "%s%s+%" PRIu64, count > 1 ? ", " : "", place->function, at);
		at += instruction.size;
		left = bytes_part(left, instruction.size, SIZE_MAX);
	}
	if (count > PROBE_GO_RETURNS)
		text_printf(t, " and %zu more", count - PROBE_GO_RETURNS);
	disassembler_destroy(disassembler);
}

enum tally_status probe_go_check_return(
	struct probe_binary *binary, const struct probe_place *place, struct tally_error *err)
{
	if (binary->kind != PROBE_PROGRAM || !probe_go_is_in(binary) || probe_go_is_other_code(place))
		return TALLY_OK;
	struct text returns = {0};
	probe_go_print_returns(binary, place, &returns);
	struct tally_str list = returns.failed ? STR("") : text_view(&returns);
	enum tally_status status = error_set(err, TALLY_UNSUPPORTED,
		"a return probe would end %s: it is a Go program, whose runtime finds the probe's address when it "
		"moves a stack; probe the return instructions of %s instead%s%.*s",
		binary->path, place->function, list.len ? ": " : "", (int)list.len, list.len ? list.data : "");
	text_deinit(&returns);
	return status;
}
