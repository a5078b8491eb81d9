/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c2c_json.h - prints the result of `c2c report` as JSON; docs/schema/c2c.json describes it.
 *
 *	c2c_json(&table, "perf.data", &text);	// returns false if out of memory
 */
#ifndef VERBS_MEMORY_C2C_JSON_H
#define VERBS_MEMORY_C2C_JSON_H

#include "base/text.h"
#include "verbs/memory/c2c_table.h"

/* path is the recording's path as given by the user. */
bool c2c_json(const struct c2c_table *table, const char *path, struct text *out);

#endif
