/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/flame_draw.h"

#include "base/array.h"

#define FLAME_DRAW_FIRST_ROW 1

_Static_assert(GRID_BLOCK_KINDS == FLAME_KINDS, "each kind has its colours");

static double flame_draw_percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* A state uses the colours of a kind of code, so that different states have different hues. */
static enum flame_kind state_kind(enum profile_state state)
{
	switch ((int)state) {
	case PROFILE_STATE_RUNNING:
		return FLAME_USER;
	case PROFILE_STATE_RUNNABLE:
	case PROFILE_STATE_THROTTLED:
		return FLAME_GROUP;
	case PROFILE_STATE_LOCK:
		return FLAME_GENERATED;
	case PROFILE_STATE_IO:
	case PROFILE_STATE_DISK:
		return FLAME_INLINED;
	case PROFILE_STATE_POLL:
	case PROFILE_STATES: /* This is FLAME_STATE_NOT_KNOWN. */
		return FLAME_UNKNOWN;
	default:
		return FLAME_KERNEL;
	}
}

static enum profile_state flame_draw_state_of(const struct flame_screen *s, uint32_t node)
{
	if (s->shows == FLAME_SHOWS_RUNNING)
		return PROFILE_STATE_RUNNING;
	return flame_tree_main_state(&s->states[(size_t)node * FLAME_STATES], s->shows == FLAME_SHOWS_ALL);
}

/* Uses two shades, so that adjacent blocks can be distinguished. */
static unsigned style_of(const struct flame_screen *s, uint32_t node)
{
	if (node == s->cursor)
		return GRID_CURSOR;
	if (node == PROFILE_NONE)
		return GRID_BLOCKS + 2 * FLAME_GROUP;
	uint32_t label = s->tree->nodes[node].label;
	if (s->matches[label])
		return GRID_MATCH;
	enum flame_kind kind = s->states ? state_kind(flame_draw_state_of(s, node)) : s->tree->labels[label].kind;
	return GRID_BLOCKS + 2 * (unsigned)kind + (label & 1);
}

/* Draws an edge on the left, and as much of the name as fits. */
static void flame_draw_put_block(
	const struct flame_screen *s, struct grid *grid, uint32_t node, unsigned column, unsigned end)
{
	unsigned level = flame_screen_level(s, node);
	if (level < s->top || level - s->top + FLAME_DRAW_FIRST_ROW + 2 >= grid->rows)
		return;
	unsigned row = level - s->top + FLAME_DRAW_FIRST_ROW, style = style_of(s, node);
	struct tally_str name = STR("all");
	if (node != PROFILE_NONE)
		name = s->tree->labels[s->tree->nodes[node].label].name;
	column = grid_put(grid, row, column, STR("▏"), style);
	while (column < end) {
		struct tally_str one = name;
		unsigned width = 1;
		if (name.len) {
			(void)grid_next_character(&name, &width);
			one.len -= name.len;
		}
		if (!one.len || column + width > end) {
			one = STR(" ");
			name.len = 0;
			width = 1;
		}
		(void)grid_put(grid, row, column, one, style);
		column += width;
	}
}

/* Nodes below a hidden block are hidden too. */
static void flame_draw_put_blocks(const struct flame_screen *s, struct grid *grid)
{
	const struct flame_tree *tree = s->tree;
	unsigned first, end;
	if (flame_screen_block(s, PROFILE_NONE, &first, &end))
		flame_draw_put_block(s, grid, PROFILE_NONE, first, end);
	for (uint32_t i = 0; i < tree->node_count;) {
		uint32_t depth = tree->nodes[i].depth;
		if (flame_screen_block(s, i, &first, &end)) {
			flame_draw_put_block(s, grid, i++, first, end);
			continue;
		}
		for (i++; i < tree->node_count && tree->nodes[i].depth > depth;)
			i++;
	}
}

/* Writes what is shown, and the states of the block's threads: "waiting: lock 80%, io 20%  ". */
static void flame_draw_put_states(const struct flame_screen *s, struct text *t)
{
	static const char *const shows[] = {"all", "on the CPU", "waiting"};
	const char *before = ": ";
	text_str(t, shows[s->shows]);
	for (unsigned state = 0; s->cursor != PROFILE_NONE && state < FLAME_STATES; state++) {
		uint64_t part = s->states[(size_t)s->cursor * FLAME_STATES + state];
		bool is_shown = s->shows == FLAME_SHOWS_ALL ||
				((s->shows == FLAME_SHOWS_RUNNING) == (state == PROFILE_STATE_RUNNING) &&
					state != FLAME_STATE_NOT_KNOWN);
		if (!part || !is_shown)
			continue;
		text_str(t, before);
		text_bytes(t, s->tree->state_names[state].data, s->tree->state_names[state].len);
		text_printf(t, " %.0f%%", flame_draw_percent_of(part, s->weights[s->cursor]));
		before = ", ";
	}
	text_str(t, "  ");
}

static void put_detail(const struct flame_screen *s, struct grid *grid, struct text *t)
{
	const struct flame_label *label = flame_screen_label(s);
	uint64_t total = s->cursor == PROFILE_NONE ? s->total : s->weights[s->cursor];
	uint64_t self = s->cursor == PROFILE_NONE ? 0 : s->tree->nodes[s->cursor].self;
	text_clear(t);
	text_fixed(t, flame_draw_percent_of(total, s->total), 2);
	if (!s->states) {
		text_str(t, "%, self ");
		text_fixed(t, flame_draw_percent_of(self, s->total), 2);
	}
	text_str(t, "%  ");
	if (s->states)
		flame_draw_put_states(s, t);
	if (label) {
		text_bytes(t, label->name.data, label->name.len);
		text_str(t, "  ");
		text_bytes(t, label->object.data, label->object.len);
	} else {
		text_str(t, "all samples");
	}
	grid_put(grid, grid->rows - 2, 0, (struct tally_str){t->data, t->len}, GRID_PLAIN);
}

static void flame_draw_put_bottom(const struct flame_screen *s, struct grid *grid, struct text *t)
{
	static const char *const hints[] = {"?:help", "q:back", "Enter:zoom", "u:wider", "z:all", "/:search",
		"a:annotate", "T:top-down", "I:callers"};
	struct tui_bottom bottom = {hints, ARRAY_LEN(hints), NULL, {0}};
	struct text marked = {0};
	if (*s->frame.pattern) {
		text_printf(&marked, "'%.60s' is in ", s->frame.pattern);
		text_fixed(&marked, flame_draw_percent_of(s->matched, s->total), 2);
		text_str(&marked, "%, n:next N:previous Esc:no marks");
		text_char(&marked, '\0');
		bottom.idle = marked.failed ? NULL : marked.data;
	}
	tui_frame_put_bottom(&s->frame, &bottom, grid, t);
	text_deinit(&marked);
}

bool flame_draw(const struct flame_screen *s, struct grid *grid)
{
	struct text t = {0};
	size_t help_count;
	const struct tui_help *help = flame_screen_help(&help_count);
	if (!tui_frame_clear(&s->frame, grid))
		return false;
	if (grid->rows == 0)
		return true;
	if (s->frame.mode == TUI_HELP) {
		tui_put_help(grid, help, help_count, s->frame.help_top, &t);
	} else if (grid->rows > 2) {
		flame_draw_put_blocks(s, grid);
		put_detail(s, grid, &t);
	}
	tui_put_title(grid, str_from(s->title));
	flame_draw_put_bottom(s, grid, &t);
	bool is_drawn = !t.failed;
	text_deinit(&t);
	return is_drawn;
}
