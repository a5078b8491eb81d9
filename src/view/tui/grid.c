/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/grid.h"

#include <stdlib.h>

#include "base/array.h"

#define GRID_REPLACEMENT '?'

struct grid_range {
	uint32_t first, last;
};

/* Characters that terminals show two cells wide: CJK and its punctuation, Hangul, full-width forms, pictographs. */
static const struct grid_range wide[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3},
	{0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd}};
/* Marks that combine, joiners, direction and variation selectors. */
static const struct grid_range without_width[] = {
	{0x300, 0x36f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}};

static bool is_in(const struct grid_range *ranges, size_t count, uint32_t character)
{
	for (size_t i = 0; i < count; i++)
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	return false;
}
#define IS_IN(ranges, character) is_in(ranges, ARRAY_LEN(ranges), character)

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

/* How many bytes follow the first one of a sequence; -1: it starts none. */
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
	*width = character < 0x300 ? 1 : IS_IN(without_width, character) ? 0 : IS_IN(wide, character) ? 2 : 1;
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
