/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/grid.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/text_cells.h"

#define GRID_REPLACEMENT '?'

bool grid_resize(struct grid *grid, unsigned rows, unsigned columns)
{
	size_t count = (size_t)rows * columns;
	struct grid_cell *cells = calloc(count ? count : 1, sizeof(*cells));
	if (!cells)
		return false;
	free(grid->cells);
	*grid = (struct grid){.rows = rows, .columns = columns, .cells = cells};
	grid_clear(grid);
	return true;
}

void grid_deinit(struct grid *grid)
{
	free(grid->cells);
	*grid = (struct grid){0};
}

void grid_clear(struct grid *grid)
{
	for (size_t i = 0; i < (size_t)grid->rows * grid->columns; i++)
		grid->cells[i] = (struct grid_cell){.character = ' '};
}

/* Returns how many bytes follow the first one of a UTF-8 sequence; -1 if it starts none. */
static int tail_length(unsigned char first, uint32_t *bits)
{
	if (first < 0x80) {
		*bits = first;
		return 0;
	}
	if (first >= 0xc2 && first <= 0xdf) {
		*bits = first & 0x1f;
		return 1;
	}
	if (first >= 0xe0 && first <= 0xef) {
		*bits = first & 0x0f;
		return 2;
	}
	if (first >= 0xf0 && first <= 0xf4) {
		*bits = first & 0x07;
		return 3;
	}
	return -1;
}

static uint32_t grid_decode(struct tally_str *text)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const unsigned char *bytes = (const unsigned char *)text->data;
	uint32_t character = 0;
	int tail = tail_length(bytes[0], &character);
	size_t used = 1;
	bool is_whole = tail >= 0 && (size_t)tail < text->len;
	for (int i = 0; is_whole && i < tail; i++, used++) {
		is_whole = (bytes[used] & 0xc0) == 0x80;
		character = character << 6 | (bytes[used] & 0x3f);
	}
	if (!is_whole)
		used = 1;
	text->data += used;
	text->len -= used;
	if (!is_whole || character < least[tail] || character > 0x10ffff ||
		(character >= 0xd800 && character <= 0xdfff))
		return GRID_REPLACEMENT;
	return character;
}

uint32_t grid_next_character(struct tally_str *text, unsigned *width)
{
	uint32_t character = grid_decode(text);
	if (character < ' ' || (character >= 0x7f && character < 0xa0))
		character = GRID_REPLACEMENT;
	*width = character_cells(character);
	return character;
}

unsigned grid_put(struct grid *grid, unsigned row, unsigned column, struct tally_str text, unsigned style)
{
	if (row >= grid->rows)
		return column;
	struct grid_cell *cells = grid->cells + (size_t)row * grid->columns;
	while (text.len > 0 && column < grid->columns) {
		unsigned width;
		uint32_t character = grid_next_character(&text, &width);
		if (column + width > grid->columns)
			break;
		for (unsigned i = 0; i < width; i++)
			cells[column++] = (struct grid_cell){i ? 0 : character, (uint8_t)style};
	}
	return column;
}

void grid_select(struct grid *grid, unsigned row)
{
	for (unsigned i = 0; row < grid->rows && i < grid->columns; i++)
		grid->cells[(size_t)row * grid->columns + i].style |= GRID_SELECTED;
}

void grid_fill(struct grid *grid, unsigned row, unsigned style)
{
	for (unsigned i = 0; row < grid->rows && i < grid->columns; i++)
		grid->cells[(size_t)row * grid->columns + i].style = (uint8_t)style;
}
