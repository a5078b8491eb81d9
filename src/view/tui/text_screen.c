#include "view/tui/text_screen.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define FIXED_LINES 2 /* title and bottom */

enum tally_status text_screen_init(struct text_screen *s, const char *title, struct text *text, struct tally_error *err)
{
	*s = (struct text_screen){.title = title, .rows = 24, .columns = 80};
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
	s->rows = rows;
	s->columns = columns;
	s->list.page = rows > FIXED_LINES ? rows - FIXED_LINES : 1;
	tui_list_settle(&s->list);
}

static void search(struct text_screen *s, bool is_back)
{
	size_t count = s->list.count, from = s->list.cursor, len = strlen(s->pattern);
	for (size_t i = 1; i <= count; i++) {
		size_t at = (from + (is_back ? count - i : i)) % count;
		struct tally_str line = s->lines.items[at];
		if (!line.len || !memmem(line.data, line.len, s->pattern, len))
			continue;
		tui_list_go(&s->list, at);
		if (is_back ? at >= from : at <= from)
			snprintf(s->message, sizeof(s->message), "searched on from the other end");
		return;
	}
	snprintf(s->message, sizeof(s->message), "no line has '%.100s' in it", s->pattern);
}

static void type_key(struct text_screen *s, uint32_t key)
{
	enum tui_typed typed = tui_input_key(&s->input, key);
	s->is_typing = typed == TUI_TYPED_MORE;
	if (typed != TUI_TYPED_WHOLE || !s->input.len)
		return;
	snprintf(s->pattern, sizeof(s->pattern), "%s", s->input.text);
	search(s, false);
}

static void search_key(struct text_screen *s, uint32_t key)
{
	if (key != '/' && *s->pattern) {
		search(s, key == 'N');
		return;
	}
	s->is_typing = true;
	tui_input_start(&s->input, NULL);
}

enum text_screen_action text_screen_key(struct text_screen *s, uint32_t key)
{
	if (key == TUI_KEY_NONE)
		return TEXT_SCREEN_STAY;
	if (key == TUI_KEY_CTRL('c') || key == TUI_KEY_CLOSED)
		return TEXT_SCREEN_LEAVE;
	s->message[0] = '\0';
	if (s->is_typing) {
		type_key(s, key);
		return TEXT_SCREEN_STAY;
	}
	if (tui_list_key(&s->list, key, 1))
		return TEXT_SCREEN_STAY;
	switch (key) {
	case 'q':
	case 'i':
	case 'W':
	case TUI_KEY_ESCAPE:
		return TEXT_SCREEN_BACK;
	case '/':
	case 'n':
	case 'N':
		search_key(s, key);
		break;
	case TUI_KEY_LEFT:
		s->shift -= s->shift < 8 ? s->shift : 8;
		break;
	case TUI_KEY_RIGHT:
		if (s->shift < UINT16_MAX)
			s->shift += 8;
		break;
	default:
		break;
	}
	return TEXT_SCREEN_STAY;
}

static void put_bottom(const struct text_screen *s, struct grid *grid, struct text *t)
{
	char place[48];
	int width = snprintf(place, sizeof(place), " %zu/%zu", s->list.count ? s->list.cursor + 1 : 0, s->list.count);
	text_clear(t);
	if (s->is_typing)
		text_printf(t, "Search: %s_", s->input.text);
	else
		text_str(t, s->message[0] ? s->message : "q:back /:search n/N:next Left/Right:sideways");
	tui_put_bottom(grid, (struct tally_str){t->data, t->len}, (struct tally_str){place, (size_t)width});
}

bool text_screen_draw(const struct text_screen *s, struct grid *grid)
{
	struct tui_line line = {0};
	if ((grid->rows != s->rows || grid->columns != s->columns) && !grid_resize(grid, s->rows, s->columns))
		return false;
	grid_clear(grid);
	if (grid->rows == 0)
		return true;
	for (unsigned row = 1; row + 1 < grid->rows && s->list.top + row - 1 < s->list.count; row++) {
		size_t at = s->list.top + row - 1;
		tui_line_clear(&line);
		for (size_t i = 0; i < s->lines.items[at].len; i++) {
			char c = s->lines.items[at].data[i];
			if (c == '\t')
				text_repeat(&line.text, ' ', 8 - line.text.len % 8);
			else
				text_char(&line.text, c);
		}
		tui_line_put(&line, grid, row, s->shift);
		if (at == s->list.cursor)
			grid_select(grid, row);
	}
	tui_put_title(grid, str_from(s->title));
	put_bottom(s, grid, &line.text);
	bool is_drawn = !line.text.failed;
	text_deinit(&line.text);
	return is_drawn;
}
