/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_prologue.h - finds the end of a function's prologue: code that was compiled without optimization first stores
 * the parameters on the stack, while the debug information says that they are there from the beginning.
 *
 *	if (probe_prologue_find(functions, code, entry, &prologue)) ... prologue.end
 */
#ifndef CODE_PROBING_PROBE_PROLOGUE_H
#define CODE_PROBING_PROBE_PROLOGUE_H

#include "code/probing/probe_functions.h"

struct probe_prologue {
	uint64_t end; /* First address after the prologue; the entry if there is no prologue. */
	bool is_unoptimized; /* The compiler states that it did not optimize; false if it does not state its options. */
};

/* Returns false if the code was optimized, so that locations are valid from the entry on, or if the end of the prologue
 * is not known. */
bool probe_prologue_find(
	struct probe_functions *functions, struct probe_code code, uint64_t entry, struct probe_prologue *prologue);

#endif
