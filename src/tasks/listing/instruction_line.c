/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/instruction_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COMMENT_COLUMN 40

const char *instruction_line(
	const struct disassembler *disassembler, const struct instruction *from, const char *name, struct arena *arena)
{
	unsigned width = disassembler_mnemonic_width(disassembler);
	size_t len = strlen(from->mnemonic);
	size_t pad = width ? (len < width ? width - len : 0) + 1 : 8 - len % 8;
	const char *text =
		arena_printf(arena, "%s%*s%s", from->mnemonic, from->operands[0] ? (int)pad : 0, "", from->operands);
	if (text && from->has_target && name)
		text = arena_printf(arena, "%s <%s>", text, name);
	else if (text && from->has_data && name)
		text = arena_printf(arena, "%s        # %" PRIx64 " <%s>", text, from->data, name);
	else if (text && from->has_data)
		text = arena_printf(arena, "%s        # %" PRIx64, text, from->data);
	if (!text || !from->comment[0])
		return text;
	/* The comment for an immediate operand has a fixed column. */
	size_t used = strlen(text);
	int gap = from->comment[0] == '#' && used < COMMENT_COLUMN ? COMMENT_COLUMN - (int)used : 2;
	return arena_printf(arena, "%s%*s// %s", text, gap, "", from->comment);
}

const char *instruction_name(struct binary_store *store, uint32_t id, uint64_t address, struct arena *arena)
{
	struct binary_name name;
	if (!binary_store_name_at(store, id, address, &name))
		return NULL;
	const char *version = strchrnul(name.name, '@');
	const char *plain = *version ? arena_printf(arena, "%.*s", (int)(version - name.name), name.name) : name.name;
	const char *shown = plain ? binary_store_readable(store, plain, arena) : name.name;
	/* A huge offset is a negative one: addresses of the kernel are far above all symbols of a vDSO. */
	bool is_before = name.offset > address;
	uint64_t distance = is_before ? -name.offset : name.offset;
	const char *plt = name.is_plt ? "@plt" : "";
	if (distance == 0)
		return arena_printf(arena, "%s%s%s", shown, version, plt);
	return arena_printf(arena, "%s%s%s%c0x%" PRIx64, shown, version, plt, is_before ? '-' : '+', distance);
}
