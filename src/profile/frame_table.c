#include "profile/frame_table.h"

#include "base/id_table.h"
#include "base/slots.h"

#define BATCH	    32 /* look-ups that wait for memory together */
#define HASH_WORDS  5
#define FIRST_SLOTS 64

void frame_table_deinit(struct frame_table *table)
{
	vec_free(&table->frames);
	slots_free(table->slots, table->slot_count);
	*table = (struct frame_table){0};
}

bool frame_table_reserve(struct frame_table *table, size_t count)
{
	size_t slots = table->slot_count ? table->slot_count : FIRST_SLOTS;
	while (slots_are_full(count, slots))
		slots *= 2;
	return count < UINT32_MAX && vec_reserve(&table->frames, count) &&
	       (slots == table->slot_count || slots_grow_to(&table->slots, &table->slot_count, slots));
}

static uint64_t word(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/* Files go with lines. */
static uint32_t hash_of(const struct profile_frame *f)
{
	const uint64_t words[HASH_WORDS] = {word(f->function, f->binary), f->address, f->raw_address,
		word(f->level, f->branch), word(f->own_line.line, f->innermost_line.line)};
	return id_table_hash_words(words, HASH_WORDS);
}

static bool is_same_place(const struct profile_place *a, const struct profile_place *b)
{
	return a->line == b->line && a->file == b->file;
}

static bool is_same(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->function == b->function && a->binary == b->binary && a->address == b->address &&
	       a->raw_address == b->raw_address && a->level == b->level && a->branch == b->branch &&
	       is_same_place(&a->own_line, &b->own_line) && is_same_place(&a->innermost_line, &b->innermost_line);
}

/* Its slot is there already; now the frame that the slot very likely means. */
static void expect_frame(const struct frame_table *table, uint32_t hash)
{
	uint64_t slot = table->slots[hash & (table->slot_count - 1)];
	if (slot >> 32 == hash && slot)
		__builtin_prefetch(&table->frames.items[(uint32_t)slot - 1]);
}

static uint32_t add_one(struct frame_table *table, const struct profile_frame *frame, uint32_t hash)
{
	size_t mask = table->slot_count - 1, at = hash & mask;
	for (; table->slots[at]; at = (at + 1) & mask) {
		uint32_t id = (uint32_t)table->slots[at] - 1;
		if (table->slots[at] >> 32 == hash && is_same(&table->frames.items[id], frame))
			return id;
	}
	table->frames.items[table->frames.len++] = *frame;
	table->slots[at] = (uint64_t)hash << 32 | table->frames.len;
	return (uint32_t)table->frames.len - 1;
}

static bool make_room(struct frame_table *table, size_t more)
{
	size_t count = table->frames.len + more;
	return (count <= table->frames.cap && !slots_are_full(count, table->slot_count)) ||
	       frame_table_reserve(table, count);
}

bool frame_table_add(struct frame_table *table, const struct profile_frame *frames, size_t count, uint32_t *ids)
{
	uint32_t hashes[BATCH];
	for (size_t first = 0; first < count; first += BATCH) {
		size_t len = count - first < BATCH ? count - first : BATCH;
		if (!make_room(table, len))
			return false;
		for (size_t i = 0; i < len; i++) {
			hashes[i] = hash_of(&frames[first + i]);
			__builtin_prefetch(&table->slots[hashes[i] & (table->slot_count - 1)]);
		}
		for (size_t i = 0; i < len; i++)
			expect_frame(table, hashes[i]);
		for (size_t i = 0; i < len; i++)
			ids[first + i] = add_one(table, &frames[first + i], hashes[i]);
	}
	return true;
}
