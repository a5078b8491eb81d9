/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/binary_hits.h"

#include "analysis/store_entry.h"
#include "base/error.h"
#include "base/order.h"

#define NOT_HIT STORE_ENTRY_NONE
#define IS_HIT	0 /* Value of store_id for a binary with samples, until the store assigns an ID. */

static bool binary_hits_extend(struct binary_hits *hits, uint32_t index)
{
	while (hits->files.len <= index)
		if (!vec_push(&hits->files, ((struct binary_hit){.store_id = NOT_HIT})))
			return false;
	return true;
}

bool binary_hits_add(struct binary_hits *hits, uint32_t binary, uint64_t samples, bool is_named)
{
	hits->samples += samples;
	if (binary == STORE_ENTRY_NONE)
		return true;
	if (!binary_hits_extend(hits, binary))
		return false;
	struct binary_hit *hit = &hits->files.items[binary];
	hit->store_id = IS_HIT;
	hit->samples += samples;
	hit->unnamed += is_named ? 0 : samples;
	return true;
}

static int binary_hits_compare(const void *a, const void *b)
{
	const struct binary_hit *left = a, *right = b;
	if (left->samples != right->samples)
		return left->samples < right->samples ? 1 : -1;
	return COMPARE(left->store_id, right->store_id);
}

/* Drops entries without hits, and sorts the others. */
static void binary_hits_pack(struct binary_hits *files)
{
	size_t kept = 0;
	for (size_t i = 0; i < files->files.len; i++)
		if (files->files.items[i].store_id != NOT_HIT)
			files->files.items[kept++] = files->files.items[i];
	files->files.len = kept;
	if (kept > 1)
		qsort(files->files.items, kept, sizeof(*files->files.items), binary_hits_compare);
}

enum tally_status binary_hits_finish(
	struct binary_hits *hits, const struct machine *machine, struct binary_store *store, struct tally_error *err)
{
	struct binary_hits files = {.samples = hits->samples};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < hits->files.len && status == TALLY_OK; i++) {
		const struct binary_hit *hit = &hits->files.items[i];
		uint32_t id = STORE_ENTRY_NONE;
		if (hit->store_id != NOT_HIT)
			status = store_entry_id(machine, store, (uint32_t)i, &id, err);
		if (status != TALLY_OK || id == STORE_ENTRY_NONE)
			continue;
		if (!binary_hits_extend(&files, id)) {
			status = error_nomem(err);
			continue;
		}
		struct binary_hit *file = &files.files.items[id];
		file->store_id = id;
		file->samples += hit->samples;
		file->unnamed += hit->unnamed;
	}
	if (status != TALLY_OK) {
		binary_hits_deinit(&files);
		return status;
	}
	binary_hits_pack(&files);
	binary_hits_deinit(hits);
	*hits = files;
	return TALLY_OK;
}

void binary_hits_deinit(struct binary_hits *hits)
{
	vec_free(&hits->files);
	hits->samples = 0;
}
