/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_table.h - groups a profile into rows by keys, with self and children sums, and sorts them. How rows are
 * displayed is decided elsewhere.
 *
 * It borrows the profile; the caller calls flat_table_deinit. A table has one event, or the events of a group, with
 * sums for each of them (its members). With children, each frame of a call chain adds the sample to its row once,
 * however often it recurs. The chains of each row are kept as instances for call_tree, in a group those of the first
 * member only.
 *
 *	struct flat_table table;
 *	flat_table_init(&table, profile, &(struct flat_options){.keys = keys, .key_count = 3, .member_count = 1}, err);
 *	flat_table_sort(&table, columns, column_count, err);
 *	for (size_t i = 0; i < table.shown_count; i++) use(&table.rows[table.order[i]]);
 *	flat_table_deinit(&table);
 */
#ifndef PROFILE_FLAT_FLAT_TABLE_H
#define PROFILE_FLAT_FLAT_TABLE_H

#include "base/text.h"
#include "profile/filter.h"
#include "profile/keys.h"

struct flat_options {
	const enum profile_key *keys; /* Only keys that group rows, not values; borrowed. */
	size_t key_count;
	uint32_t first_event, member_count;
	/* Member by which rows are sorted first. If it is beyond the last member, only the first one is used. */
	uint32_t sort_member;
	bool with_children;
	bool with_chains; /* Keep instances. */
	double min_chain_share; /* Share of the period, from 0 to 1, below which rows need no instances. */
	bool is_caller_first; /* Chains start at the outermost frame. */
	bool is_chain_by_address; /* Frames are equal if their addresses are; otherwise if their functions are. */
	bool is_chain_by_line; /* Frames are equal if their functions and source lines are. */
	bool is_chain_of_lines; /* Frames are equal if their source lines are, or if both have none. */
	bool with_branches; /* Chains contain ends of branches. */
	bool hides_unresolved; /* Samples and frames without a symbol are left out. */
	bool by_paths; /* Binaries are distinguished by path instead of name. */
	bool with_levels; /* Keep periods by privilege level. */
	bool is_leaf_raw; /* A sample's own frame without a symbol is displayed by its run-time address. */
	/* Limit of calls of a chain, which does not count calls that were inlined into them; 0 for no limit. */
	unsigned max_stack;
	bool without_callers; /* Ignore all frames of chains. */
	const struct profile_filter *filter; /* NULL if all pass; rejected samples stay in the totals. */
	/* Indexed by CPU, below cpu_limit; rejected samples are not counted at all. NULL if all pass. */
	const bool *cpu_passes;
	size_t cpu_limit;
	unsigned threads; /* Number of threads; 0 for one per CPU. It does not affect the result. */
};

/* Sums that few tables need. A table keeps those that the profile or the options require, and all before them. */
enum flat_more {
	/* MORE_SYS to MORE_GUEST_US are the periods in the kernel and in user space, of the host and of virtual
	 * machines. */
	MORE_SYS,
	MORE_US,
	MORE_GUEST_SYS,
	MORE_GUEST_US,
	MORE_LATENCY,
	MORE_LATENCY_CHILDREN,
	MORE_WEIGHTS, /* Sums of the samples' weights, instruction latencies and stage cycles. */
	MORE_WAIT = MORE_WEIGHTS + 3, /* Time in ns off the CPU until woken, with callees. */
	MORE_RUN_LATENCY, /* Time in ns from wake-up until running, with callees. */
	MORE_COUNT
};

struct flat_stat { /* Sums of one member in one row. */
	uint64_t count, period;
	uint64_t children_period;
	uint64_t more[]; /* more_count items of the table. */
};
#define FLAT_STAT_WORDS (sizeof(struct flat_stat) / sizeof(uint64_t)) /* Number of words without more. */

struct flat_row {
	uint32_t thread; /* Thread of the first sample. */
	/* Thread ID of the first sample, even if the profile merges threads with the same name; 0 if unknown. */
	int32_t tid;
	uint32_t frame; /* Frame that created the row. */
	uint64_t address; /* Displayed if there is no symbol. */
	int32_t cpu;
	uint32_t facets; /* Row of the profile's facet values. */
	struct profile_place place; /* Displayed source line. */
	uint32_t parent; /* Function that matches the parent expression; PROFILE_NONE if no caller does. */
	uint8_t level; /* enum profile_level */
	uint32_t number; /* Number of the row in the order of creation. */
	uint32_t max_depth; /* Number of frames of its longest chain. */
	uint32_t first_instance, instance_count;
};

struct flat_instance { /* A chain, or its part from the row's frame on, that a sample adds to a row. */
	uint32_t sample;
	uint32_t chain, len; /* Its frames are chains[chain] to chains[chain + len - 1]. */
};

struct flat_branches { /* Sums over the branches of some frames of a branch history. */
	uint64_t targets, predicted, aborts;
	uint64_t sources, cycles;
};

struct flat_total {
	uint64_t count, period; /* All samples. */
	uint64_t passed_count, passed_period; /* Samples that pass the filter. */
	uint64_t hidden_period; /* Period of passed samples in rows that the filter hides. */
	uint64_t latency, passed_latency;
};

/* Returns the total that percentages are relative to: all samples, or those of the displayed rows. */
static inline uint64_t flat_total_period(const struct flat_total *total, bool is_relative)
{
	return is_relative ? total->passed_period - total->hidden_period : total->period;
}

struct flat_table {
	const struct profile *profile;
	struct flat_options options;
	struct flat_row *rows;
	uint64_t *stats; /* Sums of each row; those of a row's members are adjacent. */
	unsigned more_count; /* Number of items of more in each member's stats. */
	uint32_t *order; /* Displayed rows, sorted. */
	size_t row_count, shown_count;
	struct flat_total *totals; /* Indexed by member. */
	/* Periods of the first member, indexed by (row * PART_KINDS + kind) * PROFILE_PARTS; NULL if not kept. */
	uint64_t *parts;
	struct flat_instance *instances; /* Instances of all rows; those of a row are adjacent. */
	uint32_t *chains; /* Frame IDs of all chains, one chain after another. */
	bool has_cut_chains; /* Some chain was cut by the options' max_stack. */
	uint32_t *chain_keys; /* Indexed by frame; equal for frames that a call graph merges. */
	size_t chain_key_count; /* Larger than all chain keys. */
};

TALLY_MUST_CHECK enum tally_status flat_table_init(struct flat_table *table, const struct profile *profile,
	const struct flat_options *options, struct tally_error *err);
void flat_table_deinit(struct flat_table *table);

/* Sorts by the columns in their order: values descending, keys ascending. */
TALLY_MUST_CHECK enum tally_status flat_table_sort(
	struct flat_table *table, const enum profile_key *columns, size_t count, struct tally_error *err);

/* Compares rows by single keys and values, for code that groups the rows of a table further. The table must outlive
 * it. */
struct flat_row_order;
TALLY_MUST_CHECK enum tally_status flat_row_order_create(
	const struct flat_table *table, struct flat_row_order **order, struct tally_error *err);
void flat_row_order_destroy(struct flat_row_order *order);
/* Returns 0 if the rows are equal by this key. */
int flat_row_order_compare(const struct flat_row_order *order, enum profile_key key, uint32_t row_a, uint32_t row_b);
/* Compares two rows, given their sums of all members, by a value. Returns a negative number if a sorts first, which has
 * the larger value. */
int flat_stats_compare(
	const struct flat_table *table, const struct flat_stat *a, const struct flat_stat *b, enum profile_key key);

/* Returns the string that identifies a binary; PROFILE_NONE if there is no binary. */
static inline uint32_t flat_binary_name(const struct profile *p, const struct flat_options *options, uint32_t binary)
{
	if (binary == PROFILE_NONE)
		return PROFILE_NONE;
	return options->by_paths ? p->binaries[binary].long_name : p->binaries[binary].name;
}
/* Returns whether the table has this key: fields of tracepoints are keys only for the events that have them. */
static inline bool flat_table_has_key(const struct flat_table *table, enum profile_key key)
{
	return key < KEY_FIELD || table->profile->fields[key - KEY_FIELD].events >> table->options.first_event & 1;
}
/* Number of words of a member's stats. */
static inline size_t flat_stat_words(const struct flat_table *table)
{
	return FLAT_STAT_WORDS + table->more_count;
}
static inline size_t flat_row_words(const struct flat_table *table)
{
	return table->options.member_count * flat_stat_words(table);
}
static inline const struct flat_stat *flat_table_stat(const struct flat_table *table, size_t row, uint32_t member)
{
	return (const struct flat_stat *)&table->stats[row * flat_row_words(table) + member * flat_stat_words(table)];
}
/* Returns the stats of another member, given those of the first one. */
static inline const struct flat_stat *flat_member_stat(
	const struct flat_table *table, const struct flat_stat *stats, uint32_t member)
{
	return (const struct flat_stat *)((const uint64_t *)stats + member * flat_stat_words(table));
}
/* Returns the parts of a row's period, given its stats of the first member and a key from KEY_PARTS on. The profile
 * must have the facet. */
static inline const uint64_t *flat_table_parts(
	const struct flat_table *table, const struct flat_stat *stats, enum profile_key key)
{
	size_t row = (size_t)((const uint64_t *)stats - table->stats) / flat_row_words(table);
	return &table->parts[(row * PART_KINDS + (size_t)(key - KEY_PARTS)) * PROFILE_PARTS];
}
/* Adds the branches of the instance's frame at this depth, multiplied by the number of its samples. */
void flat_branches_add(const struct flat_table *table, const struct flat_instance *instance, uint32_t depth,
	struct flat_branches *sums);
/* Sums the branches of all call chains of a row. */
struct flat_branches flat_row_branches(const struct flat_table *table, const struct flat_row *row);
/* Adds the stats of all members, for rows of the table or for sums with the same layout. */
void flat_stats_add(const struct flat_table *table, uint64_t *sums, const uint64_t *add);
/* Returns 0 if the table does not keep this value. */
uint64_t flat_stat_value(const struct flat_table *table, const struct flat_stat *stat, enum profile_key key);

#endif
