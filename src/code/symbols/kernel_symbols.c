/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/kernel_symbols.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/order.h"

struct kernel_symbols_part {
	_Atomic bool is_read;
	struct symbol_table table;
};

/* Number of groups of parts with a common lock. Neighbouring parts share a lock, because one thread usually reads
 * them, while other threads read elsewhere and should not have to wait. */
#define SHARES	    16
#define SHARE_PARTS 32 /* Number of neighbouring parts that belong to the same share. */

struct kernel_symbols_share { /* A group of parts with a common lock. */
	pthread_mutex_t lock; /* Held while a part is read. */
	struct arena arena; /* Owns the names of symbols. */
};

struct kernel_symbols {
	struct kallsyms list;
	struct kallsyms_marks marks;
	uint64_t moved;
	struct kernel_symbols_part *parts; /* One per mark: the symbols from that mark up to the next one. */
	struct kernel_symbols_share shares[SHARES];
};

enum tally_status kernel_symbols_open(const struct kallsyms *list, struct kernel_symbols **out)
{
	struct kallsyms_marks marks;
	enum tally_status status = kallsyms_mark(list, &marks);
	return status == TALLY_OK ? kernel_symbols_open_marked(list, &marks, out) : status;
}

enum tally_status kernel_symbols_open_marked(
	const struct kallsyms *list, struct kallsyms_marks *marks, struct kernel_symbols **out)
{
	struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	struct kernel_symbols_part *parts = calloc(marks->marks.len ? marks->marks.len : 1, sizeof(*parts));
	if (!symbols || !parts) {
		free(symbols);
		free(parts);
		kallsyms_marks_deinit(marks);
		return TALLY_NOMEM;
	}
	symbols->list = *list;
	symbols->marks = *marks;
	*marks = (struct kallsyms_marks){0};
	symbols->parts = parts;
	for (size_t i = 0; i < SHARES; i++) {
		pthread_mutex_init(&symbols->shares[i].lock, NULL);
		arena_init(&symbols->shares[i].arena);
	}
	*out = symbols;
	return TALLY_OK;
}

void kernel_symbols_close(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->marks.marks.len; i++)
		symbol_table_deinit(&symbols->parts[i].table);
	free(symbols->parts);
	kallsyms_marks_deinit(&symbols->marks);
	for (size_t i = 0; i < SHARES; i++) {
		pthread_mutex_destroy(&symbols->shares[i].lock);
		arena_deinit(&symbols->shares[i].arena);
	}
	free(symbols);
}

const struct kallsyms_marks *kernel_symbols_marks(const struct kernel_symbols *symbols)
{
	return &symbols->marks;
}

void kernel_symbols_move(struct kernel_symbols *symbols, uint64_t by)
{
	symbols->moved = by;
}

static void read_part(struct kernel_symbols *symbols, size_t index)
{
	struct kernel_symbols_part *part = &symbols->parts[index];
	struct kernel_symbols_share *share = &symbols->shares[index / SHARE_PARTS % SHARES];
	pthread_mutex_lock(&share->lock);
	if (!atomic_load_explicit(&part->is_read, memory_order_relaxed)) {
		bool ok = kallsyms_add_part(&symbols->list, &symbols->marks, index, &share->arena, &part->table);
		if (ok) {
			symbol_table_move(&part->table, symbols->moved);
			ok = symbol_table_finish(&part->table, SYMBOLS_UNSIZED);
		}
		if (!ok)
			part->table.symbols.len = 0;
		atomic_store_explicit(&part->is_read, true, memory_order_release);
	}
	pthread_mutex_unlock(&share->lock);
}

/* Returns the index of the part that contains the address, and reads the part if necessary. Returns the number of parts
 * if none begins at or before the address. */
static size_t kernel_symbols_part_of(struct kernel_symbols *symbols, uint64_t address)
{
	const struct kallsyms_mark *marks = symbols->marks.marks.items;
	uint64_t listed = address - symbols->moved;
	size_t low, count = symbols->marks.marks.len;
	LOWER_BOUND(low, count, middle, marks[middle].address <= listed);
	if (low == 0)
		return count;
	if (!atomic_load_explicit(&symbols->parts[low - 1].is_read, memory_order_acquire))
		read_part(symbols, low - 1);
	return low - 1;
}

const struct symbol *kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address)
{
	size_t part = kernel_symbols_part_of(symbols, address);
	return part < symbols->marks.marks.len ? symbol_table_find(&symbols->parts[part].table, address) : NULL;
}

void kernel_symbols_find_span(struct kernel_symbols *symbols, uint64_t address, struct symbol_span *span)
{
	size_t part = kernel_symbols_part_of(symbols, address), count = symbols->marks.marks.len;
	*span = (struct symbol_span){NULL, address, address};
	if (part == count)
		return;
	symbol_table_find_span(&symbols->parts[part].table, address, span);
	/* The last symbol of a part may extend beyond the beginning of the next part. */
	uint64_t next = part + 1 < count ? symbols->marks.marks.items[part + 1].address + symbols->moved : 0;
	if (next > address && span->last >= next)
		span->last = next - 1;
}
