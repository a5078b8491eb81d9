/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/annotate_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/order.h"

#define ANNOTATE_SCREEN_FIXED_LINES 3 /* Title, heading and bottom line. */
#define ANNOTATE_SCREEN_FIRST_ROW   2

struct heat {
	double percent;
	uint32_t line;
};

static int annotate_screen_by_heat(const void *left, const void *right)
{
	const struct heat *a = left, *b = right;
	if (a->percent != b->percent)
		return a->percent > b->percent ? -1 : 1;
	return COMPARE(a->line, b->line);
}

static bool rank_lines(struct annotate_screen *s)
{
	const struct annotate_function *f = s->function;
	struct heat *heats = calloc(f->line_count + 1, sizeof(*heats));
	if (!heats)
		return false;
	s->hot_count = s->hot_at = 0;
	for (size_t i = 0; i < f->line_count; i++) {
		double percent = annotate_hottest(f, s->settings.percent, f->lines[i].values);
		if (f->lines[i].kind == ANNOTATE_CODE && percent > 0)
			heats[s->hot_count++] = (struct heat){percent, (uint32_t)i};
	}
	qsort(heats, s->hot_count, sizeof(*heats), annotate_screen_by_heat);
	for (size_t i = 0; i < s->hot_count; i++)
		s->hot[i] = heats[i].line;
	free(heats);
	return true;
}

static bool annotate_screen_is_visible(const struct annotate_screen *s, const struct annotate_line *line)
{
	if (line->kind == ANNOTATE_CODE)
		return true;
	return line->kind == ANNOTATE_TEXT && *line->text && !s->settings.hides_source;
}

/* Returns the index of the line, or of the next visible one, or of the last one if none follows. */
static size_t annotate_screen_index_of(const struct annotate_screen *s, uint32_t line)
{
	size_t low;
	LOWER_BOUND(low, s->list.count, middle, s->visible[middle] < line);
	return low < s->list.count ? low : s->list.count ? s->list.count - 1 : 0;
}

static void select_lines(struct annotate_screen *s)
{
	const struct annotate_function *f = s->function;
	uint32_t kept = s->list.count ? s->visible[s->list.cursor] : 0;
	s->list.count = 0;
	for (size_t i = 0; i < f->line_count; i++)
		if (annotate_screen_is_visible(s, &f->lines[i]))
			s->visible[s->list.count++] = (uint32_t)i;
	tui_list_go(&s->list, annotate_screen_index_of(s, kept));
}

void annotate_screen_update(struct annotate_screen *s)
{
	/* If memory runs out, the old order remains. */
	(void)rank_lines(s);
	select_lines(s);
}

enum tally_status annotate_screen_init(struct annotate_screen *s, const struct annotate_function *function,
	const struct annotate_settings *settings, struct tally_error *err)
{
	size_t count = function->line_count + 1;
	*s = (struct annotate_screen){.function = function, .settings = *settings, .frame = TUI_FRAME_START};
	memcpy(s->frame.pattern, settings->pattern, sizeof(s->frame.pattern));
	s->visible = calloc(count, sizeof(*s->visible));
	s->hot = calloc(count, sizeof(*s->hot));
	s->sources = calloc(count, sizeof(*s->sources));
	if (!s->visible || !s->hot || !s->sources || !rank_lines(s)) {
		annotate_screen_deinit(s);
		return error_nomem(err);
	}
	for (size_t i = 0; i < function->line_count; i++)
		if (function->lines[i].kind == ANNOTATE_CODE && function->lines[i].target != ANNOTATE_NONE)
			s->sources[function->lines[i].target]++;
	s->list.page = s->frame.rows - ANNOTATE_SCREEN_FIXED_LINES;
	select_lines(s);
	if (s->hot_count)
		tui_list_go(&s->list, annotate_screen_index_of(s, s->hot[0]));
	return TALLY_OK;
}

enum tally_status annotate_screen_renew(
	struct annotate_screen *s, const struct annotate_function *function, struct tally_error *err)
{
	const struct annotate_line *line = annotate_screen_line(s);
	uint64_t address = line && line->kind == ANNOTATE_CODE ? line->address : 0;
	struct annotate_screen made;
	enum tally_status status = annotate_screen_init(&made, function, &s->settings, err);
	if (status != TALLY_OK)
		return status;
	if (function->line_count == s->function->line_count)
		made.list = s->list;
	made.frame = s->frame;
	made.hot_at = made.hot_count ? s->hot_at % made.hot_count : 0;
	annotate_screen_deinit(s);
	*s = made;
	/* The lines may differ, for example because a source file was found: the cursor stays on its instruction. */
	line = annotate_screen_line(s);
	if (address && (!line || line->address != address))
		annotate_screen_go(s, address);
	return TALLY_OK;
}

void annotate_screen_deinit(struct annotate_screen *s)
{
	free(s->visible);
	free(s->hot);
	free(s->sources);
	*s = (struct annotate_screen){0};
}

void annotate_screen_resize(struct annotate_screen *s, unsigned rows, unsigned columns)
{
	bool is_first = rows != s->frame.rows;
	s->frame.rows = rows;
	s->frame.columns = columns;
	s->list.page = rows > ANNOTATE_SCREEN_FIXED_LINES ? rows - ANNOTATE_SCREEN_FIXED_LINES : 1;
	if (is_first)
		tui_list_settle(&s->list);
}

const struct annotate_line *annotate_screen_line(const struct annotate_screen *s)
{
	return s->list.count ? &s->function->lines[s->visible[s->list.cursor]] : NULL;
}

void annotate_screen_go(struct annotate_screen *s, uint64_t address)
{
	for (size_t i = 0; i < s->list.count; i++) {
		const struct annotate_line *line = &s->function->lines[s->visible[i]];
		if (line->kind == ANNOTATE_CODE && line->address == address)
			tui_list_go(&s->list, i);
	}
}

static void go_hot(struct annotate_screen *s, size_t step)
{
	if (s->hot_count == 0) {
		tui_frame_say(&s->frame, "no samples here");
		return;
	}
	s->hot_at = (s->hot_at + step) % s->hot_count;
	tui_list_go(&s->list, annotate_screen_index_of(s, s->hot[s->hot_at]));
	tui_frame_say(&s->frame, "%zu. of %zu lines with samples", s->hot_at + 1, s->hot_count);
}

static bool annotate_screen_has_text(const void *of, size_t at, const char *pattern)
{
	const struct annotate_screen *s = of;
	const struct annotate_line *line = &s->function->lines[s->visible[at]];
	if (line->kind != ANNOTATE_CODE || s->settings.is_disassembly)
		return strstr(line->text, pattern) != NULL;
	return strstr(line->mnemonic, pattern) || strstr(line->operands, pattern);
}

static void annotate_screen_search(void *data, bool is_back)
{
	struct annotate_screen *s = data;
	struct tui_search wanted = {s, annotate_screen_has_text, s->list.count, s->list.cursor, "line"};
	size_t at;
	memcpy(s->settings.pattern, s->frame.pattern, sizeof(s->settings.pattern));
	if (tui_frame_find(&s->frame, &wanted, is_back, &at))
		tui_list_go(&s->list, at);
}

static enum annotate_action annotate_screen_follow(struct annotate_screen *s)
{
	const struct annotate_line *line = annotate_screen_line(s);
	if (!line || line->kind != ANNOTATE_CODE)
		return ANNOTATE_STAY;
	if (line->flow == ANNOTATE_RETURN)
		return ANNOTATE_RETURNS;
	if (line->target != ANNOTATE_NONE) {
		tui_list_go(&s->list, annotate_screen_index_of(s, line->target));
		return ANNOTATE_STAY;
	}
	if (line->leads_out) {
		s->callee = line->callee;
		return ANNOTATE_CALLS;
	}
	if (line->flow == ANNOTATE_PLAIN)
		tui_frame_say(&s->frame, "Enter follows jumps and calls");
	else
		tui_frame_say(&s->frame, "the target is known only at run time");
	return ANNOTATE_STAY;
}

static const struct tui_help annotate_screen_keys_help[] = {
	{NULL, "Moving"},
	{"Up Down, k j", "one line"},
	{"PgUp PgDn, Space", "one page; also Ctrl-B, Ctrl-F"},
	{"Home End, g G", "first and last line"},
	{"[ ]", "scroll sideways"},
	{"Tab, Shift-Tab", "next, previous line by heat"},
	{"H", "the hottest line"},
	{"Enter, Right", "follow the jump, enter the call, leave by a return"},
	{"q, Esc, Left", "back to where this was opened from"},
	{"< >", "previous, next function by heat"},
	{NULL, "Searching"},
	{"/", "a text, downwards"},
	{"?", "a text, upwards"},
	{"n, N", "the next one, the one before"},
	{NULL, "What is shown"},
	{"s", "source lines on and off"},
	{"t", "percentages, periods, samples"},
	{"p", "percentages of the function, or of all samples"},
	{"b", "percentages by period, or by number of samples"},
	{"e", "all events side by side"},
	{"o", "instructions with addresses as a disassembler has them"},
	{"O", "offsets where jumps lead, at calls too, everywhere"},
	{"f", "addresses in place of offsets"},
	{"J", "how many jumps lead to a line"},
	{"c", "least and most cycles of runs of code (of branch stacks)"},
	{"l", "numbers of source lines, with their files as well, neither"},
	{"T", "types of the data that instructions access"},
	{NULL, "Other"},
	{"P", "print to FUNCTION.annotation"},
	{"h, F1", "this list"},
	{"Ctrl-L", "redraw the screen"},
	{"Ctrl-C", "leave"},
};

const struct tui_help *annotate_screen_help(size_t *count)
{
	*count = ARRAY_LEN(annotate_screen_keys_help);
	return annotate_screen_keys_help;
}

static enum annotate_percent switched_percent(enum annotate_percent percent, bool switches_base)
{
	bool is_global = percent == ANNOTATE_GLOBAL_PERIOD || percent == ANNOTATE_GLOBAL_HITS;
	bool is_hits = percent == ANNOTATE_LOCAL_HITS || percent == ANNOTATE_GLOBAL_HITS;
	if (switches_base)
		is_hits = !is_hits;
	else
		is_global = !is_global;
	if (is_hits)
		return is_global ? ANNOTATE_GLOBAL_HITS : ANNOTATE_LOCAL_HITS;
	return is_global ? ANNOTATE_GLOBAL_PERIOD : ANNOTATE_LOCAL_PERIOD;
}

static void switch_percent(struct annotate_screen *s, bool switches_base)
{
	s->settings.percent = switched_percent(s->settings.percent, switches_base);
	s->settings.column = ANNOTATE_PERCENT;
	annotate_screen_update(s);
	tui_frame_say(&s->frame, "percentages are of %s",
		s->settings.percent == ANNOTATE_LOCAL_PERIOD	? "the function's period"
		: s->settings.percent == ANNOTATE_GLOBAL_PERIOD ? "the period of all samples"
		: s->settings.percent == ANNOTATE_LOCAL_HITS	? "the function's samples"
								: "all samples");
}

/* Handles keys that change what a line shows; false for other keys. */
static bool annotate_screen_look_key(struct annotate_screen *s, uint32_t key)
{
	struct annotate_settings *look = &s->settings;
	switch (key) {
	case 's':
		look->hides_source = !look->hides_source;
		select_lines(s);
		return true;
	case 't':
		look->column = look->column == ANNOTATE_PERCENT	 ? ANNOTATE_PERIOD
			       : look->column == ANNOTATE_PERIOD ? ANNOTATE_SAMPLES
								 : ANNOTATE_PERCENT;
		return true;
	case 'p':
	case 'b':
		switch_percent(s, key == 'b');
		return true;
	case 'o':
		look->is_disassembly = !look->is_disassembly;
		return true;
	case 'O':
		look->labels = (enum annotate_labels)((look->labels + 1) % ANNOTATE_LABEL_KINDS);
		return true;
	case 'f':
		look->is_absolute = !look->is_absolute;
		return true;
	case 'l':
		look->places = (enum annotate_places)((look->places + 1) % ANNOTATE_PLACE_KINDS);
		return true;
	case 'J':
		look->counts_jumps = !look->counts_jumps;
		return true;
	case 'c':
		look->shows_cycle_range = !look->shows_cycle_range;
		if (!s->function->has_cycles)
			tui_frame_say(&s->frame, "no cycles are known: they need branch stacks (record -b)");
		return true;
	case '[':
	case ']':
		tui_frame_scroll(&s->frame, key == ']');
		return true;
	default:
		return false;
	}
}

static bool find_key(struct annotate_screen *s, uint32_t key)
{
	switch (key) {
	case '?':
		tui_frame_ask(&s->frame, true);
		return true;
	case '\t':
		go_hot(s, 1);
		return true;
	case TUI_KEY_BACK_TAB:
		go_hot(s, s->hot_count ? s->hot_count - 1 : 0);
		return true;
	case 'H':
		s->hot_at = 0;
		go_hot(s, 0);
		return true;
	default:
		return false;
	}
}

static enum annotate_action annotate_screen_other_key(struct annotate_screen *s, uint32_t key)
{
	if (tui_is_mouse(key)) { /* A double click: its first click moved the cursor. */
		return annotate_screen_follow(s);
	}
	switch (key) {
	case '\r':
	case '\n':
	case TUI_KEY_RIGHT:
		return annotate_screen_follow(s);
	case 'q':
	case TUI_KEY_ESCAPE:
	case TUI_KEY_LEFT:
		return ANNOTATE_BACK;
	case '>':
		return ANNOTATE_NEXT;
	case '<':
		return ANNOTATE_PREVIOUS;
	case 'P':
		return ANNOTATE_PRINTS;
	case 'T':
		s->settings.shows_types = !s->settings.shows_types;
		return ANNOTATE_TYPES;
	case 'e':
		return ANNOTATE_EVENTS;
	default:
		tui_frame_refuse(&s->frame, key, 'h');
		return ANNOTATE_STAY;
	}
}

enum annotate_action annotate_screen_key(struct annotate_screen *s, uint32_t key)
{
	const struct tui_frame_owner owner = {
		.data = s, .help_count = ARRAY_LEN(annotate_screen_keys_help), .search = annotate_screen_search};
	bool leaves = false;
	if (tui_frame_takes(&s->frame, &owner, key, &leaves))
		return leaves ? ANNOTATE_LEAVE : ANNOTATE_STAY;
	if (tui_list_key(&s->list, key, ANNOTATE_SCREEN_FIRST_ROW) || annotate_screen_look_key(s, key) ||
		find_key(s, key))
		return ANNOTATE_STAY;
	return annotate_screen_other_key(s, key);
}
