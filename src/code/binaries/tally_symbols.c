/* SPDX-License-Identifier: Apache-2.0 */
/* Uses one binary_entry and its loader instead of the store, because the store also handles code and types, and would
 * make the library depend on a disassembler. */
#include <stdlib.h>
#include <tally/symbols.h>

#include "base/error.h"
#include "code/binaries/load_elf.h"

struct tally_symbols {
	struct binary_entry entry;
};

static enum tally_status tally_symbols_load(struct tally_symbols *symbols, const char *path, struct tally_error *err)
{
	const struct binary_store_options options = {0};
	const struct binary_key key = {.kind = BINARY_USER, .path = str_from(path), .pid = -1};
	struct binary_entry *entry = &symbols->entry;
	binary_entry_init(entry, &options, &key);
	load_user_file(&options, entry);
	entry->key.path = (struct tally_str){0}; /* The path belongs to the caller. */
	if (entry->symbols.symbols.len == 0)
		return error_set(err, TALLY_NOT_FOUND, "%s has no symbols%s%s", path, entry->text ? ": " : "",
			entry->text ? entry->text : "");
	return TALLY_OK;
}

TALLY_API struct tally_symbols *tally_symbols_open(const char *path, struct tally_error *err)
{
	struct tally_symbols *symbols = calloc(1, sizeof(*symbols));
	if (!symbols) {
		error_nomem(err);
		return NULL;
	}
	if (tally_symbols_load(symbols, path, err) == TALLY_OK)
		return symbols;
	tally_symbols_close(symbols);
	return NULL;
}

TALLY_API void tally_symbols_close(struct tally_symbols *symbols)
{
	if (!symbols)
		return;
	binary_entry_deinit(&symbols->entry);
	free(symbols);
}

TALLY_API bool tally_symbols_find(
	const struct tally_symbols *symbols, uint64_t file_offset, struct tally_symbol *symbol)
{
	const struct symbol *found = symbol_table_find(&symbols->entry.symbols, file_offset);
	if (!found)
		return false;
	*symbol = (struct tally_symbol){found->name, found->start, found->end};
	return true;
}
