/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_places.h - finds the addresses to which the point of a probe refers, by debug information.
 *
 *	struct probe_places places;
 *	probe_places_init(&places);
 *	status = probe_places_find(binary, &definition.point, &options, &places, err);
 */
#ifndef CODE_PROBING_PROBE_PLACES_H
#define CODE_PROBING_PROBE_PLACES_H

#include "base/text.h"
#include "code/probing/probe_place.h"
#include "code/probing/probe_text.h"

struct probe_places_options {
	bool no_inlines;
	/* Places a probe of a function entry after the prologue in the cases in which perf does. */
	bool wants_variables;
	size_t max; /* Maximum number of places of one point; if there are more, probe_places_find returns LIMIT. */
	const char *source_directory; /* Directory of --source; NULL if none. */
};

/* Appends the places of a point, in perf's order. binary->info must not be NULL. NOT_FOUND: err has a sentence like
 * perf's. */
TALLY_MUST_CHECK enum tally_status probe_places_find(struct probe_binary *binary, const struct probe_point *point,
	const struct probe_places_options *options, struct probe_places *places, struct tally_error *err);
/* Describes the place at an address for --list: function, source, line, declared. NOT_FOUND: nothing is known about it.
 * Texts are in arena or borrowed from the binary. */
TALLY_MUST_CHECK enum tally_status probe_places_describe(struct probe_binary *binary, uint64_t address,
	struct arena *arena, struct probe_place *place, struct tally_error *err);
/* Writes the output of --line. */
TALLY_MUST_CHECK enum tally_status probe_lines_print(struct probe_binary *binary, const struct probe_line_range *range,
	const struct probe_places_options *options, struct text *out, struct tally_error *err);

#endif
