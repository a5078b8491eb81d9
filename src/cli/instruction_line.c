#include "cli/instruction_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COMMENT_COLUMN 40

void instruction_line(char *text, size_t text_bytes, const struct disassembler *disassembler,
	const struct instruction *from, const char *name)
{
	unsigned width = disassembler_mnemonic_width(disassembler);
	size_t len = strlen(from->mnemonic);
	size_t pad = width ? (len < width ? width - len : 0) + 1 : 8 - len % 8;
	int used = snprintf(
		text, text_bytes, "%s%*s%s", from->mnemonic, from->operands[0] ? (int)pad : 0, "", from->operands);
	size_t room = text_bytes - (size_t)used;
	if (from->has_target && name)
		used += snprintf(text + used, room, " <%s>", name);
	else if (from->has_data && name)
		used += snprintf(text + used, room, "        # %" PRIx64 " <%s>", from->data, name);
	else if (from->has_data)
		used += snprintf(text + used, room, "        # %" PRIx64, from->data);
	/* Behind an immediate in a column of its own. */
	int gap = from->comment[0] == '#' && used < COMMENT_COLUMN ? COMMENT_COLUMN - used : 2;
	if (from->comment[0] && (size_t)used < text_bytes)
		snprintf(text + used, text_bytes - (size_t)used, "%*s// %s", gap, "", from->comment);
}

bool instruction_name(
	char *text, size_t text_bytes, struct binary_store *store, uint32_t id, uint64_t address, struct arena *arena)
{
	struct binary_name name;
	if (!binary_store_name_at(store, id, address, &name))
		return false;
	const char *version = strchrnul(name.name, '@');
	const char *plain = *version ? arena_printf(arena, "%.*s", (int)(version - name.name), name.name) : name.name;
	const char *shown = plain ? binary_store_whole_name(store, plain, arena) : name.name;
	bool is_before = name.offset >> 63;
	uint64_t distance = is_before ? -name.offset : name.offset;
	int used = snprintf(text, text_bytes, "%s%s%s", shown, version, name.is_plt ? "@plt" : "");
	if (distance > 0 && used > 0 && (size_t)used < text_bytes)
		snprintf(text + used, text_bytes - (size_t)used, "%c0x%" PRIx64, is_before ? '-' : '+', distance);
	return true;
}
