/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - finds the function of a program file that an address belongs to.
 *
 * Symbols belong to the caller (tally_symbols_close); look-ups may come from any thread. Names stay valid until then.
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
	const char *name; /* as in the file */
	uint64_t start, end; /* file offsets, end exclusive */
};

/* Of the file itself, or of its separate debug file. NULL: err (may be NULL) tells why.
 * Threads: any. */
TALLY_API struct tally_symbols *tally_symbols_open(const char *path, struct tally_error *err);
/* Closes the file; the names go with it. NULL is fine.
 * Threads: one at a time for symbols, the last. */
TALLY_API void tally_symbols_close(struct tally_symbols *symbols);
/* The function that covers a byte of the file; false if none does.
 * Threads: any. */
TALLY_API bool tally_symbols_find(
	const struct tally_symbols *symbols, uint64_t file_offset, struct tally_symbol *symbol);

#ifdef __cplusplus
}
#endif

#endif
