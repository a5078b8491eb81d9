/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_symbols.h - lists the symbols of a binary that is probed: all names of an address, those of the PLT too.
 *
 * The list belongs to the caller (probe_symbols_free); names are borrowed from the binary.
 *
 *	struct probe_symbols *symbols;
 *	if (probe_binary_symbols(binary, &symbols, err) == TALLY_OK)
 *		const struct probe_symbol *main = probe_symbols_find(symbols, STR("main"));
 */
#ifndef CODE_PROBING_PROBE_SYMBOLS_H
#define CODE_PROBING_PROBE_SYMBOLS_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/vec.h"

struct probe_symbol {
	uint64_t address; /* as the program file has it */
	uint64_t size; /* 0: not said */
	const char *name; /* as the file has it; of the PLT "printf@plt" */
	bool is_code; /* in a section of code */
	bool is_function; /* false of code: a label */
	bool is_global;
	bool is_resolver; /* of an IFUNC */
};

struct probe_symbols {
	VEC(struct probe_symbol) items; /* by address; of one address global ones first */
	VEC(uint32_t) by_name; /* indexes of items, by name; of one name by address */
	VEC(uint64_t) ends; /* the highest end of items up to this one */
};

/* Sorts what was added to items. NOMEM only. */
TALLY_MUST_CHECK enum tally_status probe_symbols_finish(struct probe_symbols *symbols, struct tally_error *err);
void probe_symbols_free(struct probe_symbols *symbols);
/* The first of the symbols of this name, as an index of by_name; SIZE_MAX: none. */
size_t probe_symbols_find(const struct probe_symbols *symbols, struct tally_str name);
/* The function or label that covers an address; NULL: none. */
const struct probe_symbol *probe_symbols_at(const struct probe_symbols *symbols, uint64_t address);
/* C++, Rust or D; OCaml's and Java's names are not recognized. */
bool probe_symbol_is_mangled(const char *name);

#endif
