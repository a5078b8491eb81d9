/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_convert_options.h - says how the places of a definition are looked for.
 */
#ifndef TASKS_PROBING_PROBE_CONVERT_OPTIONS_H
#define TASKS_PROBING_PROBE_CONVERT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define PROBE_PLACES_DEFAULT 128 /* places of one definition, as perf's --max-probes */

struct probe_blacklist;

struct probe_convert_options {
	bool no_inlines;
	size_t max_places; /* 0: PROBE_PLACES_DEFAULT */
	const char *source_directory; /* NULL: none */
	const struct probe_blacklist *blacklist; /* of the running kernel; NULL: not looked at */
	bool no_demangle; /* names match as the file has them only */
};

#endif
