/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/plain/plain_gather.h"

#include <string.h>

#include "analysis/wait_events.h"
#include "base/array.h"
#include "base/error.h"

/* Bytes of the file that are read together; a window fits into the private cache of a CPU. */
#define WINDOW_BYTES ((size_t)256 << 10)
/* Bytes of the file per byte reserved for records that are not samples; many short processes need one in ten. */
#define BYTES_PER_OTHER 4
#define MOST_OTHERS	((size_t)48 << 20) /* Limit of that reservation, in bytes. */
#define BLOCK_SAMPLES	(((size_t)2 << 20) / sizeof(struct plain_sample))
/* Maximum number of samples kept in all parts together: a million, and room for parts that hold more than their
 * share. */
#define KEPT_SAMPLES (13 * BLOCK_SAMPLES)

static bool events_serve(struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++) {
		const struct perfdata_event *e = &events[i];
		bool has_time = e->layout.sample_id_all && e->attr.sample_type & SAMPLE_TIME;
		if (!has_time || e->attr.sample_type & SAMPLE_READ || e->layout.is_wait)
			return false;
	}
	return count > 0;
}

bool plain_path_supports(struct perfdata_reader *reader, const struct replay_options *o)
{
	bool is_by_place = o->with_stacks || o->history || o->with_rows || o->with_addresses || o->with_exact_frames ||
			   o->with_lines || o->by_branch || o->self_is_inlined;
	bool is_labelled = o->with_cpu || o->facets || o->field_count || o->weight_is_period ||
			   o->wakers != WAKERS_NONE || wait_events_find(reader, o->waits).are_joined;
	return !is_by_place && !is_labelled && !o->without_names && !o->spans && !o->switches && events_serve(reader);
}

static void free_block(struct plain_gather_part *part, size_t block)
{
	free(part->blocks.items[block]);
	part->blocks.items[block] = NULL;
}

static void plain_gather_part_deinit(struct plain_gather_part *part)
{
	for (size_t i = 0; i < part->blocks.len; i++)
		free_block(part, i);
	vec_free(&part->blocks);
	vec_free(&part->large_periods);
	vec_free(&part->contexts);
	id_table_deinit(&part->context_ids);
	vec_free(&part->others);
	free(part->window);
}

void plain_gather_free_others(struct plain_gather *gather)
{
	for (size_t i = 0; i < gather->part_count; i++)
		vec_free(&gather->parts[i].others);
	gather->others.bytes = (struct tally_bytes){NULL, 0};
}

void plain_gather_deinit(struct plain_gather *gather)
{
	for (size_t i = 0; i < gather->part_count; i++)
		plain_gather_part_deinit(&gather->parts[i]);
	free(gather->parts);
	free(gather->pieces);
	*gather = (struct plain_gather){0};
}

static uint32_t add_context(struct plain_gather_part *part, const struct plain_context *context)
{
	uint64_t words[2] = {(uint32_t)context->pid | (uint64_t)(uint32_t)context->tid << 32,
		context->event | (uint64_t)context->cpumode << 32};
	uint32_t id = id_table_add(&part->context_ids, words, NULL);
	part->failed = part->failed || id == ID_TABLE_NONE || id > part->contexts.len ||
		       (id == part->contexts.len && !vec_push(&part->contexts, *context));
	return id;
}

static bool is_context(const struct plain_context *a, const struct plain_context *b)
{
	return a->tid == b->tid && a->pid == b->pid && a->cpumode == b->cpumode && a->event == b->event;
}

static uint32_t context_id(struct plain_gather_part *part, const struct plain_context *context)
{
	uint32_t *recent = &part->recent[((uint32_t)context->tid * 2 + context->cpumode) % PLAIN_RECENT];
	if (*recent == 0 || !is_context(&part->contexts.items[*recent - 1], context)) {
		uint32_t id = add_context(part, context);
		if (part->failed) /* The part is not read any further. */
			return 0;
		*recent = id + 1;
	}
	return *recent - 1;
}

static bool plain_gather_add_block(struct plain_gather_part *part)
{
	struct plain_sample *block =
		vec_reserve(&part->blocks, part->blocks.len + 1) ? malloc(part->block_samples * sizeof(*block)) : NULL;
	if (!block)
		return false;
	part->blocks.items[part->blocks.len++] = block;
	part->next = block;
	part->block_end = block + part->block_samples;
	return true;
}

/* Returns NULL if out of memory. */
static struct plain_sample *new_sample(struct plain_gather_part *part)
{
	if (part->next == part->block_end && !plain_gather_add_block(part))
		return NULL;
	part->sample_count += !part->has_more;
	return part->next++;
}

/* Caches the events of recent IDs, because most samples share a few IDs. */
static const struct perfdata_event *plain_gather_event_of(
	struct plain_gather_part *part, struct perfdata_reader *reader, const struct record *record)
{
	size_t offset = part->id_offset;
	if (offset == 0 || offset + sizeof(uint64_t) > record->bytes.len)
		return perfdata_reader_event_of(reader, record);
	uint64_t id = sample_u64_at(record->bytes.data + offset, 0, record->swap);
	struct plain_id *known = &part->ids[id % PLAIN_IDS];
	if (!known->event || known->id != id)
		*known = (struct plain_id){id, perfdata_reader_event_of(reader, record)};
	return known->event;
}

static uint32_t plain_gather_load_u32(const uint8_t *bytes, bool swap)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

static uint64_t plain_gather_field(const struct record *record, int16_t offset, uint64_t otherwise)
{
	return offset < 0 ? otherwise : sample_u64_at(record->bytes.data + offset, 0, record->swap);
}

static void take_sample(struct plain_gather_part *part, struct perfdata_reader *reader, const struct record *record)
{
	const struct perfdata_event *event = plain_gather_event_of(part, reader, record);
	if (!event) {
		part->unattributed++;
		return;
	}
	const struct record_layout *layout = &event->layout;
	if (!sample_is_whole(layout, record)) {
		damaged_records_add(&part->damaged, record->offset, record->type);
		return;
	}
	struct plain_sample *sample = new_sample(part);
	if (!sample) {
		part->failed = true;
		return;
	}
	struct plain_context context = {-1, -1, event->index, record->misc & MISC_CPUMODE_MASK};
	if (layout->tid >= 0) {
		context.pid = (int32_t)plain_gather_load_u32(record->bytes.data + layout->tid, record->swap);
		context.tid = (int32_t)plain_gather_load_u32(record->bytes.data + layout->tid + 4, record->swap);
	}
	uint64_t period = plain_gather_field(record, layout->period, event->attr.sample_period_or_freq);
	sample->ip = plain_gather_field(record, layout->ip, 0);
	sample->time_ns = plain_gather_field(record, layout->time, 0);
	sample->context = context_id(part, &context);
	sample->period = period < PLAIN_LARGE_PERIOD ? (uint32_t)period : PLAIN_LARGE_PERIOD;
	if (period >= PLAIN_LARGE_PERIOD && !vec_push(&part->large_periods, period))
		part->failed = true;
}

static void take_other(struct plain_gather_part *part, const struct record *record)
{
	size_t len = part->others.len + record->bytes.len;
	if (!vec_reserve(&part->others, len)) {
		part->failed = true;
		return;
	}
	memcpy(part->others.items + part->others.len, record->bytes.data, record->bytes.len);
	part->others.len = len;
}

/* Samples beyond the limit are only counted; plain_part_next reads them again. */
static void plain_gather_take(
	struct plain_gather_part *part, struct perfdata_reader *reader, const struct record *record, size_t position)
{
	if (record->type != RECORD_SAMPLE) {
		take_other(part, record);
		return;
	}
	part->samples++;
	part->sample_bytes += record->bytes.len;
	if (part->sample_count < part->most_kept) {
		take_sample(part, reader, record);
	} else if (!part->has_more) {
		part->has_more = true;
		part->more = position;
	}
}

/* Handles the complete records of a window up to limit. Returns their size in bytes. */
static size_t take_window(struct plain_gather_part *part, struct perfdata_reader *reader, const struct record_run *run,
	struct tally_bytes window, size_t position, size_t limit)
{
	size_t at = 0;
	struct record record;
	while (at < limit && record_at(window, run->swap, at, &record, NULL) == TALLY_OK) {
		record.offset = run->offset + position + at;
		plain_gather_take(part, reader, &record, position + at);
		at += record.bytes.len;
		if (record.type >= RECORD_HEADER_ATTR && perfdata_payload_bytes(&record, run->is_pipe) > 0) {
			part->has_payload = true;
			break;
		}
	}
	return at;
}

/* Returns a view of the records at position, at most one window. */
static struct tally_bytes plain_gather_window_at(
	struct perfdata_reader *reader, const struct record_run *run, size_t position, uint8_t *room)
{
	size_t left = run->bytes.len - position;
	const struct tally_bytes from = {run->bytes.data + position, MIN(left, WINDOW_BYTES)};
	return perfdata_reader_view(reader, from, room);
}

/* Handles the records that begin before range.end, which moves to the beginning of the next record. */
static void plain_gather_walk(
	struct plain_gather_part *part, struct perfdata_reader *reader, const struct record_run *run)
{
	size_t position = part->range.begin, limit = part->range.end;
	bool is_cut = false;
	uint8_t *room = malloc(WINDOW_BYTES);
	/* Reserved memory that is never touched costs nothing. */
	size_t others = (limit - position) / BYTES_PER_OTHER;
	part->failed = !room || !vec_reserve(&part->others, MIN(others, MOST_OTHERS));
	while (position < limit && !is_cut && !part->failed && !part->has_payload) {
		struct tally_bytes window = plain_gather_window_at(reader, run, position, room);
		size_t len = take_window(part, reader, run, window, position, limit - position);
		is_cut = len == 0; /* Any complete record is far shorter than a window. */
		progress_add(run->progress, len);
		position += len;
	}
	part->range.end = position;
	part->range.is_cut = part->range.is_cut || is_cut;
	free(room);
}

/* Reads samples from the window, which begins at part->more, until the block is full. Returns false if the window
 * holds no record. */
static bool take_again(struct plain_gather_part *part, struct perfdata_reader *reader, const struct record_run *run,
	struct tally_bytes window)
{
	size_t at = 0, limit = part->range.end - part->more;
	struct record record;
	while (at < limit && part->next < part->block_end &&
		record_at(window, run->swap, at, &record, NULL) == TALLY_OK) {
		record.offset = run->offset + part->more + at;
		if (record.type == RECORD_SAMPLE)
			take_sample(part, reader, &record);
		at += record.bytes.len;
	}
	part->more += at;
	return at > 0;
}

/* Reads more samples into the last block, which has been handled already. */
static bool plain_gather_read_again(struct plain_gather_part *part, struct perfdata_reader *reader,
	const struct record_run *run, struct plain_block *block)
{
	struct plain_sample *first = part->blocks.items[part->blocks.len - 1];
	part->next = first;
	part->large_periods.len = part->large_taken = 0;
	part->window = part->window ? part->window : malloc(WINDOW_BYTES);
	part->failed = part->failed || !part->window;
	while (!part->failed && part->more < part->range.end && part->next < part->block_end)
		if (!take_again(part, reader, run, plain_gather_window_at(reader, run, part->more, part->window)))
			break;
	*block = (struct plain_block){first, (size_t)(part->next - first)};
	return !part->failed && block->count > 0;
}

bool plain_part_next(struct plain_gather_part *part, struct perfdata_reader *reader, const struct record_run *run,
	struct plain_block *block)
{
	size_t index = part->block_taken;
	if (index == part->blocks.len)
		return part->has_more && index > 0 && plain_gather_read_again(part, reader, run, block);
	if (index > 0)
		free_block(part, index - 1);
	size_t left = part->sample_count - index * part->block_samples;
	*block = (struct plain_block){part->blocks.items[index], MIN(left, part->block_samples)};
	part->block_taken++;
	return true;
}

struct gathering {
	struct plain_gather *gather;
	struct perfdata_reader *reader;
	const struct record_run *run;
	size_t most_kept; /* Maximum number of samples kept in memory for one part of the recording. */
};

/* Walks one part; discards the result of an earlier walk that started at a wrong position. */
static void plain_gather_walk_part(void *context, size_t index, struct run_part *range)
{
	const struct gathering *g = context;
	struct plain_gather_part *part = &g->gather->parts[index];
	plain_gather_part_deinit(part);
	*part = (struct plain_gather_part){.range = *range,
		.context_ids = {.words = 2},
		.most_kept = g->most_kept,
		.block_samples = MIN(g->most_kept, BLOCK_SAMPLES),
		.id_offset = perfdata_reader_id_offset(g->reader)};
	plain_gather_walk(part, g->reader, g->run);
	*range = part->range;
}

/* Describes the copied records as pieces of one record_run. They are scattered in memory; nothing reads the bytes
 * between them. */
static void list_pieces(struct plain_gather *gather, const struct record_run *run)
{
	uintptr_t lowest = UINTPTR_MAX, end = 0;
	for (size_t i = 0; i < gather->part_count; i++) {
		uintptr_t begin = (uintptr_t)gather->parts[i].others.items;
		size_t len = gather->parts[i].others.len;
		lowest = len > 0 && begin < lowest ? begin : lowest;
		end = len > 0 && begin + len > end ? begin + len : end;
	}
	lowest = MIN(lowest, end);
	for (size_t i = 0; i < gather->part_count; i++) {
		size_t len = gather->parts[i].others.len;
		size_t begin = len > 0 ? (uintptr_t)gather->parts[i].others.items - lowest : 0;
		gather->pieces[i] = (struct record_piece){begin, begin + len};
	}
	gather->others = *run;
	gather->others.bytes = (struct tally_bytes){(const uint8_t *)lowest, end - lowest};
	gather->others.pieces = gather->pieces;
	gather->others.piece_count = gather->part_count;
}

/* Returns TALLY_UNSUPPORTED if this kind of profile cannot represent the recording. */
static enum tally_status check_parts(const struct plain_gather *gather, struct tally_error *err)
{
	for (size_t i = 0; i < gather->part_count; i++) {
		const struct plain_gather_part *part = &gather->parts[i];
		if (part->failed)
			return error_nomem(err);
		if (part->has_payload)
			return error_set(err, TALLY_UNSUPPORTED, "data follows a record");
		if (part->samples > UINT32_MAX)
			return error_set(err, TALLY_UNSUPPORTED, "an address has more samples than a counter can hold");
	}
	return TALLY_OK;
}

enum tally_status plain_gather(struct perfdata_reader *reader, const struct record_run *run, size_t kept_samples,
	struct plain_gather *gather, struct tally_error *err)
{
	struct gathering g = {gather, reader, run, kept_samples ? kept_samples : KEPT_SAMPLES};
	struct run_parts parts;
	*gather = (struct plain_gather){0};
	if (!run_parts_init(&parts, run, 1))
		return error_nomem(err);
	gather->parts = calloc(parts.count, sizeof(*gather->parts));
	gather->pieces = calloc(parts.count, sizeof(*gather->pieces));
	bool is_ready = gather->parts && gather->pieces;
	if (is_ready) {
		gather->part_count = parts.count;
		g.most_kept = g.most_kept / parts.count + 1;
		run_parts_walk(&parts, plain_gather_walk_part, &g);
	}
	run_parts_deinit(&parts);
	enum tally_status status = is_ready ? check_parts(gather, err) : error_nomem(err);
	if (status == TALLY_OK)
		list_pieces(gather, run);
	else
		plain_gather_deinit(gather);
	return status;
}
