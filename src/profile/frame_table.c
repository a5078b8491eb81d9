/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/frame_table.h"

#include "base/id_table.h"
#include "base/slots.h"
#include "base/thread_pool.h"

#define HASH_WORDS  5
#define FIRST_SLOTS 64
#define FILL_FRAMES 8192 /* Number of frames per task. */

void frame_table_deinit(struct frame_table *table)
{
	vec_free(&table->frames);
	free(table->slots);
	*table = (struct frame_table){0};
}

static uint64_t frame_table_word(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/* Files are not hashed, because a line belongs to one file. */
static uint32_t frame_table_hash_of(const struct profile_frame *f)
{
	const uint64_t words[HASH_WORDS] = {frame_table_word(f->function, f->binary), f->address, f->raw_address,
		frame_table_word(f->level, f->branch), frame_table_word(f->own_line.line, f->innermost_line.line)};
	return id_table_hash_words(words, HASH_WORDS);
}

static bool frame_table_is_same_place(const struct profile_place *a, const struct profile_place *b)
{
	return a->line == b->line && a->file == b->file;
}

static bool frame_table_is_same(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->function == b->function && a->binary == b->binary && a->address == b->address &&
	       a->raw_address == b->raw_address && a->level == b->level && a->branch == b->branch &&
	       frame_table_is_same_place(&a->own_line, &b->own_line) &&
	       frame_table_is_same_place(&a->innermost_line, &b->innermost_line);
}

static void frame_table_put_slot(struct frame_table *table, uint32_t hash, size_t number)
{
	size_t mask = table->slot_count - 1, at = hash & mask;
	while (table->slots[at])
		at = (at + 1) & mask;
	table->slots[at] = (uint64_t)hash << 32 | number;
}

/* Makes room for one more frame. Frames from frame_table_fill get their slots when a frame is first looked up. */
static bool frame_table_make_room(struct frame_table *table)
{
	size_t count = table->frames.len + 1, slots = table->slot_count ? table->slot_count : FIRST_SLOTS;
	while (slots_are_full(count, slots))
		slots *= 2;
	if (count >= UINT32_MAX || !vec_reserve(&table->frames, count) ||
		(slots != table->slot_count && !slots_grow_to(&table->slots, &table->slot_count, slots)))
		return false;
	for (; table->indexed < table->frames.len; table->indexed++)
		frame_table_put_slot(
			table, frame_table_hash_of(&table->frames.items[table->indexed]), table->indexed + 1);
	return true;
}

bool frame_table_add(struct frame_table *table, const struct profile_frame *frame, uint32_t *id)
{
	uint32_t hash = frame_table_hash_of(frame);
	if (!frame_table_make_room(table))
		return false;
	size_t mask = table->slot_count - 1;
	for (size_t at = hash & mask; table->slots[at]; at = (at + 1) & mask) {
		*id = (uint32_t)table->slots[at] - 1;
		if (table->slots[at] >> 32 == hash && frame_table_is_same(&table->frames.items[*id], frame))
			return true;
	}
	*id = (uint32_t)table->frames.len;
	table->frames.items[table->frames.len++] = *frame;
	frame_table_put_slot(table, hash, table->frames.len);
	table->indexed++;
	return true;
}

static uint32_t frame_table_hash_item(const void *context, uint32_t item)
{
	const struct frame_source *from = context;
	const struct profile_frame frame = from->get(from->context, item);
	return frame_table_hash_of(&frame);
}

static bool frame_table_is_same_item(const void *context, uint32_t a, uint32_t b)
{
	const struct frame_source *from = context;
	const struct profile_frame frame = from->get(from->context, a), other = from->get(from->context, b);
	return frame_table_is_same(&frame, &other);
}

struct frame_table_filling {
	struct frame_table *table;
	const struct frame_source *from;
	const struct dedup *found;
};

static void fill_some(void *context, size_t index, unsigned worker)
{
	const struct frame_table_filling *f = context;
	size_t end = thread_pool_task_end(index, FILL_FRAMES, f->found->count);
	for (size_t i = index * FILL_FRAMES; i < end; i++)
		f->table->frames.items[i] = f->from->get(f->from->context, f->found->firsts[i]);
}

static bool find_equal(const struct frame_source *from, unsigned threads, struct dedup *found)
{
	const struct dedup_items items = {.count = from->count,
		.hash = frame_table_hash_item,
		.equal = frame_table_is_same_item,
		.context = from};
	if (from->is_distinct)
		return dedup_none(from->count, found);
	return from->firsts ? dedup_known(from->firsts, from->count, threads, found)
			    : dedup_find(&items, threads, found);
}

bool frame_table_fill(struct frame_table *table, const struct frame_source *from, unsigned threads, struct dedup *found)
{
	if (!find_equal(from, threads, found))
		return false;
	if (!vec_reserve(&table->frames, found->count)) {
		dedup_deinit(found);
		return false;
	}
	struct frame_table_filling filling = {table, from, found};
	thread_pool_for(thread_pool_tasks(found->count, FILL_FRAMES), threads, fill_some, &filling);
	table->frames.len = found->count;
	return true;
}
