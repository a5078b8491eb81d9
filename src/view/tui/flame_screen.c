/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/flame_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define FLAME_SCREEN_FIXED_LINES 3 /* Title, line about the cursor, bottom line. */

static uint64_t flame_screen_weigh(const struct flame_screen *s, size_t node)
{
	uint64_t total = s->tree->nodes[node].total;
	if (!s->states || s->shows == FLAME_SHOWS_ALL)
		return total;
	const uint64_t *states = &s->states[node * FLAME_STATES];
	return s->shows == FLAME_SHOWS_RUNNING ? states[PROFILE_STATE_RUNNING]
					       : total - states[PROFILE_STATE_RUNNING] - states[FLAME_STATE_NOT_KNOWN];
}

static void flame_screen_lay_out(struct flame_screen *s)
{
	const struct flame_tree *tree = s->tree;
	s->total = 0;
	for (size_t i = 0; i < tree->node_count; i++) {
		s->weights[i] = flame_screen_weigh(s, i);
		s->total += tree->nodes[i].parent == PROFILE_NONE ? s->weights[i] : 0;
	}
	/* By node: where its next child begins. Parents precede their children. */
	uint64_t *next = s->starts + tree->node_count + 1, root = 0;
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct flame_node *node = &tree->nodes[i];
		uint64_t *place = node->parent == PROFILE_NONE ? &root : &next[node->parent];
		s->starts[i] = next[i] = *place;
		*place += s->weights[i];
	}
}

enum tally_status flame_screen_init(
	struct flame_screen *s, const struct flame_tree *tree, const char *title, struct tally_error *err)
{
	*s = (struct flame_screen){
		.tree = tree, .title = title, .zoom = PROFILE_NONE, .cursor = PROFILE_NONE, .frame = TUI_FRAME_START};
	s->starts = calloc(2 * (tree->node_count + 1), sizeof(*s->starts));
	s->matches = calloc(tree->label_count + 1, sizeof(*s->matches));
	s->weights = calloc(tree->node_count + 1, sizeof(*s->weights));
	s->states = flame_tree_state_totals(tree);
	if (!s->starts || !s->matches || !s->weights || (tree->states && !s->states)) {
		flame_screen_deinit(s);
		return error_nomem(err);
	}
	flame_screen_lay_out(s);
	return TALLY_OK;
}

void flame_screen_deinit(struct flame_screen *s)
{
	free(s->starts);
	free(s->weights);
	free(s->states);
	free(s->matches);
	*s = (struct flame_screen){0};
}

static uint64_t flame_screen_total_of(const struct flame_screen *s, uint32_t node)
{
	return node == PROFILE_NONE ? s->total : s->weights[node];
}

static uint32_t flame_screen_parent_of(const struct flame_screen *s, uint32_t node)
{
	return node == PROFILE_NONE ? PROFILE_NONE : s->tree->nodes[node].parent;
}

unsigned flame_screen_level(const struct flame_screen *s, uint32_t node)
{
	return node == PROFILE_NONE ? 0 : s->tree->nodes[node].depth + 1;
}

static bool is_above_zoom(const struct flame_screen *s, uint32_t node)
{
	uint32_t at = s->zoom;
	while (at != PROFILE_NONE && at != node)
		at = flame_screen_parent_of(s, at);
	return at == node;
}

bool flame_screen_block(const struct flame_screen *s, uint32_t node, unsigned *first, unsigned *end)
{
	uint64_t whole = flame_screen_total_of(s, s->zoom), left = s->zoom == PROFILE_NONE ? 0 : s->starts[s->zoom];
	*first = 0;
	*end = s->frame.columns;
	if (node == PROFILE_NONE || is_above_zoom(s, node))
		return s->frame.columns > 0;
	uint64_t start = s->starts[node], width = s->weights[node];
	if (!whole || start < left || start - left + width > whole ||
		flame_screen_level(s, node) <= flame_screen_level(s, s->zoom))
		return false;
	*first = (unsigned)((double)(start - left) / (double)whole * s->frame.columns);
	*end = (unsigned)((double)(start - left + width) / (double)whole * s->frame.columns);
	return *end > *first;
}

static unsigned flame_screen_page_of(const struct flame_screen *s)
{
	return s->frame.rows > FLAME_SCREEN_FIXED_LINES ? s->frame.rows - FLAME_SCREEN_FIXED_LINES : 1;
}

static void follow_cursor(struct flame_screen *s)
{
	unsigned level = flame_screen_level(s, s->cursor), page = flame_screen_page_of(s);
	if (level < s->top)
		s->top = level;
	if (level - s->top >= page)
		s->top = level - page + 1;
}

void flame_screen_resize(struct flame_screen *s, unsigned rows, unsigned columns)
{
	bool is_new = rows != s->frame.rows || columns != s->frame.columns;
	s->frame.rows = rows;
	s->frame.columns = columns;
	if (is_new)
		follow_cursor(s);
}

const struct flame_label *flame_screen_label(const struct flame_screen *s)
{
	return s->cursor == PROFILE_NONE ? NULL : &s->tree->labels[s->tree->nodes[s->cursor].label];
}

static bool flame_screen_is_shown(const struct flame_screen *s, uint32_t node)
{
	unsigned first, end;
	return flame_screen_block(s, node, &first, &end);
}

/* Moves to the widest block below; the nodes below follow this one. */
static void go_down(struct flame_screen *s)
{
	uint32_t best = PROFILE_NONE;
	uint32_t from = s->cursor == PROFILE_NONE ? 0 : s->cursor + 1;
	for (uint32_t i = from; i < s->tree->node_count; i++) {
		if (s->cursor != PROFILE_NONE && s->tree->nodes[i].depth <= s->tree->nodes[s->cursor].depth)
			break;
		bool is_child = s->tree->nodes[i].parent == s->cursor && flame_screen_is_shown(s, i);
		if (is_child && (best == PROFILE_NONE || s->weights[i] > s->weights[best]))
			best = i;
	}
	if (best != PROFILE_NONE)
		s->cursor = best;
}

/* Moves to the next visible block of the same level. */
static void go_beside(struct flame_screen *s, bool is_right)
{
	if (s->cursor == PROFILE_NONE)
		return;
	uint32_t depth = s->tree->nodes[s->cursor].depth;
	for (uint32_t i = s->cursor; is_right ? ++i < s->tree->node_count : i-- > 0;) {
		if (s->tree->nodes[i].depth == depth && flame_screen_is_shown(s, i)) {
			s->cursor = i;
			return;
		}
	}
}

static void zoom_to(struct flame_screen *s, uint32_t node)
{
	s->zoom = node;
	s->cursor = node;
}

static void find_matches(struct flame_screen *s)
{
	const struct flame_tree *tree = s->tree;
	size_t len = strlen(s->frame.pattern);
	for (size_t i = 0; i < tree->label_count; i++) {
		struct tally_str name = tree->labels[i].name;
		s->matches[i] = len && name.len && memmem(name.data, name.len, s->frame.pattern, len);
	}
	s->matched = 0;
	for (size_t i = 0; i < tree->node_count;) {
		const struct flame_node *node = &tree->nodes[i++];
		if (!s->matches[node->label])
			continue;
		s->matched += s->weights[i - 1];
		while (i < tree->node_count && tree->nodes[i].depth > node->depth)
			i++;
	}
}

/* Switches to the next choice of states. If this leaves nothing of the zoom, zooms out completely. */
static void flame_screen_show_next(struct flame_screen *s)
{
	if (!s->states) {
		tui_frame_say(&s->frame, "only recordings of record --wall distinguish running from waiting");
		return;
	}
	s->shows = (enum flame_shows)((s->shows + 1) % 3);
	flame_screen_lay_out(s);
	find_matches(s);
	if (flame_screen_total_of(s, s->zoom) == 0)
		zoom_to(s, PROFILE_NONE);
}

static bool is_match(const void *of, size_t at, const char *pattern)
{
	const struct flame_screen *s = of;
	(void)pattern; /* find_matches has searched for it already. */
	return s->matches[s->tree->nodes[at].label];
}

static void flame_screen_search(void *data, bool is_back)
{
	struct flame_screen *s = data;
	size_t count = s->tree->node_count, at;
	struct tui_search wanted = {s, is_match, count, s->cursor == PROFILE_NONE ? count : s->cursor, "function"};
	find_matches(s);
	if (!tui_frame_find(&s->frame, &wanted, is_back, &at))
		return;
	uint32_t node = (uint32_t)at;
	if (!flame_screen_is_shown(s, node)) {
		/* The block is too narrow, or outside the zoom. */
		s->zoom = PROFILE_NONE;
		if (!flame_screen_is_shown(s, node))
			s->zoom = node;
	}
	s->cursor = node;
}

static void flame_screen_click(struct flame_screen *s, uint32_t key)
{
	unsigned row = tui_mouse_row(key), column = tui_mouse_column(key), first, end;
	if (row < 1 || row > flame_screen_page_of(s))
		return;
	unsigned level = s->top + row - 1;
	if (level == 0)
		s->cursor = PROFILE_NONE;
	for (uint32_t i = 0; i < s->tree->node_count && level > 0; i++)
		if (flame_screen_level(s, i) == level && flame_screen_block(s, i, &first, &end) && column >= first &&
			column < end)
			s->cursor = i;
}

static void flame_screen_mouse_key(struct flame_screen *s, uint32_t key)
{
	switch (tui_mouse_act(key)) {
	case TUI_MOUSE_CLICK:
		flame_screen_click(s, key);
		break;
	case TUI_MOUSE_DOUBLE:
		flame_screen_click(s, key);
		zoom_to(s, s->cursor);
		break;
	case TUI_MOUSE_WHEEL_UP:
		s->cursor = flame_screen_parent_of(s, s->cursor);
		break;
	case TUI_MOUSE_WHEEL_DOWN:
		go_down(s);
		break;
	}
}

void flame_screen_remember(const struct flame_screen *s, struct tree_memory *memory)
{
	tree_memory_note(memory, s->tree, NULL, s->cursor, s->zoom);
}

enum tally_status flame_screen_renew(struct flame_screen *s, const struct tree_memory *memory,
	const struct flame_tree *tree, struct tally_error *err)
{
	struct flame_screen made;
	enum tally_status status = flame_screen_init(&made, tree, s->title, err);
	if (status != TALLY_OK)
		return status;
	if (!tree_memory_find(memory, tree, NULL, &made.cursor, &made.zoom)) {
		flame_screen_deinit(&made);
		return error_nomem(err);
	}
	made.frame = s->frame;
	made.top = s->top;
	made.shows = s->shows;
	flame_screen_lay_out(&made);
	flame_screen_deinit(s);
	*s = made;
	find_matches(s);
	follow_cursor(s);
	return TALLY_OK;
}

static const struct tui_help flame_screen_keys_help[] = {
	{NULL, "Moving"},
	{"Up Down, k j", "to the caller, to the widest callee"},
	{"Left Right", "the block beside it"},
	{"Home End, g G", "the root, the end of the widest path"},
	{NULL, "Looking"},
	{"Enter, double click", "the block as wide as the screen"},
	{"Backspace, u", "one caller wider"},
	{"z, Esc", "all again"},
	{"/, n N", "mark functions with a text in their names; the next"},
	{"w", "of wall-clock time: all, on the CPU, waiting"},
	{NULL, "Other views"},
	{"T, I", "top-down, callers"},
	{"a", "the function's code"},
	{"q", "back to the table"},
	{NULL, "Other"},
	{"?, h, F1", "this list"},
	{"Ctrl-C", "leave"},
};

const struct tui_help *flame_screen_help(size_t *count)
{
	*count = ARRAY_LEN(flame_screen_keys_help);
	return flame_screen_keys_help;
}

/* Handles keys that move the cursor; false for other keys. */
static bool flame_screen_move_key(struct flame_screen *s, uint32_t key)
{
	uint32_t before;
	switch (key) {
	case TUI_KEY_UP:
	case 'k':
		s->cursor = flame_screen_parent_of(s, s->cursor);
		return true;
	case TUI_KEY_DOWN:
	case 'j':
		go_down(s);
		return true;
	case TUI_KEY_LEFT:
	case TUI_KEY_RIGHT:
		go_beside(s, key == TUI_KEY_RIGHT);
		return true;
	case TUI_KEY_HOME:
	case 'g':
		s->cursor = s->zoom;
		return true;
	case TUI_KEY_END:
	case 'G':
		do {
			before = s->cursor;
			go_down(s);
		} while (s->cursor != before);
		return true;
	default:
		return false;
	}
}

static bool flame_screen_look_key(struct flame_screen *s, uint32_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		zoom_to(s, s->cursor);
		return true;
	case TUI_KEY_BACKSPACE:
	case '\b':
	case 0x7f:
	case 'u':
		zoom_to(s, flame_screen_parent_of(s, s->zoom));
		return true;
	case 'z':
		zoom_to(s, PROFILE_NONE);
		return true;
	case 'w':
		flame_screen_show_next(s);
		return true;
	case '?':
		tui_frame_help(&s->frame);
		return true;
	default:
		return false;
	}
}

static enum tree_action flame_screen_other_key(struct flame_screen *s, uint32_t key)
{
	switch (key) {
	case TUI_KEY_ESCAPE:
		if (s->zoom == PROFILE_NONE && !*s->frame.pattern)
			return TREE_BACK;
		s->frame.pattern[0] = '\0';
		find_matches(s);
		zoom_to(s, PROFILE_NONE);
		return TREE_STAY;
	case 'q':
	case 'v':
		return TREE_BACK;
	case 'T':
		return TREE_TOP_DOWN;
	case 'I':
		return TREE_CALLERS;
	case 'a':
		return TREE_ANNOTATE;
	default:
		tui_frame_refuse(&s->frame, key, '?');
		return TREE_STAY;
	}
}

enum tree_action flame_screen_key(struct flame_screen *s, uint32_t key)
{
	enum tree_action action = TREE_STAY;
	const struct tui_frame_owner owner = {
		.data = s, .help_count = ARRAY_LEN(flame_screen_keys_help), .search = flame_screen_search};
	bool leaves = false;
	if (!tui_frame_takes(&s->frame, &owner, key, &leaves)) {
		if (tui_is_mouse(key))
			flame_screen_mouse_key(s, key);
		else if (!flame_screen_move_key(s, key) && !flame_screen_look_key(s, key))
			action = flame_screen_other_key(s, key);
	}
	follow_cursor(s);
	return leaves ? TREE_LEAVE : action;
}
