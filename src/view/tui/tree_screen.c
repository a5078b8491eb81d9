/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tree_screen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define TREE_SCREEN_FIXED_LINES 3 /* Title, heading and bottom line. */
#define TREE_SCREEN_FIRST_ROW	2
#define TREE_SCREEN_STEP	2 /* Columns per level. */
#define MAX_INDENT		200
#define MAX_LEVELS		4096 /* Deeper levels stay closed. */

static double tree_screen_percent_of(const struct tree_screen *s, uint64_t value)
{
	uint64_t total = s->order.totals[s->tree->node_count];
	return total ? 100.0 * (double)value / (double)total : 0;
}

static bool is_heavy(const struct tree_screen *s, uint32_t node)
{
	bool passes = s->order.totals[node] || !*s->frame.filter;
	return passes && tree_screen_percent_of(s, s->order.totals[node]) >= s->limit;
}

/* Returns the number of visible children; the heavy ones come first. */
static uint32_t tree_screen_child_count(const struct tree_screen *s, uint32_t index)
{
	uint32_t count = 0;
	struct tree_children of = s->order.children[index];
	while (count < of.count && is_heavy(s, s->order.nodes[of.first + count]))
		count++;
	return count;
}

/* Lists the open nodes, each before the nodes below it. */
static void tree_screen_make_lines(struct tree_screen *s)
{
	uint32_t kept = s->list.count ? s->lines[s->list.cursor] : PROFILE_NONE;
	struct tree_children stack[MAX_LEVELS];
	size_t depth = 1, count = 0;
	uint32_t root = (uint32_t)s->tree->node_count;
	stack[0] = (struct tree_children){s->order.children[root].first, tree_screen_child_count(s, root)};
	while (depth > 0) {
		struct tree_children *level = &stack[depth - 1];
		if (level->count == 0) {
			depth--;
			continue;
		}
		uint32_t node = s->order.nodes[level->first++];
		level->count--;
		if (node == kept)
			s->list.cursor = count;
		s->lines[count++] = node;
		if (s->is_open[node] && depth < MAX_LEVELS)
			stack[depth++] =
				(struct tree_children){s->order.children[node].first, tree_screen_child_count(s, node)};
	}
	s->list.count = count;
	tui_list_settle(&s->list);
}

enum tally_status tree_screen_init(
	struct tree_screen *s, const struct flame_tree *tree, const char *title, double limit, struct tally_error *err)
{
	size_t count = tree->node_count + 1;
	*s = (struct tree_screen){.tree = tree, .title = title, .limit = limit, .frame = TUI_FRAME_START};
	s->is_open = calloc(count, sizeof(*s->is_open));
	s->lines = calloc(count, sizeof(*s->lines));
	if (!s->is_open || !s->lines || !tree_order_make(&s->order, tree, "")) {
		tree_screen_deinit(s);
		return error_nomem(err);
	}
	s->list.page = s->frame.rows - TREE_SCREEN_FIXED_LINES;
	tree_screen_make_lines(s);
	return TALLY_OK;
}

/* Returns false if out of memory; then nothing has changed. */
static bool select_nodes(struct tree_screen *s, const char *filter)
{
	struct tree_order order;
	if (!tree_order_make(&order, s->tree, filter))
		return false;
	tree_order_deinit(&s->order);
	s->order = order;
	return true;
}

void tree_screen_remember(const struct tree_screen *s, struct tree_memory *memory)
{
	uint32_t cursor = s->list.count ? s->lines[s->list.cursor] : PROFILE_NONE;
	tree_memory_note(memory, s->tree, s->is_open, cursor, PROFILE_NONE);
}

enum tally_status tree_screen_renew(
	struct tree_screen *s, const struct tree_memory *memory, const struct flame_tree *tree, struct tally_error *err)
{
	struct tree_screen made;
	uint32_t cursor, none;
	size_t above = s->list.cursor - s->list.top;
	enum tally_status status = tree_screen_init(&made, tree, s->title, s->limit, err);
	if (status != TALLY_OK)
		return status;
	if (!tree_memory_find(memory, tree, made.is_open, &cursor, &none)) {
		tree_screen_deinit(&made);
		return error_nomem(err);
	}
	made.frame = s->frame;
	made.heading = s->heading;
	made.list.page = s->list.page;
	tree_screen_deinit(s);
	*s = made;
	if (*s->frame.filter && !select_nodes(s, s->frame.filter))
		return error_nomem(err);
	tree_screen_make_lines(s);
	for (size_t i = 0; i < s->list.count; i++)
		if (s->lines[i] == cursor)
			s->list.cursor = i;
	s->list.top = s->list.cursor > above ? s->list.cursor - above : 0;
	tui_list_settle(&s->list);
	return TALLY_OK;
}

void tree_screen_deinit(struct tree_screen *s)
{
	tree_order_deinit(&s->order);
	free(s->is_open);
	free(s->lines);
	*s = (struct tree_screen){0};
}

void tree_screen_resize(struct tree_screen *s, unsigned rows, unsigned columns)
{
	s->frame.rows = rows;
	s->frame.columns = columns;
	s->list.page = rows > TREE_SCREEN_FIXED_LINES ? rows - TREE_SCREEN_FIXED_LINES : 1;
	tui_list_settle(&s->list);
}

const struct flame_label *tree_screen_label(const struct tree_screen *s)
{
	return s->list.count ? &s->tree->labels[s->tree->nodes[s->lines[s->list.cursor]].label] : NULL;
}

static void tree_screen_toggle(struct tree_screen *s)
{
	if (!s->list.count)
		return;
	uint32_t node = s->lines[s->list.cursor];
	if (!tree_screen_child_count(s, node)) {
		tui_frame_say(&s->frame, "nothing from %.4g%% is below it", s->limit);
		return;
	}
	/* A path without forks opens as a whole. */
	bool opens = !s->is_open[node];
	for (;;) {
		s->is_open[node] = opens;
		if (!opens || tree_screen_child_count(s, node) != 1)
			break;
		node = s->order.nodes[s->order.children[node].first];
	}
	tree_screen_make_lines(s);
}

static bool is_below(const struct tree_screen *s, uint32_t node, uint32_t above)
{
	while (node != PROFILE_NONE && node != above)
		node = s->tree->nodes[node].parent;
	return node != PROFILE_NONE;
}

static void toggle_all_below(struct tree_screen *s)
{
	if (!s->list.count)
		return;
	uint32_t node = s->lines[s->list.cursor];
	bool opens = !s->is_open[node];
	for (uint32_t i = node; i < s->tree->node_count; i++)
		if (is_below(s, i, node))
			s->is_open[i] = opens;
	tree_screen_make_lines(s);
}

/* Closes the node, or moves to its parent. */
static void step_out(struct tree_screen *s)
{
	if (!s->list.count)
		return;
	uint32_t node = s->lines[s->list.cursor], parent = s->tree->nodes[node].parent;
	if (s->is_open[node]) {
		s->is_open[node] = false;
		tree_screen_make_lines(s);
		return;
	}
	for (size_t i = s->list.cursor; parent != PROFILE_NONE && i-- > 0;) {
		if (s->lines[i] == parent) {
			tui_list_go(&s->list, i);
			return;
		}
	}
}

static void filter_nodes(void *data)
{
	struct tree_screen *s = data;
	if (!select_nodes(s, s->frame.filter)) {
		s->frame.filter[0] = '\0';
		tui_frame_say(&s->frame, "out of memory");
		return;
	}
	tree_screen_make_lines(s);
	if (!s->list.count)
		tui_frame_say(&s->frame, "no name from %.4g%% has '%.100s' in it", s->limit, s->frame.filter);
}

static bool tree_screen_has_text(const void *of, size_t at, const char *pattern)
{
	const struct tree_screen *s = of;
	struct tally_str name = s->tree->labels[s->tree->nodes[at].label].name;
	return is_heavy(s, (uint32_t)at) && name.len && memmem(name.data, name.len, pattern, strlen(pattern));
}

/* Searches all nodes that can be shown, open or not. */
static void tree_screen_search(void *data, bool is_back)
{
	struct tree_screen *s = data;
	size_t from = s->list.count ? s->lines[s->list.cursor] : 0, at;
	struct tui_search wanted = {
		s, tree_screen_has_text, s->tree->node_count, from, s->heading ? "name" : "function"};
	if (!tui_frame_find(&s->frame, &wanted, is_back, &at))
		return;
	for (uint32_t up = s->tree->nodes[at].parent; up != PROFILE_NONE; up = s->tree->nodes[up].parent)
		s->is_open[up] = true;
	tree_screen_make_lines(s);
	for (size_t i = 0; i < s->list.count; i++)
		if (s->lines[i] == at)
			tui_list_go(&s->list, i);
}

static void step_limit(struct tree_screen *s, bool is_up)
{
	static const double steps[] = {0, 0.1, 0.5, 1, 2, 5, 10, 20, 50};
	size_t i = 0, count = ARRAY_LEN(steps);
	while (i + 1 < count && (is_up ? steps[i] <= s->limit : steps[i + 1] < s->limit))
		i++;
	s->limit = steps[i];
	tree_screen_make_lines(s);
	tui_frame_say(&s->frame, "from %.4g%%", s->limit);
}

static const struct tui_help tree_screen_help[] = {
	{NULL, "Moving"},
	{"Up Down, k j", "one line"},
	{"PgUp PgDn, Space", "one page; also Ctrl-B, Ctrl-F"},
	{"Home End, g G", "first and last line"},
	{"/, n N", "search a function, also where it is not open; the next"},
	{"Tab, Shift-Tab, < >", "another event"},
	{"[ ]", "scroll sideways"},
	{NULL, "The tree"},
	{"Enter, +, Right", "open or close one level, or a path without forks"},
	{"Left", "close, or to the caller"},
	{"e", "open or close all below"},
	{"E, C", "open, close all"},
	{"{ }", "lower, higher percent limit"},
	{NULL, "Other views"},
	{"T, I, v", "top-down, callers, flame"},
	{"a", "the function's code"},
	{"q, Esc", "back to the table"},
	{NULL, "Other"},
	{"P", "print what is open to perf.tree.N"},
	{"?, h, F1", "this list"},
	{"Ctrl-C", "leave"},
};

static const struct tui_help levels_help[] = {
	{NULL, "Moving"},
	{"Up Down, k j", "one line"},
	{"PgUp PgDn, Space", "one page; also Ctrl-B, Ctrl-F"},
	{"Home End, g G", "first and last line"},
	{"Tab, Shift-Tab, < >", "another event"},
	{"f, n N", "search a name, also where it is not open; the next"},
	{"[ ]", "scroll sideways"},
	{NULL, "The tree"},
	{"Enter, +, Right", "open or close one level, or a path without forks"},
	{"Left", "close, or to the level above"},
	{"e", "open or close all below"},
	{"E, C", "open, close all"},
	{"/", "only names with a text in them; Esc: all"},
	{"{ }", "lower, higher percent limit"},
	{NULL, "Other views"},
	{"T, I, v", "top-down, callers, flame; q there comes back"},
	{"a", "the function's code"},
	{"q", "to the flat table"},
	{NULL, "Other"},
	{"P", "print what is open to perf.tree.N"},
	{"?, h, F1", "this list"},
	{"Ctrl-C", "leave"},
};

static const struct tui_help *help_of(const struct tree_screen *s, size_t *count)
{
	*count = s->heading ? ARRAY_LEN(levels_help) : ARRAY_LEN(tree_screen_help);
	return s->heading ? levels_help : tree_screen_help;
}

/* Handles keys that open or close nodes, scroll or show the help; false for other keys. */
static bool tree_key(struct tree_screen *s, uint32_t key)
{
	switch (key) {
	case '\r':
	case '\n':
	case '+':
	case TUI_KEY_RIGHT:
		tree_screen_toggle(s);
		return true;
	case TUI_KEY_LEFT:
		step_out(s);
		return true;
	case 'e':
		toggle_all_below(s);
		return true;
	case 'E':
	case 'C':
		memset(s->is_open, key == 'E', s->tree->node_count * sizeof(*s->is_open));
		tree_screen_make_lines(s);
		return true;
	case '{':
	case '}':
		step_limit(s, key == '}');
		return true;
	case '[':
	case ']':
		tui_frame_scroll(&s->frame, key == ']');
		return true;
	case '?':
		tui_frame_help(&s->frame);
		return true;
	default:
		return false;
	}
}

static enum tree_action tree_screen_own_key(struct tree_screen *s, uint32_t key)
{
	if (tui_list_key(&s->list, key, TREE_SCREEN_FIRST_ROW) || tree_key(s, key))
		return TREE_STAY;
	if (tui_is_mouse(key)) { /* A double click: its first click moved the cursor. */
		tree_screen_toggle(s);
		return TREE_STAY;
	}
	switch (key) {
	case 'q':
	case TUI_KEY_ESCAPE:
		return TREE_BACK;
	case '\t':
	case '>':
		return TREE_NEXT_EVENT;
	case TUI_KEY_BACK_TAB:
	case '<':
		return TREE_PREVIOUS_EVENT;
	case 'T':
		return TREE_TOP_DOWN;
	case 'I':
		return TREE_CALLERS;
	case 'v':
		return TREE_FLAME;
	case 'a':
		return TREE_ANNOTATE;
	case 'P':
		return TREE_PRINT;
	default:
		tui_frame_refuse(&s->frame, key, '?');
		return TREE_STAY;
	}
}

enum tree_action tree_screen_key(struct tree_screen *s, uint32_t key)
{
	struct tui_frame_owner owner = {s, .search = tree_screen_search, .filter = s->heading ? filter_nodes : NULL};
	bool leaves = false;
	help_of(s, &owner.help_count);
	if (tui_frame_takes(&s->frame, &owner, key, &leaves))
		return leaves ? TREE_LEAVE : TREE_STAY;
	return tree_screen_own_key(s, key);
}

static void tree_screen_make_line(const struct tree_screen *s, size_t index, struct tui_line *line)
{
	uint32_t at = s->lines[index];
	const struct flame_node *node = &s->tree->nodes[at];
	const struct flame_label *label = &s->tree->labels[node->label];
	double total = tree_screen_percent_of(s, s->order.totals[at]), self = tree_screen_percent_of(s, node->self);
	uint32_t depth = MIN(node->depth, MAX_INDENT);
	tui_line_clear(line);
	tui_line_style(line, tui_heat_style(total));
	text_fixed_right(&line->text, total, 2, 8);
	text_char(&line->text, '%');
	tui_line_style(line, tui_heat_style(self));
	if (s->heading) {
		/* A level has no value of its own. */
	} else if (node->self) {
		text_fixed_right(&line->text, self, 2, 8);
		text_char(&line->text, '%');
	} else {
		text_repeat(&line->text, ' ', 9);
	}
	tui_line_style(line, GRID_PLAIN);
	text_repeat(&line->text, ' ', 2 + TREE_SCREEN_STEP * (size_t)depth);
	text_str(&line->text, !tree_screen_child_count(s, at) ? "  " : s->is_open[at] ? "- " : "+ ");
	text_bytes(&line->text, label->name.data, label->name.len);
	if (label->object.len) {
		tui_line_style(line, GRID_SOURCE);
		text_printf(&line->text, "  %.*s", (int)label->object.len, label->object.data);
	}
}

static void tree_screen_put_bottom(const struct tree_screen *s, struct grid *grid, struct text *t)
{
	const char *const hints[] = {"?:help", "q:back", "Enter:open", s->heading ? "/:filter" : "/:search",
		"a:annotate", "T:top-down", "I:callers", "v:flame", "E/C:all", "{/}:limit"};
	char room[TUI_PLACE_BYTES];
	struct tui_bottom bottom = {hints, ARRAY_LEN(hints), NULL, tui_place(&s->list, room)};
	tui_frame_put_bottom(&s->frame, &bottom, grid, t);
}

static void tree_screen_put_lines(const struct tree_screen *s, struct grid *grid, struct tui_line *line)
{
	unsigned last = grid->rows > 1 ? grid->rows - 1 : 0;
	if (last > 1) {
		tui_line_clear(line);
		tui_line_style(line, GRID_HEADER);
		if (s->heading)
			text_printf(&line->text, "    Total  %s", s->heading);
		else
			text_str(&line->text, "    Total     Self  Function");
		grid_fill(grid, 1, GRID_HEADER);
		tui_line_put(line, grid, 1, s->frame.shift);
	}
	for (unsigned row = TREE_SCREEN_FIRST_ROW;
		row < last && s->list.top + (row - TREE_SCREEN_FIRST_ROW) < s->list.count; row++) {
		size_t index = s->list.top + (row - TREE_SCREEN_FIRST_ROW);
		tree_screen_make_line(s, index, line);
		tui_line_put(line, grid, row, s->frame.shift);
		if (index == s->list.cursor)
			grid_select(grid, row);
	}
}

static void append_title(const struct tree_screen *s, struct text *out)
{
	if (*s->frame.filter) /* The filter comes first, where it is not cut off. */
		text_printf(out, "[names with '%s'] ", s->frame.filter);
	text_str(out, s->title);
	if (s->limit > 0 || !s->heading)
		text_printf(out, ", from %.4g%%", s->limit);
}

bool tree_screen_draw(const struct tree_screen *s, struct grid *grid)
{
	struct tui_line line = {0};
	if (!tui_frame_clear(&s->frame, grid))
		return false;
	if (grid->rows == 0)
		return true;
	size_t help_count;
	const struct tui_help *own_help = help_of(s, &help_count);
	if (s->frame.mode == TUI_HELP)
		tui_put_help(grid, own_help, help_count, s->frame.help_top, &line.text);
	else
		tree_screen_put_lines(s, grid, &line);
	text_clear(&line.text);
	append_title(s, &line.text);
	tui_put_title(grid, (struct tally_str){line.text.data, line.text.len});
	tree_screen_put_bottom(s, grid, &line.text);
	bool is_drawn = !line.text.failed;
	text_deinit(&line.text);
	return is_drawn;
}

void tree_screen_print(const struct tree_screen *s, struct text *out)
{
	struct tui_line line = {0};
	text_str(out, "# ");
	append_title(s, out);
	text_str(out, "\n#\n");
	for (size_t i = 0; i < s->list.count; i++) {
		tree_screen_make_line(s, i, &line);
		text_bytes(out, line.text.data, line.text.len);
		text_char(out, '\n');
		text_line_end(out);
	}
	out->failed = out->failed || line.text.failed;
	text_deinit(&line.text);
}
