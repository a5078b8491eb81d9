/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c2c_table.h - builds the tables of `c2c report`: cache lines, their accessing threads and code, and their order.
 *
 * The arguments are borrowed. Not thread-safe.
 *
 *	if (c2c_order_init(&order, &table)) ... lines.items[order.lines[0]] ...
 *	c2c_order_deinit(&order);	// also after a failure
 */
#ifndef VERBS_MEMORY_C2C_TABLE_H
#define VERBS_MEMORY_C2C_TABLE_H

#include "analysis/cache_lines.h"
#include "base/bytes.h"
#include "verbs/memory/c2c_chains.h"

enum c2c_display { C2C_TOTAL, C2C_LOCAL, C2C_REMOTE, C2C_PEER };
enum c2c_key { C2C_KEY_PID, C2C_KEY_TID, C2C_KEY_IADDR, C2C_KEY_DSO, C2C_KEYS };

struct c2c_label { /* The names that are printed for an entry. */
	const char *symbol, *object, *line, *comm;
};

struct c2c_table {
	const struct cache_lines *lines;
	const struct c2c_label *labels; /* Indexed by entry. */
	const struct tally_str *event_names;
	size_t event_count;
	const int *cpu_nodes; /* NUMA node of each CPU; -1 if unknown. */
	size_t cpu_count;
	const uint32_t *nodes; /* All NUMA nodes, in ascending order. */
	size_t node_count;
	enum c2c_key keys[C2C_KEYS]; /* In the order given by the user. */
	size_t key_count;
	enum c2c_display display;
	unsigned node_detail; /* Content of the node column: 0 for names, 1 for shares, 2 for CPUs. */
	struct c2c_chains *chains; /* Finished chains; NULL if none are shown. */
	/* is_double means that each line is a pair of adjacent cache lines. */
	bool shows_all, is_double, only_stats, full_symbols, without_lines;
};

struct c2c_order { /* The order in which the rows of a table are printed. */
	const struct c2c_table *table;
	uint32_t *lines, *entries, *uses;
	size_t line_count; /* Number of cache lines to be shown, which are the first elements of lines. */
	uint64_t displayed; /* Sum of c2c_displayed over all lines. */
	uint32_t *first_use; /* Index in uses of each entry's first use, plus a final element. */
	uint32_t *first_entry; /* Index in entries of each line's first entry, plus a final element. */
};

/* Returns false if out of memory. */
bool c2c_order_init(struct c2c_order *order, const struct c2c_table *table);
void c2c_order_deinit(struct c2c_order *order);
/* Returns the count that the display mode selects, by which cache lines are sorted. */
uint64_t c2c_displayed(const struct c2c_table *table, const struct access_counts *counts);
bool c2c_entry_is_shown(const struct c2c_table *table, const struct cache_entry *entry);
/* Returns the number of cache lines that CPUs share, and sets sum to the sum of their accesses. */
uint64_t c2c_shared_lines(const struct c2c_table *table, struct access_counts *sum);

#endif
