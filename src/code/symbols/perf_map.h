/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map.h - parses /tmp/perf-PID.map, which has a line "START SIZE name" in hex for each function of generated code.
 *
 * The caller owns the text, which is changed (lines end in NUL) and outlives the table: names are borrowed from it.
 * Memory of generated code is reused: of several functions at one address the last one counts. Bad input: an invalid
 * line is skipped.
 */
#ifndef CODE_SYMBOLS_PERF_MAP_H
#define CODE_SYMBOLS_PERF_MAP_H

#include "code/symbols/symbol_table.h"

/* text has a NUL after its len bytes, as file_read leaves it. False: out of memory. */
bool perf_map_parse(char *text, size_t len, struct symbol_table *table);

#endif
