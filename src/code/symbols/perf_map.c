/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/perf_map.h"

#include <stdlib.h>

#include "base/order.h"
#include "base/vec.h"

/* Removes the next word from rest and returns it. Words are separated by blanks and tabs. */
static struct tally_str perf_map_next_word(struct tally_str *rest)
{
	size_t start = 0;
	while (start < rest->len && (rest->data[start] == ' ' || rest->data[start] == '\t'))
		start++;
	size_t end = start;
	while (end < rest->len && rest->data[end] != ' ' && rest->data[end] != '\t')
		end++;
	struct tally_str word = {rest->data + start, end - start};
	*rest = (struct tally_str){rest->data + end, rest->len - end};
	return word;
}

struct perf_map_line {
	uint64_t start, end; /* They are equal if the line has no size. */
	const char *name;
	size_t order; /* Position in the file. */
};

struct perf_map_lines {
	VEC(struct perf_map_line) items;
	/* A heap of indexes of the lines that cover the current address; its top is the line that comes last in the
	 * file. */
	VEC(size_t) open;
};

static bool perf_map_read(char *text, size_t len, struct perf_map_lines *lines)
{
	char *end = text + len;
	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *stop = newline ? newline : end;
		char *last = stop > line && stop[-1] == '\r' ? stop - 1 : stop;
		struct tally_str rest = {line, (size_t)(last - line)};
		struct perf_map_line made = {.order = lines->items.len};
		uint64_t size;
		*last = *stop = '\0';
		line = stop + 1;
		struct tally_str start_text = perf_map_next_word(&rest);
		struct tally_str size_text = perf_map_next_word(&rest);
		if (rest.len < 2 || !str_to_u64(start_text, 16, &made.start) || !str_to_u64(size_text, 16, &size))
			continue;
		made.end = size > UINT64_MAX - made.start ? UINT64_MAX : made.start + size;
		made.name = rest.data + 1;
		if (made.name[0] != '\0' && !vec_push(&lines->items, made))
			return false;
	}
	return true;
}

static int perf_map_compare(const void *left, const void *right)
{
	const struct perf_map_line *a = left, *b = right;
	int order = COMPARE(a->start, b->start);
	return order ? order : COMPARE(a->order, b->order);
}

/* Sorts by address. Of several lines at one address only the last one is retained; a line without a size ends at the
 * next one. */
static void perf_map_sort(struct perf_map_lines *lines)
{
	struct perf_map_line *items = lines->items.items;
	size_t count = lines->items.len, kept = 0;
	if (count == 0)
		return;
	qsort(items, count, sizeof(*items), perf_map_compare);
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || items[i + 1].start != items[i].start)
			items[kept++] = items[i];
	lines->items.len = kept;
	for (size_t i = 0; i < kept; i++)
		if (items[i].end == items[i].start)
			items[i].end = i + 1 < kept ? items[i + 1].start : items[i].start + 1;
}

static bool is_later(const struct perf_map_lines *lines, size_t a, size_t b)
{
	const size_t *open = lines->open.items;
	return lines->items.items[open[a]].order > lines->items.items[open[b]].order;
}

static void swap_open(struct perf_map_lines *lines, size_t a, size_t b)
{
	size_t *open = lines->open.items, kept = open[a];
	open[a] = open[b];
	open[b] = kept;
}

static bool open_line(struct perf_map_lines *lines, size_t line)
{
	if (!vec_push(&lines->open, line))
		return false;
	for (size_t at = lines->open.len - 1; at > 0 && is_later(lines, at, (at - 1) / 2); at = (at - 1) / 2)
		swap_open(lines, at, (at - 1) / 2);
	return true;
}

static void close_first(struct perf_map_lines *lines)
{
	size_t count = --lines->open.len;
	swap_open(lines, 0, count);
	for (size_t at = 0;;) {
		size_t child = 2 * at + 1;
		if (child + 1 < count && is_later(lines, child + 1, child))
			child++;
		if (child >= count || !is_later(lines, child, at))
			return;
		swap_open(lines, at, child);
		at = child;
	}
}

/* Sweeps over the addresses. Each address belongs to the last line of the file that covers it, so a line may be
 * split. */
static bool perf_map_add_parts(struct perf_map_lines *lines, struct symbol_table *table)
{
	const struct perf_map_line *items = lines->items.items;
	size_t next = 0, count = lines->items.len, current = SIZE_MAX;
	uint64_t begin = 0, at = 0;
	while (next < count || lines->open.len > 0) {
		if (lines->open.len == 0)
			at = items[next].start;
		for (; next < count && items[next].start == at; next++)
			if (!open_line(lines, next))
				return false;
		size_t first = lines->open.items[0];
		if (current != SIZE_MAX && (current != first || items[first].end <= at)) {
			if (at > begin && !symbol_table_add(table, begin, at - begin, items[current].name, 'g'))
				return false;
			current = SIZE_MAX;
		}
		if (items[first].end <= at) {
			close_first(lines);
			continue;
		}
		if (current == SIZE_MAX) {
			current = first;
			begin = at;
		}
		at = next < count ? MIN(items[first].end, items[next].start) : items[first].end;
	}
	return true;
}

bool perf_map_parse(char *text, size_t len, struct symbol_table *table)
{
	struct perf_map_lines lines = {0};
	bool is_done = perf_map_read(text, len, &lines);
	if (is_done) {
		perf_map_sort(&lines);
		is_done = perf_map_add_parts(&lines, table);
	}
	vec_free(&lines.items);
	vec_free(&lines.open);
	return is_done && symbol_table_finish(table, SYMBOLS_SIZED);
}

void perf_map_split_python(struct symbol_table *table)
{
	static const char prefix[] = "py::";
	for (size_t i = 0; i < table->symbols.len; i++) {
		struct symbol *symbol = &table->symbols.items[i];
		if (!perf_map_is_python(symbol->start) || strncmp(symbol->name, prefix, sizeof(prefix) - 1) != 0)
			continue;
		char *name = (char *)symbol->name + sizeof(prefix) - 1;
		char *file = strchr(name, ':'), *line = strrchr(name, ':');
		if (!file || line == file)
			continue;
		*file = *line = '\0';
		symbol->name = name;
	}
}
