/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer.c - measures the interactive report without a terminal, with rows of one sample each that have call
 * chains. Prints milliseconds for the table, the first screen, and each key (move the cursor, draw the screen) of
 * some key sequences.
 *
 * usage: bench_explorer [ROWS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "profile/profile_builder.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_keys.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_table.h"
#include "view/tui/flame_draw.h"

#define DEPTH 16

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(bool is_done, const char *what)
{
	if (is_done)
		return;
	fprintf(stderr, "bench_explorer: %s failed\n", what);
	exit(1);
}

static uint32_t make_frame(struct profile_builder *b, uint32_t binary, uint32_t i)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "function_%u", i);
	struct tally_str text = {name, (size_t)len};
	struct profile_function function = {
		.name = profile_builder_string(b, text), .binary = binary, .start = (uint64_t)i * 64, .size = 64};
	struct profile_frame frame = {.function = profile_builder_function(b, &function),
		.binary = binary,
		.address = (uint64_t)i * 64,
		.level = PROFILE_LEVEL_USER};
	return profile_builder_frame(b, &frame);
}

static struct profile *make_profile(uint32_t rows)
{
	struct profile_builder *b = profile_builder_create();
	must(b, "memory");
	uint32_t name = profile_builder_string(b, STR("program"));
	uint32_t binary = profile_builder_binary(b, &(struct profile_binary){name, name, false, name});
	uint32_t thread = profile_builder_thread(b, &(struct profile_thread){1, 1, name, name, name});
	profile_builder_event(
		b, &(struct profile_event){
			   .name = profile_builder_string(b, STR("cycles")), .member_count = 1, .has_callchain = true});
	uint32_t callers[DEPTH], stack[DEPTH + 1];
	for (uint32_t i = 0; i < DEPTH; i++)
		callers[i] = make_frame(b, binary, rows + i);
	for (uint32_t i = 0; i < rows; i++) {
		struct profile_sample sample = {.thread = thread, .count = 1, .period = rows + i, .first_order = i};
		sample.leaf = make_frame(b, binary, i);
		uint32_t depth = 0;
		stack[depth++] = sample.leaf;
		for (uint32_t k = i % DEPTH + 1; k-- > 0;)
			stack[depth++] = callers[k];
		sample.stack = profile_builder_stack(b, stack, depth);
		profile_builder_sample(b, &sample);
	}
	struct profile *profile;
	must(profile_builder_finish(b, &profile, NULL) == TALLY_OK, "profile");
	return profile;
}

static void time_keys(struct explorer *e, struct grid *grid, const char *what, uint32_t key, unsigned count)
{
	double start = now_ms(), worst = 0;
	for (unsigned i = 0; i < count; i++) {
		double one = now_ms();
		(void)explorer_key(e, key);
		must(explorer_draw(e, "", grid), "drawing");
		one = now_ms() - one;
		worst = MAX(one, worst);
	}
	printf("%-28s %9.3f ms a key, at most %.3f\n", what, (now_ms() - start) / count, worst);
}

static void time_stacks(struct profile *profile, struct grid *grid)
{
	struct flame_tree tree;
	struct tree_screen screen;
	struct flame_screen flame;
	double start = now_ms();
	must(flame_tree_init(&tree, profile, &(struct flame_options){.group = FLAME_BY_COMM}, NULL) == TALLY_OK,
		"tree of stacks");
	printf("%-28s %9.3f ms for %zu nodes\n", "tree of stacks", now_ms() - start, tree.node_count);
	start = now_ms();
	must(tree_screen_init(&screen, &tree, "title", 0.5, NULL) == TALLY_OK, "tree");
	tree_screen_resize(&screen, 50, 200);
	must(tree_screen_draw(&screen, grid), "drawing");
	printf("%-28s %9.3f ms\n", "top-down, first screen", now_ms() - start);
	start = now_ms();
	must(flame_screen_init(&flame, &tree, "title", NULL) == TALLY_OK, "flame");
	flame_screen_resize(&flame, 50, 200);
	must(flame_draw(&flame, grid), "drawing");
	printf("%-28s %9.3f ms\n", "flame, first screen", now_ms() - start);
	start = now_ms();
	must(flame_draw(&flame, grid), "drawing");
	printf("%-28s %9.3f ms\n", "flame, another one", now_ms() - start);
	flame_screen_deinit(&flame);
	tree_screen_deinit(&screen);
	flame_tree_deinit(&tree);
}

int main(int argc, char **argv)
{
	static const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
	static const enum profile_key columns[] = {KEY_OVERHEAD, KEY_COMM, KEY_DSO, KEY_SYMBOL};
	uint32_t rows = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
	struct profile *profile = make_profile(rows);
	struct flat_options flat = {
		.keys = keys, .key_count = 3, .member_count = 1, .with_chains = true, .is_caller_first = true};
	struct report_text_options options = {
		.columns = columns, .column_count = 4, .chains = {.style = CHAIN_GRAPH, .value = CHAIN_PERCENT}};
	struct flat_table table;
	struct explorer e;
	struct grid grid = {0};
	double start = now_ms();
	must(flat_table_init(&table, profile, &flat, NULL) == TALLY_OK, "table");
	must(flat_table_sort(&table, columns, 4, NULL) == TALLY_OK, "sorting");
	printf("%-28s %9.3f ms for %zu rows\n", "table", now_ms() - start, table.row_count);
	start = now_ms();
	must(explorer_init(&e, &table, &options, "title", NULL) == TALLY_OK, "explorer");
	explorer_resize(&e, 50, 200);
	must(explorer_draw(&e, "", &grid), "drawing");
	printf("%-28s %9.3f ms\n", "first screen, 200x50", now_ms() - start);
	time_keys(&e, &grid, "down", TUI_KEY_DOWN, 10000);
	time_keys(&e, &grid, "page down", TUI_KEY_PAGE_DOWN, 10000);
	time_keys(&e, &grid, "end", TUI_KEY_END, 1);
	time_keys(&e, &grid, "expand all", 'E', 1);
	time_keys(&e, &grid, "page up, all expanded", TUI_KEY_PAGE_UP, 10000);
	time_keys(&e, &grid, "thread on, off", 't', 10);
	(void)explorer_key(&e, TUI_KEY_HOME);
	(void)explorer_key(&e, 'C');
	snprintf(e.pattern, sizeof(e.pattern), "no row has this");
	time_keys(&e, &grid, "search through all", 'n', 3);
	time_keys(&e, &grid, "percentages of shown", 'F', 4);
	must(!e.failed, "memory");
	explorer_deinit(&e);
	time_stacks(profile, &grid);
	grid_deinit(&grid);
	flat_table_deinit(&table);
	profile_destroy(profile);
	return 0;
}
