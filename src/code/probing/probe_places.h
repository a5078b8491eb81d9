/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_places.h - finds the addresses that a point of a probe names, by debug information.
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
	bool wants_variables; /* of an entry: behind the prologue where perf goes there */
	size_t max; /* places of one point; more: LIMIT */
	const char *source_directory; /* of --source; NULL: none */
};

/* Adds places, in perf's order. NOT_FOUND: a sentence as perf's; binary->info is not NULL. */
TALLY_MUST_CHECK enum tally_status probe_places_find(struct probe_binary *binary, const struct probe_point *point,
	const struct probe_places_options *options, struct probe_places *places, struct tally_error *err);
/* The place at an address, for --list: function, source, line, declared. NOT_FOUND: nothing is known of it. */
TALLY_MUST_CHECK enum tally_status probe_places_describe(struct probe_binary *binary, uint64_t address,
	struct arena *arena, struct probe_place *place, struct tally_error *err);
/* What --line prints. */
TALLY_MUST_CHECK enum tally_status probe_lines_print(struct probe_binary *binary, const struct probe_line_range *range,
	const struct probe_places_options *options, struct text *out, struct tally_error *err);

#endif
