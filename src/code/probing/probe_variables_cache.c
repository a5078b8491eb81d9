/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_variables_cache.h"

#include <stdlib.h>

#include "base/error.h"

enum tally_status probe_variables_cache_make(struct probe_binary *binary, struct tally_error *err)
{
	struct probe_variables_cache *cache = binary->variables ? NULL : calloc(1, sizeof(*cache));
	if (binary->variables)
		return TALLY_OK;
	if (!cache)
		return error_nomem(err);
	binary->variables = cache;
	dwarf_types_init(&cache->types);
	arena_init(&cache->arena);
	return binary->debug_image ? dwarf_location_lists_open(&cache->lists, binary->debug_image, false, err)
				   : TALLY_OK;
}

void probe_variables_cache_free(struct probe_variables_cache *cache)
{
	if (!cache)
		return;
	size_t position = 0;
	uint64_t unit, globals;
	while (map_u64_next(&cache->globals, &position, &unit, &globals))
		if (globals)
			dwarf_scope_deinit((struct dwarf_scope *)(uintptr_t)globals);
	map_u64_deinit(&cache->globals);
	dwarf_location_lists_close(&cache->lists);
	dwarf_types_deinit(&cache->types);
	arena_deinit(&cache->arena);
	free(cache);
}

enum tally_status probe_variables_cache_globals(struct probe_variables_cache *cache, const struct dwarf_file *file,
	const struct dwarf_unit *unit, const struct dwarf_scope **out, struct tally_error *err)
{
	uint64_t *slot = map_u64_at(&cache->globals, (uint64_t)(uintptr_t)unit, NULL);
	struct dwarf_scope *globals = slot && !*slot ? arena_new(&cache->arena, struct dwarf_scope) : NULL;
	if (!slot || (!*slot && !globals))
		return error_nomem(err);
	if (globals) {
		*slot = (uint64_t)(uintptr_t)globals;
		enum tally_status status = dwarf_scope_add_unit(globals, &cache->types.reader, file, unit, err);
		if (status != TALLY_OK)
			return status;
	}
	*out = (const struct dwarf_scope *)(uintptr_t)*slot;
	return TALLY_OK;
}
