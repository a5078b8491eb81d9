/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_blocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/branch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/order.h"

#define NO_START   UINT32_MAX
#define TEXT_BYTES 512

struct diff_blocks_run { /* Code between two branches: from the target of one to the source of the next. */
	uint32_t start, end; /* Indices of frames; start is NO_START if it is unknown. */
	uint64_t count, cycles;
};

struct end { /* The branch at the end of a block, with the sums of the diff_blocks_runs that end there. */
	uint32_t frame, store_id;
	uint64_t address;
	const struct symbol *symbol;
	uint64_t count, cycles, start;
	uint32_t kept[DIFF_BLOCK_KEPT];
	unsigned kept_count;
	bool has_start, is_found; /* has_start: start is valid. is_found: symbol was looked up. */
};

struct diff_blocks_reading {
	struct data_source source;
	struct diff_blocks *blocks;
	struct map_u64 run_ids; /* Maps start << 32 | end to an index of runs. */
	VEC(struct diff_blocks_run) runs;
	struct map_u64 end_ids; /* Maps a frame to an index of ends. */
	VEC(struct end) ends;
};

static bool diff_blocks_add_run(struct diff_blocks_reading *r, uint32_t start, uint32_t end, uint64_t cycles)
{
	bool is_new;
	uint64_t *id = map_u64_at(&r->run_ids, (uint64_t)start << 32 | end, &is_new);
	if (!id)
		return false;
	if (is_new) {
		struct diff_blocks_run run = {.start = start, .end = end};
		*id = r->runs.len;
		if (!vec_push(&r->runs, run))
			return false;
	}
	r->runs.items[*id].count++;
	r->runs.items[*id].cycles += cycles;
	return true;
}

/* Returns NULL if out of memory. */
static struct end *end_at(struct diff_blocks_reading *r, uint32_t frame)
{
	bool is_new;
	uint64_t *id = map_u64_at(&r->end_ids, frame, &is_new);
	struct end end = {.frame = frame};
	if (!id)
		return NULL;
	if (is_new) {
		*id = r->ends.len;
		if (!vec_push(&r->ends, end))
			return NULL;
	}
	return &r->ends.items[*id];
}

static bool keep_cycles(struct diff_blocks_reading *r, uint32_t frame, uint32_t cycles)
{
	struct end *end = end_at(r, frame);
	if (end && end->kept_count < DIFF_BLOCK_KEPT)
		end->kept[end->kept_count++] = cycles;
	return end != NULL;
}

static enum tally_status diff_blocks_count_sample(
	struct diff_blocks_reading *r, const struct data_sample *sample, struct tally_error *err)
{
	struct resolver *resolver = &r->source.pass.resolver;
	uint32_t count = sample->sample.present & SAMPLE_BRANCH_STACK ? sample_branch_count(&sample->sample) : 0;
	struct resolve_where where = resolver_where(resolver, (int32_t)sample->sample.pid, sample->clock);
	/* The newest branch is the first. */
	for (uint32_t i = 0; i < count; i++) {
		struct sample_branch branch = sample_branch_at(&sample->sample, i);
		if (branch.cycles == 0)
			continue;
		unsigned mode = (int64_t)branch.from < 0 ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER;
		uint32_t start = NO_START, end = resolver_frame(resolver, &where, mode, branch.from);
		if (i + 1 < count)
			start = resolver_frame(resolver, &where, mode, sample_branch_at(&sample->sample, i + 1).to);
		if (resolver->failed || !diff_blocks_add_run(r, start, end, branch.cycles) ||
			!keep_cycles(r, end, branch.cycles))
			return error_nomem(err);
	}
	return TALLY_OK;
}

/* Adds the counts of the run to the end of its block. */
static enum tally_status add_to_end(
	struct diff_blocks_reading *r, const struct diff_blocks_run *run, struct tally_error *err)
{
	struct resolved_frame at = resolved_frame_get(&r->source.pass.resolver.frames, run->end);
	struct end *end = end_at(r, run->end);
	if (!end || !frame_names_get(&r->source.names, run->end, err))
		return error_nomem(err);
	if (!end->is_found) {
		end->is_found = true;
		end->address = at.address;
		end->symbol = frame_names_symbol(&r->source.names, &at, &end->store_id);
	}
	end->count += run->count;
	end->cycles += run->cycles;
	if (run->start == NO_START || !end->symbol)
		return TALLY_OK;
	struct resolved_frame start = resolved_frame_get(&r->source.pass.resolver.frames, run->start);
	bool is_inside =
		start.binary == at.binary && start.address >= end->symbol->start && start.address <= at.address;
	if (is_inside && (!end->has_start || start.address < end->start)) {
		end->has_start = true;
		end->start = start.address;
	}
	return TALLY_OK;
}

/* Formats "work.c:7", or "main+52" if no line is known. */
static void diff_blocks_place_append(
	struct diff_blocks_reading *r, const struct end *end, const char *symbol, uint64_t address, char *text)
{
	struct source_place place;
	size_t count = binary_store_places(r->source.store, end->store_id, address, &place, 1);
	if (count > 0 && place.path && place.line) {
		const char *slash = strrchr(place.path, '/');
		snprintf(text, TEXT_BYTES, "%s:%u", slash ? slash + 1 : place.path, place.line);
	} else {
		snprintf(text, TEXT_BYTES, "%s+%" PRIu64, symbol, address - end->symbol->start);
	}
}

static enum tally_status diff_blocks_add_block(
	struct diff_blocks_reading *r, const struct end *end, struct tally_error *err)
{
	char from[TEXT_BYTES], to[TEXT_BYTES];
	struct arena *arena = &r->blocks->arena;
	const struct frame_name *name = frame_names_get(&r->source.names, end->frame, err);
	const uint64_t addresses[] = {end->start, end->address};
	if (!end->has_start || !name || !name->symbol)
		return name ? TALLY_OK : TALLY_NOMEM;
	enum tally_status status = binary_store_load_places(r->source.store, end->store_id, addresses, 2, err);
	if (status == TALLY_NOMEM)
		return status;
	diff_blocks_place_append(r, end, name->symbol, end->start, from);
	diff_blocks_place_append(r, end, name->symbol, end->address, to);
	struct diff_block block = {.dso = arena_string(arena, name->shown.data, name->shown.len),
		.symbol = arena_string(arena, name->symbol, strlen(name->symbol)),
		.start = end->start - end->symbol->start,
		.end = end->address - end->symbol->start,
		.cycles = end->cycles / end->count,
		.range = arena_printf(arena, "%s -> %s", from, to),
		.kept_count = end->kept_count};
	memcpy(block.kept, end->kept, sizeof(block.kept));
	if (!block.dso || !block.symbol || !block.range || !vec_push(&r->blocks->items, block))
		return error_nomem(err);
	return TALLY_OK;
}

static int diff_blocks_by_name(const void *left, const void *right)
{
	const struct diff_block *a = left, *b = right;
	int order = strcmp(a->dso, b->dso);
	order = order ? order : strcmp(a->symbol, b->symbol);
	if (order || a->end == b->end)
		return order;
	return a->end < b->end ? -1 : 1;
}

static enum tally_status diff_blocks_read_all(struct diff_blocks_reading *r, uint32_t event, struct tally_error *err)
{
	struct data_sample sample;
	enum tally_status status;
	while ((status = data_source_next(&r->source, &sample, err)) == TALLY_OK) {
		if (sample.event->index == event && (status = diff_blocks_count_sample(r, &sample, err)) != TALLY_OK)
			return status;
	}
	if (status == TALLY_NOMEM)
		return status;
	status = TALLY_OK;
	for (size_t i = 0; i < r->runs.len && status == TALLY_OK; i++)
		status = add_to_end(r, &r->runs.items[i], err);
	for (size_t i = 0; i < r->ends.len && status == TALLY_OK; i++)
		status = diff_blocks_add_block(r, &r->ends.items[i], err);
	if (r->blocks->items.len)
		qsort(r->blocks->items.items, r->blocks->items.len, sizeof(struct diff_block), diff_blocks_by_name);
	return status;
}

enum tally_status diff_blocks_read(const struct cli *cli, const struct data_input *input, uint32_t event,
	struct diff_blocks *blocks, struct tally_error *err)
{
	struct diff_blocks_reading r = {.blocks = blocks};
	size_t count;
	*blocks = (struct diff_blocks){0};
	arena_init(&blocks->arena);
	enum tally_status status = data_source_open(cli, input, &r.source, err);
	if (status != TALLY_OK)
		return status;
	const struct perfdata_event *events = perfdata_reader_events(r.source.reader, &count);
	if (event < count && !(events[event].attr.sample_type & SAMPLE_BRANCH_STACK))
		status = error_set(err, TALLY_INVALID,
			"-c cycles needs branch stacks, and %s has none: was it made without -b?", input->file.path);
	if (status == TALLY_OK)
		status = diff_blocks_read_all(&r, event, err);
	map_u64_deinit(&r.run_ids);
	map_u64_deinit(&r.end_ids);
	vec_free(&r.runs);
	vec_free(&r.ends);
	data_source_close(&r.source);
	return status;
}

void diff_blocks_deinit(struct diff_blocks *blocks)
{
	vec_free(&blocks->items);
	arena_deinit(&blocks->arena);
}

static int compare_name(const struct diff_block *block, struct tally_str dso, struct tally_str symbol)
{
	struct tally_str names[] = {str_from(block->dso), str_from(block->symbol)}, wanted[] = {dso, symbol};
	for (size_t i = 0; i < 2; i++) {
		size_t shorter = MIN(names[i].len, wanted[i].len);
		int order = shorter ? memcmp(names[i].data, wanted[i].data, shorter) : 0;
		if (order || names[i].len != wanted[i].len)
			return order ? order : names[i].len < wanted[i].len ? -1 : 1;
	}
	return 0;
}

const struct diff_block *diff_blocks_find(
	const struct diff_blocks *blocks, struct tally_str dso, struct tally_str symbol, size_t *count)
{
	size_t low, last;
	LOWER_BOUND(low, blocks->items.len, middle, compare_name(&blocks->items.items[middle], dso, symbol) < 0);
	for (last = low; last < blocks->items.len && compare_name(&blocks->items.items[last], dso, symbol) == 0;)
		last++;
	*count = last - low;
	return last > low ? &blocks->items.items[low] : NULL;
}
