/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_convert.h - makes the kernel's probes of a definition: finds its places in a binary, by debug information or by
 * symbols alone, and what is fetched there.
 *
 * The conversion owns its texts (probe_conversion_deinit) and borrows the binary. Events have the names that follow
 * from the definition; probe_names.h makes them unique.
 *
 *	struct probe_conversion conversion;
 *	probe_conversion_init(&conversion);
 *	status = probe_convert(binary, &definition, &options, &conversion, err);
 *	... conversion.probes.items[i].event ...
 */
#ifndef TASKS_PROBING_PROBE_CONVERT_H
#define TASKS_PROBING_PROBE_CONVERT_H

#include "code/probing/probe_binary.h"
#include "code/probing/probe_places.h"
#include "code/probing/probe_text.h"
#include "kernel/probes/probe_event.h"
#include "tasks/probing/probe_convert_options.h"

struct probe_converted {
	struct probe_event event;
	struct probe_point shown; /* the definition's point, with the function that a pattern matched */
	const struct probe_definition *definition; /* borrowed from the caller */
};

struct probe_conversion {
	struct arena arena;
	VEC(struct probe_converted) probes;
	VEC(const char *) notes; /* for stderr */
	bool types_results; /* see struct probe_fetches; set by the caller */
};

void probe_conversion_init(struct probe_conversion *conversion);
void probe_conversion_deinit(struct probe_conversion *conversion);
/* Adds the probes of one definition, which is no named event. INVALID, NOT_FOUND, UNSUPPORTED: a sentence. */
TALLY_MUST_CHECK enum tally_status probe_convert(struct probe_binary *binary, const struct probe_definition *definition,
	const struct probe_convert_options *options, struct probe_conversion *conversion, struct tally_error *err);
/* The places of a point; by debug information if the binary has some, else by symbols. */
TALLY_MUST_CHECK enum tally_status probe_convert_places(struct probe_binary *binary, const struct probe_point *point,
	bool wants_variables, const struct probe_convert_options *options, struct probe_places *places,
	struct tally_error *err);
/* UNSUPPORTED, with what to do: the binary has no debug information. */
TALLY_MUST_CHECK enum tally_status probe_convert_debug_info(const struct probe_binary *binary, struct tally_error *err);

#endif
