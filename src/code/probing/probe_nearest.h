/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_nearest.h - finds the function that is meant by a misspelled name.
 *
 * Names are those of the file, or readable ones (of C++, Rust, D) without parameters. What they give lives as long as the
 * arena and the binary; NULL: none is near.
 *
 *	const char *name = probe_nearest_function(binary, STR("turm"), &arena);
 */
#ifndef CODE_PROBING_PROBE_NEAREST_H
#define CODE_PROBING_PROBE_NEAREST_H

#include "base/arena.h"
#include "code/probing/probe_binary.h"

/* By symbols of code. */
const char *probe_nearest_symbol(const struct probe_symbols *symbols, struct tally_str name, struct arena *arena);
/* By symbols, or else by the debug information that was read: it has functions that are inlined everywhere, or whose
 * symbols have suffixes of the compiler. */
const char *probe_nearest_function(struct probe_binary *binary, struct tally_str wanted, struct arena *arena);

#endif
