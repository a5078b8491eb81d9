/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_nearest.h - suggests a function for a misspelled name.
 *
 * The wanted name is compared with each name as it is in the file, and with its demangled form without parameters (C++,
 * Rust, D). A result lives as long as the arena and the binary; it is NULL if no name is similar.
 *
 *	const char *name = probe_nearest_function(binary, STR("turm"), &arena);
 */
#ifndef CODE_PROBING_PROBE_NEAREST_H
#define CODE_PROBING_PROBE_NEAREST_H

#include "base/arena.h"
#include "code/probing/probe_binary.h"

/* Searches the symbols of code. */
const char *probe_nearest_symbol(const struct probe_symbols *symbols, struct tally_str name, struct arena *arena);
/* Searches the symbols, and then the debug information that was read, which also has functions that are always inlined,
 * or that have symbols with a compiler's suffix. */
const char *probe_nearest_function(struct probe_binary *binary, struct tally_str wanted, struct arena *arena);

#endif
