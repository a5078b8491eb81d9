/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/chain_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/key_sort.h"
#include "base/vec.h"
#include "view/text/percent_text.h"

#define LEFT_MARGIN	12
#define CHAIN_TEXT_STEP 10 /* Columns per level, beside its bar. */

struct chain_branch { /* One level of the drawing. */
	uint32_t node, next; /* next: number of the child to draw next. */
	uint64_t total; /* Base of the children's percentages. */
	uint64_t remaining; /* Part of total that is not drawn yet. */
	uint64_t drawn_count;
};

enum tally_status chain_printer_init(struct chain_printer *printer, const struct flat_table *table,
	const struct chain_options *options, uint64_t total_period, struct tally_error *err)
{
	struct chain_printer made = {.options = *options, .total_period = total_period};
	enum tally_status status = call_tree_init(&made.builder, table, err);
	if (status == TALLY_OK)
		*printer = made;
	return status;
}

void chain_printer_deinit(struct chain_printer *printer)
{
	call_tree_deinit(&printer->builder);
	free(printer->branches);
	free(printer->bars);
	*printer = (struct chain_printer){0};
}

/* Prints the source line, or the offset in the function, if frames are distinguished by it. */
static void chain_text_print_place(struct text *out, const struct flat_table *table, const struct profile_frame *frame,
	const struct profile_function *function)
{
	const struct flat_options *o = &table->options;
	if ((o->is_chain_by_address || o->is_chain_by_line) && profile_frame_has_line(table->profile, frame)) {
		struct tally_str line = profile_string(table->profile, frame->own_line.line);
		text_char(out, ' ');
		text_bytes(out, line.data, line.len);
	} else if (o->is_chain_by_address) {
		text_str(out, " +");
		text_u64(out, frame->address - function->start);
	}
}

void chain_frame_text(struct text *out, const struct flat_table *table, uint32_t id)
{
	const struct profile *p = table->profile;
	const struct profile_frame *frame = &p->frames[id];
	if (frame->function != PROFILE_NONE) {
		const struct profile_function *function = &p->functions[frame->function];
		struct tally_str name = profile_string(p, function->name);
		text_bytes(out, name.data, name.len);
		if (function->is_inlined)
			text_str(out, " (inlined)");
		else
			chain_text_print_place(out, table, frame, function);
		return;
	}
	uint64_t address = frame->raw_address ? frame->raw_address : frame->address;
	text_str(out, address ? "0x" : "");
	text_hex(out, address, 0);
}

/* Prints what is known of the branches to or from a node's frame; callers have none. */
static void chain_text_print_branches(struct text *out, const struct call_tree_builder *tree, size_t frame)
{
	if (!tree->branches)
		return;
	const struct flat_branches *b = &tree->branches[frame];
	size_t before = out->len;
	if (!b->targets && !b->sources)
		text_str(out, " (calltrace");
	if (b->predicted < b->targets)
		text_printf(out, " (predicted:%.1f%%", 100.0 * (double)b->predicted / (double)b->targets);
	if (b->aborts)
		text_printf(out, "%sabort:%.1f%%", out->len == before ? " (" : " ",
			100.0 * (double)b->aborts / (double)b->targets);
	if (b->sources && b->cycles >= b->sources)
		text_printf(out, "%scycles:%" PRIu64, out->len == before ? " (" : " ", b->cycles / b->sources);
	text_str(out, out->len == before ? "" : ")");
}

void chain_value_text(
	struct text *out, const struct chain_options *options, uint64_t period, uint64_t count, uint64_t total)
{
	switch (options->value) {
	case CHAIN_PERIOD:
		text_u64(out, period);
		break;
	case CHAIN_COUNT:
		text_u64(out, count);
		break;
	case CHAIN_PERCENT:
		percent_text(out, total ? (double)period * 100.0 / (double)total : 0, 0, options->with_colours);
		break;
	}
}

/* Prints the bars of the levels above; before a value, the blanks of the last level are left out. */
static void print_bars(
	const struct chain_printer *printer, struct text *out, size_t margin, size_t depth, bool before_value)
{
	text_repeat(out, ' ', margin);
	for (size_t i = 0; i < depth; i++) {
		text_char(out, printer->bars[i] ? '|' : ' ');
		if (!before_value || i + 1 < depth)
			text_repeat(out, ' ', CHAIN_TEXT_STEP);
	}
}

static bool push_branch(struct chain_printer *printer, size_t *depth, uint32_t node, uint64_t total)
{
	size_t need = *depth + 1;
	if (need > printer->branch_cap &&
		!vec_grow(&printer->branches, &printer->branch_cap, sizeof(*printer->branches), need))
		return false;
	if (need > printer->bar_cap && !vec_grow(&printer->bars, &printer->bar_cap, sizeof(*printer->bars), need))
		return false;
	printer->branches[*depth] = (struct chain_branch){.node = node, .total = total, .remaining = total};
	printer->bars[*depth] = true;
	(*depth)++;
	return true;
}

static void print_branch_start(const struct chain_printer *printer, struct text *out, size_t margin, size_t depth,
	uint64_t period, uint64_t count)
{
	print_bars(printer, out, margin, depth, true);
	text_str(out, "--");
	chain_value_text(out, &printer->options, period, count, printer->branches[depth - 1].total);
	text_str(out, "--");
}

/* Prints one entry for the children of a fractal level that are not drawn. */
static void chain_text_print_rest(struct chain_printer *printer, struct text *out, size_t margin, size_t depth)
{
	const struct chain_branch *branch = &printer->branches[depth - 1];
	const struct call_tree_node *node = &printer->builder.nodes[branch->node];
	if (printer->options.style != CHAIN_FRACTAL || !branch->remaining || branch->remaining == branch->total)
		return;
	uint64_t count = node->children_count - branch->drawn_count;
	if (printer->options.value == CHAIN_COUNT && count == 0)
		return;
	printer->bars[depth - 1] = false;
	print_branch_start(printer, out, margin, depth, branch->remaining, count);
	text_str(out, "[...]\n");
}

static void print_child(struct chain_printer *printer, struct text *out, size_t margin, size_t depth,
	const struct call_tree_node *child)
{
	const struct call_tree_builder *tree = &printer->builder;
	struct chain_branch *branch = &printer->branches[depth - 1];
	branch->remaining -= call_tree_node_period(child);
	branch->drawn_count += call_tree_node_count(child);
	print_bars(printer, out, margin, depth, false);
	text_char(out, '\n');
	bool is_last = branch->next == tree->nodes[branch->node].child_count;
	if (is_last && (printer->options.style != CHAIN_FRACTAL || !branch->remaining))
		printer->bars[depth - 1] = false;
	for (uint32_t i = 0; i < child->frame_count; i++) {
		if (i == 0)
			print_branch_start(
				printer, out, margin, depth, call_tree_node_period(child), call_tree_node_count(child));
		else
			print_bars(printer, out, margin, depth, false);
		chain_frame_text(out, tree->table, tree->frames[child->first_frame + i]);
		chain_text_print_branches(out, tree, child->first_frame + i);
		text_char(out, '\n');
	}
}

/* Draws everything below a node; total is the base of its children's percentages. */
static bool print_graph(struct chain_printer *printer, struct text *out, size_t margin, uint32_t top, uint64_t total)
{
	const struct call_tree_builder *tree = &printer->builder;
	bool is_fractal = printer->options.style == CHAIN_FRACTAL;
	size_t depth = 0;
	if (!push_branch(printer, &depth, top, total))
		return false;
	while (depth) {
		struct chain_branch *branch = &printer->branches[depth - 1];
		const struct call_tree_node *node = &tree->nodes[branch->node];
		bool is_cut = printer->options.print_limit && branch->next == printer->options.print_limit;
		if (branch->next == node->child_count || is_cut) {
			chain_text_print_rest(printer, out, margin, depth);
			depth--;
			continue;
		}
		uint32_t index = node->first_child + branch->next++;
		const struct call_tree_node *child = &tree->nodes[index];
		print_child(printer, out, margin, depth, child);
		if (!push_branch(printer, &depth, index, is_fractal ? child->children_period : total))
			return false;
	}
	return true;
}

/* Prints a single chain with the whole weight of the row: it needs no percentage and hangs from the row directly. */
static void print_trunk(struct chain_printer *printer, struct text *out, const struct call_tree_node *trunk)
{
	const struct call_tree_builder *tree = &printer->builder;
	uint32_t printed = 0;
	for (uint32_t i = printer->options.skips_first ? 1 : 0; i < trunk->frame_count; i++) {
		text_repeat(out, ' ', LEFT_MARGIN);
		if (printed == 0) {
			text_str(out, "|\n");
			text_repeat(out, ' ', LEFT_MARGIN);
			text_str(out, "---");
		} else {
			text_repeat(out, ' ', 3);
		}
		chain_frame_text(out, tree->table, tree->frames[trunk->first_frame + i]);
		chain_text_print_branches(out, tree, trunk->first_frame + i);
		text_char(out, '\n');
		if (++printed == printer->options.print_limit)
			break;
	}
}

static bool print_whole_graph(struct chain_printer *printer, struct text *out, uint64_t row_period)
{
	const struct call_tree_builder *tree = &printer->builder;
	size_t before = out->len, margin = LEFT_MARGIN;
	uint32_t top = 0;
	if (tree->nodes[0].child_count == 1) {
		const struct call_tree_node *only = &tree->nodes[tree->nodes[0].first_child];
		if (call_tree_node_period(only) == row_period) {
			top = tree->nodes[0].first_child;
			print_trunk(printer, out, only);
			if (out->len != before)
				margin += 3;
		}
	}
	bool is_fractal = printer->options.style == CHAIN_FRACTAL;
	if (!print_graph(printer, out, margin, top, is_fractal ? row_period : printer->total_period))
		return false;
	if (out->len != before)
		text_char(out, '\n');
	return true;
}

/* Prints the frames from the tree's root to the node, each between before and after. If before is NULL, after
 * separates the frames. */
static void print_path(
	struct chain_printer *printer, struct text *out, uint32_t index, const char *before, const char *after)
{
	const struct call_tree_builder *tree = &printer->builder;
	size_t depth = 0;
	for (uint32_t i = index; i != 0; i = tree->nodes[i].parent)
		printer->branches[depth++].node = i;
	bool is_first = true;
	while (depth) {
		const struct call_tree_node *node = &tree->nodes[printer->branches[--depth].node];
		for (uint32_t i = 0; i < node->frame_count; i++) {
			text_str(out, before ? before : is_first ? "" : after);
			chain_frame_text(out, tree->table, tree->frames[node->first_frame + i]);
			if (before)
				text_str(out, after);
			is_first = false;
		}
	}
}

/* Lists the nodes with hits, children before their parents, in the order of the children. The keys are those of the
 * order by weight, the heaviest first. */
static bool list_hits(struct chain_printer *printer, uint64_t min_period, struct sort_key *list, size_t *count)
{
	const struct call_tree_builder *tree = &printer->builder;
	size_t depth = 0;
	*count = 0;
	if (!push_branch(printer, &depth, 0, 0))
		return false;
	while (depth) {
		struct chain_branch *branch = &printer->branches[depth - 1];
		const struct call_tree_node *node = &tree->nodes[branch->node];
		if (branch->next < node->child_count) {
			if (!push_branch(printer, &depth, node->first_child + branch->next++, 0))
				return false;
			continue;
		}
		if (node->hit_period && node->hit_period >= min_period)
			list[(*count)++] = (struct sort_key){UINT64_MAX - node->hit_period, branch->node};
		depth--;
	}
	return true;
}

static void print_listed(struct chain_printer *printer, struct text *out, uint32_t index)
{
	const struct call_tree_node *node = &printer->builder.nodes[index];
	bool is_flat = printer->options.style == CHAIN_FLAT;
	if (is_flat)
		text_repeat(out, ' ', 11);
	/* In the flat style, perf's values include the chains that continue from here. */
	uint64_t period = is_flat ? call_tree_node_period(node) : node->hit_period;
	uint64_t count = is_flat ? call_tree_node_count(node) : node->hit_count;
	chain_value_text(out, &printer->options, period, count, printer->total_period);
	if (is_flat) {
		text_char(out, '\n');
		print_path(printer, out, index, "                ", "\n");
	} else {
		text_char(out, ' ');
		print_path(printer, out, index, NULL, printer->options.separator ? printer->options.separator : ";");
	}
	text_char(out, '\n');
}

static bool print_list(struct chain_printer *printer, struct text *out, uint64_t min_period)
{
	struct call_tree_builder *tree = &printer->builder;
	struct sort_key *list = malloc((2 * (size_t)tree->node_count + 1) * sizeof(*list));
	size_t count;
	if (!list)
		return false;
	bool is_listed = list_hits(printer, min_period, list, &count);
	if (is_listed)
		key_sort(list, list + count, count);
	for (size_t i = 0; is_listed && i < count; i++) {
		if (printer->options.print_limit && i == printer->options.print_limit)
			break;
		print_listed(printer, out, (uint32_t)list[i].index);
	}
	free(list);
	return is_listed;
}

enum tally_status chain_print(
	struct chain_printer *printer, struct text *out, uint32_t row, uint64_t row_period, struct tally_error *err)
{
	const struct chain_options *options = &printer->options;
	bool is_list = options->style == CHAIN_FLAT || options->style == CHAIN_FOLDED;
	double share = options->min_percent / 100;
	struct call_tree_options build = {
		.min_period = (uint64_t)((double)printer->total_period * share),
		.min_share = share,
		.is_relative = options->style == CHAIN_FRACTAL,
		.keeps_key_order = is_list,
	};
	if (options->style == CHAIN_NONE)
		return TALLY_OK;
	if (options->style != CHAIN_FRACTAL && row_period < build.min_period)
		return TALLY_OK;
	enum tally_status status = call_tree_build(&printer->builder, row, &build, err);
	if (status != TALLY_OK)
		return status;
	bool is_printed =
		is_list ? print_list(printer, out, build.min_period) : print_whole_graph(printer, out, row_period);
	return is_printed && !out->failed ? TALLY_OK : error_nomem(err);
}
