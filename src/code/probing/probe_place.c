/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_place.h"

void probe_places_init(struct probe_places *places)
{
	*places = (struct probe_places){0};
	arena_init(&places->arena);
}

void probe_places_deinit(struct probe_places *places)
{
	vec_free(&places->items);
	vec_free(&places->notes);
	arena_deinit(&places->arena);
}

void probe_fetches_init(struct probe_fetches *fetches)
{
	*fetches = (struct probe_fetches){0};
	arena_init(&fetches->arena);
}

void probe_fetches_deinit(struct probe_fetches *fetches)
{
	vec_free(&fetches->items);
	vec_free(&fetches->notes);
	arena_deinit(&fetches->arena);
}
