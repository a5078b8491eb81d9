/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/slab_usage.h"

void slab_usage_init(struct slab_usage *u)
{
	*u = (struct slab_usage){.object_ids.words = 1, .caller_ids.words = 1};
}

void slab_usage_deinit(struct slab_usage *u)
{
	id_table_deinit(&u->object_ids);
	id_table_deinit(&u->caller_ids);
	vec_free(&u->objects);
	vec_free(&u->callers);
	vec_free(&u->states);
}

static void slab_usage_add_to(struct slab_row *row, const struct slab_alloc *alloc)
{
	row->hits++;
	row->requested += alloc->requested;
	row->allocated += alloc->allocated;
}

bool slab_usage_alloc(struct slab_usage *u, const struct slab_alloc *alloc)
{
	if (!vec_reserve(&u->objects, u->objects.len + 1) || !vec_reserve(&u->callers, u->callers.len + 1) ||
		!vec_reserve(&u->states, u->states.len + 1))
		return false;
	bool is_new;
	uint32_t object = id_table_add(&u->object_ids, &alloc->address, &is_new);
	if (object == ID_TABLE_NONE)
		return false;
	if (is_new) {
		u->objects.items[u->objects.len++] = (struct slab_row){.address = alloc->address};
		u->states.items[u->states.len++] = (struct slab_object){0};
	}
	uint32_t caller = id_table_add(&u->caller_ids, &alloc->call_site, &is_new);
	if (caller == ID_TABLE_NONE)
		return false;
	if (is_new)
		u->callers.items[u->callers.len++] = (struct slab_row){.address = alloc->call_site};
	slab_usage_add_to(&u->objects.items[object], alloc);
	slab_usage_add_to(&u->callers.items[caller], alloc);
	u->states.items[object] =
		(struct slab_object){.last_bytes = alloc->allocated, .caller = caller, .cpu = alloc->cpu};
	u->allocations++;
	u->other_node += alloc->is_other_node;
	u->requested += alloc->requested;
	u->allocated += alloc->allocated;
	return true;
}

void slab_usage_free(struct slab_usage *u, uint64_t address, int32_t cpu)
{
	uint32_t object = id_table_find(&u->object_ids, &address);
	if (object == ID_TABLE_NONE || u->states.items[object].cpu < 0) {
		u->unknown_frees++;
		return;
	}
	struct slab_object *state = &u->states.items[object];
	u->freed += state->last_bytes;
	if (state->cpu != cpu) {
		u->objects.items[object].ping_pongs++;
		u->callers.items[state->caller].ping_pongs++;
	}
	state->cpu = -1;
}

double slab_fragmentation(uint64_t requested, uint64_t allocated)
{
	return allocated == 0 ? 0 : 100.0 - 100.0 * (double)requested / (double)allocated;
}
