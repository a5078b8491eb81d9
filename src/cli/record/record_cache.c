#include "cli/record/record_cache.h"

#include <stdlib.h>
#include <string.h>

#include "cli/record/record_words.h"
#include "code/binaries/build_id_cache.h"

static enum tally_status add(const struct build_id_cache *cache, const struct perfdata_build_id *item)
{
	struct elf_build_id id = {.size = item->size};
	memcpy(id.bytes, item->bytes, sizeof(id.bytes));
	if (build_id_cache_has(cache, &id))
		return TALLY_OK;
	if (str_equal(item->filename, STR(BUILD_ID_CACHE_KERNEL)))
		return build_id_cache_add_kernel(cache, &id, NULL);
	if (str_equal(item->filename, STR(BUILD_ID_CACHE_VDSO)) ||
		str_equal(item->filename, STR(BUILD_ID_CACHE_VDSO32)))
		return build_id_cache_add_vdso(cache, item->filename, &id, NULL);
	return build_id_cache_add(cache, item->filename, &id, item->filename.data, NULL);
}

/* The user's cap, where one is set: the oldest entries go. */
static void keep_cap(const struct build_id_cache *cache)
{
	const char *cap = getenv("TALLY_BUILDID_CACHE_MAX");
	uint64_t bytes;
	size_t removed;
	bool has_unit;
	if (cap && record_size_parse(cap, &bytes, &has_unit))
		(void)!build_id_cache_trim(cache, bytes, &removed, NULL);
}

void record_cache_fill(const char *dir, const struct record_build_ids *ids)
{
	struct build_id_cache cache;
	if (build_id_cache_init(&cache, dir, NULL) != TALLY_OK)
		return;
	for (size_t i = 0; i < ids->len; i++)
		(void)!add(&cache, &ids->items[i]);
	keep_cap(&cache);
}
