/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/text_screen.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define TEXT_SCREEN_FIXED_LINES 2 /* Title and bottom line. */

enum tally_status text_screen_init(struct text_screen *s, const char *title, struct text *text, struct tally_error *err)
{
	*s = (struct text_screen){.title = title, .frame = TUI_FRAME_START};
	struct tally_str rest = {text->data, text->len}, line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		if (!vec_push(&s->lines, line)) {
			text_screen_deinit(s);
			return error_nomem(err);
		}
	}
	s->text = *text;
	*text = (struct text){0};
	s->list.count = s->lines.len;
	return TALLY_OK;
}

void text_screen_deinit(struct text_screen *s)
{
	vec_free(&s->lines);
	text_deinit(&s->text);
	*s = (struct text_screen){0};
}

void text_screen_resize(struct text_screen *s, unsigned rows, unsigned columns)
{
	s->frame.rows = rows;
	s->frame.columns = columns;
	s->list.page = rows > TEXT_SCREEN_FIXED_LINES ? rows - TEXT_SCREEN_FIXED_LINES : 1;
	tui_list_settle(&s->list);
}

static bool text_screen_has_text(const void *of, size_t at, const char *pattern)
{
	const struct text_screen *s = of;
	struct tally_str line = s->lines.items[at];
	return line.len && memmem(line.data, line.len, pattern, strlen(pattern));
}

static void text_screen_search(void *data, bool is_back)
{
	struct text_screen *s = data;
	struct tui_search wanted = {s, text_screen_has_text, s->list.count, s->list.cursor, "line"};
	size_t at;
	if (tui_frame_find(&s->frame, &wanted, is_back, &at))
		tui_list_go(&s->list, at);
}

static const struct tui_help text_screen_help[] = {
	{"Up Down, k j", "one line"},
	{"PgUp PgDn, Space", "one page; also Ctrl-B, Ctrl-F"},
	{"Home End, g G", "first and last line"},
	{"Left Right", "scroll sideways"},
	{"/, n N", "search a text; the next, the one before"},
	{"?, h, F1", "this list"},
	{"Ctrl-L", "redraw the screen"},
	{"q, Esc, i, W", "back to the table"},
	{"Ctrl-C", "leave"},
};

static enum text_screen_action text_screen_own_key(struct text_screen *s, uint32_t key)
{
	if (tui_list_key(&s->list, key, 1))
		return TEXT_SCREEN_STAY;
	switch (key) {
	case 'q':
	case 'i':
	case 'W':
	case TUI_KEY_ESCAPE:
		return TEXT_SCREEN_BACK;
	case TUI_KEY_LEFT:
	case TUI_KEY_RIGHT:
		tui_frame_scroll(&s->frame, key == TUI_KEY_RIGHT);
		break;
	case '?':
		tui_frame_help(&s->frame);
		break;
	default:
		tui_frame_refuse(&s->frame, key, '?');
		break;
	}
	return TEXT_SCREEN_STAY;
}

enum text_screen_action text_screen_key(struct text_screen *s, uint32_t key)
{
	const struct tui_frame_owner owner = {
		.data = s, .help_count = ARRAY_LEN(text_screen_help), .search = text_screen_search};
	bool leaves = false;
	if (tui_frame_takes(&s->frame, &owner, key, &leaves))
		return leaves ? TEXT_SCREEN_LEAVE : TEXT_SCREEN_STAY;
	return text_screen_own_key(s, key);
}

static void text_screen_put_bottom(const struct text_screen *s, struct grid *grid, struct text *t)
{
	static const char *const hints[] = {"?:help", "q:back", "/:search", "n/N:next", "Left/Right:sideways"};
	char room[TUI_PLACE_BYTES];
	struct tui_bottom bottom = {hints, ARRAY_LEN(hints), NULL, tui_place(&s->list, room)};
	tui_frame_put_bottom(&s->frame, &bottom, grid, t);
}

static void text_screen_put_lines(const struct text_screen *s, struct grid *grid, struct tui_line *line)
{
	for (unsigned row = 1; row + 1 < grid->rows && s->list.top + row - 1 < s->list.count; row++) {
		size_t at = s->list.top + row - 1;
		tui_line_clear(line);
		for (size_t i = 0; i < s->lines.items[at].len; i++) {
			char c = s->lines.items[at].data[i];
			if (c == '\t')
				text_repeat(&line->text, ' ', 8 - text_cells_from(&line->text, 0) % 8);
			else
				text_char(&line->text, c);
		}
		tui_line_put(line, grid, row, s->frame.shift);
		if (at == s->list.cursor)
			grid_select(grid, row);
	}
}

bool text_screen_draw(const struct text_screen *s, struct grid *grid)
{
	struct tui_line line = {0};
	if (!tui_frame_clear(&s->frame, grid))
		return false;
	if (grid->rows == 0)
		return true;
	if (s->frame.mode == TUI_HELP)
		tui_put_help(grid, text_screen_help, ARRAY_LEN(text_screen_help), s->frame.help_top, &line.text);
	else
		text_screen_put_lines(s, grid, &line);
	tui_put_title(grid, str_from(s->title));
	text_screen_put_bottom(s, grid, &line.text);
	bool is_drawn = !line.text.failed;
	text_deinit(&line.text);
	return is_drawn;
}
