/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map.h - parses /tmp/perf-PID.map, which has a line "START SIZE name" in hex for each function of JIT code.
 *
 * The caller owns the text, which is modified (lines end in NUL) and must outlive the table, because names are borrowed
 * from it. Memory of JIT code is reused, and runtimes only append lines: if several lines cover an address, the last
 * one is valid there; if several lines have the same start, all but the last are ignored. Lines may end in CR LF. Bad
 * input: an invalid line is skipped.
 */
#ifndef CODE_SYMBOLS_PERF_MAP_H
#define CODE_SYMBOLS_PERF_MAP_H

#include "code/symbols/symbol_table.h"

/* Parses the map. text has a NUL after its len bytes, as file_read leaves it. Returns false if memory runs out. */
bool perf_map_parse(char *text, size_t len, struct symbol_table *table);

/* Range of the addresses of Python code that record generates (bpf/python_frames.h); it is above all addresses of
 * processes. */
#define PERF_MAP_PYTHON_START (UINT64_C(1) << 53)
#define PERF_MAP_PYTHON_END   (UINT64_C(1) << 54)
#define PERF_MAP_PYTHON_LINE \
	2 /* Addresses per line. A frame has the second one, because a return address is looked up one byte before. */

static inline bool perf_map_is_python(uint64_t address)
{
	return address >= PERF_MAP_PYTHON_START && address < PERF_MAP_PYTHON_END;
}
/* Splits the names of Python code, "py::NAME:FILE:FIRST LINE", in the parsed text: the symbol gets the name NAME,
 * followed in memory by FILE and FIRST LINE, each with a NUL. Each line has PERF_MAP_PYTHON_LINE addresses. */
void perf_map_split_python(struct symbol_table *table);

#endif
