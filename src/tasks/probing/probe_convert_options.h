/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_convert_options.h - defines the options for finding the places of a probe definition.
 */
#ifndef TASKS_PROBING_PROBE_CONVERT_OPTIONS_H
#define TASKS_PROBING_PROBE_CONVERT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of places of a definition, the same as the default of perf's --max-probes. */
#define PROBE_PLACES_DEFAULT 128

struct probe_blacklist;

struct probe_convert_options {
	bool no_inlines; /* Ignores the places where a function is inlined. */
	size_t max_places; /* 0 stands for PROBE_PLACES_DEFAULT. */
	const char *source_directory; /* Directory of --source; NULL if none was given. */
	const struct probe_blacklist *blacklist; /* Blacklist of the running kernel; NULL if it is not checked. */
	bool no_demangle; /* Only compares names as they are in the file, without demangling. */
};

#endif
