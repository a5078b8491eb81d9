/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_filter.h - selects names by patterns with !, &, | and parentheses: "!_* & !*@plt", "foo* | (bar* & !*z)".
 *
 * & has a higher precedence than |. Pure functions; the filter is in the arena, with a copy of its text.
 *
 *	const struct probe_filter *filter;
 *	if (probe_filter_parse("!_*", &arena, &filter, err) == TALLY_OK && probe_filter_fits(filter, STR("main"))) ...
 */
#ifndef CODE_PROBING_PROBE_FILTER_H
#define CODE_PROBING_PROBE_FILTER_H

#include <tally/status.h>

#include "base/arena.h"
#include "base/bytes.h"

struct probe_filter;

/* Parses a filter. INVALID: err says where it is wrong. */
TALLY_MUST_CHECK enum tally_status probe_filter_parse(
	const char *text, struct arena *arena, const struct probe_filter **filter, struct tally_error *err);
bool probe_filter_fits(const struct probe_filter *filter, struct tally_str name);

#endif
