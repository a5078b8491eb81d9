/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/agent/agent_symbols.h"

#include <stdlib.h>

#include "base/error.h"
#include "fleet/batch_locations.h"
#include "fleet/batch_pack.h"
#include "tasks/fleet/batch_post.h"

#define LOCATIONS_REMEMBERED (256u << 10)

typedef bool agent_symbols_visit(void *context, uint64_t key, const struct batch_location *location);

void agent_symbols_init(struct agent_symbols *symbols)
{
	*symbols = (struct agent_symbols){0};
}

void agent_symbols_deinit(struct agent_symbols *symbols)
{
	map_u64_deinit(&symbols->known);
}

void agent_symbols_forget(struct agent_symbols *symbols)
{
	map_u64_deinit(&symbols->known);
}

static enum tally_status agent_symbols_read(
	struct tally_bytes bytes, struct fleet_batch **batch, struct tally_error *err)
{
	struct text raw = {0};
	enum tally_status status = TALLY_OK;
	if (batch_is_packed(bytes)) {
		status = fleet_batch_decompress(bytes, FLEET_BATCH_BYTES, &raw, err);
		bytes = (struct tally_bytes){(const uint8_t *)raw.data, raw.len};
	}
	if (status == TALLY_OK)
		status = fleet_batch_read(bytes, batch, err);
	text_deinit(&raw);
	return status;
}

/* Returns the key of a location that always has the same symbols, or 0 if its symbols may change. */
static uint64_t key_of(const struct profile *p, const struct batch_location *location)
{
	struct {
		uint64_t build_id, address, level;
	} parts = {0};
	if (location->binary == PROFILE_NONE || p->binaries[location->binary].is_kernel)
		return 0;
	struct tally_str build_id = profile_string(p, p->binaries[location->binary].build_id);
	if (build_id.len == 0)
		return 0;
	parts.build_id = bytes_hash(build_id.data, build_id.len);
	parts.address = location->address;
	parts.level = location->level;
	uint64_t key = bytes_hash(&parts, sizeof(parts));
	return key ? key : 1;
}

/* Visits each combination of leaf and stack once, because the locations of a stack also depend on the leaf. */
static bool visit_locations(const struct profile *p, agent_symbols_visit *visit, void *context)
{
	struct batch_locations found = {0};
	struct map_u64 done = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < p->sample_count; i++) {
		bool is_new;
		const struct profile_sample *sample = &p->samples[i];
		ok = map_u64_at(&done, (uint64_t)sample->leaf << 32 | sample->stack, &is_new) != NULL;
		if (!ok || !is_new)
			continue;
		ok = batch_locations_find(p, sample, &found);
		for (size_t k = 0; ok && k < found.list.len; k++) {
			uint64_t key = key_of(p, &found.list.items[k]);
			ok = key == 0 || visit(context, key, &found.list.items[k]);
		}
	}
	map_u64_deinit(&done);
	vec_free(&found.list);
	return ok;
}

struct leaving_out {
	const struct agent_symbols *symbols;
	bool *frames; /* Indexed by the profile's frames; true if the server is known to have the frame's symbol. */
	size_t count;
};

static bool leave_out(void *context, uint64_t key, const struct batch_location *location)
{
	struct leaving_out *out = context;
	uint64_t value;
	if (!map_u64_find(&out->symbols->known, key, &value))
		return true;
	for (uint32_t i = 0; i < location->frame_count; i++)
		out->frames[location->frames[i]] = true;
	out->count++;
	return true;
}

static enum tally_status write_shorter(const struct fleet_batch *batch, const struct agent_symbols *symbols,
	struct text *shorter, struct tally_error *err)
{
	struct leaving_out out = {symbols, calloc(batch->profile->frame_count + 1, sizeof(bool)), 0};
	struct text raw = {0};
	enum tally_status status =
		out.frames && visit_locations(batch->profile, leave_out, &out) ? TALLY_OK : error_nomem(err);
	if (status == TALLY_OK && out.count > 0) {
		status = fleet_batch_write(batch, out.frames, &raw, err);
		if (status == TALLY_OK && fleet_batch_can_compress())
			status = fleet_batch_compress(
				(struct tally_bytes){(const uint8_t *)raw.data, raw.len}, shorter, err);
		else if (status == TALLY_OK)
			text_bytes(shorter, raw.data, raw.len);
	}
	text_deinit(&raw);
	free(out.frames);
	return status == TALLY_OK && shorter->failed ? error_nomem(err) : status;
}

enum tally_status agent_symbols_shorten(
	const struct agent_symbols *symbols, struct tally_bytes bytes, struct text *shorter, struct tally_error *err)
{
	struct fleet_batch *batch = NULL;
	if (symbols->known.len == 0)
		return TALLY_OK;
	enum tally_status status = agent_symbols_read(bytes, &batch, err);
	if (status == TALLY_OK)
		status = write_shorter(batch, symbols, shorter, err);
	fleet_batch_destroy(batch);
	return status;
}

static bool acknowledge(void *context, uint64_t key, const struct batch_location *location)
{
	struct agent_symbols *symbols = context;
	if (symbols->known.len >= LOCATIONS_REMEMBERED)
		agent_symbols_forget(symbols); /* Forgotten symbols are sent once more. */
	return map_u64_set(&symbols->known, key, 1);
}

enum tally_status agent_symbols_acknowledge(struct agent_symbols *symbols, const uint8_t store[AGENT_STORE_BYTES],
	struct tally_bytes bytes, struct tally_error *err)
{
	struct fleet_batch *batch = NULL;
	if (memcmp(symbols->store, store, AGENT_STORE_BYTES) != 0)
		agent_symbols_forget(symbols);
	memcpy(symbols->store, store, AGENT_STORE_BYTES);
	enum tally_status status = agent_symbols_read(bytes, &batch, err);
	if (status == TALLY_OK && !visit_locations(batch->profile, acknowledge, symbols))
		status = error_nomem(err);
	fleet_batch_destroy(batch);
	return status;
}
