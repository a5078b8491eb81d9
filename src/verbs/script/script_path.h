/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_path.h - prints the instructions that were executed between the oldest branch of a sample's branch stack and
 * the sample, in the form of `perf script -F brstackinsn`.
 *
 * Arguments are borrowed. Not thread-safe.
 *
 *	struct script_path path = {.places = &places, .code = &code, .source = &source};
 *	// prints "\n\tmain+7:\n\t0000000000401007\tinsn: ..."
 *	script_path_print(&path, &text, &where, cpumode, sample, fields);
 */
#ifndef VERBS_SCRIPT_SCRIPT_PATH_H
#define VERBS_SCRIPT_SCRIPT_PATH_H

#include "verbs/script/script_code.h"
#include "verbs/script/script_counters.h"
#include "verbs/script/script_source.h"

struct script_path {
	struct script_places *places;
	struct script_code *code;
	struct script_source *source;
	uint64_t max_blocks; /* Maximum number of blocks to print, of which the newest are printed; 0 for all. */
	const struct script_counters *counters;
	const struct perfdata_event *event; /* The event of the current sample. */
};

/* Prints nothing if the sample has no branches. fields may contain FIELD_PATHS, FIELD_SRCLINE and FIELD_SRCCODE.
 * Returns false if out of memory. */
bool script_path_print(struct script_path *path, struct text *t, const struct resolve_where *where, unsigned cpumode,
	const struct sample *sample, uint64_t fields);

#endif
