/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_symbols.h - lists the symbols of a probed binary: all names of an address, including those of the PLT.
 *
 * The caller owns the list (probe_symbols_free); names are borrowed from the binary.
 *
 *	const struct probe_symbols *symbols;
 *	if (probe_binary_symbols(binary, &symbols, err) == TALLY_OK)
 *		const struct probe_symbol *symbol = probe_symbols_at(symbols, address);
 */
#ifndef CODE_PROBING_PROBE_SYMBOLS_H
#define CODE_PROBING_PROBE_SYMBOLS_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/vec.h"

struct probe_symbol {
	uint64_t address; /* Address as in the program file. */
	uint64_t size; /* Size in bytes; 0 if not known. */
	const char *name; /* Name as in the file; "printf@plt" for an entry of the PLT. */
	bool is_code; /* It is in a section of code. */
	bool is_function; /* False for code means that it is a label. */
	bool is_global;
	bool is_resolver; /* It is the resolver of an IFUNC. */
};

struct probe_symbols {
	VEC(struct probe_symbol) items; /* Sorted by address; at one address, functions first, then global ones. */
	VEC(uint32_t) by_name; /* Indexes of items, sorted by name, then by address. */
	VEC(uint64_t) ends; /* ends[i] is the highest end of items[0..i]. */
};

/* Sorts the items and builds the indexes. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status probe_symbols_finish(struct probe_symbols *symbols, struct tally_error *err);
void probe_symbols_free(struct probe_symbols *symbols);
/* Returns the first symbol with this name, as an index of by_name; SIZE_MAX if none. */
size_t probe_symbols_find(const struct probe_symbols *symbols, struct tally_str name);
/* Returns the function or label that contains an address; NULL if none. */
const struct probe_symbol *probe_symbols_at(const struct probe_symbols *symbols, uint64_t address);
/* Returns whether it is a mangled name of C++, Rust or D; OCaml and Java names are not recognized. */
bool probe_symbol_is_mangled(const char *name);

#endif
