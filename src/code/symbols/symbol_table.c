/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/symbol_table.h"

#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/key_sort.h"
#include "base/order.h"
#include "code/demangle/demangle.h"

#define SYMBOL_TABLE_PAGE 4096u

void symbol_table_deinit(struct symbol_table *table)
{
	vec_free(&table->symbols);
	free(table->max_end);
	free(table->buckets);
	table->max_end = NULL;
	table->buckets = NULL;
	table->bucket_count = 0;
}

bool symbol_table_add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name, char binding)
{
	struct symbol symbol = {.start = start, .name = name, .binding = binding};
	if (!checked_add(start, size, &symbol.end))
		symbol.end = UINT64_MAX;
	return vec_push(&table->symbols, symbol);
}

void symbol_table_mark_object(struct symbol_table *table, bool is_object)
{
	if (table->symbols.len > 0)
		table->symbols.items[table->symbols.len - 1].is_object = is_object;
}

void symbol_table_move(struct symbol_table *table, uint64_t by)
{
	for (size_t i = 0; i < table->symbols.len; i++) {
		table->symbols.items[i].start += by;
		table->symbols.items[i].end += by;
	}
}

/* Maximum number of pairs of aliases that are compared by their demangled names, because demangling is slow. Most
 * tables need few, but Chromium would need a million for the identical functions that the linker folded. */
#define ALIASES_READ_MOST 8192u

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Constructors and destructors have two or three aliases that demangle to the same name: "C1" and "C2", "D0" to
 * "D2". */
static bool differ_in_digit_only(const char *a, const char *b)
{
	size_t same = 0;
	while (a[same] != '\0' && a[same] == b[same])
		same++;
	return same > 0 && a[same] != '\0' && b[same] != '\0' && (a[same - 1] == 'C' || a[same - 1] == 'D') &&
	       strcmp(a + same + 1, b + same + 1) == 0;
}

/* Compares demangled names: fewer leading underscores are preferred, then longer names. */
static int symbol_table_compare_names(const char *a, const char *b, unsigned *reads)
{
	size_t a_bars;
	size_t b_bars;
	size_t a_len;
	size_t b_len;
	if ((is_mangled(a) || is_mangled(b)) && *reads < ALIASES_READ_MOST && !differ_in_digit_only(a, b)) {
		*reads += 1;
		a_len = demangle_length(a, &a_bars);
		b_len = demangle_length(b, &b_bars);
	} else {
		a_bars = strspn(a, "_");
		b_bars = strspn(b, "_");
		a_len = strlen(a);
		b_len = strlen(b);
	}
	if (a_bars != b_bars)
		return a_bars < b_bars ? -1 : 1;
	if (a_len != b_len)
		return a_len > b_len ? -1 : 1;
	return 0;
}

/* Entry points of system calls have aliases with these prefixes, which users do not know. */
static bool is_syscall_alias(const char *name)
{
	return strncmp(name, "SyS", 3) == 0 || strncmp(name, "compat_SyS", 10) == 0;
}

/* Returns a negative number if a is preferred. */
static int compare_aliases(const struct symbol *a, const struct symbol *b, unsigned *reads)
{
	bool a_sized = a->end > a->start;
	bool b_sized = b->end > b->start;
	if (a_sized != b_sized)
		return a_sized ? -1 : 1;
	if ((a->binding == 'w') != (b->binding == 'w'))
		return b->binding == 'w' ? -1 : 1;
	if ((a->binding == 'g') != (b->binding == 'g'))
		return a->binding == 'g' ? -1 : 1;
	int by_name = symbol_table_compare_names(a->name, b->name, reads);
	if (by_name != 0)
		return by_name;
	return is_syscall_alias(a->name) ? 1 : -1;
}

static uint64_t start_of(const void *symbol)
{
	return ((const struct symbol *)symbol)->start;
}

static void drop_aliases(struct symbol_table *table)
{
	size_t kept = 0;
	unsigned reads = 0;
	for (size_t i = 0; i < table->symbols.len; i++) {
		struct symbol *symbol = &table->symbols.items[i];
		if (kept > 0 && table->symbols.items[kept - 1].start == symbol->start) {
			if (compare_aliases(&table->symbols.items[kept - 1], symbol, &reads) > 0)
				table->symbols.items[kept - 1] = *symbol;
			continue;
		}
		table->symbols.items[kept++] = *symbol;
	}
	table->symbols.len = kept;
}

/* Sets the ends of symbols without a size. It must run before aliases are dropped: of several labels at one address,
 * only the last one extends to the next symbol. No label does if a symbol of known size starts at the same address,
 * because it could lose to the label, or if the label lies inside a function of known size. */
static void mend_ends(struct symbol *items, size_t count, enum symbol_rule rule)
{
	bool all_ends = rule == SYMBOLS_UNSIZED, has_inner = rule == SYMBOLS_KERNEL;
	bool is_taken = false; /* Whether a symbol of known size starts at the current address. */
	uint64_t covered = 0; /* Highest end so far of functions of known size. */
	for (size_t i = 0; i < count; i++) {
		bool is_sized = items[i].end > items[i].start;
		is_taken = is_sized || (is_taken && items[i - 1].start == items[i].start);
		if (is_sized && !items[i].is_object && !has_inner && items[i].end > covered)
			covered = items[i].end;
		bool is_inner = !is_sized && items[i].start < covered;
		if (i + 1 < count && (all_ends || (!is_taken && !is_inner)))
			items[i].end = items[i + 1].start;
	}
	if (is_taken || (!all_ends && items[count - 1].start < covered))
		return;
	struct symbol *last = &items[count - 1];
	last->end = ((last->start + SYMBOL_TABLE_PAGE - 1) & ~(uint64_t)(SYMBOL_TABLE_PAGE - 1)) + SYMBOL_TABLE_PAGE;
	if (last->end <= last->start)
		last->end = UINT64_MAX;
}

bool symbol_table_sort(struct symbol_table *table)
{
	/* The sort is stable, because the order in the table decides between otherwise equal aliases. */
	return table->symbols.len == 0 || key_sort_items(table->symbols.items, table->symbols.len,
						  sizeof(*table->symbols.items), &(key_of_item){start_of}, 1);
}

/* Maximum number of buckets per symbol. More than one, because buckets cover equal ranges of addresses, and functions
 * are denser than the data after them. */
#define BUCKETS_PER_SYMBOL 4

static bool make_buckets(struct symbol_table *table)
{
	const struct symbol *items = table->symbols.items;
	size_t count = table->symbols.len;
	if (count >= UINT32_MAX / BUCKETS_PER_SYMBOL)
		return true;
	uint64_t first = items[0].start, extent = items[count - 1].start - first;
	while (extent >> table->bucket_shift >= count * BUCKETS_PER_SYMBOL)
		table->bucket_shift++;
	size_t bucket_count = (size_t)(extent >> table->bucket_shift) + 1;
	table->buckets = malloc((bucket_count + 1) * sizeof(*table->buckets));
	if (!table->buckets)
		return false;
	table->bucket_count = bucket_count;
	size_t bucket = 0;
	for (size_t i = 0; i < count; i++)
		while (bucket <= (items[i].start - first) >> table->bucket_shift)
			table->buckets[bucket++] = (uint32_t)i;
	table->buckets[bucket] = (uint32_t)count;
	return true;
}

bool symbol_table_finish(struct symbol_table *table, enum symbol_rule rule)
{
	if (table->symbols.len == 0)
		return true;
	if (!symbol_table_sort(table))
		return false;
	mend_ends(table->symbols.items, table->symbols.len, rule);
	drop_aliases(table);
	struct symbol *items = table->symbols.items;
	size_t count = table->symbols.len;
	table->max_end = malloc(count * sizeof(*table->max_end));
	if (!table->max_end)
		return false;
	uint64_t highest = 0;
	for (size_t i = 0; i < count; i++) {
		highest = MAX(highest, items[i].end);
		table->max_end[i] = highest;
	}
	return make_buckets(table);
}

/* Returns NULL if the address lies before the first symbol or after the last bucket, or there are no buckets. */
static const uint32_t *bucket_of(const struct symbol_table *table, uint64_t address)
{
	uint64_t first = table->bucket_count ? table->symbols.items[0].start : 0;
	uint64_t bucket = (address - first) >> table->bucket_shift;
	return address >= first && bucket < table->bucket_count ? &table->buckets[bucket] : NULL;
}

/* Returns the index of the first symbol that starts after the address. */
static size_t upper_bound(const struct symbol_table *table, uint64_t address)
{
	size_t low = 0;
	size_t high = table->symbols.len;
	const uint32_t *bucket = bucket_of(table, address);
	if (bucket) {
		low = bucket[0];
		high = bucket[1];
	}
	LOWER_BOUND_IN(low, low, high, middle, table->symbols.items[middle].start <= address);
	return low;
}

const struct symbol *symbol_table_at(const struct symbol_table *table, uint64_t start)
{
	const struct symbol *items = table->symbols.items;
	const struct symbol *best = NULL;
	unsigned reads = 0;
	for (size_t i = upper_bound(table, start); i-- > 0 && items[i].start == start;)
		if (!best || compare_aliases(&items[i], best, &reads) < 0)
			best = &items[i];
	return best;
}

/* Searches the first count symbols, backwards, for one that covers the address. Smaller symbols inside it may end
 * before the address. */
static const struct symbol *find_larger(const struct symbol_table *table, size_t count, uint64_t address)
{
	for (size_t i = count; i-- > 0 && table->max_end[i] > address;)
		if (address < table->symbols.items[i].end)
			return &table->symbols.items[i];
	return NULL;
}

const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *items = table->symbols.items;
	size_t i = upper_bound(table, address);
	if (i > 0 && address < items[i - 1].end)
		return &items[i - 1];
	return find_larger(table, i, address);
}

void symbol_table_find_span(const struct symbol_table *table, uint64_t address, struct symbol_span *span)
{
	const struct symbol *items = table->symbols.items;
	size_t i = upper_bound(table, address);
	*span = (struct symbol_span){NULL, address, address};
	if (i == 0)
		return;
	if (address >= items[i - 1].end) {
		span->symbol = find_larger(table, i, address);
		return;
	}
	bool is_cut = i < table->symbols.len && items[i].start < items[i - 1].end;
	*span = (struct symbol_span){
		&items[i - 1], items[i - 1].start, (is_cut ? items[i].start : items[i - 1].end) - 1};
}
