/* SPDX-License-Identifier: Apache-2.0 */
#include "grid_golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#define GOLDEN_BYTES (1 << 17)

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
	snprintf(path, sizeof(path), "%s/tui/%s.txt", TALLY_TEST_DATA, name);
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
