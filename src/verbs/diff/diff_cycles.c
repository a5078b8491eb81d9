/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_cycles.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "profile/rows/row_value.h"

static enum tally_status read_files(
	const struct diff_cycles_input *input, struct diff_cycles *cycles, struct tally_error *err)
{
	const struct diff_request *request = input->request;
	for (size_t i = 0; i < input->recordings->count; i++) {
		const struct diff_recording *recording = &input->recordings->items[i];
		uint32_t event = input->event;
		struct data_input data = {
			.file = {recording->path, request->force}, .symbols = request->symbols, .shows_origin = true};
		char *times = NULL;
		if (i > 0)
			event = diff_recording_event(recording, &input->recordings->items[0], event);
		if (event == PROFILE_NONE)
			continue;
		enum tally_status status = diff_recording_times(request, i, &times, err);
		data.samples = request->samples;
		data.samples.times = times;
		cycles->file_count = i + 1;
		if (status == TALLY_OK)
			status = diff_blocks_read(input->cli, &data, event, &cycles->files[i], err);
		free(times);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

static const struct diff_block *diff_cycles_find_base(
	const struct diff_block *blocks, size_t count, const struct diff_block *block)
{
	for (size_t i = 0; i < count; i++)
		if (blocks[i].start == block->start && blocks[i].end == block->end)
			return &blocks[i];
	return NULL;
}

static int by_difference(const void *left, const void *right)
{
	const struct diff_text_block *a = left, *b = right;
	int64_t first = llabs(a->difference), second = llabs(b->difference);
	if (first != second)
		return first > second ? -1 : 1;
	return COMPARE(a->order, b->order);
}

/* Computes, for each of the first executions of the block, by how many cycles it differed from that of the baseline. */
static void diff_cycles_spread(
	const struct diff_block *block, const struct diff_block *base, struct diff_text_block *to)
{
	unsigned least = MIN(block->kept_count, base->kept_count);
	for (; to->spread_count < least; to->spread_count++)
		to->spread[to->spread_count] =
			llabs((int64_t)block->kept[to->spread_count] - (int64_t)base->kept[to->spread_count]);
}

/* Collects the file's blocks of the row's function, each with the baseline's block of the same code. */
static enum tally_status diff_cycles_fill(
	const struct diff_table *diff, struct diff_cycles *cycles, size_t row, size_t file, struct tally_error *err)
{
	const struct diff_row *shown = &diff->rows[row];
	const struct flat_table *table = diff->tables[shown->file];
	const struct flat_row *flat = &table->rows[shown->row];
	struct row_value dso = row_value(table, flat, KEY_DSO), symbol = row_value(table, flat, KEY_SYMBOL);
	struct diff_text_blocks *to = &cycles->blocks[row * diff->file_count + file];
	size_t count = 0, base_count = 0;
	if (symbol.is_unknown || dso.is_unknown || !diff_table_value(diff, row, file)->is_there)
		return TALLY_OK;
	const struct diff_block *blocks = diff_blocks_find(&cycles->files[file], dso.text, symbol.text, &count);
	const struct diff_block *base = diff_blocks_find(&cycles->files[0], dso.text, symbol.text, &base_count);
	to->items = arena_array(&cycles->arena, struct diff_text_block, count);
	if (count > 0 && !to->items)
		return error_nomem(err);
	to->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct diff_block *same = diff_cycles_find_base(base, base_count, &blocks[i]);
		to->items[i] = (struct diff_text_block){.range = blocks[i].range, .has_base = same != NULL, .order = i};
		if (!same)
			continue;
		to->items[i].difference = (int64_t)blocks[i].cycles - (int64_t)same->cycles;
		diff_cycles_spread(&blocks[i], same, &to->items[i]);
	}
	if (count > 1)
		qsort(to->items, count, sizeof(*to->items), by_difference);
	return TALLY_OK;
}

enum tally_status diff_cycles_read(const struct diff_cycles_input *input, const struct diff_table *diff,
	struct diff_cycles *cycles, struct tally_error *err)
{
	*cycles = (struct diff_cycles){0};
	arena_init(&cycles->arena);
	if (!diff_request_has_key(input->request, KEY_SYMBOL))
		return error_set(err, TALLY_INVALID, "-c cycles compares functions: -s needs the key symbol");
	cycles->files = calloc(input->recordings->count, sizeof(*cycles->files));
	cycles->blocks = arena_array(&cycles->arena, struct diff_text_blocks, (diff->row_count + 1) * diff->file_count);
	if (!cycles->files || !cycles->blocks)
		return error_nomem(err);
	enum tally_status status = read_files(input, cycles, err);
	for (size_t row = 0; row < diff->row_count; row++)
		for (size_t file = 1; file < diff->file_count && status == TALLY_OK; file++)
			status = diff_cycles_fill(diff, cycles, row, file, err);
	return status;
}

void diff_cycles_deinit(struct diff_cycles *cycles)
{
	for (size_t i = 0; i < cycles->file_count; i++)
		diff_blocks_deinit(&cycles->files[i]);
	free(cycles->files);
	arena_deinit(&cycles->arena);
}
