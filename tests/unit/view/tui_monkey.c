/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_monkey.c - presses random keys, clicks and changes sizes on all screens of the explorer: only crashes and
 * errors of the sanitizers are detected. TALLY_MONKEY_ROUNDS gives the number of rounds of 2,000 keys (default 3),
 * TALLY_MONKEY_SECONDS a time instead, TALLY_MONKEY_SEED the seed (default 7).
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "profile_text.h"
#include "unit_test.h"
#include "view/tui/annotate_draw.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_keys.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_rows.h"
#include "view/tui/explorer_table.h"
#include "view/tui/flame_draw.h"
#include "view/tui/text_screen.h"

#define KEYS_A_ROUND   2000
#define ROUNDS_UNASKED 3
#define SAMPLES	       400
#define LINES	       300

static uint32_t random_state;

static uint32_t random_below(uint32_t bound)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % bound;
}

static uint32_t random_key(void)
{
	static const uint32_t often[] = {TUI_KEY_UP, TUI_KEY_DOWN, TUI_KEY_LEFT, TUI_KEY_RIGHT, TUI_KEY_PAGE_UP,
		TUI_KEY_PAGE_DOWN, TUI_KEY_HOME, TUI_KEY_END, TUI_KEY_BACKSPACE, TUI_KEY_BACK_TAB, TUI_KEY_F1,
		TUI_KEY_RESIZE, TUI_KEY_OTHER, TUI_KEY_NONE, '\r', '\r', '\r', '\t', TUI_KEY_ESCAPE, 'E', 'C', 'e', '+',
		't', 'd', 'y', 'K', 'F', 'm', 'o', '|', 's', '/', 'n', 'z', 'u', '{', '}'};
	switch (random_below(8)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return often[random_below(ARRAY_LEN(often))];
	case 4:
		return tui_mouse((enum tui_mouse_act)random_below(4), random_below(60), random_below(220));
	case 5:
		return random_below(0x20000);
	default:
		return ' ' + random_below(95);
	}
}

/* Function names are such that searches for one letter find some. */
static char *make_program(void)
{
	struct text t = {0};
	text_str(&t, "event cycles\n");
	for (int i = 0; i < SAMPLES; i++) {
		uint32_t depth = 1 + random_below(12);
		text_printf(&t, "comm%u %u/%u 0 0 %u ", random_below(5), 7 + random_below(3), 7 + random_below(9),
			1 + random_below(1000));
		for (uint32_t f = 0; f < depth; f++)
			text_printf(&t, "%s%c%u@%s", f ? ";" : "", (char)('a' + random_below(26)), random_below(4),
				random_below(4)	  ? "program"
				: random_below(2) ? "[kernel.kallsyms]"
						  : "libx.so");
		text_str(&t, depth == 1 ? ";\n" : "\n");
	}
	text_char(&t, 0);
	assert_false(t.failed);
	return t.data;
}

struct code { /* Annotated code of a function. */
	struct annotate_line lines[LINES];
	struct annotate_value values[LINES];
	struct annotate_event event;
	struct annotate_function function;
};

static void make_code(struct code *c)
{
	static const char *const texts[] = {"mov", "jne", "call", "ret", "for (;;) {", "", "\xc3\xa9\xe6\xbc\xa2 = 7;"};
	*c = (struct code){.event = {.name = STR("cycles"), .function = {100, 100}, .whole = {200, 300}}};
	for (uint32_t i = 0; i < LINES; i++) {
		const char *text = texts[random_below(7)];
		struct annotate_line line = {.kind = random_below(4) ? ANNOTATE_CODE : ANNOTATE_TEXT,
			.flow = (enum annotate_flow)random_below(4),
			.text = text,
			.mnemonic = text,
			.operands = texts[random_below(7)],
			.address = 0x1000 + 4 * (uint64_t)i,
			.values = random_below(3) ? ANNOTATE_NONE : i,
			.target = random_below(3) ? ANNOTATE_NONE : random_below(LINES),
			.leads_out = random_below(2),
			.is_target = random_below(2),
			.place = ANNOTATE_NONE};
		c->values[i] = (struct annotate_value){random_below(100), random_below(100)};
		c->lines[i] = line;
	}
	c->function = (struct annotate_function){.name = "f",
		.file = "/bin/f",
		.short_file = "f",
		.event_name = "cycles",
		.events = &c->event,
		.event_count = 1,
		.lines = c->lines,
		.line_count = LINES,
		.values = c->values,
		.start = 0x1000};
}

struct zoo {
	struct profile *profile;
	struct flat_table table;
	struct flame_tree down, up;
	struct code code;
	struct explorer explorer;
	struct annotate_screen annotate;
	struct tree_screen tree, callers;
	struct flame_screen flame;
	struct text_screen page;
	struct grid grid;
};

static const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const enum profile_key columns[] = {KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_COMM, KEY_DSO, KEY_SYMBOL};

static void open_zoo(struct zoo *z)
{
	struct flat_options flat = {.keys = keys,
		.key_count = 3,
		.member_count = 1,
		.with_children = true,
		.with_chains = true,
		.is_caller_first = true};
	struct report_text_options options = {.columns = columns,
		.column_count = 5,
		.with_children = true,
		.chains = {.style = CHAIN_GRAPH, .value = CHAIN_PERCENT, .min_percent = 0.5}};
	struct annotate_settings settings = {0};
	struct flame_options down = {.group = FLAME_BY_COMM}, up = {.group = FLAME_BY_NOTHING, .is_reversed = true};
	struct text text = {0};
	char *program = make_program();
	*z = (struct zoo){.profile = profile_from_text(program)};
	free(program);
	for (int i = 0; i < 100; i++)
		text_printf(&text, "line %d\t\xc3\xa9 of a page\n", i);
	make_code(&z->code);
	assert_int_equal(flat_table_init(&z->table, z->profile, &flat, NULL), TALLY_OK);
	assert_int_equal(flat_table_sort(&z->table, columns, 5, NULL), TALLY_OK);
	assert_int_equal(flame_tree_init(&z->down, z->profile, &down, NULL), TALLY_OK);
	assert_int_equal(flame_tree_init(&z->up, z->profile, &up, NULL), TALLY_OK);
	assert_int_equal(explorer_init(&z->explorer, &z->table, &options, "title", NULL), TALLY_OK);
	assert_int_equal(annotate_screen_init(&z->annotate, &z->code.function, &settings, NULL), TALLY_OK);
	assert_int_equal(tree_screen_init(&z->tree, &z->down, "down", 0.5, NULL), TALLY_OK);
	assert_int_equal(tree_screen_init(&z->callers, &z->up, "up", 0.5, NULL), TALLY_OK);
	z->callers.heading = "levels"; /* A heading that can be filtered. */
	assert_int_equal(flame_screen_init(&z->flame, &z->down, "flame", NULL), TALLY_OK);
	assert_int_equal(text_screen_init(&z->page, "page", &text, NULL), TALLY_OK);
}

static void close_zoo(struct zoo *z)
{
	explorer_deinit(&z->explorer);
	annotate_screen_deinit(&z->annotate);
	tree_screen_deinit(&z->tree);
	tree_screen_deinit(&z->callers);
	flame_screen_deinit(&z->flame);
	text_screen_deinit(&z->page);
	flame_tree_deinit(&z->down);
	flame_tree_deinit(&z->up);
	flat_table_deinit(&z->table);
	profile_destroy(z->profile);
	grid_deinit(&z->grid);
}

static void resize(struct zoo *z)
{
	unsigned rows = random_below(4) ? random_below(60) : random_below(4);
	unsigned width = random_below(4) ? random_below(220) : random_below(5);
	explorer_resize(&z->explorer, rows, width);
	annotate_screen_resize(&z->annotate, rows, width);
	tree_screen_resize(&z->tree, rows, width);
	tree_screen_resize(&z->callers, rows, width);
	flame_screen_resize(&z->flame, rows, width);
	text_screen_resize(&z->page, rows, width);
}

static void assert_in_list(const struct tui_list *list)
{
	assert_true(list->cursor < list->count || list->count == 0);
	assert_true(list->top <= list->cursor);
}

static void press_explorer(struct zoo *z, uint32_t key)
{
	struct explorer *e = &z->explorer;
	if (explorer_key(e, key) == EXPLORER_ORDER) {
		assert_int_equal(flat_table_sort(&z->table, &e->order, 1, NULL), TALLY_OK);
		explorer_select_rows(e);
	}
	assert_true(explorer_draw(e, random_below(2) ? "1/2" : "", &z->grid));
	assert_true(e->cursor.row < e->visible_count || e->visible_count == 0);
	assert_false(e->failed);
}

static void press(struct zoo *z)
{
	uint32_t key = random_key();
	switch (random_below(8)) {
	default:
		press_explorer(z, key);
		break;
	case 4:
		(void)annotate_screen_key(&z->annotate, key);
		assert_true(annotate_draw(&z->annotate, &z->grid));
		assert_in_list(&z->annotate.list);
		break;
	case 5:
		(void)tree_screen_key(&z->tree, key);
		(void)tree_screen_key(&z->callers, key);
		assert_true(tree_screen_draw(&z->tree, &z->grid));
		assert_true(tree_screen_draw(&z->callers, &z->grid));
		assert_in_list(&z->tree.list);
		assert_in_list(&z->callers.list);
		break;
	case 6:
		(void)flame_screen_key(&z->flame, key);
		assert_true(flame_draw(&z->flame, &z->grid));
		assert_true(z->flame.cursor == PROFILE_NONE || z->flame.cursor < z->down.node_count);
		break;
	case 7:
		(void)text_screen_key(&z->page, key);
		assert_true(text_screen_draw(&z->page, &z->grid));
		assert_in_list(&z->page.list);
		break;
	}
}

static void play(uint32_t presses)
{
	struct zoo *z = calloc(1, sizeof(*z));
	assert_non_null(z);
	open_zoo(z);
	for (uint32_t i = 0; i < presses; i++) {
		if (random_below(32) == 0)
			resize(z);
		press(z);
	}
	close_zoo(z);
	free(z);
}

static void monkeys(void **state)
{
	const char *seconds = getenv("TALLY_MONKEY_SECONDS"), *seed = getenv("TALLY_MONKEY_SEED");
	const char *wanted = getenv("TALLY_MONKEY_ROUNDS");
	time_t end = time(NULL) + (seconds ? atoi(seconds) : 0);
	random_state = seed ? (uint32_t)strtoul(seed, NULL, 10) : 7;
	uint64_t rounds = 0, least = wanted ? strtoull(wanted, NULL, 10) : ROUNDS_UNASKED;
	do {
		play(KEYS_A_ROUND);
		rounds++;
	} while (rounds < least || (seconds && time(NULL) < end));
	printf("%llu rounds\n", (unsigned long long)rounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(monkeys)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
