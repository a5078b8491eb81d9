/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/report_hierarchy.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "view/text/report_cells.h"

#define REPORT_HIERARCHY_INDENT	   3 /* Columns per level. */
#define REPORT_HIERARCHY_GAP	   2 /* Blanks between columns. */
#define NO_ENTRY_INDENT		   12 /* Indentation if a separator replaces the columns. */
#define REPORT_HIERARCHY_MAX_LEVEL REPORT_MAX_COLUMNS

struct tree_printer {
	struct report_layout layout;
	struct chain_printer chains;
	const struct hierarchy *tree;
	struct text *out;
	uint64_t total;
};

static bool is_value(const struct report_layout *l, size_t column)
{
	return profile_key_get(l->columns[column])->is_value;
}

/* Returns the width of the values side by side, without the indentation of levels. */
static size_t values_width(const struct report_layout *l)
{
	size_t width = 0;
	for (size_t i = 0; i < l->count; i++) {
		if (is_value(l, i))
			width += l->widths[i] + (width ? REPORT_HIERARCHY_GAP : 0);
	}
	return width;
}

/* Prints "Command / Shared Object+CPU / Symbol". */
static void name_levels(const struct report_layout *l, struct text *out)
{
	uint32_t level = 0;
	bool is_first = true;
	for (size_t i = 0; i < l->count; i++) {
		if (is_value(l, i))
			continue;
		if (!is_first)
			text_str(out, l->levels[i] == level ? "+" : " / ");
		struct tally_str header = str_trim(str_from(report_column_header(l, l->columns[i])));
		text_bytes(out, header.data, header.len);
		level = l->levels[i];
		is_first = false;
	}
}

/* Returns the width of the widest level, with its indentation. */
static size_t keys_width(const struct tree_printer *p, size_t header)
{
	const struct report_layout *l = &p->layout;
	size_t widest = header;
	for (uint32_t level = 0; level < p->tree->level_count; level++) {
		size_t width = level * REPORT_HIERARCHY_INDENT;
		bool is_first = true;
		for (size_t i = 0; i < l->count; i++) {
			if (!report_column_is_of_level(l, i, level))
				continue;
			/* perf counts only one of the two blanks between keys. */
			width += l->widths[i] + (is_first ? 0 : 1);
			is_first = false;
		}
		widest = MAX(width, widest);
	}
	return widest;
}

static void report_hierarchy_print_header(const struct tree_printer *p)
{
	const struct report_layout *l = &p->layout;
	const char *separator = l->options->separator;
	struct text *out = p->out;
	size_t indent = separator ? 0 : (p->tree->level_count - 1) * REPORT_HIERARCHY_INDENT;
	size_t before;
	bool is_first = true;
	text_str(out, "# ");
	for (size_t i = 0; i < l->count; i++) {
		if (!is_value(l, i))
			continue;
		if (!is_first)
			text_str(out, separator ? separator : "  ");
		text_str_right(
			out, str_from(report_column_header(l, l->columns[i])), l->widths[i] + (is_first ? indent : 0));
		is_first = false;
	}
	text_str(out, separator ? separator : "  ");
	before = out->len;
	name_levels(l, out);
	size_t header = text_cells_from(out, before);
	text_str(out, "\n# ");
	is_first = true;
	for (size_t i = 0; i < l->count && separator; i++) {
		if (!is_value(l, i))
			continue;
		text_str(out, is_first ? "" : separator);
		text_repeat(out, '.', l->widths[i]);
		is_first = false;
	}
	text_repeat(out, '.', separator ? 0 : values_width(l) + indent);
	text_str(out, separator ? separator : "  ");
	text_repeat(out, '.', keys_width(p, header));
	text_str(out, "\n#\n");
}

/* Prints the key without the blanks that align it in a column. */
static void print_key(const struct tree_printer *p, size_t column, const struct flat_row *row)
{
	struct text *out = p->out;
	size_t start = out->len, blanks = 0;
	report_key_cell(&p->layout, out, column, row);
	if (out->failed)
		return;
	while (start + blanks < out->len && out->data[start + blanks] == ' ')
		blanks++;
	memmove(out->data + start, out->data + start + blanks, out->len - start - blanks);
	out->len -= blanks;
	report_mask_separator(&p->layout, out, column, start);
}

static void print_node(struct tree_printer *p, uint32_t index)
{
	const struct report_layout *l = &p->layout;
	const struct hierarchy_node *node = &p->tree->nodes[index];
	const char *separator = l->options->separator;
	struct text *out = p->out;
	bool is_first = true;
	p->layout.node = hierarchy_stats(p->tree, index);
	text_repeat(out, ' ', node->level * REPORT_HIERARCHY_INDENT + (separator ? 0 : REPORT_HIERARCHY_GAP));
	for (size_t i = 0; i < l->count; i++) {
		if (!is_value(l, i))
			continue;
		text_str(out, is_first ? "" : separator ? separator : "  ");
		size_t start = out->len;
		report_value_cell(l, out, i, l->node);
		size_t written = out->len - start;
		text_repeat(out, ' ', written < l->widths[i] ? l->widths[i] - written : 0);
		is_first = false;
	}
	if (separator)
		text_str(out, separator);
	else
		text_repeat(out, ' ', REPORT_HIERARCHY_GAP + (p->tree->level_count - 1) * REPORT_HIERARCHY_INDENT);
	is_first = true;
	for (size_t i = 0; i < l->count; i++) {
		if (!report_column_is_of_level(l, i, node->level))
			continue;
		text_str(out, is_first ? "" : "  ");
		print_key(p, i, &l->table->rows[node->row]);
		is_first = false;
	}
	text_char(out, '\n');
}

static bool report_hierarchy_is_shown(const struct tree_printer *p, uint32_t node)
{
	double limit = p->layout.options->percent_limit;
	double period = (double)hierarchy_stats(p->tree, node)->period;
	return limit <= 0 || (p->total && 100.0 * period / (double)p->total >= limit);
}

static bool has_shown_child(const struct tree_printer *p, const struct hierarchy_node *node)
{
	for (uint32_t i = 0; i < node->child_count; i++) {
		if (report_hierarchy_is_shown(p, node->first_child + i))
			return true;
	}
	return node->child_count == 0;
}

static enum tally_status report_hierarchy_print_tree(struct tree_printer *p, struct tally_error *err)
{
	struct {
		uint32_t next, end;
	} path[REPORT_HIERARCHY_MAX_LEVEL] = {{0, p->tree->root_count}};
	enum tally_status status = TALLY_OK;
	for (size_t depth = 1; depth && status == TALLY_OK;) {
		if (path[depth - 1].next == path[depth - 1].end) {
			depth--;
			continue;
		}
		uint32_t index = path[depth - 1].next++;
		const struct hierarchy_node *node = &p->tree->nodes[index];
		if (!report_hierarchy_is_shown(p, index))
			continue;
		print_node(p, index);
		if (!has_shown_child(p, node)) {
			const struct report_layout *l = &p->layout;
			size_t width = (node->level + p->tree->level_count) * REPORT_HIERARCHY_INDENT +
				       values_width(l) + 2 * REPORT_HIERARCHY_GAP;
			text_repeat(p->out, ' ', l->options->separator ? NO_ENTRY_INDENT : width);
			text_str(p->out, "no entry >= ");
			text_fixed(p->out, l->options->percent_limit, 2);
			text_str(p->out, "%\n");
		}
		if (node->child_count == 0)
			status = chain_print(
				&p->chains, p->out, node->row, hierarchy_stats(p->tree, index)->period, err);
		else if (depth < REPORT_HIERARCHY_MAX_LEVEL) {
			path[depth].next = node->first_child;
			path[depth++].end = node->first_child + node->child_count;
		}
		text_line_end(p->out);
	}
	return status;
}

enum tally_status report_hierarchy_rows(struct text *out, const struct hierarchy *tree,
	const struct report_text_options *options, struct tally_error *err)
{
	const struct flat_table *table = tree->table;
	struct tree_printer p = {
		.layout = {.table = table, .options = options, .profile = table->profile}, .tree = tree, .out = out};
	p.total = report_member_total(&p.layout, 0);
	enum tally_status status = chain_printer_init(&p.chains, table, &options->chains, p.total, err);
	if (status != TALLY_OK)
		return status;
	report_layout_fit(&p.layout);
	if (!options->is_quiet)
		report_hierarchy_print_header(&p);
	status = report_hierarchy_print_tree(&p, err);
	chain_printer_deinit(&p.chains);
	if (status == TALLY_OK && out->failed)
		status = error_nomem(err);
	return status;
}
