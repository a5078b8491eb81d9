/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_prologue.h - finds where the prologue of a function ends: code that was compiled without optimization stores the
 * parameters in the stack first, where the debug information says that they are from the beginning.
 *
 *	if (probe_prologue_find(functions, code, entry, &prologue)) ... prologue.end
 */
#ifndef CODE_PROBING_PROBE_PROLOGUE_H
#define CODE_PROBING_PROBE_PROLOGUE_H

#include "code/probing/probe_functions.h"

struct probe_prologue {
	uint64_t end; /* its first address behind the prologue; the entry: there is none */
	bool is_unoptimized; /* the compiler says so; else it does not say how it compiled */
};

/* False: the code was optimized, so that locations hold from the entry on, or where the prologue ends is not known. */
bool probe_prologue_find(
	struct probe_functions *functions, struct probe_code code, uint64_t entry, struct probe_prologue *prologue);

#endif
