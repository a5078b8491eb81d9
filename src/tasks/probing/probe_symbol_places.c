/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_symbol_places.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "code/demangle/demangle.h"
#include "code/probing/probe_nearest.h"

struct probe_symbol_search {
	struct probe_binary *binary;
	const struct probe_point *point;
	const struct probe_convert_options *options;
	const struct probe_symbols *symbols;
	struct probe_places *places;
	struct tally_error *err;
};

static const char *probe_symbol_where(const struct probe_binary *binary)
{
	return binary->kind == PROBE_KERNEL && !binary->image ? "kernel" : binary->path;
}

/* Compares the symbol's name, and its demangled name with and without parameters. */
static bool probe_symbol_fits(const struct probe_symbol_search *search, const char *name, struct arena *arena)
{
	struct tally_str wanted = search->point->function;
	if (str_glob(wanted, str_from(name)))
		return true;
	if (search->options->no_demangle || !probe_symbol_is_mangled(name))
		return false;
	const char *readable = demangle(arena, name);
	size_t bars;
	const struct tally_str whole = str_from(readable);
	const struct tally_str bare = {readable, MIN(demangle_length(name, &bars), whole.len)};
	return str_glob(wanted, whole) || str_glob(wanted, bare);
}

static enum tally_status probe_symbol_add(const struct probe_symbol_search *search, const struct probe_symbol *symbol)
{
	const struct probe_point *point = search->point;
	struct probe_places *places = search->places;
	if (point->offset > 0 && symbol->size > 0 && point->offset >= symbol->size)
		return error_set(search->err, TALLY_NOT_FOUND, "Offset %" PRIu64 " is bigger than the size of %s",
			point->offset, symbol->name);
	if (places->items.len >= search->options->max_places)
		return error_set(search->err, TALLY_LIMIT,
			"Too many( > %zu) probe point found.\n"
			"Too many functions matched in %s: --max-probes=N allows more.",
			search->options->max_places, probe_symbol_where(search->binary));
	const char *readable = search->options->no_demangle ? symbol->name : demangle(&places->arena, symbol->name);
	const struct probe_place place = {.address = symbol->address + point->offset,
		.file_offset = probe_binary_offset(search->binary, symbol->address + point->offset),
		.function = readable,
		.symbol = symbol->name,
		.entry = symbol->address,
		.is_entry = point->offset == 0,
		.is_return = point->is_return};
	if (symbol->is_resolver) {
		const char *note = arena_printf(&places->arena,
			"%s is an indirect function (IFUNC): the probe is in the code that chooses its implementation, "
			"which runs once per program. Probe the implementation that it chooses.",
			symbol->name);
		if (!note || !vec_push(&places->notes, note))
			return error_nomem(search->err);
	}
	return vec_push(&places->items, place) ? TALLY_OK : error_nomem(search->err);
}

/* Adds the places of all functions that fit the name or pattern. If several names of one address fit, only the first is
 * used. */
static enum tally_status probe_symbol_add_matching(const struct probe_symbol_search *search)
{
	struct arena arena;
	enum tally_status status = TALLY_OK;
	uint64_t last = 0;
	bool has_last = false;
	arena_init(&arena);
	for (size_t i = 0; i < search->symbols->items.len && status == TALLY_OK; i++) {
		const struct probe_symbol *symbol = &search->symbols->items.items[i];
		/* A label without a type may stand before data in a section of code, which a probe would overwrite. */
		if (!symbol->is_function || (has_last && symbol->address == last) ||
			!probe_symbol_fits(search, symbol->name, &arena))
			continue;
		status = probe_symbol_add(search, symbol);
		last = symbol->address;
		has_last = true;
	}
	arena_deinit(&arena);
	return status;
}

static enum tally_status probe_symbol_add_named(const struct probe_symbol_search *search, struct tally_str name)
{
	const struct probe_symbols *symbols = search->symbols;
	enum tally_status status = TALLY_OK;
	size_t at = probe_symbols_find(symbols, name);
	for (; at < symbols->by_name.len && status == TALLY_OK; at++) {
		const struct probe_symbol *symbol = &symbols->items.items[symbols->by_name.items[at]];
		if (!str_equal(str_from(symbol->name), name))
			break;
		if (symbol->is_code)
			status = probe_symbol_add(search, symbol);
	}
	return status;
}

static enum tally_status probe_symbol_add_address(const struct probe_symbol_search *search)
{
	uint64_t address = search->point->address, start = address;
	struct probe_binary *binary = search->binary;
	const char *symbol = probe_binary_symbol_at(binary, address, &start);
	uint64_t offset = probe_binary_offset(binary, address);
	/* As in perf, an offset in the file is accepted, too. */
	if (offset == UINT64_MAX && binary->image && address < elf_image_bytes(binary->image).len)
		offset = address;
	if (binary->kind == PROBE_PROGRAM ? offset == UINT64_MAX : !symbol)
		return error_set(search->err, TALLY_NOT_FOUND, "0x%" PRIx64 " is out of the code of %s, skip it.",
			address, probe_symbol_where(binary));
	const char *name = arena_printf(&search->places->arena, "abs_%" PRIx64, address);
	const struct probe_place place = {.address = address,
		.file_offset = offset,
		.function = name,
		.symbol = symbol,
		.entry = start,
		.is_return = search->point->is_return};
	return name && vec_push(&search->places->items, place) ? TALLY_OK : error_nomem(search->err);
}

enum tally_status probe_symbol_places_refuse(
	struct probe_binary *binary, struct tally_str name, const char *message, struct tally_error *err)
{
	struct arena arena;
	arena_init(&arena);
	const char *nearest = probe_nearest_function(binary, name, &arena);
	enum tally_status status =
		nearest ? error_set(err, TALLY_NOT_FOUND, "%s\n Did you mean '%s'?", message, nearest)
			: error_set(err, TALLY_NOT_FOUND, "%s", message);
	arena_deinit(&arena);
	return status;
}

/* Returns whether the program is stripped. Such programs still have names for the functions that they call through the
 * PLT. */
static bool probe_symbol_is_stripped(const struct probe_symbols *symbols)
{
	for (size_t i = 0; i < symbols->items.len; i++) {
		const struct probe_symbol *symbol = &symbols->items.items[i];
		const struct tally_str name = str_from(symbol->name);
		if (symbol->is_code && !str_ends_with(name, STR("@plt")) && !str_equal(name, STR(".plt")))
			return false;
	}
	return true;
}

enum tally_status probe_symbol_places_find(struct probe_binary *binary, const struct probe_point *point,
	const struct probe_convert_options *options, struct probe_places *places, struct tally_error *err)
{
	struct probe_symbol_search search = {
		.binary = binary, .point = point, .options = options, .places = places, .err = err};
	size_t before = places->items.len;
	enum tally_status status = probe_binary_symbols(binary, &search.symbols, err);
	if (status != TALLY_OK)
		return status;
	if (point->has_address)
		return probe_symbol_add_address(&search);
	const char *version = memchr(point->function.data, '@', point->function.len);
	status = probe_symbol_add_named(&search, point->function);
	if (status == TALLY_OK && places->items.len == before)
		status = probe_symbol_add_matching(&search);
	if (status == TALLY_OK && places->items.len == before && version)
		status = probe_symbol_add_named(
			&search, (struct tally_str){point->function.data, (size_t)(version - point->function.data)});
	const char *plt = arena_printf(&places->arena, "%.*s@plt", (int)point->function.len, point->function.data);
	if (status == TALLY_OK && places->items.len == before && plt)
		status = probe_symbol_add_named(&search, str_from(plt));
	if (status != TALLY_OK || places->items.len > before)
		return status;
	if (probe_symbol_is_stripped(search.symbols))
		return error_set(err, TALLY_NOT_FOUND,
			"Failed to load symbols from %s\nPlease ensure the file is not stripped, or use an address: "
			"0xADDRESS.",
			binary->path);
	const char *message = arena_printf(&places->arena, "Failed to find symbol %.*s in %s", (int)point->function.len,
		point->function.data, probe_symbol_where(binary));
	return message ? probe_symbol_places_refuse(binary, point->function, message, err) : error_nomem(err);
}
