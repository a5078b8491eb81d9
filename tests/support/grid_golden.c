/* SPDX-License-Identifier: Apache-2.0 */
#include "grid_golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#define GOLDEN_BYTES (1 << 17)

static void end_line(struct text *out, size_t start)
{
	while (out->len > start && out->data[out->len - 1] == ' ')
		out->len--;
	text_char(out, '\n');
}

void grid_text(const struct grid *grid, struct text *out)
{
	for (unsigned row = 0; row < grid->rows; row++) {
		size_t start = out->len;
		for (unsigned i = 0; i < grid->columns; i++) {
			uint32_t character = grid->cells[(size_t)row * grid->columns + i].character;
			uint8_t bytes[4];
			if (character)
				text_bytes(out, (const char *)bytes, utf8_put(character, bytes));
		}
		end_line(out, start);
	}
}

void grid_style_text(const struct grid *grid, struct text *out)
{
	static const char letters[GRID_STYLE_COUNT] = {' ', 't', 'h', 'w', 'H', 'b', 's', 'm', 'c', '0', '1', '2', '3',
		'4', '5', '6', '7', '8', '9', 'x', 'y'};
	for (unsigned row = 0; row < grid->rows; row++) {
		size_t start = out->len;
		for (unsigned i = 0; i < grid->columns; i++) {
			unsigned style = grid->cells[(size_t)row * grid->columns + i].style;
			char letter = letters[(style & ~(unsigned)GRID_SELECTED) % GRID_STYLE_COUNT];
			text_char(out, letter == ' ' && (style & GRID_SELECTED) ? 'S' : letter);
		}
		end_line(out, start);
	}
}

static void write_golden(const char *path, const struct text *shown)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(shown->data, 1, shown->len, file), shown->len);
	fclose(file);
}

void assert_grid_is_golden(const struct grid *grid, const char *name)
{
	char path[512], *golden;
	struct text shown = {0};
	grid_text(grid, &shown);
	text_str(&shown, "--- styles\n");
	grid_style_text(grid, &shown);
	snprintf(path, sizeof(path), "%s/tui/%s.txt", TEST_FIXTURES, name);
	if (getenv("TALLY_UPDATE"))
		write_golden(path, &shown);
	FILE *file = fopen(path, "r");
	if (!file)
		fail_msg("no golden %s", path);
	golden = calloc(1, GOLDEN_BYTES);
	assert_non_null(golden);
	size_t len = fread(golden, 1, GOLDEN_BYTES - 1, file);
	fclose(file);
	text_char(&shown, 0);
	assert_true(len > 0);
	assert_string_equal(shown.data, golden);
	free(golden);
	text_deinit(&shown);
}
