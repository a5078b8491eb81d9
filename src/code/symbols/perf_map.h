/*
 * perf_map.h - /tmp/perf-PID.map: "START SIZE name" in hex, one function of JIT code a line. Names are copied.
 * Bad input: a line that is none is skipped.
 */
#ifndef CODE_SYMBOLS_PERF_MAP_H
#define CODE_SYMBOLS_PERF_MAP_H

#include "base/arena.h"
#include "code/symbols/symbol_table.h"

bool perf_map_parse(struct tally_str text, struct arena *arena, struct symbol_table *table);

#endif
