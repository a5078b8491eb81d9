/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NAME_WIDTH 20
#define NAME_KEPT  16 /* of a longer name, before "..." */
#define TIME_WIDTH 12

struct lock_text_column {
	const char *name, *title;
	size_t width;
	bool is_time;
};

static const struct lock_text_column columns[LOCK_COLUMNS] = {
	[LOCK_ACQUIRED] = {"acquired", "acquired", 10, false},
	[LOCK_CONTENDED] = {"contended", "contended", 10, false},
	[LOCK_AVG_WAIT] = {"avg_wait", "avg wait", TIME_WIDTH, true},
	[LOCK_WAIT_TOTAL] = {"wait_total", "total wait", TIME_WIDTH, true},
	[LOCK_WAIT_MAX] = {"wait_max", "max wait", TIME_WIDTH, true},
	[LOCK_WAIT_MIN] = {"wait_min", "min wait", TIME_WIDTH, true},
};

enum lock_column lock_column_of(struct tally_str name)
{
	int i = 0;
	while (i < LOCK_COLUMNS && !str_equal(name, str_from(columns[i].name)))
		i++;
	return (enum lock_column)i;
}

const char *lock_column_name(enum lock_column column)
{
	return columns[column].name;
}

uint64_t lock_row_value(const struct lock_row *row, enum lock_column column)
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
	case LOCK_COLUMNS: /* no table has it */
		break;
	}
	return row->contended ? row->min_ns : 0;
}

static void add_time(struct text *out, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"h ", 3600000000000}, {"m ", 60000000000}, {"s ", 1000000000}, {"ms", 1000000}, {"us", 1000}};
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		uint64_t unit = units[i].ns;
		if (ns < unit)
			continue;
		/* With a float's digits, as perf's tables: 10465 ns are 10.47 us. */
		text_fixed_right(out, (double)((float)ns / (float)unit), 2, TIME_WIDTH - 3);
		text_printf(out, " %s", units[i].name);
		return;
	}
	text_u64_right(out, ns, TIME_WIDTH - 3);
	text_str(out, " ns");
}

static void add_titles(const struct lock_table *t, struct text *out)
{
	static const char *const tails[] = {[LOCK_BY_NAME] = "",
		[LOCK_BY_CALLER] = "        type   caller",
		[LOCK_BY_THREAD] = "         pid   comm",
		[LOCK_BY_ADDRESS] = "           address   symbol",
		[LOCK_BY_CGROUP] = "  cgroup"};
	if (t->layout == LOCK_BY_NAME)
		text_printf(out, "%*s ", NAME_WIDTH, "Name");
	for (size_t i = 0; i < t->column_count; i++) {
		const struct lock_text_column *c = &columns[t->columns[i]];
		text_printf(out, "%*s ", (int)c->width, c->title);
	}
	text_printf(out, "%s\n\n", tails[t->layout]);
}

static void lock_text_add_name(struct text *out, const char *name)
{
	char cut[NAME_WIDTH];
	if (strlen(name) >= NAME_WIDTH) {
		memcpy(cut, name, NAME_KEPT);
		memcpy(cut + NAME_KEPT, "...", sizeof("..."));
		name = cut;
	}
	text_printf(out, "%*s ", NAME_WIDTH, name);
}

/* A lock is of one type, whichever side of it is waited for. */
static int type_len(const struct lock_table *t, const char *type)
{
	return (int)(t->layout == LOCK_BY_ADDRESS ? strcspn(type, ":") : strlen(type));
}

/* As perf says where no frame of the kernel is left, or none was recorded. */
static const char *caller_name(const struct lock_label *l)
{
	return *l->name ? l->name : "Unknown";
}

static void add_tail(
	const struct lock_table *t, const struct lock_row *row, const struct lock_label *l, struct text *out)
{
	const char *type = lock_type_name(row->flags);
	if (t->layout == LOCK_BY_CALLER)
		text_printf(out, "%*s   %s", TIME_WIDTH, type, caller_name(l));
	else if (t->layout == LOCK_BY_THREAD)
		text_printf(out, "%*" PRId64 "   %s", TIME_WIDTH, (int64_t)l->number, l->name);
	else if (t->layout == LOCK_BY_ADDRESS)
		text_printf(out, "  %016" PRIx64 "   %s (%.*s)", l->number, l->name, type_len(t, type), type);
	else if (t->layout == LOCK_BY_CGROUP)
		text_printf(out, "  %s", l->name);
}

static void lock_text_add_row(
	const struct lock_table *t, const struct lock_row *row, const struct lock_label *l, struct text *out)
{
	if (t->layout == LOCK_BY_NAME)
		lock_text_add_name(out, l->name);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct lock_text_column *c = &columns[t->columns[i]];
		uint64_t value = lock_row_value(row, t->columns[i]);
		if (c->is_time)
			add_time(out, value);
		else
			text_u64_right(out, value, c->width);
		text_char(out, ' ');
	}
	add_tail(t, row, l, out);
	text_char(out, '\n');
	if (t->with_stacks && l->stack)
		text_str(out, l->stack);
}

static void add_masked(const struct lock_table *t, const char *name, struct text *out)
{
	size_t start = out->len;
	text_str(out, name);
	text_mask_from(out, start, t->separator);
}

/* Plain numbers, times in ns, for programs. */
static void add_separated(
	const struct lock_table *t, const struct lock_row *row, const struct lock_label *l, struct text *out)
{
	const char *s = t->separator;
	if (t->layout == LOCK_BY_NAME) {
		add_masked(t, l->name, out);
		text_printf(out, "%s ", s);
	}
	for (size_t i = 0; i < t->column_count; i++)
		text_printf(
			out, "%" PRIu64 "%s ", lock_row_value(row, t->columns[i]), i + 1 < t->column_count ? s : "");
	if (t->layout != LOCK_BY_NAME && t->column_count > 0) {
		out->len--;
		text_printf(out, "%s ", s);
	}
	const char *type = lock_type_name(row->flags);
	if (t->layout == LOCK_BY_CALLER)
		text_printf(out, "%s%s ", type, s), add_masked(t, caller_name(l), out);
	else if (t->layout == LOCK_BY_THREAD)
		text_printf(out, "%" PRId64 "%s ", (int64_t)l->number, s), add_masked(t, l->name, out);
	else if (t->layout == LOCK_BY_ADDRESS)
		text_printf(out, "%" PRIx64 "%s ", l->number, s), add_masked(t, l->name, out),
			text_printf(out, "%s %.*s", s, type_len(t, type), type);
	else if (t->layout == LOCK_BY_CGROUP)
		add_masked(t, l->name, out);
	text_char(out, '\n');
}

static void add_separated_titles(const struct lock_table *t, struct text *out)
{
	static const char *const tails[][3] = {[LOCK_BY_CALLER] = {"type", "caller"},
		[LOCK_BY_THREAD] = {"pid", "comm"},
		[LOCK_BY_ADDRESS] = {"address", "symbol", "type"},
		[LOCK_BY_CGROUP] = {"cgroup"}};
	text_str(out, "# output: ");
	if (t->layout == LOCK_BY_NAME)
		text_printf(out, "name%s ", t->separator);
	for (size_t i = 0; i < t->column_count; i++)
		text_printf(out, "%s%s", i ? t->separator : "", i ? " " : ""),
			text_str(out, columns[t->columns[i]].title);
	for (size_t i = 0; t->layout != LOCK_BY_NAME && i < 3 && tails[t->layout][i]; i++)
		text_printf(out, "%s %s", t->separator, tails[t->layout][i]);
	text_char(out, '\n');
}

static int lock_text_compare_rows(const void *left, const void *right, void *data)
{
	const struct lock_table *t = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t va = lock_row_value(&t->rows[a], t->key), vb = lock_row_value(&t->rows[b], t->key);
	if (va != vb)
		return va > vb ? -1 : 1;
	return a < b ? -1 : a > b; /* in order of arrival */
}

uint32_t *lock_table_order(const struct lock_table *table, size_t *count)
{
	uint32_t *order = malloc((table->count + 1) * sizeof(*order));
	size_t kept = 0;
	if (!order)
		return NULL;
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].acquired > 0)
			order[kept++] = (uint32_t)i;
	qsort_r(order, kept, sizeof(*order), lock_text_compare_rows, (void *)(uintptr_t)table);
	*count = table->limit && table->limit < kept ? (size_t)table->limit : kept;
	return order;
}

bool lock_table_print(const struct lock_table *table, struct text *out)
{
	size_t count;
	uint32_t *order = lock_table_order(table, &count);
	if (!order)
		return false;
	if (table->separator && !table->without_titles)
		add_separated_titles(table, out);
	else if (!table->without_titles)
		add_titles(table, out);
	for (size_t i = 0; i < count; i++) {
		const struct lock_row *row = &table->rows[order[i]];
		if (table->separator)
			add_separated(table, row, &table->labels[order[i]], out);
		else
			lock_text_add_row(table, row, &table->labels[order[i]], out);
	}
	free(order);
	return !out->failed;
}
