/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_variables.h - finds variables at a place, and writes them as fetch arguments of the kernel.
 *
 *	probe_fetches_init(&fetches);
 *	status = probe_variables_fetch(binary, &places.items[0], definition.arguments, definition.argument_count,
 *		&fetches, err);
 */
#ifndef CODE_PROBING_PROBE_VARIABLES_H
#define CODE_PROBING_PROBE_VARIABLES_H

#include "base/text.h"
#include "code/probing/probe_place.h"
#include "code/probing/probe_text.h"

/* Options of --vars. */
struct probe_variables_options {
	bool with_externs;
	bool with_ranges;
	/* Returns whether a name is shown; NULL shows all. */
	bool (*is_wanted)(void *context, const char *name);
	void *context;
};

/* Appends a fetch for each argument ($vars and $params: several), in order. Arguments in the kernel's syntax are copied
 * without debug information. NOT_FOUND or UNSUPPORTED: err has a sentence with the variable, its location and the
 * reason. */
TALLY_MUST_CHECK enum tally_status probe_variables_fetch(struct probe_binary *binary, const struct probe_place *place,
	const struct probe_argument *arguments, size_t count, struct probe_fetches *fetches, struct tally_error *err);
/* Writes the output of --vars for one place. */
TALLY_MUST_CHECK enum tally_status probe_variables_print(struct probe_binary *binary, const struct probe_place *place,
	const struct probe_variables_options *options, struct text *out, struct tally_error *err);

#endif
