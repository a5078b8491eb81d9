/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - finds the function of a program file that an address belongs to.
 *
 * Symbols belong to the caller (tally_symbols_close), and any thread may look up addresses. Names of symbols are valid
 * until tally_symbols_close.
 *
 *	struct tally_symbols *symbols = tally_symbols_open("/usr/bin/program", &err);
 *	struct tally_symbol symbol;
 *	if (tally_symbols_find(symbols, ip - map_start + map_file_offset, &symbol))
 *		printf("%s+0x%llx\n", symbol.name, ...);
 */
#ifndef TALLY_SYMBOLS_H
#define TALLY_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_symbols;

struct tally_symbol {
	const char *name; /* Name in the symbol table, not demangled. */
	uint64_t start, end; /* File offsets; the end is exclusive. */
};

/* Reads the symbols of the file, or of its separate debug file. Returns NULL on failure, and err (which may be NULL)
 * says why.
 * Threads: any. */
TALLY_API struct tally_symbols *tally_symbols_open(const char *path, struct tally_error *err);
/* Frees the symbols and their names; NULL is allowed.
 * Threads: one at a time for symbols, and no other call may follow. */
TALLY_API void tally_symbols_close(struct tally_symbols *symbols);
/* Finds the function that contains the byte at file_offset. Returns false if there is none.
 * Threads: any. */
TALLY_API bool tally_symbols_find(
	const struct tally_symbols *symbols, uint64_t file_offset, struct tally_symbol *symbol);

#ifdef __cplusplus
}
#endif

#endif
