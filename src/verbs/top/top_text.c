/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_text.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "verbs/top/top_code.h"
#include "view/text/report_hierarchy.h"
#include "view/text/report_text.h"

#define ROWS_DEFAULT	25 /* Used if the output is not a terminal. */
#define COLUMNS_DEFAULT 80
#define OTHER_LINES	5 /* Lines of the screen that are not rows of the table. */

struct screen {
	unsigned rows, columns;
};

static struct screen top_text_screen_of(bool is_terminal)
{
	struct winsize size;
	if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > OTHER_LINES && size.ws_col > 1)
		return (struct screen){size.ws_row, size.ws_col};
	return (struct screen){ROWS_DEFAULT, COLUMNS_DEFAULT};
}

/* Truncates the line to the width of the screen, counting each UTF-8 character as one column. */
static struct tally_str fit_line(struct tally_str line, unsigned columns)
{
	unsigned used = 0;
	for (size_t i = 0; i < line.len; i++) {
		used += ((unsigned char)line.data[i] & 0xc0) != 0x80;
		if (used > columns)
			return (struct tally_str){line.data, i};
	}
	return line;
}

/* Prints the lines without trailing blanks, and on a terminal only as many as fit. */
static void top_text_put_lines(struct tally_str rest, bool is_terminal, struct screen screen, struct text *out)
{
	struct tally_str line;
	for (unsigned i = 0; rest.len && str_next(&rest, '\n', &line); i++) {
		if (is_terminal && i + OTHER_LINES > screen.rows)
			break;
		if (is_terminal)
			line = fit_line(line, screen.columns - 1);
		while (line.len && line.data[line.len - 1] == ' ')
			line.len--;
		text_bytes(out, line.data, line.len);
		text_char(out, '\n');
	}
}

static enum tally_status top_text_put_table(const struct top_view *view, uint32_t index, bool is_terminal,
	struct screen screen, struct text *out, struct tally_error *err)
{
	const struct top_settings *s = view->settings;
	size_t entries = s->entries ? s->entries : screen.rows - OTHER_LINES;
	struct report_text_options options = report_tables_options(&view->plan);
	struct flat_table table;
	struct report_tree tree;
	struct text rows = {0};
	enum tally_status status = top_view_table(view, index, &table, err);
	if (status != TALLY_OK)
		return status;
	options.is_quiet = true;
	if (table.shown_count > entries)
		table.shown_count = entries;
	status = report_tree_init(&tree, &view->plan, &table, err);
	options.levels = tree.levels;
	if (status == TALLY_OK)
		status = tree.is_made ? report_hierarchy_rows(&rows, &tree.hierarchy, &options, err)
				      : report_text_rows(&rows, &table, &options, err);
	report_tree_deinit(&tree);
	if (status == TALLY_OK && rows.failed)
		status = error_nomem(err);
	if (status == TALLY_OK)
		top_text_put_lines((struct tally_str){rows.data, rows.len}, is_terminal, screen, out);
	text_deinit(&rows);
	flat_table_deinit(&table);
	return status;
}

enum tally_status top_text_print(struct top_view *view, bool is_terminal, struct text *out, struct tally_error *err)
{
	struct screen screen = top_text_screen_of(is_terminal);
	enum tally_status status = TALLY_OK;
	struct text header = {0};
	text_str(&header, "   ");
	top_view_header(view, &header);
	struct tally_str line = {header.data, header.len};
	if (is_terminal)
		line = fit_line(line, screen.columns - 1);
	text_bytes(out, line.data, line.len);
	text_char(out, '\n');
	for (unsigned i = 0; i + 1 < screen.columns; i++)
		text_char(out, '-');
	text_str(out, "\n\n");
	for (uint32_t i = 0; i < view->count && status == TALLY_OK; i++) {
		if (view->count > 1) {
			text_clear(&header);
			top_view_title(view, i, &header);
			text_printf(
				out, "%s# %.*s\n\n", i ? "\n" : "", (int)header.len, header.data ? header.data : "");
		}
		status = top_text_put_table(view, i, is_terminal, screen, out, err);
		if (status == TALLY_OK && view->settings->sym_annotate) {
			text_char(out, '\n');
			status = top_code_print(view, i, out, err);
		}
	}
	text_char(out, '\n');
	text_deinit(&header);
	return status;
}
