/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c2c_table.h - builds the tables of `c2c report`: cache lines, their accessing threads and code, and their order.
 *
 * It borrows its arguments. One thread.
 *
 *	if (c2c_order_init(&order, &table)) ... lines.items[order.lines[0]] ...
 *	c2c_order_deinit(&order);	also after failure
 */
#ifndef VERBS_MEMORY_C2C_TABLE_H
#define VERBS_MEMORY_C2C_TABLE_H

#include "analysis/cache_lines.h"
#include "base/bytes.h"
#include "verbs/memory/c2c_chains.h"

enum c2c_display { C2C_TOTAL, C2C_LOCAL, C2C_REMOTE, C2C_PEER };
enum c2c_key { C2C_KEY_PID, C2C_KEY_TID, C2C_KEY_IADDR, C2C_KEY_DSO, C2C_KEYS };

struct c2c_label { /* of an entry */
	const char *symbol, *object, *line, *comm;
};

struct c2c_table {
	const struct cache_lines *lines;
	const struct c2c_label *labels; /* by entry */
	const struct tally_str *event_names;
	size_t event_count;
	const int *cpu_nodes; /* by CPU, -1: of none that is known */
	size_t cpu_count;
	const uint32_t *nodes; /* all of them, ascending */
	size_t node_count;
	enum c2c_key keys[C2C_KEYS]; /* as they were asked for */
	size_t key_count;
	enum c2c_display display;
	unsigned node_detail; /* 0: names, 1: shares, 2: CPUs */
	struct c2c_chains *chains; /* finished; NULL: none are shown */
	bool shows_all, is_double, only_stats, full_symbols, without_lines;
};

struct c2c_order {
	const struct c2c_table *table;
	uint32_t *lines, *entries, *uses;
	size_t line_count; /* shown */
	uint64_t displayed; /* of all lines */
	uint32_t *first_use; /* by entry, into uses; one more at the end */
	uint32_t *first_entry; /* by line, into entries; one more at the end */
};

/* False: out of memory. */
bool c2c_order_init(struct c2c_order *order, const struct c2c_table *table);
void c2c_order_deinit(struct c2c_order *order);
/* The value by which lines are ordered. */
uint64_t c2c_displayed(const struct c2c_table *table, const struct access_counts *counts);
/* Whether an entry gets a row. */
bool c2c_entry_is_shown(const struct c2c_table *table, const struct cache_entry *entry);
/* How many lines CPUs take from each other, and the sum of their accesses. */
uint64_t c2c_shared_lines(const struct c2c_table *table, struct access_counts *sum);

#endif
