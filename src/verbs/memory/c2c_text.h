/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c2c_text.h - prints the tables of `c2c report`, in perf's layout: all accesses, the shared lines, and the offsets of
 * each line.
 *
 *	struct c2c_table table = {.lines = &lines, .labels = labels, .event_names = names, ...};
 *	c2c_text_print(&table, &text);	// returns false if out of memory
 */
#ifndef VERBS_MEMORY_C2C_TEXT_H
#define VERBS_MEMORY_C2C_TEXT_H

#include "base/text.h"
#include "verbs/memory/c2c_table.h"

bool c2c_text_print(const struct c2c_table *table, struct text *out);

#endif
