/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/order.h"

/* Of several names at one address, the one with the lowest rank is shown: functions before labels, global before local
 * ones, and those with fewer underscores first. */
static int probe_symbols_rank(const struct probe_symbol *symbol)
{
	int rank = (symbol->is_function ? 0 : 1000) + (symbol->is_global ? 0 : 100);
	for (const char *c = symbol->name; *c == '_' && c < symbol->name + 9; c++)
		rank++;
	return rank;
}

static int probe_symbols_by_address(const void *a, const void *b)
{
	const struct probe_symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	int rank = probe_symbols_rank(x) - probe_symbols_rank(y);
	return rank ? rank : strcmp(x->name, y->name);
}

static int probe_symbols_by_name(const void *a, const void *b, void *context)
{
	const struct probe_symbol *items = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(items[x].name, items[y].name);
	return order ? order : (x > y) - (x < y);
}

enum tally_status probe_symbols_finish(struct probe_symbols *symbols, struct tally_error *err)
{
	size_t count = symbols->items.len;
	uint64_t end = 0;
	symbols->by_name.len = symbols->ends.len = 0;
	if (count == 0)
		return TALLY_OK;
	qsort(symbols->items.items, count, sizeof(*symbols->items.items), probe_symbols_by_address);
	/* A name may be in two symbol tables at the same address; such doubles are removed. */
	size_t kept = 0;
	for (size_t i = 0; i < symbols->items.len; i++) {
		const struct probe_symbol *last = kept > 0 ? &symbols->items.items[kept - 1] : NULL;
		const struct probe_symbol *this = &symbols->items.items[i];
		if (last && last->address == this->address && strcmp(last->name, this->name) == 0)
			continue;
		symbols->items.items[kept++] = *this;
	}
	symbols->items.len = kept;
	count = symbols->items.len;
	if (count > UINT32_MAX || !vec_reserve(&symbols->by_name, count) || !vec_reserve(&symbols->ends, count))
		return error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		const struct probe_symbol *symbol = &symbols->items.items[i];
		uint64_t own =
			symbol->size > UINT64_MAX - symbol->address ? UINT64_MAX : symbol->address + symbol->size;
		end = MAX(end, own);
		symbols->ends.items[i] = end;
		symbols->by_name.items[i] = (uint32_t)i;
	}
	symbols->ends.len = symbols->by_name.len = count;
	qsort_r(symbols->by_name.items, count, sizeof(uint32_t), probe_symbols_by_name, symbols->items.items);
	return TALLY_OK;
}

void probe_symbols_free(struct probe_symbols *symbols)
{
	if (!symbols)
		return;
	vec_free(&symbols->items);
	vec_free(&symbols->by_name);
	vec_free(&symbols->ends);
	free(symbols);
}

static int probe_symbols_compare(const char *name, struct tally_str wanted)
{
	int order = strncmp(name, wanted.data, wanted.len);
	return order ? order : name[wanted.len] != 0;
}

size_t probe_symbols_find(const struct probe_symbols *symbols, struct tally_str name)
{
	size_t low, count = symbols->by_name.len;
	if (memchr(name.data, 0, name.len))
		return SIZE_MAX;
	LOWER_BOUND(low, count, middle,
		probe_symbols_compare(symbols->items.items[symbols->by_name.items[middle]].name, name) < 0);
	if (low == count || probe_symbols_compare(symbols->items.items[symbols->by_name.items[low]].name, name) != 0)
		return SIZE_MAX;
	return low;
}

const struct probe_symbol *probe_symbols_at(const struct probe_symbols *symbols, uint64_t address)
{
	size_t low, count = symbols->items.len;
	LOWER_BOUND(low, count, middle, symbols->items.items[middle].address <= address);
	const struct probe_symbol *best = NULL;
	/* Inner symbols come last. Of several at one address, the first one is used. */
	for (size_t i = low; i-- > 0 && symbols->ends.items[i] > address;) {
		const struct probe_symbol *symbol = &symbols->items.items[i];
		if (best && symbol->address != best->address)
			break;
		if (symbol->is_code && address - symbol->address < symbol->size)
			best = symbol;
	}
	/* A label without a size extends to the next symbol. */
	for (size_t i = low;
		!best && i-- > 0 && symbols->items.items[i].address == symbols->items.items[low - 1].address;)
		if (symbols->items.items[i].is_code && symbols->items.items[i].size == 0)
			best = &symbols->items.items[i];
	return best;
}

bool probe_symbol_is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D');
}
