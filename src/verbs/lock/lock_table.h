/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_table.h - prints the tables of `lock report` and `lock contention`: sorted rows with the chosen columns, as
 * text, separated values or JSON.
 *
 * It borrows its arguments. One thread.
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
	LOCK_BY_NAME, /* report: the name in front, cut to its column */
	LOCK_BY_CALLER, /* contention: the lock's type and the caller behind */
	LOCK_BY_THREAD, /* contention -t: number and name of the thread behind */
	LOCK_BY_ADDRESS, /* contention -l: address, name and type of the lock behind */
	LOCK_BY_CGROUP /* contention --lock-cgroup: path of the cgroup behind */
};

struct lock_label {
	const char *name;
	uint64_t number; /* of the thread, or the lock's address */
	const char *stack; /* lines shown with -v; NULL: none */
};

struct lock_table {
	const struct lock_row *rows;
	const struct lock_label *labels; /* by row */
	size_t count;
	enum lock_layout layout;
	enum lock_column key; /* sorted by, descending */
	const enum lock_column *columns;
	size_t column_count;
	uint64_t limit; /* rows shown; 0: all */
	const char *separator; /* NULL: columns */
	bool with_stacks, without_titles;
};

/* LOCK_COLUMNS: no such name. */
enum lock_column lock_column_of(struct tally_str name);
/* False: out of memory. */
bool lock_table_print(const struct lock_table *table, struct text *out);
/* Writes members of the open object. JSON always has all columns. */
TALLY_MUST_CHECK bool lock_table_json(const struct lock_table *table, struct json *j);
/* For `lock info`: prints labels of threads, sorted by number, or of locks, in the order of their first occurrence. j:
 * the items go into the open array; NULL: text. */
void lock_table_info(const struct lock_table *table, bool by_thread, struct text *out, struct json *j);

#endif
