/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analysis/replay/replay_state.h"
#include "analysis/store_entry.h"

#define FILES_MOST 16 /* whose call-frame information is read for this: that of a browser takes a second */

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

/* Chains that were made of stacks by call-frame information, here or while it was recorded. */
static bool has_unwound_chains(const struct replay *replay)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(replay->reader, &count);
	for (size_t i = 0; i < count; i++)
		if (attr_is_unwound(&events[i].attr) || (events[i].attr.sample_type & SAMPLE_STACK_USER))
			return true;
	return false;
}

struct root_search {
	struct replay *replay;
	bool is_unwound;
	uint32_t files[FILES_MOST]; /* of the store */
	size_t file_count;
};

static bool may_read(struct root_search *s, uint32_t file)
{
	for (size_t i = 0; i < s->file_count; i++)
		if (s->files[i] == file)
			return true;
	if (s->file_count == FILES_MOST)
		return false;
	s->files[s->file_count++] = file;
	return true;
}

static enum tally_status look_at_root(struct root_search *s, uint32_t frame, bool *is_root, struct tally_error *err)
{
	const struct replay *replay = s->replay;
	struct resolved_frame resolved = resolved_frame_get(&replay->frames, frame);
	uint32_t file = STORE_ENTRY_NONE;
	*is_root = false;
	if (resolved.binary == RESOLVE_NONE || (replay->symbols[frame] && !s->is_unwound) ||
		machine_binary_get(replay->sideband.machine, resolved.binary)->kind != MACHINE_USER_FILE)
		return TALLY_OK;
	enum tally_status status = store_entry_id(replay->sideband.machine, replay->store, resolved.binary, &file, err);
	if (status == TALLY_OK && file != STORE_ENTRY_NONE && may_read(s, file))
		*is_root = binary_store_is_root(replay->store, file, resolved.address);
	return status;
}

enum tally_status replay_find_roots(struct replay *replay, struct tally_error *err)
{
	struct root_search search = {.replay = replay, .is_unwound = has_unwound_chains(replay)};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; replay->roots && i < replay->frames.len && status == TALLY_OK; i++)
		if (replay->roots[i])
			status = look_at_root(&search, (uint32_t)i, &replay->roots[i], err);
	return status;
}
