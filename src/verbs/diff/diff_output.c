/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_output.h"

#include <inttypes.h>

#include "view/data/changes_json.h"
#include "view/text/changes_text.h"

#define DIFF_OUTPUT_PERCENT 100.0
#define CHANGE_COLUMNS	    5

void diff_comparison_lines(struct text *out, const struct diff_output *output)
{
	static const char *const corrections[] = {[RUN_CORRECT_HOLM] = "Holm's correction",
		[RUN_CORRECT_BH] = "Benjamini and Hochberg's correction",
		[RUN_CORRECT_NONE] = "no correction"};
	const struct diff_test *test = &output->test;
	const struct diff_changes *changes = output->changes;
	text_printf(out, "# %zu recordings against %zu", test->sides.base, test->sides.other);
	if (test->sides.same)
		text_printf(out, " (noise: %zu more)", test->sides.same);
	text_printf(out, ", mean %s of each row\n",
		test->measure == DIFF_SCALED ? "period, scaled by the recording's median row,"
					     : diff_measure_name(test->measure));
	if (output->request->test.measure == DIFF_AUTO && test->measure == DIFF_SCALED)
		text_str(out, "# (the recordings differ mostly by how fast the machine was; --measure period: as they "
			      "are)\n");
	if (changes->needed)
		text_printf(out,
			"# (too few for a rank test, which needs %zu a side: rows that show no change are undecided)\n",
			changes->needed);
	text_printf(out, "# p: %s of %zu rows, %s, level %g; %zu rows under %g %% are not tested\n",
		changes->needed ? "test by size" : "rank test", changes->tested_count, corrections[test->correction],
		test->level, output->diff->row_count - changes->tested_count, test->min_share);
	if (changes->has_total) {
		text_str(out, "# Total: ");
		changes_text_change(out, &changes->total);
		text_char(out, ' ');
		changes_text_interval(out, &changes->total);
		text_str(out, ", p ");
		changes_text_p(out, changes->total.p);
		if (changes->total.noise >= 0)
			text_printf(out, ", noise %.2f%%", DIFF_OUTPUT_PERCENT * changes->total.noise);
		text_char(out, '\n');
	}
	text_str(out, "#\n");
}

/* Escapes characters in names that have a meaning in Markdown. */
static void diff_output_escape(struct text *out, struct tally_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '\n')
			continue;
		if (strchr("|`*_<>[]\\&", text.data[i]))
			text_char(out, '\\');
		text_char(out, text.data[i]);
	}
}

static void diff_output_put_keys(struct text *out, const struct diff_output *output, uint32_t row)
{
	struct text cell = {0};
	for (size_t k = 0; k < output->request->column_count; k++) {
		text_clear(&cell);
		changes_json_key_text(&cell, output->diff, row, output->request->columns[k]);
		text_str(out, " | ");
		diff_output_escape(out, (struct tally_str){cell.data, cell.len});
	}
	text_str(out, " |\n");
	out->failed |= cell.failed;
	text_deinit(&cell);
}

static const char *diff_output_title(const struct diff_output *output, size_t column)
{
	static const char *const titles[] = {"Base", "New", "Change", "95% interval", "p"};
	if (output->changes)
		return titles[column];
	return column ? "Difference" : "Baseline";
}

static void diff_output_put_header(struct text *out, const struct diff_output *output)
{
	const struct diff_request *request = output->request;
	size_t count = output->changes ? CHANGE_COLUMNS : output->diff->file_count;
	for (size_t i = 0; i < count; i++)
		text_printf(out, "| %s ", diff_output_title(output, i));
	for (size_t k = 0; k < request->column_count; k++)
		text_printf(out, "| %s ", str_trim(str_from(profile_key_get(request->columns[k])->header)).data);
	text_str(out, "|\n");
	for (size_t i = 0; i < count; i++)
		text_str(out, "|---:");
	for (size_t k = 0; k < request->column_count; k++)
		text_str(out, "|---");
	text_str(out, "|\n");
}

static void put_change_row(struct text *out, const struct diff_output *output, uint32_t row)
{
	const struct diff_change *change = &output->changes->rows[row];
	text_printf(out, "| %.2f%% | %.2f%% | ", change->base_share, change->new_share);
	bool is_change = diff_verdict_is_change(change->verdict);
	text_str(out, is_change ? "**" : "");
	changes_text_change(out, change);
	text_str(out, is_change ? "** | " : change->verdict == DIFF_UNDECIDED ? " (undecided) | " : " | ");
	changes_text_interval(out, change);
	text_str(out, " | ");
	changes_text_p(out, change->adjusted_p);
	diff_output_put_keys(out, output, row);
}

static void put_difference_row(struct text *out, const struct diff_output *output, uint32_t row)
{
	const struct diff_table *diff = output->diff;
	const struct diff_value *base = diff_table_value(diff, row, 0);
	text_str(out, "| ");
	if (base->is_there && diff->totals[0])
		text_printf(out, "%.2f%%", DIFF_OUTPUT_PERCENT * (double)base->period / (double)diff->totals[0]);
	for (size_t file = 1; file < diff->file_count; file++) {
		bool is_share = diff->options.method == DIFF_DELTA || diff->options.method == DIFF_DELTA_ABS;
		text_str(out, " | ");
		if (diff_table_has_difference(diff, row, file) && is_share)
			text_printf(out, "%+.2f%%", diff_table_difference(diff, row, file));
		else if (diff_table_has_difference(diff, row, file) && base->is_there)
			text_printf(out, diff->options.method == DIFF_RATIO ? "%.6f" : "%.0f",
				diff_table_difference(diff, row, file));
	}
	diff_output_put_keys(out, output, row);
}

void diff_markdown_event(struct text *out, const struct diff_output *output)
{
	const struct diff_table *diff = output->diff;
	text_str(out, "### ");
	diff_output_escape(out, output->event);
	text_str(out, "\n\n");
	if (output->changes) {
		const struct diff_change *total = &output->changes->total;
		if (output->changes->has_total) {
			text_str(out, "Total: ");
			changes_text_change(out, total);
			text_char(out, ' ');
			changes_text_interval(out, total);
			text_str(out, ", p ");
			changes_text_p(out, total->p);
			text_str(out, "\n\n");
		}
		if (output->changes->needed)
			text_printf(out,
				"Too few recordings for a rank test, which needs %zu a side: rows that show no change "
				"are "
				"undecided.\n\n",
				output->changes->needed);
		diff_output_put_header(out, output);
		for (size_t i = 0; i < output->changes->tested_count; i++)
			put_change_row(out, output, output->changes->order[i]);
	} else {
		diff_output_put_header(out, output);
		for (size_t i = 0; i < diff->shown_count; i++)
			put_difference_row(out, output, diff->order[i]);
	}
	text_char(out, '\n');
}
