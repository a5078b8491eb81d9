/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_filter.h - parses a list of CPUs such as "0-3,7", the argument of -C, into a table of LIMIT_CPUS flags. The
 * caller frees the table.
 *
 *	bool *cpus;
 *	cpu_filter_parse("0-3,7", &cpus, err);
 */
#ifndef TASKS_SESSION_CPU_FILTER_H
#define TASKS_SESSION_CPU_FILTER_H

#include <stdbool.h>

#include "base/error.h"

TALLY_MUST_CHECK enum tally_status cpu_filter_parse(const char *text, bool **cpus, struct tally_error *err);

#endif
