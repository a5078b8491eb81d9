/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/paths_text.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "view/text/changes_text.h"

#define COLUMN		  8
#define CHANGE_WIDTH	  9
#define PATHS_TEXT_INDENT 2

struct paths_text_tree {
	const struct diff_paths *paths;
	const struct paths_text_options *options;
	bool *shows; /* By path: it or one of its callees is shown. */
	uint32_t *children; /* The shown paths; those of one caller are adjacent and sorted. */
	uint32_t *first_child; /* By path: its first child in children; one more at the end. */
};

bool paths_text_has(const struct paths_text_options *options, uint32_t path)
{
	const struct diff_change *change = &options->changes[path];
	if (options->is_tested)
		return diff_verdict_is_change(change->verdict);
	return fabs(change->new_share - change->base_share) >= options->min_change;
}

static double paths_text_distance(const struct paths_text_tree *t, uint32_t path)
{
	return fabs(t->options->changes[path].new_share - t->options->changes[path].base_share);
}

static int compare_children(const void *left, const void *right, void *data)
{
	const struct paths_text_tree *t = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t caller_a = t->paths->items[a].parent, caller_b = t->paths->items[b].parent;
	if (caller_a != caller_b)
		return caller_a < caller_b ? -1 : 1;
	double da = paths_text_distance(t, a), db = paths_text_distance(t, b);
	if (da < db || da > db)
		return da < db ? 1 : -1;
	return COMPARE(a, b);
}

static bool paths_text_make_tree(struct paths_text_tree *t)
{
	size_t count = t->paths->count, shown = 0;
	t->shows = calloc(count + 1, sizeof(*t->shows));
	t->children = calloc(count + 1, sizeof(*t->children));
	t->first_child = calloc(count + 2, sizeof(*t->first_child));
	if (!t->shows || !t->children || !t->first_child)
		return false;
	for (size_t path = count; path-- > 1;) {
		t->shows[path] = t->shows[path] || paths_text_has(t->options, (uint32_t)path);
		if (t->shows[path])
			t->shows[t->paths->items[path].parent] = true;
	}
	for (size_t path = 1; path < count; path++)
		if (t->shows[path])
			t->children[shown++] = (uint32_t)path;
	if (shown)
		qsort_r(t->children, shown, sizeof(*t->children), compare_children, t);
	for (size_t i = 0; i < shown; i++)
		t->first_child[t->paths->items[t->children[i]].parent + 1]++;
	for (size_t path = 0; path < count; path++)
		t->first_child[path + 1] += t->first_child[path];
	return true;
}

static bool paths_text_is_alike(const struct paths_text_tree *t, uint32_t a, uint32_t b)
{
	for (size_t file = 0; file < t->paths->file_count; file++)
		if (diff_paths_value(t->paths, a, file)->period != diff_paths_value(t->paths, b, file)->period)
			return false;
	return true;
}

static size_t begin_cell(struct text *out)
{
	text_str(out, "  ");
	return out->len;
}

static void paths_text_put_values(const struct paths_text_tree *t, struct text *out, uint32_t path)
{
	const struct diff_change *change = &t->options->changes[path];
	size_t start = begin_cell(out);
	text_printf(out, "%.2f%%", change->base_share);
	text_align_from(out, start, COLUMN);
	start = begin_cell(out);
	text_printf(out, "%+.2f%%", change->new_share - change->base_share);
	text_align_from(out, start, COLUMN);
	if (!t->options->is_tested)
		return;
	start = begin_cell(out);
	if (change->is_tested)
		changes_text_change(out, change);
	text_align_from(out, start, CHANGE_WIDTH);
	start = begin_cell(out);
	if (change->is_tested)
		changes_text_p(out, change->adjusted_p);
	text_align_from(out, start, COLUMN);
	text_printf(out, "  %4s", changes_text_verdict(change->verdict));
}

static void paths_text_put_name(const struct paths_text_tree *t, struct text *out, uint32_t path)
{
	struct tally_str name = intern_get(&t->paths->names, t->paths->items[path].name);
	text_bytes(out, name.data, name.len);
	text_str(out, t->paths->items[path].is_inlined ? " (inlined)" : "");
}

/* Prints one line: the path, and the only children below it that have the same values. Returns the last of them. */
static uint32_t paths_text_put_line(struct paths_text_tree *t, struct text *out, uint32_t path, size_t level)
{
	paths_text_put_values(t, out, path);
	text_repeat(out, ' ', 2 + level * PATHS_TEXT_INDENT);
	paths_text_put_name(t, out, path);
	while (t->first_child[path + 1] - t->first_child[path] == 1 &&
		paths_text_is_alike(t, path, t->children[t->first_child[path]])) {
		path = t->children[t->first_child[path]];
		text_str(out, ";");
		paths_text_put_name(t, out, path);
	}
	text_char(out, '\n');
	text_line_end(out);
	return path;
}

struct visit {
	uint32_t next, end; /* Remaining range in children. */
};

/* Walks depth first without recursion, because stacks may be deep. */
static bool paths_text_put_tree(struct paths_text_tree *t, struct text *out)
{
	struct visit *visits = calloc(t->paths->count + 1, sizeof(*visits));
	size_t depth = 1;
	if (!visits)
		return false;
	visits[0] = (struct visit){t->first_child[0], t->first_child[1]};
	while (depth > 0) {
		struct visit *visit = &visits[depth - 1];
		if (visit->next == visit->end) {
			depth--;
			continue;
		}
		uint32_t last = paths_text_put_line(t, out, t->children[visit->next++], depth - 1);
		visits[depth++] = (struct visit){t->first_child[last], t->first_child[last + 1]};
	}
	free(visits);
	return true;
}

static void put_titles(const struct paths_text_options *options, struct text *out)
{
	text_str(out, "#\n# Call paths that differ, from the outermost caller\n#\n");
	if (options->is_tested)
		text_str(out, "#     Base     Delta     Change         p        Path\n"
			      "# ........  ........  .........  ........  ....  ....\n#\n");
	else
		text_str(out, "# Baseline     Delta  Path\n# ........  ........  ....\n#\n");
}

enum tally_status paths_text(struct text *out, const struct diff_paths *paths, const struct paths_text_options *options,
	struct tally_error *err)
{
	struct paths_text_tree tree = {.paths = paths, .options = options};
	bool is_done = paths_text_make_tree(&tree);
	if (is_done) {
		if (!options->is_quiet)
			put_titles(options, out);
		is_done = paths_text_put_tree(&tree, out) && !out->failed;
	}
	free(tree.shows);
	free(tree.children);
	free(tree.first_child);
	return is_done ? TALLY_OK : error_nomem(err);
}
