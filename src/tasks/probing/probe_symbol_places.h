/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_symbol_places.h - finds the places that a point names by the symbols of a binary alone, without debug
 * information.
 *
 *	status = probe_symbol_places_find(binary, &definition.point, &options, &places, err);
 */
#ifndef TASKS_PROBING_PROBE_SYMBOL_PLACES_H
#define TASKS_PROBING_PROBE_SYMBOL_PLACES_H

#include "code/probing/probe_binary.h"
#include "code/probing/probe_text.h"
#include "tasks/probing/probe_convert_options.h"

/* Adds places of a function, with an offset or at its return, or of an address. NOT_FOUND: with the nearest name. */
TALLY_MUST_CHECK enum tally_status probe_symbol_places_find(struct probe_binary *binary,
	const struct probe_point *point, const struct probe_convert_options *options, struct probe_places *places,
	struct tally_error *err);
/* NOT_FOUND with the message, and with the nearest name if one is near. */
enum tally_status probe_symbol_places_refuse(
	struct probe_binary *binary, struct tally_str name, const char *message, struct tally_error *err);

#endif
