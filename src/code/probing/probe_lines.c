/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/error.h"
#include "base/order.h"
#include "code/probing/probe_functions.h"
#include "code/probing/probe_nearest.h"
#include "code/probing/probe_places.h"
#include "code/probing/probe_rows.h"
#include "code/probing/probe_source.h"

#define LINES_BEHIND 3 /* Number of lines to print after the last one with code if no range is given. */

struct probe_lines_listing {
	const struct probe_line_range *range;
	struct probe_root *root; /* NULL if lines of a whole source file are listed. */
	const char *path; /* Path as in the debug information. */
	uint32_t base; /* Line number that printed numbers are relative to. */
	uint32_t first, last; /* First and last line of the source file to print. */
	struct probe_rows rows;
	size_t next; /* Index in rows of the next row to print. */
	uint32_t printed;
	struct text *out;
};

static int probe_lines_by_line(const void *a, const void *b)
{
	const struct probe_row *left = a;
	const struct probe_row *right = b;
	return COMPARE(left->line, right->line);
}

/* Returns the first function with this name that has a source file; NULL if there is none. */
static struct probe_root *probe_lines_find_root(struct probe_functions *functions, const struct probe_line_range *range)
{
	for (int match = PROBE_MATCH_NAME; match <= PROBE_MATCH_QUALIFIED; match++) {
		for (size_t i = 0; i < functions->roots.len; i++) {
			struct probe_root *root = &functions->roots.items[i];
			if (root->declaration.line == 0 ||
				!probe_root_matches(functions, root, range->function, (enum probe_match)match))
				continue;
			const char *path = probe_root_path(functions, root);
			if (path && (range->file.len == 0 || probe_path_matches(path, range->file)))
				return root;
		}
	}
	return NULL;
}

static enum tally_status probe_lines_no_function(
	struct probe_functions *functions, const struct probe_line_range *range, struct tally_error *err)
{
	const char *nearest = probe_nearest_function(functions->binary, range->function, &functions->arena);
	if (nearest)
		return error_set(err, TALLY_NOT_FOUND,
			"Specified source line(function: %.*s, line:%" PRIu32 ") is not found.\n Did you mean '%s'?",
			(int)range->function.len, range->function.data, range->first, nearest);
	return error_set(err, TALLY_NOT_FOUND, "Specified source line(function: %.*s, line:%" PRIu32 ") is not found.",
		(int)range->function.len, range->function.data, range->first);
}

/* Sets path, root and base. */
static enum tally_status probe_lines_choose(
	struct probe_functions *functions, struct probe_lines_listing *listing, struct tally_error *err)
{
	const struct probe_line_range *range = listing->range;
	if (range->function.len > 0) {
		listing->root = probe_lines_find_root(functions, range);
		if (!listing->root)
			return probe_lines_no_function(functions, range, err);
		listing->path = probe_root_path(functions, listing->root);
		listing->base = listing->root->declaration.line;
		return TALLY_OK;
	}
	struct probe_paths paths = {.items = {0}};
	enum tally_status status = probe_paths_find(functions, range->file, &paths, err);
	listing->path = paths.items.len > 0 ? paths.items.items[0] : NULL;
	vec_free(&paths.items);
	if (status == TALLY_OK && !listing->path)
		return error_set(err, TALLY_NOT_FOUND, "Specified source line(%.*s:%" PRIu32 ") is not found.",
			(int)range->file.len, range->file.data, range->first);
	return status;
}

static enum tally_status probe_lines_find_rows(
	struct probe_functions *functions, struct probe_lines_listing *listing, struct tally_error *err)
{
	struct probe_row_filter filter = {.path = str_from(listing->path), .root = PROBE_NO_ROOT, .is_of_first = true};
	if (listing->root)
		filter.root = (uint32_t)(listing->root - functions->roots.items);
	enum tally_status status = probe_rows_find(functions, &filter, &listing->rows, err);
	size_t count = listing->rows.items.len;
	if (status != TALLY_OK)
		return status;
	if (count > 0)
		qsort(listing->rows.items.items, count, sizeof(*listing->rows.items.items), probe_lines_by_line);
	uint32_t last_code = count > 0 ? listing->rows.items.items[count - 1].line : 0;
	uint64_t last = (uint64_t)listing->base + listing->range->last;
	if (!listing->range->has_lines)
		last = (uint64_t)last_code + LINES_BEHIND;
	listing->first = listing->base + listing->range->first;
	listing->last = last < UINT32_MAX ? (uint32_t)last : UINT32_MAX;
	if (listing->first < listing->base || count == 0)
		return error_set(
			err, TALLY_NOT_FOUND, "no line of %s has code in %s", listing->path, functions->binary->path);
	return TALLY_OK;
}

static bool probe_lines_take(void *context, uint32_t number, struct tally_str line)
{
	struct probe_lines_listing *listing = context;
	const struct probe_row *rows = listing->rows.items.items;
	if (number < listing->first)
		return true;
	if (number > listing->last)
		return false;
	while (listing->next < listing->rows.items.len && rows[listing->next].line < number)
		listing->next++;
	if (listing->next < listing->rows.items.len && rows[listing->next].line == number)
		text_printf(listing->out, "%7" PRIu32 "  ", number - listing->base);
	else
		text_repeat(listing->out, ' ', 9);
	text_bytes(listing->out, line.data, line.len);
	text_char(listing->out, '\n');
	listing->printed++;
	return true;
}

static enum tally_status probe_lines_list(
	struct probe_lines_listing *listing, const char *directory, struct tally_error *err)
{
	struct text found = {0};
	enum tally_status status = probe_source_find(listing->path, directory, &found, err);
	if (status == TALLY_OK) {
		struct tally_str function = listing->range->function;
		text_printf(listing->out, "<%.*s%s%s:%" PRIu32 ">\n", (int)function.len, function.data,
			function.len ? "@" : "", found.data, listing->range->first);
		status = probe_source_read(listing->path, directory, probe_lines_take, listing, err);
	}
	if (status == TALLY_OK && listing->printed == 0)
		status = error_set(err, TALLY_NOT_FOUND,
			"%s has no line %" PRIu32 ": it is shorter than the debug information says", found.data,
			listing->first);
	text_deinit(&found);
	return status;
}

enum tally_status probe_lines_print(struct probe_binary *binary, const struct probe_line_range *range,
	const struct probe_places_options *options, struct text *out, struct tally_error *err)
{
	struct probe_functions *functions;
	struct probe_lines_listing listing = {.range = range, .out = out};
	enum tally_status status = probe_functions_of(binary, &functions, err);
	if (status == TALLY_OK)
		status = probe_lines_choose(functions, &listing, err);
	if (status == TALLY_OK)
		status = probe_lines_find_rows(functions, &listing, err);
	if (status == TALLY_OK)
		status = probe_lines_list(&listing, options->source_directory, err);
	vec_free(&listing.rows.items);
	return status;
}
