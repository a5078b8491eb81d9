/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/address_names.h"

#include <inttypes.h>
#include <string.h>

#include "base/key_sort.h"
#include "base/order.h"

/* Functions from Go's own function table rank after symbols of functions, but before symbols of data and labels. */
#define RANK_OF_TABLES 3

/* Ranks symbols at one address as objdump does: functions, then data and IFUNC symbols, then labels; in each of these
 * groups, global ones come first, then weak ones. */
static uint8_t address_names_rank_of(const struct elf_symbol *symbol)
{
	uint8_t binding = symbol->binding == 'l' ? 2 : (symbol->binding == 'w' ? 1 : 0);
	bool is_function = symbol->is_function && !symbol->is_resolver;
	return (uint8_t)((is_function ? 0 : symbol->is_function || symbol->is_object ? 4 : 8) + binding);
}

static bool address_names_add_plt(struct address_names *names, struct elf_image *image, uint64_t moved)
{
	struct elf_plt plt = {0};
	bool ok = elf_image_plt(image, &plt, NULL) == TALLY_OK;
	for (size_t i = 0; i < plt.entries.len && ok; i++) {
		const struct elf_plt_entry *entry = &plt.entries.items[i];
		struct address_name name = {
			.address = entry->vaddr + moved, .name = entry->target, .is_plt = true, .rank = 12};
		/* objdump names an entry for an IFUNC by its resolver. */
		if (!name.name && entry->resolver)
			name.name = arena_printf(&names->arena, "*ABS*+0x%" PRIx64, entry->resolver + moved);
		if (name.name)
			ok = vec_push(&names->items, name);
	}
	vec_free(&plt.entries);
	return ok;
}

static bool address_names_add_slots(struct address_names *names, struct elf_image *image, uint64_t moved)
{
	struct elf_reference_list list = {0};
	bool ok = elf_image_references(image, &list, NULL) == TALLY_OK;
	for (size_t i = 0; i < list.references.len && ok; i++) {
		const struct elf_reference *from = &list.references.items[i];
		struct address_slot slot = {.address = from->slot + moved,
			.name = {.address = from->value + moved, .name = from->name},
			.is_jump = from->is_jump};
		ok = vec_push(&names->slots, slot);
	}
	vec_free(&list.references);
	return ok;
}

bool address_names_add(struct address_names *names, struct elf_image *image, uint64_t moved)
{
	struct elf_symbol_list list = {.with_all_labels = true};
	bool ok = elf_image_versioned_symbols(image, &list, NULL) == TALLY_OK;
	for (size_t i = 0; i < list.symbols.len && ok; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		struct address_name name = {.address = symbol->vaddr + moved,
			.size = symbol->size,
			.name = symbol->name,
			.rank = address_names_rank_of(symbol),
			.is_code = symbol->is_function};
		ok = vec_push(&names->items, name);
	}
	vec_free(&list.symbols);
	return ok && address_names_add_plt(names, image, moved) && address_names_add_slots(names, image, moved);
}

bool address_names_add_function(struct address_names *names, uint64_t address, uint64_t size, const char *name)
{
	return vec_push(&names->items,
		((struct address_name){
			.address = address, .size = size, .name = name, .rank = RANK_OF_TABLES, .is_code = true}));
}

static uint64_t address_of(const void *item)
{
	return ((const struct address_name *)item)->address;
}

/* Returns whether a is preferred to b, which has the same address. */
static bool is_preferred(const struct address_name *a, const struct address_name *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (a->size != b->size)
		return a->size > b->size;
	return strcmp(a->name, b->name) < 0;
}

static int by_slot(const void *left, const void *right)
{
	const struct address_slot *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name.name, b->name.name);
}

static const struct address_name *symbol_before(const struct address_names *names, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, names->items.len, middle, names->items.items[middle].address <= address);
	return low ? &names->items.items[low - 1] : NULL;
}

static void finish_slots(struct address_names *names)
{
	size_t kept = 0;
	for (size_t i = 0; i < names->slots.len; i++) {
		const struct address_slot *slot = &names->slots.items[i];
		const struct address_name *before = slot->is_jump ? NULL : symbol_before(names, slot->address);
		if (!before || !before->is_code)
			names->slots.items[kept++] = *slot;
	}
	names->slots.len = kept;
	if (kept > 0)
		qsort(names->slots.items, kept, sizeof(names->slots.items[0]), by_slot);
}

bool address_names_finish(struct address_names *names)
{
	struct address_name *items = names->items.items;
	size_t kept = 0;
	if (!key_sort_items(items, names->items.len, sizeof(*items), &(key_of_item){address_of}, 1)) {
		names->items.len = names->slots.len = 0;
		return false;
	}
	for (size_t i = 0; i < names->items.len; i++) {
		if (kept == 0 || items[i].address != items[kept - 1].address)
			items[kept++] = items[i];
		else if (is_preferred(&items[i], &items[kept - 1]))
			items[kept - 1] = items[i];
	}
	names->items.len = kept;
	finish_slots(names);
	return true;
}

void address_names_deinit(struct address_names *names)
{
	vec_free(&names->items);
	vec_free(&names->slots);
	arena_deinit(&names->arena);
}

static const struct address_name *slot_find(const struct address_names *names, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, names->slots.len, middle, names->slots.items[middle].address < address);
	bool is_slot = low < names->slots.len && names->slots.items[low].address == address;
	return is_slot ? &names->slots.items[low].name : NULL;
}

const struct address_name *address_names_find(const struct address_names *names, uint64_t address)
{
	const struct address_name *before = symbol_before(names, address);
	const struct address_name *slot = before && before->address == address ? NULL : slot_find(names, address);
	return slot ? slot : before;
}
