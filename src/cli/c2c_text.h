/*
 * c2c_text.h - the tables of `c2c report`, in perf's layout: all accesses, the shared lines, and each line's offsets.
 *
 * Borrows all it is given. One thread.
 *
 *	struct c2c_table table = {.lines = &lines, .labels = labels, .event_names = names, ...};
 *	c2c_text_print(&table, &text);	false: out of memory
 */
#ifndef CLI_C2C_TEXT_H
#define CLI_C2C_TEXT_H

#include "analysis/cache_lines.h"
#include "base/text.h"
#include "cli/c2c_chains.h"

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

bool c2c_text_print(const struct c2c_table *table, struct text *out);

#endif
