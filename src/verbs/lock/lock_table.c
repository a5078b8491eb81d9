/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "view/table/cells.h"

#define LOCK_TABLE_LABELS_MAX 3

static const char *const column_names[LOCK_COLUMNS] = {
	"acquired", "contended", "avg_wait", "wait_total", "wait_max", "wait_min"};

/* Cells that label a row, after those of enum lock_column. */
enum {
	LABEL_NAME = LOCK_COLUMNS,
	LABEL_CUT_NAME,
	LABEL_TYPE,
	LABEL_CALLER,
	LABEL_TID,
	LABEL_COMM,
	LABEL_ADDRESS,
	LABEL_SYMBOL,
	LABEL_TYPE_BEHIND,
	LABEL_CGROUP,
	LOCK_CELLS
};

static const struct cell_column columns[LOCK_CELLS] = {
	[LOCK_ACQUIRED] = {"acquired", "acquired", 10, .after = " "},
	[LOCK_CONTENDED] = {"contended", "contended", 10, .after = " "},
	[LOCK_AVG_WAIT] = {"avg wait", "avg_wait_ns", 12, LOOK_DURATION, .after = " "},
	[LOCK_WAIT_TOTAL] = {"total wait", "wait_total_ns", 12, LOOK_DURATION, .after = " "},
	[LOCK_WAIT_MAX] = {"max wait", "wait_max_ns", 12, LOOK_DURATION, .after = " "},
	[LOCK_WAIT_MIN] = {"min wait", "wait_min_ns", 12, LOOK_DURATION, .after = " "},
	[LABEL_NAME] = {"name", .key = "name"},
	[LABEL_CUT_NAME] = {"Name", .width = 20, .longest = 19, .after = " "},
	[LABEL_TYPE] = {"type", "type", .width = 12},
	/* Like perf, prints "Unknown" if all frames of the kernel are left out or none was recorded. */
	[LABEL_CALLER] = {"caller", "caller", .before = "   ", .absent = "Unknown"},
	[LABEL_TID] = {"pid", "tid", .width = 12},
	[LABEL_COMM] = {"comm", "comm", .before = "   "},
	[LABEL_ADDRESS] = {"address", "address", 16, LOOK_ADDRESS, .before = "  "},
	[LABEL_SYMBOL] = {"symbol", "symbol", .before = "   "},
	[LABEL_TYPE_BEHIND] = {"", .before = " (", .after = ")"},
	[LABEL_CGROUP] = {"cgroup", "cgroup", .before = "  "},
};

enum lock_column lock_column_of(struct tally_str name)
{
	int i = 0;
	while (i < LOCK_COLUMNS && !str_equal(name, str_from(column_names[i])))
		i++;
	return (enum lock_column)i;
}

static uint64_t lock_row_value(const struct lock_row *row, enum lock_column column)
{
	switch (column) {
	case LOCK_ACQUIRED:
		return row->acquired;
	case LOCK_CONTENDED:
		return row->contended;
	case LOCK_AVG_WAIT:
		return row->contended ? row->total_ns / row->contended : 0;
	case LOCK_WAIT_TOTAL:
		return row->total_ns;
	case LOCK_WAIT_MAX:
		return row->max_ns;
	case LOCK_WAIT_MIN:
	case LOCK_COLUMNS: /* No table has such a column. */
		break;
	}
	return row->contended ? row->min_ns : 0;
}

static void lock_table_cells(const struct lock_table *t, uint32_t index, struct cell cells[LOCK_CELLS])
{
	const struct lock_row *row = &t->rows[index];
	const struct lock_label *l = &t->labels[index];
	struct tally_str type = str_from(lock_type_name(row->flags));
	/* A lock has one type, whether readers or writers wait for it, so ":R" and ":W" are removed. */
	if (t->layout == LOCK_BY_ADDRESS)
		type.len = strcspn(type.data, ":");
	for (int i = 0; i < LOCK_COLUMNS; i++)
		cells[i] = cell_u64(lock_row_value(row, (enum lock_column)i));
	cells[LABEL_NAME] = cells[LABEL_CUT_NAME] = cells[LABEL_COMM] = cells[LABEL_CGROUP] = cell_name(l->name);
	cells[LABEL_CALLER] = cells[LABEL_SYMBOL] = cell_name(*l->name ? l->name : NULL);
	cells[LABEL_TYPE] = cells[LABEL_TYPE_BEHIND] = cell_text(type);
	cells[LABEL_TID] = cell_i64((int64_t)l->number);
	cells[LABEL_ADDRESS] = cell_u64(l->number);
}

/* Returns the cells that label a row, with a 0 after the last if there are fewer than the maximum. */
static const uint8_t *lock_table_labels(enum lock_layout layout, bool is_text)
{
	static const uint8_t labels[][2][LOCK_TABLE_LABELS_MAX] = {
		[LOCK_BY_NAME] = {{LABEL_NAME}, {LABEL_CUT_NAME}},
		[LOCK_BY_CALLER] = {{LABEL_TYPE, LABEL_CALLER}, {LABEL_TYPE, LABEL_CALLER}},
		[LOCK_BY_THREAD] = {{LABEL_TID, LABEL_COMM}, {LABEL_TID, LABEL_COMM}},
		[LOCK_BY_ADDRESS] = {{LABEL_ADDRESS, LABEL_SYMBOL, LABEL_TYPE},
			{LABEL_ADDRESS, LABEL_SYMBOL, LABEL_TYPE_BEHIND}},
		[LOCK_BY_CGROUP] = {{LABEL_CGROUP}, {LABEL_CGROUP}},
	};
	return labels[layout][is_text];
}

static void lock_table_add_labels(struct cells *cells, uint8_t *order, const uint8_t *labels)
{
	for (size_t i = 0; i < LOCK_TABLE_LABELS_MAX && labels[i]; i++)
		order[cells->count++] = labels[i];
}

static int lock_table_compare_rows(const void *left, const void *right, void *data)
{
	const struct lock_table *t = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t va = lock_row_value(&t->rows[a], t->key), vb = lock_row_value(&t->rows[b], t->key);
	if (va != vb)
		return va > vb ? -1 : 1;
	return COMPARE(a, b); /* Equal rows remain in order of arrival. */
}

static uint32_t *lock_table_order(const struct lock_table *table, size_t *count)
{
	uint32_t *order = malloc((table->count + 1) * sizeof(*order));
	size_t kept = 0;
	if (!order)
		return NULL;
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].acquired > 0)
			order[kept++] = (uint32_t)i;
	qsort_r(order, kept, sizeof(*order), lock_table_compare_rows, (void *)(uintptr_t)table);
	*count = table->limit && table->limit < kept ? (size_t)table->limit : kept;
	return order;
}

/* Writes the lines of the text without their indentation. */
static void lock_table_put_stack(struct json *j, const char *lines)
{
	json_array(j, "stack");
	while (*lines) {
		lines += strspn(lines, "\t");
		size_t len = strcspn(lines, "\n");
		json_string(j, NULL, (struct tally_str){lines, len});
		lines += len + (lines[len] == '\n');
	}
	json_array_end(j);
}

bool lock_table_json(const struct lock_table *table, struct json *j)
{
	static const uint8_t numbers[] = {
		LOCK_ACQUIRED, LOCK_CONTENDED, LOCK_WAIT_TOTAL, LOCK_WAIT_MAX, LOCK_WAIT_MIN, LOCK_AVG_WAIT};
	bool is_by_name = table->layout == LOCK_BY_NAME;
	uint8_t order[LOCK_TABLE_LABELS_MAX];
	struct cells labels = {.columns = columns, .order = order, .json = j};
	/* Only rows by name count locks that were acquired without a wait. */
	const struct cells values = {.columns = columns,
		.order = numbers + !is_by_name,
		.count = ARRAY_LEN(numbers) - !is_by_name,
		.json = j};
	struct cell cells[LOCK_CELLS];
	size_t count;
	uint32_t *rows = lock_table_order(table, &count);
	if (!rows)
		return false;
	lock_table_add_labels(&labels, order, lock_table_labels(table->layout, false));
	json_string(j, "sorted_by", str_from(column_names[table->key]));
	json_array(j, "rows");
	for (size_t i = 0; i < count; i++) {
		lock_table_cells(table, rows[i], cells);
		json_object(j, NULL);
		cells_put(&labels, cells);
		if (table->layout == LOCK_BY_CALLER && table->with_stacks && table->labels[rows[i]].stack)
			lock_table_put_stack(j, table->labels[rows[i]].stack);
		cells_put(&values, cells);
		json_object_end(j);
		(void)text_line_end(j->out);
	}
	json_array_end(j);
	free(rows);
	return true;
}

bool lock_table_print(const struct lock_table *table, struct text *out)
{
	bool is_text = !table->separator, is_by_name = table->layout == LOCK_BY_NAME;
	const uint8_t *labels = lock_table_labels(table->layout, is_text);
	uint8_t order[LOCK_COLUMNS + LOCK_TABLE_LABELS_MAX];
	struct cells shown = {
		.columns = columns, .order = order, .out = out, .separator = table->separator, .has_blanks = true};
	struct cell cells[LOCK_CELLS];
	size_t count;
	uint32_t *rows = lock_table_order(table, &count);
	if (!rows)
		return false;
	if (is_by_name)
		lock_table_add_labels(&shown, order, labels);
	for (size_t i = 0; i < table->column_count; i++)
		order[shown.count++] = (uint8_t)table->columns[i];
	if (!is_by_name)
		lock_table_add_labels(&shown, order, labels);
	if (!table->without_titles) {
		text_str(out, is_text ? "" : "# output: ");
		cells_head(&shown);
		text_str(out, is_text ? "\n" : "");
	}
	for (size_t i = 0; i < count; i++) {
		lock_table_cells(table, rows[i], cells);
		cells_put(&shown, cells);
		text_str(out, !is_text && is_by_name ? " \n" : "\n");
		if (is_text && table->with_stacks && table->labels[rows[i]].stack)
			text_str(out, table->labels[rows[i]].stack);
	}
	free(rows);
	return !out->failed;
}

void lock_table_info(const struct lock_table *table, bool by_thread, struct text *out, struct json *j)
{
	static const struct cell_column info[] = {
		{"", "tid", 10, .after = ": "},
		{"", .key = "comm"},
		{"", "address", 0, LOOK_HEX, .before = " ", .after = ": "},
		{"", .key = "name"},
	};
	const struct cells cells = {.columns = info + (by_thread ? 0 : 2), .count = 2, .out = out, .json = j};
	if (!j)
		text_str(out, by_thread ? " Thread ID: comm\n" : "Address of instance: name of class\n");
	for (size_t i = 0; i < table->count; i++) {
		const struct lock_label *l = &table->labels[i];
		cells_row(&cells, (const struct cell[]){by_thread ? cell_i64((int64_t)l->number) : cell_u64(l->number),
					  cell_name(l->name)});
	}
}
