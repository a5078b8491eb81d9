/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_branches.h - prints a sample's branch stack in the form of `perf script`: from/to/M or P/in
 * transaction/abort/cycles/type.
 *
 * The layout is that of perf 6.1; newer versions append the result of speculation.
 *
 *	script_print_branches(&places, &text, &where, sample, fields);
 */
#ifndef VERBS_SCRIPT_SCRIPT_BRANCHES_H
#define VERBS_SCRIPT_SCRIPT_BRANCHES_H

#include "verbs/script/script_places.h"

/* Prints the branches in the first requested form of FIELD_BRSTACK*. Returns false if out of memory. */
bool script_print_branches(struct script_places *places, struct text *t, const struct resolve_where *where,
	const struct sample *sample, uint64_t fields);

#endif
