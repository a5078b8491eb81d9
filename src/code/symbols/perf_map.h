/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map.h - parses /tmp/perf-PID.map, which has a line "START SIZE name" in hex for each function of generated code.
 *
 * The caller owns the text, which is changed (lines end in NUL) and outlives the table: names are borrowed from it.
 * Memory of generated code is reused and runtimes only append lines: of several lines that cover an address the last one
 * counts, and of lines that begin at one address the others count nowhere. Lines may end in CR LF. Bad input: an invalid
 * line is skipped.
 */
#ifndef CODE_SYMBOLS_PERF_MAP_H
#define CODE_SYMBOLS_PERF_MAP_H

#include "code/symbols/symbol_table.h"

/* text has a NUL after its len bytes, as file_read leaves it. False: out of memory. */
bool perf_map_parse(char *text, size_t len, struct symbol_table *table);

/* Where addresses of Python's code begin, which record makes (bpf/python_frames.h): above all that processes have. */
#define PERF_MAP_PYTHON_START (UINT64_C(1) << 53)
#define PERF_MAP_PYTHON_END   (UINT64_C(1) << 54)
#define PERF_MAP_PYTHON_LINE \
	2 /* addresses of a line: a frame has the second, and is found if it is taken for a return address */

static inline bool perf_map_is_python(uint64_t address)
{
	return address >= PERF_MAP_PYTHON_START && address < PERF_MAP_PYTHON_END;
}
/* Splits the names of such code, "py::NAME:FILE:FIRST LINE", in the text that was parsed: the symbol is called NAME,
 * and behind the NUL that ends it are FILE and FIRST LINE, with a NUL each. Each line has PERF_MAP_PYTHON_LINE addresses. */
void perf_map_split_python(struct symbol_table *table);

#endif
