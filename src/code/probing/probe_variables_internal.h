/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_variables_internal.h - declares what the parts of probe_variables share: the variables around one place, which
 * are read once for all of its arguments.
 */
#ifndef CODE_PROBING_PROBE_VARIABLES_INTERNAL_H
#define CODE_PROBING_PROBE_VARIABLES_INTERNAL_H

#include "code/probing/probe_value.h"
#include "code/probing/probe_variables_cache.h"

/* The variables around one place. */
struct probe_scene {
	struct probe_reader reader;
	struct dwarf_location_lists lists; /* Location lists of a .dwo file. */
	struct dwarf_scope scope; /* Variables of the blocks around the place, and of its function or inlined call. */
	/* For inlined code, variables of the function that contains it; valid if has_outer is set. */
	struct dwarf_scope outer;
	const struct dwarf_scope *globals; /* Variables of its unit outside functions, borrowed; NULL if not read. */
	bool has_outer;
	struct dwarf_scope_variable found; /* Storage for a variable that is defined in another unit. */
};

/* Reads the variables around a place; none if it has no debug information. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status probe_scene_open(struct probe_scene *scene, struct probe_binary *binary,
	const struct probe_place *place, struct probe_fetches *fetches, struct tally_error *err);
void probe_scene_close(struct probe_scene *scene);
/* Sets scene->globals, unless it is set or the place has no debug information. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status probe_scene_read_globals(struct probe_scene *scene, struct tally_error *err);

#endif
