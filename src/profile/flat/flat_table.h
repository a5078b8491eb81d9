/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_table.h - groups a profile into rows by keys, with self and children sums, and sorts them. It does not decide
 * how they look.
 *
 * Borrows the profile; the caller deinits. A table has one event, or the events of one group, with a sum for each
 * (members). With children, each frame of a call chain adds the sample to its row once, however often it recurs. The
 * chains of each row are kept as instances for call_tree; of a group, the first member's.
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
	const enum profile_key *keys; /* grouping keys only; borrowed */
	size_t key_count;
	uint32_t first_event, member_count;
	uint32_t sort_member; /* whose values decide first; after the last member: only those of the first */
	bool with_children;
	bool with_chains; /* keep instances */
	double min_chain_share; /* of the period, 0..1: rows with less need no instances */
	bool is_caller_first; /* chains start at the outermost frame */
	bool is_chain_by_address; /* frames are equal if their addresses are; otherwise if their functions are */
	bool is_chain_by_line; /* or their functions and source lines */
	bool is_chain_of_lines; /* frames are equal if their source lines are equal, or if both have none */
	bool with_branches; /* chains have ends of branches in them */
	bool hides_unresolved; /* samples and frames without a symbol are left out */
	bool by_paths; /* binaries are told apart by their paths, not by their names */
	bool with_levels; /* keep periods by level */
	bool is_leaf_raw; /* a sample's own place without symbol is shown by its run-time address */
	unsigned max_stack; /* calls of a chain that count, with what was inlined into them; 0: all */
	bool without_callers; /* no frame of a chain counts */
	const struct profile_filter *filter; /* NULL: all pass; rejected samples stay in the totals */
	const bool *cpu_passes; /* by CPU; rejected samples are not counted at all; NULL: all pass */
	size_t cpu_limit;
	unsigned threads; /* 0: one per CPU; the rows are the same */
};

/* Sums that few tables need; those that the profile or the options require are kept, and those before them. */
enum flat_more {
	MORE_SYS, /* periods by level */
	MORE_US,
	MORE_GUEST_SYS,
	MORE_GUEST_US,
	MORE_LATENCY,
	MORE_LATENCY_CHILDREN,
	MORE_WEIGHTS, /* of the samples: the weight, of instructions, of stages */
	MORE_WAIT = MORE_WEIGHTS + 3, /* ns by state, with callees */
	MORE_RUN_LATENCY,
	MORE_COUNT
};

struct flat_stat { /* one member's sums in one row */
	uint64_t count, period;
	uint64_t children_period;
	uint64_t more[]; /* as many as the table has */
};
#define FLAT_STAT_WORDS (sizeof(struct flat_stat) / sizeof(uint64_t)) /* without more */

struct flat_row {
	uint32_t thread; /* of the first sample */
	int32_t tid; /* its thread, even if the profile merges threads of one name; 0: not known */
	uint32_t frame; /* the first one that made the row */
	uint64_t address; /* shown where there is no symbol */
	int32_t cpu;
	uint32_t facets; /* row of the profile's values */
	struct profile_place place; /* the source line that is shown */
	uint32_t parent; /* function, PROFILE_NONE: no caller is one */
	uint8_t level; /* enum profile_level */
	uint32_t number; /* in the order in which samples made the rows */
	uint32_t max_depth; /* frames of the longest chain in it */
	uint32_t first_instance, instance_count;
};

struct flat_instance { /* a chain, or its part from the row's frame on, that a sample adds to a row */
	uint32_t sample;
	uint32_t chain, len; /* chains[chain .. chain + len) */
};

struct flat_branches { /* of a branch history: counts of the branches of some frames */
	uint64_t targets, predicted, aborts;
	uint64_t sources, cycles;
};

struct flat_total {
	uint64_t count, period; /* of all samples */
	uint64_t passed_count, passed_period; /* of those that the filter lets through */
	uint64_t hidden_period; /* of these, in rows that it does not show */
	uint64_t latency, passed_latency;
};

/* What percentages are of: all samples, or those that the rows show. */
static inline uint64_t flat_total_period(const struct flat_total *total, bool is_relative)
{
	return is_relative ? total->passed_period - total->hidden_period : total->period;
}

struct flat_table {
	const struct profile *profile;
	struct flat_options options;
	struct flat_row *rows;
	uint64_t *stats; /* those of a row's members side by side */
	unsigned more_count; /* in each member's stats */
	uint32_t *order; /* the rows that the filter shows, as sorted */
	size_t row_count, shown_count;
	struct flat_total *totals; /* by member */
	uint64_t *parts; /* (row * PART_KINDS + kind) * PROFILE_PARTS: periods of the first member; NULL: not kept */
	struct flat_instance *instances; /* by row */
	uint32_t *chains; /* frame ids, all chains one after another */
	bool has_cut_chains; /* by the options' max_stack */
	uint32_t *chain_keys; /* by frame: equal for frames that a call graph merges */
	size_t chain_key_count; /* above all of them */
};

TALLY_MUST_CHECK enum tally_status flat_table_init(struct flat_table *table, const struct profile *profile,
	const struct flat_options *options, struct tally_error *err);
void flat_table_deinit(struct flat_table *table);

/* Sorts by the columns in their order: values descending, keys ascending. */
TALLY_MUST_CHECK enum tally_status flat_table_sort(
	struct flat_table *table, const enum profile_key *columns, size_t count, struct tally_error *err);

/* The order of single keys and values, for code that groups the rows of a table further. The table must outlive it. */
struct flat_row_order;
TALLY_MUST_CHECK enum tally_status flat_row_order_create(
	const struct flat_table *table, struct flat_row_order **order, struct tally_error *err);
void flat_row_order_destroy(struct flat_row_order *order);
/* 0: the rows are equal by this key. */
int flat_row_order_compare(const struct flat_row_order *order, enum profile_key key, uint32_t row_a, uint32_t row_b);
/* Compares the sums of two rows, with all members, by a value: the larger one comes first. */
int flat_stats_compare(
	const struct flat_table *table, const struct flat_stat *a, const struct flat_stat *b, enum profile_key key);

/* The string that identifies a binary; PROFILE_NONE: there is no binary. */
static inline uint32_t flat_binary_name(const struct profile *p, const struct flat_options *options, uint32_t binary)
{
	if (binary == PROFILE_NONE)
		return PROFILE_NONE;
	return options->by_paths ? p->binaries[binary].long_name : p->binaries[binary].name;
}
/* Fields of tracepoints are keys only for the events that have them. */
static inline bool flat_table_has_key(const struct flat_table *table, enum profile_key key)
{
	return key < KEY_FIELD || table->profile->fields[key - KEY_FIELD].events >> table->options.first_event & 1;
}
/* The length of a member's stats, and of a row's. */
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
/* The stats of another member, given those of the first one. */
static inline const struct flat_stat *flat_member_stat(
	const struct flat_table *table, const struct flat_stat *stats, uint32_t member)
{
	return (const struct flat_stat *)((const uint64_t *)stats + member * flat_stat_words(table));
}
/* The parts of a row's period, by its stats of the first member; key: one from KEY_PARTS on. The profile has the facet. */
static inline const uint64_t *flat_table_parts(
	const struct flat_table *table, const struct flat_stat *stats, enum profile_key key)
{
	size_t row = (size_t)((const uint64_t *)stats - table->stats) / flat_row_words(table);
	return &table->parts[(row * PART_KINDS + (size_t)(key - KEY_PARTS)) * PROFILE_PARTS];
}
/* Adds the branches of the instance's frame at this depth, multiplied by its samples. */
void flat_branches_add(const struct flat_table *table, const struct flat_instance *instance, uint32_t depth,
	struct flat_branches *sums);
/* Sums the branches of all call chains of a row. */
struct flat_branches flat_row_branches(const struct flat_table *table, const struct flat_row *row);
/* Adds the stats of all members, for rows of the table or for sums with the same layout. */
void flat_stats_add(const struct flat_table *table, uint64_t *sums, const uint64_t *add);
/* 0: the table does not keep this value. */
uint64_t flat_stat_value(const struct flat_table *table, const struct flat_stat *stat, enum profile_key key);

#endif
