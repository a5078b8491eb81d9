#include <stdlib.h>
#include <tally/symbols.h>

#include "base/error.h"
#include "code/binary_store.h"

struct tally_symbols {
	struct binary_store *store;
	uint32_t id;
};

static enum tally_status load(struct tally_symbols *symbols, const char *path, struct tally_error *err)
{
	const struct binary_key key = {.kind = BINARY_USER, .path = str_from(path), .pid = -1};
	enum tally_status st = binary_store_add(symbols->store, &key, &symbols->id, err);

	if (st != TALLY_OK)
		return st;
	binary_store_load(symbols->store, &symbols->id, 1);
	struct binary_info info = binary_store_info(symbols->store, symbols->id);
	if (info.symbol_count == 0)
		return error_set(err, TALLY_NOT_FOUND, "%s has no symbols%s%s", path, info.text ? ": " : "",
			info.text ? info.text : "");
	return TALLY_OK;
}

TALLY_API struct tally_symbols *tally_symbols_open(const char *path, struct tally_error *err)
{
	const struct binary_store_options options = {0};
	struct tally_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols) {
		error_nomem(err);
		return NULL;
	}
	enum tally_status st = binary_store_create(&options, &symbols->store, err);
	if (st == TALLY_OK)
		st = load(symbols, path, err);
	if (st == TALLY_OK)
		return symbols;
	tally_symbols_close(symbols);
	return NULL;
}

TALLY_API void tally_symbols_close(struct tally_symbols *symbols)
{
	if (!symbols)
		return;
	if (symbols->store)
		binary_store_destroy(symbols->store);
	free(symbols);
}

TALLY_API bool tally_symbols_find(
	const struct tally_symbols *symbols, uint64_t file_offset, struct tally_symbol *symbol)
{
	const struct symbol *found = binary_store_find(symbols->store, symbols->id, file_offset);

	if (!found)
		return false;
	*symbol = (struct tally_symbol){found->name, found->start, found->end};
	return true;
}
