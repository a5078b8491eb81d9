/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_text.h - prints the call chains under a row of the text report: graph, fractal, flat or folded.
 *
 * Appends to a text that the caller owns; the printer holds scratch memory and is deinited by the caller. Lay-out: that
 * of `perf report --stdio -g`.
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
	uint32_t print_limit; /* entries of one level, 0: all */
	bool skips_first; /* the row is sorted by symbol: its own frame is not repeated */
	bool with_colours;
	const char *separator; /* between frames of a folded chain; NULL: ";" */
};

struct chain_branch;
struct chain_printer {
	struct chain_options options;
	struct call_tree_builder builder;
	uint64_t total_period; /* what graph percentages relate to */
	struct chain_branch *branches; /* the path that is being drawn */
	size_t branch_cap;
	bool *bars; /* by depth: a line goes on downwards */
	size_t bar_cap;
};

TALLY_MUST_CHECK enum tally_status chain_printer_init(struct chain_printer *printer, const struct flat_table *table,
	const struct chain_options *options, uint64_t total_period, struct tally_error *err);
void chain_printer_deinit(struct chain_printer *printer);
/* row_period: what the row stands for, the children sum if the report shows it. */
TALLY_MUST_CHECK enum tally_status chain_print(
	struct chain_printer *printer, struct text *out, uint32_t row, uint64_t row_period, struct tally_error *err);
/* A frame, and a node's value, as a graph shows them. */
void chain_frame_text(struct text *out, const struct flat_table *table, uint32_t frame);
void chain_value_text(
	struct text *out, const struct chain_options *options, uint64_t period, uint64_t count, uint64_t total);

#endif
