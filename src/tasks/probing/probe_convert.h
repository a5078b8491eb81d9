/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_convert.h - converts a probe definition to the kernel's probes: finds its places in a binary, by debug
 * information or by symbols alone, and the locations of its arguments.
 *
 * The conversion owns its texts (probe_conversion_deinit) and borrows the binary. The names of events follow from the
 * definition; probe_names.h makes them unique.
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
	/* The point of the definition; a pattern is replaced by the function that it matched. */
	struct probe_point shown;
	const struct probe_definition *definition; /* Borrowed from the caller. */
};

struct probe_conversion {
	struct arena arena;
	VEC(struct probe_converted) probes;
	VEC(const char *) notes; /* Messages for standard error. */
	bool types_results; /* Set by the caller: $retval gets the type of the function's result, which perf omits. */
};

void probe_conversion_init(struct probe_conversion *conversion);
void probe_conversion_deinit(struct probe_conversion *conversion);
/* Adds the probes of a definition, which must not refer to probes in the cache (is_named_event). INVALID, NOT_FOUND and
 * UNSUPPORTED have messages for the user. */
TALLY_MUST_CHECK enum tally_status probe_convert(struct probe_binary *binary, const struct probe_definition *definition,
	const struct probe_convert_options *options, struct probe_conversion *conversion, struct tally_error *err);
/* Adds the places of a point, by debug information if the binary has some and the point is not an address, otherwise by
 * symbols. wants_variables is set if the arguments of the probe include variables; they need debug information, and a
 * probe at the start of a function is then placed after its prologue where perf does so. */
TALLY_MUST_CHECK enum tally_status probe_convert_places(struct probe_binary *binary, const struct probe_point *point,
	bool wants_variables, const struct probe_convert_options *options, struct probe_places *places,
	struct tally_error *err);
/* Returns UNSUPPORTED, with advice for the user, if the binary has no debug information. */
TALLY_MUST_CHECK enum tally_status probe_convert_debug_info(const struct probe_binary *binary, struct tally_error *err);

#endif
