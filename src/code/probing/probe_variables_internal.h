/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_variables_internal.h - declares what the parts of probe_variables share: the variables around one place, read
 * once for all of its arguments.
 */
#ifndef CODE_PROBING_PROBE_VARIABLES_INTERNAL_H
#define CODE_PROBING_PROBE_VARIABLES_INTERNAL_H

#include "code/probing/probe_value.h"
#include "code/probing/probe_variables_cache.h"

struct probe_scene {
	struct probe_reader reader;
	struct dwarf_location_lists lists; /* of a .dwo file */
	struct dwarf_scope scope; /* blocks around the place, and its function */
	struct dwarf_scope outer; /* of inlined code: the function that it is in; see has_outer */
	const struct dwarf_scope *globals; /* of its unit, borrowed; NULL: not read */
	bool has_outer;
	struct dwarf_scope_variable found; /* in another unit */
};

/* NOMEM only. Nothing is read where the place has no debug information. */
TALLY_MUST_CHECK enum tally_status probe_scene_open(struct probe_scene *scene, struct probe_binary *binary,
	const struct probe_place *place, struct probe_fetches *fetches, struct tally_error *err);
void probe_scene_close(struct probe_scene *scene);
TALLY_MUST_CHECK enum tally_status probe_scene_read_globals(struct probe_scene *scene, struct tally_error *err);

#endif
