/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_code.h"

#include "analysis/store_entry.h"
#include "base/array.h"
#include "base/limits.h"
#include "tasks/listing/instruction_line.h"

#define WIDEST_INSTRUCTION 16
#define KERNEL_PAGE_BYTES  UINT64_C(4096) /* Range that is read at once if the address is in no known function. */

void script_code_init(struct script_code *code, struct script_places *places, struct binary_store *store)
{
	*code = (struct script_code){.places = places, .store = store, .machine.elf_machine = UINT_MAX};
}

void script_code_deinit(struct script_code *code)
{
	disassembler_destroy(code->disassembler);
	map_u64_deinit(&code->kernel_ranges);
	vec_free(&code->codes);
	*code = (struct script_code){0};
}

bool script_code_find(struct script_code *code, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct script_spot *spot)
{
	struct resolver *resolver = code->places->resolver;
	*spot = (struct script_spot){.store_id = STORE_ENTRY_NONE, .ip = ip};
	uint32_t frame = resolver_frame(resolver, where, cpumode, ip);
	if (resolver->failed)
		return false;
	struct resolved_frame resolved = resolved_frame_get(&resolver->frames, frame);
	if (resolved.binary == RESOLVE_NONE)
		return true;
	const struct machine_binary *binary = machine_binary_get(code->places->machine, resolved.binary);
	spot->is_kernel = binary->kind == MACHINE_KERNEL || binary->kind == MACHINE_KERNEL_MODULE;
	spot->address = resolved.address;
	return frame_names_store_id(code->places->names, resolved.binary, &spot->store_id, NULL) == TALLY_OK;
}

/* The code of a kernel function is read once and belongs to the store's arena. Returns NULL if it is not available. */
static const struct binary_code *kernel_code(struct script_code *code, uint32_t store_id, uint64_t address)
{
	const struct symbol *symbol = binary_store_find(code->store, store_id, address);
	uint64_t start = address - address % KERNEL_PAGE_BYTES;
	uint64_t end = start + KERNEL_PAGE_BYTES + WIDEST_INSTRUCTION;
	if (symbol && symbol->end - symbol->start <= LIMIT_FUNCTION_BYTES) {
		start = symbol->start;
		end = symbol->end;
	}
	bool is_new;
	uint64_t *slot = map_u64_at(&code->kernel_ranges, start, &is_new);
	if (!slot)
		return NULL;
	if (is_new) {
		struct binary_code found = {0};
		if (binary_store_code(code->store, store_id, start, end, &found, NULL) != TALLY_OK)
			found.bytes.len = 0;
		if (!vec_push(&code->codes, found))
			return NULL;
		*slot = code->codes.len;
	}
	return *slot ? &code->codes.items[*slot - 1] : NULL;
}

/* Finds the code at ip, at most as many bytes as the longest instruction has. Returns false if it is not available. */
static bool code_at(struct script_code *code, const struct script_spot *spot, uint64_t ip, struct binary_code *found)
{
	uint64_t address = spot->address + (ip - spot->ip);
	if (spot->store_id == STORE_ENTRY_NONE)
		return false;
	if (!spot->is_kernel)
		return address <= UINT64_MAX - WIDEST_INSTRUCTION &&
		       binary_store_code(code->store, spot->store_id, address, address + WIDEST_INSTRUCTION, found,
			       NULL) == TALLY_OK &&
		       found->bytes.len > 0;
	const struct binary_code *whole = kernel_code(code, spot->store_id, address);
	uint64_t inside = whole ? address - whole->address : 0;
	if (!whole || inside >= whole->bytes.len)
		return false;
	size_t left = whole->bytes.len - (size_t)inside;
	*found = *whole;
	found->bytes = (struct tally_bytes){whole->bytes.data + inside, MIN(left, WIDEST_INSTRUCTION)};
	found->address = address;
	return true;
}

static bool open_disassembler(struct script_code *code, const struct binary_code *found)
{
	const struct disassembler_options *now = &code->machine;
	if (now->elf_machine == found->elf_machine && now->is_big_endian == found->is_big_endian &&
		now->is_64 == found->is_64)
		return code->disassembler != NULL;
	disassembler_destroy(code->disassembler);
	code->disassembler = NULL;
	code->machine = (struct disassembler_options){
		.elf_machine = found->elf_machine, .is_big_endian = found->is_big_endian, .is_64 = found->is_64};
	struct tally_error error;
	if (disassembler_create(&code->machine, &code->disassembler, &error) == TALLY_OK)
		return true;
	if (code->problem.status == TALLY_OK)
		code->problem = error;
	return false;
}

bool script_code_decode(struct script_code *code, const struct script_spot *spot, uint64_t ip, struct script_step *step)
{
	struct binary_code found;
	if (!code_at(code, spot, ip, &found) || !open_disassembler(code, &found))
		return false;
	disassembler_next(code->disassembler, found.bytes, ip, &step->instruction);
	step->bytes = (struct tally_bytes){found.bytes.data, step->instruction.size};
	step->moved = ip - found.address;
	return step->instruction.kind != INSTRUCTION_BAD;
}

size_t script_code_read(struct script_code *code, const struct script_spot *spot, void *buffer, size_t len)
{
	struct binary_code found;
	size_t done = 0;
	while (done < len && code_at(code, spot, spot->ip + done, &found)) {
		size_t part = MIN(found.bytes.len, len - done);
		memcpy((uint8_t *)buffer + done, found.bytes.data, part);
		done += part;
	}
	return done;
}

size_t script_print_bytes(struct text *t, struct tally_bytes bytes)
{
	size_t start = t->len;
	for (size_t i = 0; i < bytes.len; i++) {
		text_hex(t, bytes.data[i], 2);
		text_char(t, ' ');
	}
	return t->len - start;
}

void script_print_instruction(
	struct script_code *code, struct text *t, const struct script_spot *spot, const struct script_step *step)
{
	const struct instruction *instruction = &step->instruction;
	struct arena texts;
	const char *name = NULL;
	arena_init(&texts);
	if (instruction->has_target || instruction->has_data) {
		uint64_t to = instruction->has_target ? instruction->target : instruction->data;
		name = instruction_name(code->store, spot->store_id, to - step->moved, &texts);
	}
	const char *line = instruction_line(code->disassembler, instruction, name, &texts);
	text_str(t, line ? line : instruction->mnemonic);
	arena_deinit(&texts);
}

bool script_print_code(struct script_code *code, struct text *t, const struct resolve_where *where, unsigned cpumode,
	uint64_t ip, uint64_t fields)
{
	struct script_spot spot;
	struct script_step step;
	if (!script_code_find(code, where, cpumode, ip, &spot))
		return false;
	bool is_known = script_code_decode(code, &spot, ip, &step);
	if (fields & FIELD_INSNLEN)
		text_printf(t, " ilen: %u", is_known ? step.instruction.size : 0);
	if ((fields & FIELD_INSN) && is_known) {
		text_str(t, " insn:");
		for (size_t i = 0; i < step.bytes.len; i++) {
			text_char(t, ' ');
			text_hex(t, step.bytes.data[i], 2);
		}
	}
	if ((fields & FIELD_DISASM) && is_known) {
		text_str(t, "\t\t");
		script_print_instruction(code, t, &spot, &step);
	}
	return true;
}
