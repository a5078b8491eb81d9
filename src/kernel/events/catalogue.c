/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "abi/names.h"
#include "base/error.h"

enum tally_status event_catalogue_create(
	const struct kernel_seam *kernel, struct event_catalogue **catalogue, struct tally_error *err)
{
	struct event_catalogue *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->kernel = kernel;
	arena_init(&made->arena);
	enum tally_status status = pmu_load_all(kernel, &made->arena, &made->pmus, &made->pmu_count, err);
	if (status != TALLY_OK) {
		event_catalogue_destroy(made);
		return status;
	}
	*catalogue = made;
	return TALLY_OK;
}

void event_catalogue_destroy(struct event_catalogue *catalogue)
{
	if (!catalogue)
		return;
	arena_deinit(&catalogue->arena);
	free(catalogue);
}

/* Appends the usual names of hardware-cache events to the buffer; returns their number. */
static size_t cache_names_add(struct text *buffer, size_t *offsets)
{
	size_t n = 0;
	for (unsigned cache = 0; cache < CACHE_COUNT; cache++) {
		for (unsigned op = 0; op < CACHE_OP_COUNT; op++) {
			for (unsigned result = 0; result < CACHE_RESULT_COUNT; result++) {
				if (!cache_event_is_possible(cache, op))
					continue;
				offsets[n++] = buffer->len;
				cache_event_append(buffer, cache | op << 8 | result << 16);
				text_char(buffer, '\0');
			}
		}
	}
	return n;
}

const char *event_catalogue_nearest(struct event_catalogue *catalogue, const char *word)
{
	size_t offsets[(size_t)CACHE_COUNT * CACHE_OP_COUNT * CACHE_RESULT_COUNT];
	struct text cache = {0};
	size_t cache_count = cache_names_add(&cache, offsets);
	size_t cap = event_symbol_count * 2 + catalogue->pmu_count + cache_count, n = 0;
	const char **names = calloc(cap, sizeof(*names));
	const char *nearest = NULL;
	if (names && !cache.failed) {
		for (size_t i = 0; i < event_symbol_count; i++) {
			names[n++] = event_symbols[i].name;
			if (event_symbols[i].alias)
				names[n++] = event_symbols[i].alias;
		}
		for (size_t i = 0; i < catalogue->pmu_count; i++)
			names[n++] = catalogue->pmus[i].name;
		size_t fixed = n;
		for (size_t i = 0; i < cache_count; i++)
			names[n++] = cache.data + offsets[i];
		size_t found = text_nearest(names, n, word);
		if (found < fixed)
			nearest = names[found];
		else if (found != SIZE_MAX) /* The buffer is freed below, so the catalogue stores a copy. */
			nearest = arena_string(&catalogue->arena, names[found], strlen(names[found]));
	}
	free(names);
	text_deinit(&cache);
	return nearest;
}

static bool is_core_type(const struct pmu *pmu, const char *type)
{
	return pmu->is_hybrid && (strcmp(pmu->name, type) == 0 ||
					 (strncmp(pmu->name, "cpu_", 4) == 0 && strcmp(pmu->name + 4, type) == 0));
}

bool event_catalogue_limit_cores(struct event_catalogue *catalogue, const char *type)
{
	bool found = false;
	for (size_t i = 0; i < catalogue->pmu_count; i++)
		found |= is_core_type(&catalogue->pmus[i], type);
	for (size_t i = 0; found && i < catalogue->pmu_count; i++)
		catalogue->pmus[i].is_left_out = !is_core_type(&catalogue->pmus[i], type);
	return found;
}
