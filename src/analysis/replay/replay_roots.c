/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analysis/replay/replay_state.h"
#include "analysis/store_entry.h"
#include "base/error.h"
#include "base/key_sort.h"
#include "base/vec.h"

bool replay_note_outermost(struct replay *replay, const struct replay_frame_ids *ids)
{
	if (!replay->options->with_stacks)
		return true;
	replay->roots = calloc(replay->frames.len + 1, sizeof(*replay->roots));
	for (size_t i = 0; replay->roots && i < replay->pass_count; i++) {
		const struct list_table *stacks = &replay->passes[i]->resolver.stacks;
		const uint32_t *frames = ids->items + ids->begin[i];
		for (size_t k = 0; k < list_table_len(stacks); k++) {
			struct list stack = list_table_get(stacks, (uint32_t)k);
			if (stack.count > 0)
				replay->roots[frames[stack.items[stack.count - 1]]] = true;
		}
	}
	return replay->roots != NULL;
}

/* Returns whether chains were unwound by call-frame information, now or during recording. */
static bool has_unwound_chains(const struct replay *replay)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(replay->reader, &count);
	for (size_t i = 0; i < count; i++)
		if (attr_is_unwound(&events[i].attr) || (events[i].attr.sample_type & SAMPLE_STACK_USER))
			return true;
	return false;
}

struct root_place {
	uint32_t file; /* File ID in the store. */
	uint32_t frame;
	uint64_t address;
};

struct root_search {
	struct replay *replay;
	bool is_unwound;
	VEC(struct root_place) places;
	VEC(uint64_t) addresses;
	VEC(bool) answers;
	uint32_t last_binary, last_file;
};

/* Caches the last file, because adjacent places are mostly in one binary. */
static enum tally_status root_search_file(struct root_search *s, uint32_t binary, struct tally_error *err)
{
	if (binary == s->last_binary)
		return TALLY_OK;
	s->last_binary = binary;
	s->last_file = STORE_ENTRY_NONE;
	return store_entry_id(s->replay->sideband.machine, s->replay->store, binary, &s->last_file, err);
}

static enum tally_status add_place(struct root_search *s, uint32_t frame, struct tally_error *err)
{
	const struct replay *replay = s->replay;
	struct resolved_frame resolved = resolved_frame_get(&replay->frames, frame);
	replay->roots[frame] = false;
	if (resolved.binary == RESOLVE_NONE || (replay->symbols[frame] && !s->is_unwound) ||
		machine_binary_get(replay->sideband.machine, resolved.binary)->kind != MACHINE_USER_FILE)
		return TALLY_OK;
	enum tally_status status = root_search_file(s, resolved.binary, err);
	struct root_place place = {s->last_file, frame, resolved.address};
	if (status == TALLY_OK && s->last_file != STORE_ENTRY_NONE && !vec_push(&s->places, place))
		status = error_nomem(err);
	return status;
}

static uint64_t root_place_file(const void *item)
{
	return ((const struct root_place *)item)->file;
}

static uint64_t root_place_address(const void *item)
{
	return ((const struct root_place *)item)->address;
}

/* Sorts by file, so that each is queried once, and by address: neighbours are mostly in one function, which answers
 * for all of them. */
static bool sort_places(struct root_search *s)
{
	return key_sort_items(s->places.items, s->places.len, sizeof(*s->places.items),
		(key_of_item[]){root_place_file, root_place_address}, 2);
}

static void ask_files(struct root_search *s)
{
	const struct root_place *places = s->places.items;
	for (size_t begin = 0, end = 0; begin < s->places.len; begin = end) {
		for (; end < s->places.len && places[end].file == places[begin].file; end++)
			s->addresses.items[end - begin] = places[end].address;
		binary_store_find_roots(
			s->replay->store, places[begin].file, s->addresses.items, end - begin, s->answers.items);
		for (size_t i = begin; i < end; i++)
			s->replay->roots[places[i].frame] = s->answers.items[i - begin];
	}
}

enum tally_status replay_find_roots(struct replay *replay, struct tally_error *err)
{
	struct root_search search = {
		.replay = replay, .is_unwound = has_unwound_chains(replay), .last_binary = RESOLVE_NONE};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; replay->roots && i < replay->frames.len && status == TALLY_OK; i++)
		if (replay->roots[i])
			status = add_place(&search, (uint32_t)i, err);
	size_t count = search.places.len;
	if (status == TALLY_OK && count > 0) {
		if (sort_places(&search) && vec_reserve(&search.addresses, count) &&
			vec_reserve(&search.answers, count))
			ask_files(&search);
		else
			status = error_nomem(err);
	}
	vec_free(&search.places);
	vec_free(&search.addresses);
	vec_free(&search.answers);
	return status;
}
