/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_variables_cache.h - caches what the search for variables reads from a binary, so that it is read once for all
 * places in the binary: types, location lists, and the variables outside functions, by unit.
 *
 * Owned by the binary; created when needed. One thread.
 *
 *	status = probe_variables_cache_make(binary, err);
 *	status = probe_variables_cache_globals(binary->variables, file, unit, &globals, err);
 */
#ifndef CODE_PROBING_PROBE_VARIABLES_CACHE_H
#define CODE_PROBING_PROBE_VARIABLES_CACHE_H

#include "code/probing/probe_place.h"
#include "object/dwarf/dwarf_scope.h"

struct probe_variables_cache {
	struct dwarf_types types;
	struct dwarf_location_lists lists; /* Location lists of the debug file. */
	struct map_u64 globals; /* Maps struct dwarf_unit * to struct dwarf_scope *, which is in the arena. */
	struct arena arena;
};

/* Sets binary->variables. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status probe_variables_cache_make(struct probe_binary *binary, struct tally_error *err);
/* Returns the variables of a unit outside functions, borrowed from the cache. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status probe_variables_cache_globals(struct probe_variables_cache *cache,
	const struct dwarf_file *file, const struct dwarf_unit *unit, const struct dwarf_scope **globals,
	struct tally_error *err);
void probe_variables_cache_free(struct probe_variables_cache *cache);

#endif
