/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/page_usage.h"

void page_usage_init(struct page_usage *u)
{
	*u = (struct page_usage){.block_ids.words = 3, .caller_ids.words = 3, .pfns.words = 1};
}

void page_usage_deinit(struct page_usage *u)
{
	id_table_deinit(&u->block_ids);
	id_table_deinit(&u->caller_ids);
	id_table_deinit(&u->pfns);
	vec_free(&u->blocks);
	vec_free(&u->callers);
	vec_free(&u->states);
}

/* Returns 0 for an order that no kernel allocates. */
static uint64_t pages_of(uint32_t order)
{
	return order < 64 ? UINT64_C(1) << order : 0;
}

static void page_usage_add(struct page_count *count, uint32_t order)
{
	count->requests++;
	count->pages += pages_of(order);
}

static uint32_t page_usage_find_row(struct id_table *ids, const struct page_alloc *alloc, uint64_t first, bool *is_new)
{
	const uint64_t key[] = {first, (uint64_t)alloc->order << 32 | alloc->migrate_type, alloc->gfp};
	return id_table_add(ids, key, is_new);
}

static void page_usage_add_to(struct page_row *row, const struct page_alloc *alloc)
{
	row->of.call_site = alloc->call_site;
	row->hits++;
	row->pages += pages_of(alloc->order);
}

static void take_from(struct page_row *row, uint32_t order)
{
	row->hits--;
	row->pages -= pages_of(order);
}

static uint64_t *count_of(struct page_usage *u, uint32_t order, uint32_t type)
{
	order = order < PAGE_ORDERS ? order : PAGE_ORDERS - 1;
	return &u->by_order[order][type < PAGE_MIGRATE_TYPES ? type : PAGE_MIGRATE_TYPES - 1];
}

static void page_usage_forget(struct page_usage *u, struct page_block *state)
{
	if (u->is_live) {
		const struct page_alloc *of = &u->blocks.items[state->block].of;
		(*count_of(u, of->order, of->migrate_type))--;
		take_from(&u->blocks.items[state->block], state->order);
		take_from(&u->callers.items[state->caller], state->order);
	}
	state->block = ID_TABLE_NONE;
}

bool page_usage_alloc(struct page_usage *u, const struct page_alloc *alloc)
{
	page_usage_add(&u->allocated, alloc->order);
	if (alloc->pfn == PAGE_FAILED) {
		page_usage_add(&u->failed, alloc->order);
		return true;
	}
	(*count_of(u, alloc->order, alloc->migrate_type))++;
	if (!vec_reserve(&u->blocks, u->blocks.len + 1) || !vec_reserve(&u->callers, u->callers.len + 1) ||
		!vec_reserve(&u->states, u->states.len + 1))
		return false;
	bool is_new;
	uint32_t pfn = id_table_add(&u->pfns, &alloc->pfn, &is_new);
	if (pfn == ID_TABLE_NONE)
		return false;
	if (is_new)
		u->states.items[u->states.len++] = (struct page_block){.block = ID_TABLE_NONE};
	struct page_block *state = &u->states.items[pfn];
	if (state->block != ID_TABLE_NONE)
		page_usage_forget(u, state); /* The event of its release was lost. */
	uint32_t block = page_usage_find_row(&u->block_ids, alloc, alloc->pfn, &is_new);
	if (block == ID_TABLE_NONE)
		return false;
	if (is_new)
		u->blocks.items[u->blocks.len++] = (struct page_row){.of = *alloc};
	uint32_t caller = page_usage_find_row(&u->caller_ids, alloc, alloc->call_site, &is_new);
	if (caller == ID_TABLE_NONE)
		return false;
	if (is_new) {
		u->callers.items[u->callers.len] = (struct page_row){.of = *alloc};
		u->callers.items[u->callers.len++].of.pfn = 0;
	}
	page_usage_add_to(&u->blocks.items[block], alloc);
	page_usage_add_to(&u->callers.items[caller], alloc);
	*state = (struct page_block){.block = block, .caller = caller, .order = alloc->order};
	return true;
}

void page_usage_free(struct page_usage *u, uint64_t pfn, uint32_t order)
{
	page_usage_add(&u->freed, order);
	uint32_t id = id_table_find(&u->pfns, &pfn);
	if (id == ID_TABLE_NONE || u->states.items[id].block == ID_TABLE_NONE) {
		page_usage_add(&u->unknown_frees, order);
		return;
	}
	page_usage_forget(u, &u->states.items[id]);
}
