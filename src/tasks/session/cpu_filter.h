/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_filter.h - parses "0-3,7", the argument of -C, into a table of CPUs. The caller frees the table.
 *
 *	bool *cpus;	// LIMIT_CPUS of them
 *	cpu_filter_parse("0-3,7", &cpus, err);
 */
#ifndef TASKS_SESSION_CPU_FILTER_H
#define TASKS_SESSION_CPU_FILTER_H

#include <stdbool.h>

#include "base/error.h"

TALLY_MUST_CHECK enum tally_status cpu_filter_parse(const char *text, bool **cpus, struct tally_error *err);

#endif
