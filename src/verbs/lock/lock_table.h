/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_table.h - prints the tables of `lock report` and `lock contention`: sorted rows with the selected columns, as
 * text, separated values or JSON.
 *
 * It borrows its arguments. Used by one thread.
 *
 *	struct lock_table table = {.rows = waits.rows.items, .labels = labels, .count = waits.rows.len, ...};
 *	lock_table_print(&table, &text);
 */
#ifndef VERBS_LOCK_LOCK_TABLE_H
#define VERBS_LOCK_LOCK_TABLE_H

#include "analysis/lock_waits.h"
#include "base/json.h"

enum lock_column {
	LOCK_ACQUIRED,
	LOCK_CONTENDED,
	LOCK_AVG_WAIT,
	LOCK_WAIT_TOTAL,
	LOCK_WAIT_MAX,
	LOCK_WAIT_MIN,
	LOCK_COLUMNS
};

enum lock_layout {
	LOCK_BY_NAME, /* Layout of report: the name first, truncated to its column. */
	LOCK_BY_CALLER, /* Layout of contention: the lock's type and the caller last. */
	LOCK_BY_THREAD, /* Layout of contention -t: ID and name of the thread last. */
	LOCK_BY_ADDRESS, /* Layout of contention -l: address, name and type of the lock last. */
	LOCK_BY_CGROUP /* Layout of contention --lock-cgroup: path of the cgroup last. */
};

struct lock_label {
	const char *name;
	uint64_t number; /* ID of the thread, or address of the lock. */
	const char *stack; /* Lines of the stack, printed with -v; NULL if there are none. */
};

struct lock_table {
	const struct lock_row *rows;
	const struct lock_label *labels; /* Indexed by row. */
	size_t count;
	enum lock_layout layout;
	enum lock_column key; /* Column to sort by, descending. */
	const enum lock_column *columns;
	size_t column_count;
	uint64_t limit; /* Maximum number of printed rows; 0 for all. */
	const char *separator; /* Separator of values; NULL to align columns. */
	bool with_stacks, without_titles;
};

/* Returns LOCK_COLUMNS if there is no column of this name. */
enum lock_column lock_column_of(struct tally_str name);
/* Returns false if out of memory. */
bool lock_table_print(const struct lock_table *table, struct text *out);
/* Appends members to the open object of j, with all columns. Returns false if out of memory. */
TALLY_MUST_CHECK bool lock_table_json(const struct lock_table *table, struct json *j);
/*
 * Prints the labels of threads or locks for `lock info`, in their given order: as text to out if j is NULL, or else as
 * elements of the open array of j.
 */
void lock_table_info(const struct lock_table *table, bool by_thread, struct text *out, struct json *j);

#endif
