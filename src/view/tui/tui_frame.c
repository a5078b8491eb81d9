/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tui_frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define TUI_FRAME_SHIFT_STEP 8 /* Columns per step. */

void tui_frame_say(struct tui_frame *f, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(f->message, sizeof(f->message), format, arguments);
	va_end(arguments);
}

void tui_frame_ask(struct tui_frame *f, bool is_back)
{
	f->mode = is_back ? TUI_SEARCH_BACK : TUI_SEARCH;
	tui_input_start(&f->input, NULL);
}

void tui_frame_help(struct tui_frame *f)
{
	f->mode = TUI_HELP;
	f->help_top = 0;
}

void tui_frame_scroll(struct tui_frame *f, bool is_right)
{
	if (!is_right)
		f->shift -= MIN(f->shift, TUI_FRAME_SHIFT_STEP);
	else if (f->shift < UINT16_MAX)
		f->shift += TUI_FRAME_SHIFT_STEP;
}

void tui_frame_refuse(struct tui_frame *f, uint32_t key, char help_key)
{
	if (key != TUI_KEY_RESIZE && key != TUI_KEY_CTRL('l') && !tui_is_mouse(key))
		tui_say_unknown(f->message, key, help_key);
}

static void set_filter(struct tui_frame *f, const struct tui_frame_owner *owner, const char *text)
{
	snprintf(f->filter, sizeof(f->filter), "%s", text);
	owner->filter(owner->data);
}

/* Handles a key of the text that is typed. An empty text searches for the previous text again. */
static void tui_frame_type_key(struct tui_frame *f, const struct tui_frame_owner *owner, uint32_t key)
{
	bool is_back = f->mode == TUI_SEARCH_BACK;
	enum tui_typed typed = tui_input_key(&f->input, key);
	if (typed == TUI_TYPED_MORE)
		return;
	bool is_filter = f->mode == TUI_FILTER;
	f->mode = TUI_BROWSE;
	if (is_filter) {
		if (typed == TUI_TYPED_WHOLE)
			set_filter(f, owner, f->input.text);
		return;
	}
	if (typed == TUI_TYPED_WHOLE && f->input.len)
		snprintf(f->pattern, sizeof(f->pattern), "%s", f->input.text);
	if (typed != TUI_TYPED_NOTHING && *f->pattern)
		owner->search(owner->data, is_back);
}

static bool browse_key(struct tui_frame *f, const struct tui_frame_owner *owner, uint32_t key)
{
	switch (key) {
	case 'n':
	case 'N':
		if (*f->pattern)
			owner->search(owner->data, key == 'N');
		else
			tui_frame_ask(f, key == 'N');
		return true;
	case '/':
		if (owner->filter) {
			f->mode = TUI_FILTER;
			tui_input_start(&f->input, f->filter);
		} else {
			tui_frame_ask(f, false);
		}
		return true;
	case 'f':
		if (owner->filter)
			tui_frame_ask(f, false);
		return owner->filter;
	case TUI_KEY_ESCAPE:
		if (!*f->filter)
			return false;
		set_filter(f, owner, "");
		return true;
	case 'h':
	case TUI_KEY_F1:
		if (owner->help_count)
			tui_frame_help(f);
		return true;
	default:
		return false;
	}
}

bool tui_frame_takes(struct tui_frame *f, const struct tui_frame_owner *owner, uint32_t key, bool *leaves)
{
	if (key == TUI_KEY_NONE)
		return true;
	if (key == TUI_KEY_CTRL('c') || key == TUI_KEY_CLOSED) {
		*leaves = true;
		return true;
	}
	f->message[0] = '\0';
	switch (f->mode) {
	case TUI_HELP:
		if (!tui_help_key(&f->help_top, owner->help_count, f->rows, key))
			f->mode = TUI_BROWSE;
		return true;
	case TUI_SEARCH:
	case TUI_SEARCH_BACK:
	case TUI_FILTER:
		tui_frame_type_key(f, owner, key);
		return true;
	case TUI_BROWSE:
		break;
	}
	return browse_key(f, owner, key);
}

bool tui_frame_find(struct tui_frame *f, const struct tui_search *search, bool is_back, size_t *at)
{
	bool has_start = search->from < search->count;
	size_t start = has_start ? search->from : is_back || !search->count ? 0 : search->count - 1;
	for (size_t i = 1; i <= search->count; i++) {
		size_t next = (start + (is_back ? search->count - i : i)) % search->count;
		if (!search->has(search->of, next, f->pattern))
			continue;
		if (has_start && (is_back ? next >= start : next <= start))
			tui_frame_say(f, "searched on from the other end");
		*at = next;
		return true;
	}
	tui_frame_say(f, "no %s has '%.100s' in it", search->what, f->pattern);
	return false;
}

bool tui_frame_clear(const struct tui_frame *f, struct grid *grid)
{
	if ((grid->rows != f->rows || grid->columns != f->columns) && !grid_resize(grid, f->rows, f->columns))
		return false;
	grid_clear(grid);
	return true;
}

struct tally_str tui_place(const struct tui_list *list, char room[TUI_PLACE_BYTES])
{
	int width = snprintf(room, TUI_PLACE_BYTES, " %zu/%zu", list->count ? list->cursor + 1 : 0, list->count);
	return (struct tally_str){room, (size_t)width};
}

void tui_frame_put_bottom(const struct tui_frame *f, const struct tui_bottom *bottom, struct grid *grid, struct text *t)
{
	size_t right = f->mode == TUI_BROWSE ? bottom->place.len : 0;
	text_clear(t);
	if (f->mode == TUI_SEARCH)
		text_printf(t, "Search: %s_", f->input.text);
	else if (f->mode == TUI_SEARCH_BACK)
		text_printf(t, "Search upwards: %s_", f->input.text);
	else if (f->mode == TUI_FILTER)
		text_printf(t, "Filter: %s_", f->input.text);
	else if (f->mode == TUI_HELP)
		text_str(t, "Up, Down: more; any other key goes back");
	else if (f->message[0] || bottom->idle)
		text_str(t, f->message[0] ? f->message : bottom->idle);
	else
		tui_append_hints(t, bottom->hints, bottom->hint_count,
			grid->columns > right ? grid->columns - right : grid->columns);
	tui_put_bottom(grid, (struct tally_str){t->data, t->len}, (struct tally_str){bottom->place.data, right});
}
