/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_symbol_places.h - finds the places of a probe point by the symbols of a binary alone, without debug
 * information.
 *
 *	status = probe_symbol_places_find(binary, &definition.point, &options, &places, err);
 */
#ifndef TASKS_PROBING_PROBE_SYMBOL_PLACES_H
#define TASKS_PROBING_PROBE_SYMBOL_PLACES_H

#include "code/probing/probe_binary.h"
#include "code/probing/probe_text.h"
#include "tasks/probing/probe_convert_options.h"

/* Adds the places of an address, or of a function with an offset or at its return. The message of NOT_FOUND suggests
 * the nearest name. */
TALLY_MUST_CHECK enum tally_status probe_symbol_places_find(struct probe_binary *binary,
	const struct probe_point *point, const struct probe_convert_options *options, struct probe_places *places,
	struct tally_error *err);
/* Returns NOT_FOUND with the message, followed by the nearest name if a similar one exists. */
enum tally_status probe_symbol_places_refuse(
	struct probe_binary *binary, struct tally_str name, const char *message, struct tally_error *err);

#endif
