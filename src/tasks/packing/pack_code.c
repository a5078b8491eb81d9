/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/packing/pack_code.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/order.h"
#include "code/disasm/disassembler.h"

/* Adds the symbol name of an address if it has one. Duplicates are removed later. */
static bool pack_code_add_name(struct binary_store *store, uint32_t id, uint64_t address, struct pack_object *object)
{
	struct pack_name name = {.address = address};
	return !binary_store_name_at(store, id, address, &name.name) || vec_push(&object->names, name);
}

static bool add_instructions(struct pack_codes *codes, struct binary_store *store, uint32_t id,
	const struct pack_code *packed, struct pack_object *object)
{
	const struct binary_code *code = &packed->code;
	struct disassembler_options options = {
		.elf_machine = code->elf_machine, .is_big_endian = code->is_big_endian, .is_64 = code->is_64};
	struct disassembler *disassembler;
	bool ok = pack_code_add_name(store, id, code->address, object);
	if (disassembler_create(&options, &disassembler, NULL) != TALLY_OK)
		return ok;
	for (size_t at = 0; at < code->bytes.len && ok;) {
		struct instruction instruction;
		struct tally_bytes left = {code->bytes.data + at, code->bytes.len - at};
		disassembler_next(disassembler, left, code->address + at, &instruction);
		ok = vec_push(&codes->addresses, packed->start + at);
		if (ok && (instruction.has_target || instruction.has_data))
			ok = pack_code_add_name(
				store, id, instruction.has_target ? instruction.target : instruction.data, object);
		at += instruction.size;
	}
	disassembler_destroy(disassembler);
	return ok;
}

enum piece { PIECE_ADDED, PIECE_LEFT_OUT, PIECE_OUT_OF_MEMORY };

/* Adds a piece of code (a function or a range). It is left out if it overlaps the previous one, cannot be read, or
 * exceeds the size limit. */
static enum piece pack_code_add_piece(struct pack_codes *codes, struct binary_store *store, uint32_t id, uint64_t start,
	uint64_t end, struct pack_object *object)
{
	struct pack_code packed = {.start = start};
	size_t known = object->codes.len;
	const struct pack_code *last = known ? &object->codes.items[known - 1] : NULL;
	if ((last && start < last->start + last->code.bytes.len) || codes->bytes > LIMIT_PACK_CODE ||
		binary_store_code(store, id, start, end, &packed.code, NULL) != TALLY_OK ||
		packed.code.bytes.len == 0 || packed.code.bytes.len > LIMIT_PACK_CODE - codes->bytes)
		return PIECE_LEFT_OUT;
	codes->bytes += packed.code.bytes.len;
	bool is_added = vec_push(&object->codes, packed) && add_instructions(codes, store, id, &packed, object);
	return is_added ? PIECE_ADDED : PIECE_OUT_OF_MEMORY;
}

bool pack_code_add(struct pack_codes *codes, struct binary_store *store, uint32_t id, const struct symbol *symbol,
	struct pack_object *object)
{
	uint64_t end = symbol->end;
	if (end - symbol->start > LIMIT_FUNCTION_BYTES)
		end = symbol->start + LIMIT_FUNCTION_BYTES;
	enum piece piece = pack_code_add_piece(codes, store, id, symbol->start, end, object);
	codes->functions += piece == PIECE_ADDED;
	codes->skipped += piece == PIECE_LEFT_OUT;
	return piece != PIECE_OUT_OF_MEMORY;
}

bool pack_code_add_unnamed(struct pack_codes *codes, struct binary_store *store, uint32_t id, uint64_t start,
	uint64_t end, struct pack_object *object)
{
	bool is_small = end - start <= LIMIT_FUNCTION_BYTES;
	return !is_small || pack_code_add_piece(codes, store, id, start, end, object) != PIECE_OUT_OF_MEMORY;
}

static int pack_code_by_address(const void *left, const void *right)
{
	const struct pack_name *a = left, *b = right;
	return COMPARE(a->address, b->address);
}

void pack_code_finish(struct pack_object *object)
{
	size_t kept = 0;
	if (object->names.len)
		qsort(object->names.items, object->names.len, sizeof(*object->names.items), pack_code_by_address);
	for (size_t i = 0; i < object->names.len; i++)
		if (kept == 0 || object->names.items[i].address != object->names.items[kept - 1].address)
			object->names.items[kept++] = object->names.items[i];
	object->names.len = kept;
}
