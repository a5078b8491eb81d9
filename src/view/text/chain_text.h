/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_text.h - prints the call chains under a row of the text report: graph, fractal, flat or folded.
 *
 * Appends to a text that the caller owns; the printer holds scratch memory and is freed by the caller. The layout is
 * that of `perf report --stdio -g`.
 *
 *	struct chain_printer printer;
 *	chain_printer_init(&printer, &table, &options, total_period, err);
 *	chain_print(&printer, out, row, err);
 *	chain_printer_deinit(&printer);
 */
#ifndef VIEW_TEXT_CHAIN_TEXT_H
#define VIEW_TEXT_CHAIN_TEXT_H

#include "base/text.h"
#include "profile/rows/call_tree.h"

enum chain_style { CHAIN_NONE, CHAIN_GRAPH, CHAIN_FRACTAL, CHAIN_FLAT, CHAIN_FOLDED };
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };

struct chain_options {
	enum chain_style style;
	enum chain_value value;
	double min_percent;
	uint32_t print_limit; /* Limit of entries on each level; 0 for no limit. */
	bool skips_first; /* Do not repeat the row's own frame, because the row is sorted by symbol. */
	bool with_colours;
	const char *separator; /* Printed between frames of a folded chain; NULL for ";". */
};

struct chain_branch;
struct chain_printer {
	struct chain_options options;
	struct call_tree_builder builder;
	uint64_t total_period; /* Total that percentages of graphs are relative to. */
	struct chain_branch *branches; /* The path that is currently drawn. */
	size_t branch_cap;
	bool *bars; /* Indexed by depth: a vertical bar continues downwards. */
	size_t bar_cap;
};

TALLY_MUST_CHECK enum tally_status chain_printer_init(struct chain_printer *printer, const struct flat_table *table,
	const struct chain_options *options, uint64_t total_period, struct tally_error *err);
void chain_printer_deinit(struct chain_printer *printer);
/* Prints the chains of a row. row_period is the row's period, or its children sum if the report displays that. */
TALLY_MUST_CHECK enum tally_status chain_print(
	struct chain_printer *printer, struct text *out, uint32_t row, uint64_t row_period, struct tally_error *err);
/* chain_frame_text prints a frame, and chain_value_text the value of a node, in the format of graphs. */
void chain_frame_text(struct text *out, const struct flat_table *table, uint32_t frame);
void chain_value_text(
	struct text *out, const struct chain_options *options, uint64_t period, uint64_t count, uint64_t total);

#endif
