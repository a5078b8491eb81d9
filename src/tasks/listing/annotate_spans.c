/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_spans.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"

struct tally_of { /* Counts of one instruction, from the spans (code that ran between two branches) that contain it. */
	struct annotate_line *line;
	uint64_t passed, began, ended, predicted;
	uint64_t end_cycles, end_timed, end_least, end_most;
	/* Changes at this instruction of running sums: of how often it ran, and of the instructions and cycles of the
	 * spans with a cycle count. A span is added at its first instruction, and subtracted after its last. */
	int64_t change;
	double change_instructions, change_cycles;
};

static size_t annotate_spans_find(const struct tally_of *rows, size_t count, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, count, middle, rows[middle].line->address < address);
	return low < count && rows[low].line->address == address ? low : count;
}

/* Adds a span to the rows from its first to its last instruction. A span that does not start and end at instructions
 * belongs to other code that was at these addresses before, and is ignored. */
static void annotate_spans_add_span(
	struct tally_of *rows, size_t count, const struct annotate_span *span, uint64_t moved)
{
	size_t first = annotate_spans_find(rows, count, span->start + moved),
	       last = annotate_spans_find(rows, count, span->end + moved);
	if (first == count || last == count || last < first)
		return;
	rows[first].began += span->count;
	rows[last].ended += span->count;
	rows[last].predicted += span->predicted;
	rows[last].end_cycles += span->cycles;
	if (span->timed && (rows[last].end_timed == 0 || span->least_cycles < rows[last].end_least))
		rows[last].end_least = span->least_cycles;
	if (span->timed && span->most_cycles > rows[last].end_most)
		rows[last].end_most = span->most_cycles;
	rows[last].end_timed += span->timed;
	double instructions = (double)(last - first + 1) * (double)span->timed;
	rows[first].change += (int64_t)span->count;
	rows[first].change_instructions += instructions;
	rows[first].change_cycles += (double)span->cycles;
	if (last + 1 < count) {
		rows[last + 1].change -= (int64_t)span->count;
		rows[last + 1].change_instructions -= instructions;
		rows[last + 1].change_cycles -= (double)span->cycles;
	}
}

static void annotate_spans_show(struct tally_of *rows, size_t count, bool *has_cycles)
{
	int64_t passed = 0, most = 0;
	double instructions = 0, cycles = 0;
	for (size_t i = 0; i < count; i++) {
		passed += rows[i].change;
		instructions += rows[i].change_instructions;
		cycles += rows[i].change_cycles;
		rows[i].passed = (uint64_t)passed;
		most = MAX(passed, most);
		/* The sum of all changes is 0 except for rounding errors, so less than one cycle counts as none. */
		rows[i].line->ipc = cycles >= 1 && passed > 0 ? instructions / cycles : 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct tally_of *row = &rows[i];
		if (row->end_timed) {
			row->line->cycles = (double)row->end_cycles / (double)row->end_timed;
			row->line->least_cycles = row->end_least;
			row->line->most_cycles = row->end_most;
			*has_cycles = true;
		}
		row->line->entered = most ? 100.0 * (double)row->began / (double)most : 0;
		row->line->left = row->passed ? 100.0 * (double)row->ended / (double)row->passed : 0;
		row->line->predicted = row->ended ? 100.0 * (double)row->predicted / (double)row->ended : 0;
	}
}

bool annotate_spans_apply(const struct annotate_target *target, uint64_t moved, struct annotate_line *lines,
	size_t count, bool *has_cycles)
{
	if (target->spans.len == 0)
		return true;
	struct tally_of *rows = calloc(count ? count : 1, sizeof(*rows));
	size_t row_count = 0;
	if (!rows)
		return false;
	for (size_t i = 0; i < count; i++)
		if (lines[i].kind == ANNOTATE_CODE)
			rows[row_count++].line = &lines[i];
	for (size_t i = 0; i < target->spans.len; i++)
		annotate_spans_add_span(rows, row_count, &target->spans.items[i], moved);
	annotate_spans_show(rows, row_count, has_cycles);
	free(rows);
	return true;
}
