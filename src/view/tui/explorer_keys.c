/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_menu.h"
#include "view/tui/explorer_rows.h"
#include "view/tui/explorer_table.h"

#define EXPLORER_KEYS_SHIFT_STEP 8 /* Columns per step. */

static const struct tui_help explorer_keys_help[] = {
	{NULL, "Moving"},
	{"Up Down, k j", "one line"},
	{"PgUp PgDn, Space", "one page; also Ctrl-B, Ctrl-F"},
	{"Home End, g G", "first and last row"},
	{"Left Right", "scroll sideways"},
	{"f", "search a text"},
	{"n N", "the next row with the text, the one before"},
	{NULL, "Call chains"},
	{"Enter, +", "open or close one level"},
	{"e", "open or close all of the row"},
	{"c", "close the row"},
	{"E, C", "open, close all rows"},
	{"V", "objects of the frames of chains, or their names alone"},
	{NULL, "What is shown"},
	{"m, Enter", "menu of what can be done here (Enter: where no chain is)"},
	{"/", "rows whose symbol has a text in it; an empty one: all"},
	{"t, d, y", "the cursor's thread, object, symbol only, or all"},
	{"S", "the cursor's socket only, or all"},
	{"K", "the kernel only, or all"},
	{"Esc", "take back the last of these"},
	{"L, { }", "hide rows below a percentage; lower, higher"},
	{"F", "percentages of what is shown, or of all"},
	{"o", "order rows by another column"},
	{"0-9", "order rows by one event of a group"},
	{"s", "rows by other sort keys"},
	{"|", "columns on and off"},
	{"H", "column headers on and off"},
	{"Tab, >", "next event"},
	{"Shift-Tab, <", "previous event"},
	{NULL, "Other"},
	{"a", "the function's code, instruction by instruction"},
	{"T, I", "call tree from the top; from each function to its callers"},
	{"v", "flame view: what calls what, as wide as what it costs"},
	{"i", "the recording's header"},
	{"W", "the recording's health"},
	{"P", "print what is shown to perf.hist.N"},
	{"?, h, F1", "this list"},
	{"mouse", "wheel: three lines; click: the cursor; double click: Enter"},
	{"Ctrl-L", "redraw the screen"},
	{"q, Ctrl-C", "leave"},
};

/* Keys of perf that have no function here, and their replacements. */
static const struct {
	char key;
	const char *instead;
} absent[] = {
	{'r', "scripts: leave, and tally script -s"},
};

/* Returns whether a help line describes one of these keys: single characters in it are keys ("t, d, y"), words are
 * not ("Esc"). */
static bool explorer_keys_are_of(const char *line, const char *keys)
{
	struct tally_str rest = str_from(line), word;
	while (rest.len > 0) {
		size_t len = strcspn(rest.data, " ,");
		word = (struct tally_str){rest.data, MIN(len, rest.len)};
		if (word.len == 1 && strchr(keys, word.data[0]))
			return true;
		size_t skip = word.len + strspn(rest.data + word.len, " ,");
		rest = (struct tally_str){rest.data + MIN(skip, rest.len), rest.len - MIN(skip, rest.len)};
	}
	return false;
}

size_t explorer_help_without(const char *keys, struct tui_help *to)
{
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_LEN(explorer_keys_help); i++)
		if (!explorer_keys_help[i].keys || !explorer_keys_are_of(explorer_keys_help[i].keys, keys))
			to[count++] = explorer_keys_help[i];
	return count;
}

const struct tui_help *explorer_help(size_t *count)
{
	*count = ARRAY_LEN(explorer_keys_help);
	return explorer_keys_help;
}

static void explorer_keys_ask(struct explorer *e, enum explorer_mode mode)
{
	e->mode = mode;
	tui_input_start(&e->input, NULL);
}

/* Prints the keys of the rows. Fields of tracepoints are omitted, because only the recording has their names. */
static void explorer_keys_print(const struct explorer *e, char *room, size_t size)
{
	size_t used = 0;
	room[0] = '\0';
	for (size_t i = 0; i < e->table->options.key_count && used < size; i++) {
		enum profile_key key = e->table->options.keys[i];
		if (key < KEY_FIELD)
			used += (size_t)snprintf(
				room + used, size - used, "%s%s", used ? "," : "", profile_key_get(key)->name);
	}
}

/* The input begins with the current keys of the rows. */
static void ask_sort(struct explorer *e)
{
	char keys[TUI_INPUT_BYTES];
	explorer_keys_print(e, keys, sizeof(keys));
	e->mode = EXPLORER_ASK_SORT;
	tui_input_start(&e->input, keys);
}

static void take_limit(struct explorer *e)
{
	char *end;
	double percent = strtod(e->input.text, &end);
	if (end == e->input.text || *end != '\0' || !(percent >= 0 && percent <= 100)) {
		explorer_say(e, "a percentage from 0 to 100 is wanted, not '%.60s'", e->input.text);
		return;
	}
	explorer_set_percent_limit(e, percent);
	if (e->visible_count == 0)
		explorer_say(e, "no row has %.4g%% or more", percent);
}

static enum explorer_action explorer_keys_take_input(struct explorer *e)
{
	enum explorer_mode mode = e->mode;
	e->mode = EXPLORER_TABLE;
	if (mode == EXPLORER_ASK_SYMBOL) {
		explorer_zoom_symbol(e, e->input.text);
	} else if (mode == EXPLORER_ASK_LIMIT) {
		take_limit(e);
	} else if (mode == EXPLORER_ASK_SORT) {
		char keys[TUI_INPUT_BYTES];
		explorer_keys_print(e, keys, sizeof(keys));
		return e->input.len && strcmp(keys, e->input.text) != 0 ? EXPLORER_SORT : EXPLORER_STAY;
	} else if (e->input.len) {
		snprintf(e->pattern, sizeof(e->pattern), "%s", e->input.text);
		explorer_search(e, false);
	}
	return EXPLORER_STAY;
}

static enum explorer_action explorer_keys_type_key(struct explorer *e, uint32_t key)
{
	switch (tui_input_key(&e->input, key)) {
	case TUI_TYPED_WHOLE:
		return explorer_keys_take_input(e);
	case TUI_TYPED_NOTHING:
		e->mode = EXPLORER_TABLE;
		break;
	case TUI_TYPED_MORE:
		break;
	}
	return EXPLORER_STAY;
}

/* Handles keys that move the cursor or shift the columns; false for other keys. */
static bool explorer_keys_move_key(struct explorer *e, uint32_t key)
{
	long page = (long)explorer_page(e);
	switch (key) {
	case TUI_KEY_UP:
	case 'k':
		explorer_move(e, -1);
		return true;
	case TUI_KEY_DOWN:
	case 'j':
		explorer_move(e, 1);
		return true;
	case TUI_KEY_PAGE_UP:
	case TUI_KEY_CTRL('b'):
		explorer_move(e, -page);
		return true;
	case TUI_KEY_PAGE_DOWN:
	case TUI_KEY_CTRL('f'):
	case ' ':
		explorer_move(e, page);
		return true;
	case TUI_KEY_HOME:
	case 'g':
		explorer_home(e);
		return true;
	case TUI_KEY_END:
	case 'G':
		explorer_end(e);
		return true;
	case TUI_KEY_LEFT:
		e->shift -= MIN(e->shift, EXPLORER_KEYS_SHIFT_STEP);
		return true;
	case TUI_KEY_RIGHT:
		if (e->shift < UINT16_MAX)
			e->shift += EXPLORER_KEYS_SHIFT_STEP;
		return true;
	default:
		return false;
	}
}

static bool chain_key(struct explorer *e, uint32_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		if (explorer_can_toggle(e))
			explorer_toggle(e);
		else
			explorer_menu_main(e);
		return true;
	case '+':
		explorer_toggle(e);
		return true;
	case 'e':
		explorer_toggle_row(e);
		return true;
	case 'c':
		explorer_close_row(e);
		return true;
	case 'E':
	case 'C':
		explorer_set_all(e, key == 'E');
		return true;
	case 'V':
		e->shows_objects = !e->shows_objects;
		explorer_say(e, "frames of chains: %s", e->shows_objects ? "with their objects" : "names alone");
		return true;
	default:
		return false;
	}
}

static void explorer_keys_mouse_key(struct explorer *e, uint32_t key)
{
	switch (tui_mouse_act(key)) {
	case TUI_MOUSE_WHEEL_UP:
		explorer_move(e, -TUI_WHEEL_LINES);
		break;
	case TUI_MOUSE_WHEEL_DOWN:
		explorer_move(e, TUI_WHEEL_LINES);
		break;
	case TUI_MOUSE_CLICK:
		(void)explorer_click(e, tui_mouse_row(key));
		break;
	case TUI_MOUSE_DOUBLE:
		if (explorer_click(e, tui_mouse_row(key)))
			(void)chain_key(e, '\r');
		break;
	}
}

static bool view_key(struct explorer *e, uint32_t key)
{
	switch (key) {
	case '/':
		explorer_keys_ask(e, EXPLORER_ASK_SYMBOL);
		return true;
	case 'L':
		explorer_keys_ask(e, EXPLORER_ASK_LIMIT);
		return true;
	case 't':
		explorer_zoom_thread(e);
		return true;
	case 'd':
		explorer_zoom_dso(e);
		return true;
	case 'y':
		explorer_zoom_function(e);
		return true;
	case 'K':
		explorer_zoom_kernel(e);
		return true;
	case 'S':
		explorer_zoom_socket(e);
		return true;
	case TUI_KEY_ESCAPE:
		if (!explorer_zoom_out(e))
			explorer_say(e, "nothing to take back: q leaves");
		return true;
	case 'H':
		e->hides_headers = !e->hides_headers;
		explorer_move(e, 0);
		return true;
	case '?':
	case 'h':
	case TUI_KEY_F1:
		e->mode = EXPLORER_HELP;
		e->help_top = 0;
		return true;
	case TUI_KEY_RESIZE:
	case TUI_KEY_CTRL('l'):
		return true;
	default:
		return false;
	}
}

static bool choice_key(struct explorer *e, uint32_t key)
{
	switch (key) {
	case 'm':
		explorer_menu_main(e);
		return true;
	case 'o':
		explorer_menu_order(e);
		return true;
	case '|':
		explorer_menu_fields(e);
		return true;
	case 'F':
		explorer_switch_relative(e);
		return true;
	case '{':
	case '}':
		explorer_step_percent_limit(e, key == '}');
		return true;
	case 's':
		ask_sort(e);
		return true;
	case 'f':
		explorer_keys_ask(e, EXPLORER_ASK_SEARCH);
		return true;
	case 'n':
	case 'N':
		if (*e->pattern)
			explorer_search(e, key == 'N');
		else
			explorer_keys_ask(e, EXPLORER_ASK_SEARCH);
		return true;
	default:
		return false;
	}
}

static void say_absent(struct explorer *e, uint32_t key)
{
	for (size_t i = 0; i < ARRAY_LEN(absent); i++) {
		if (key == (uint32_t)absent[i].key) {
			explorer_say(e, "%s", absent[i].instead);
			return;
		}
	}
	tui_say_unknown(e->message, key, '?');
}

/* Orders rows by the first value that has a column. */
static enum explorer_action order_by_member(struct explorer *e, uint32_t member)
{
	uint32_t count = e->table->options.member_count;
	enum profile_key first = e->layout.columns[0];
	if (count < 2) {
		explorer_say(e, "rows are of one event: --group has several side by side");
		return EXPLORER_STAY;
	}
	if (member >= count) {
		explorer_say(e, "the group has %u events, from 0 on", count);
		return EXPLORER_STAY;
	}
	/* Values with children are ordered by the first event only. */
	e->order = profile_key_get(first)->is_value && first != KEY_OVERHEAD_CHILDREN ? first : KEY_OVERHEAD;
	e->order_member = member;
	explorer_say(e, "rows are in the order of event %u", member);
	return EXPLORER_ORDER;
}

static enum explorer_action explorer_keys_other_key(struct explorer *e, uint32_t key)
{
	switch (key) {
	case 'q':
		return EXPLORER_QUIT;
	case '\t':
	case '>':
		return EXPLORER_NEXT_EVENT;
	case TUI_KEY_BACK_TAB:
	case '<':
		return EXPLORER_PREVIOUS_EVENT;
	case 'P':
		return EXPLORER_PRINT;
	case 'a':
		return EXPLORER_ANNOTATE;
	case 'T':
		return EXPLORER_TOP_DOWN;
	case 'I':
		return EXPLORER_CALLERS;
	case 'v':
		return EXPLORER_FLAME;
	case 'i':
		return EXPLORER_HEADER;
	case 'W':
		return EXPLORER_HEALTH;
	default:
		if (key >= '0' && key <= '9')
			return order_by_member(e, key - '0');
		say_absent(e, key);
		return EXPLORER_STAY;
	}
}

static enum explorer_action table_key(struct explorer *e, uint32_t key)
{
	if (tui_is_mouse(key)) {
		explorer_keys_mouse_key(e, key);
		return EXPLORER_STAY;
	}
	if (explorer_keys_move_key(e, key) || chain_key(e, key) || view_key(e, key) || choice_key(e, key))
		return EXPLORER_STAY;
	return explorer_keys_other_key(e, key);
}

/* A chosen entry does the same as its key. */
static enum explorer_action menu_key(struct explorer *e, uint32_t key)
{
	uint32_t chosen = tui_menu_key(&e->menu, key);
	size_t cursor = e->menu.list.cursor;
	if (chosen == TUI_KEY_NONE)
		return EXPLORER_STAY;
	e->mode = EXPLORER_TABLE;
	if (chosen == TUI_KEY_ESCAPE)
		return EXPLORER_STAY;
	if (chosen >= EXPLORER_KEY_FIELD) {
		explorer_switch_field(e, (enum profile_key)(chosen - EXPLORER_KEY_FIELD));
		explorer_menu_fields(e);
		tui_list_go(&e->menu.list, cursor);
		return EXPLORER_STAY;
	}
	if (chosen >= EXPLORER_KEY_ORDER) {
		e->order = (enum profile_key)(chosen - EXPLORER_KEY_ORDER);
		return EXPLORER_ORDER;
	}
	return table_key(e, chosen);
}

enum explorer_action explorer_key(struct explorer *e, uint32_t key)
{
	if (key == TUI_KEY_NONE)
		return EXPLORER_STAY;
	if (key == TUI_KEY_CTRL('c') || key == TUI_KEY_CLOSED)
		return EXPLORER_QUIT;
	e->message[0] = '\0';
	if (e->mode == EXPLORER_HELP) {
		size_t count = e->help ? e->help_count : ARRAY_LEN(explorer_keys_help);
		if (!tui_help_key(&e->help_top, count, e->rows, key))
			e->mode = EXPLORER_TABLE;
		return EXPLORER_STAY;
	}
	if (e->mode == EXPLORER_MENU)
		return menu_key(e, key);
	if (e->mode != EXPLORER_TABLE)
		return explorer_keys_type_key(e, key);
	return table_key(e, key);
}
