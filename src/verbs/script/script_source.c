/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_source.h"

#include "analysis/store_entry.h"

void script_source_init(struct script_source *source, struct script_places *places)
{
	*source = (struct script_source){.places = places};
	annotate_source_init(&source->files, NULL, 0);
}

void script_source_deinit(struct script_source *source)
{
	annotate_source_tell(&source->files, "tally");
	annotate_source_deinit(&source->files);
	map_u64_deinit(&source->threads);
	vec_free(&source->last);
}

/* Returns the last printed line of the thread, or NULL if out of memory. */
static struct script_source_line *last_of(struct script_source *source, int32_t tid)
{
	bool is_new;
	uint64_t *slot = map_u64_at(&source->threads, (uint32_t)tid, &is_new);
	struct script_source_line none = {0};
	if (!slot)
		return NULL;
	if (is_new) {
		if (!vec_push(&source->last, none))
			return NULL;
		*slot = source->last.len;
	}
	return &source->last.items[*slot - 1];
}

bool script_source_print(
	struct script_source *source, struct text *t, const struct script_source_spot *spot, const char *prefix)
{
	struct script_place place;
	struct tally_str text;
	if (!script_place_find(source->places, spot->where, spot->cpumode, spot->ip, &place) ||
		!frame_names_places(source->places->names, place.frame, place.name))
		return false;
	const struct source_place *at = place.name->place_count ? &place.name->places[0] : NULL;
	if (!at || !at->path || at->line == 0)
		return true;
	struct script_source_line *last = last_of(source, spot->tid);
	if (!last)
		return false;
	if (last->path && last->line == at->line && !strcmp(last->path, at->path))
		return true;
	*last = (struct script_source_line){at->path, at->line};
	struct frame_names *names = source->places->names;
	uint32_t store_id, binary = resolved_frame_get(&names->resolver->frames, place.frame).binary;
	if (binary != RESOLVE_NONE && frame_names_store_id(names, binary, &store_id, NULL) == TALLY_OK &&
		store_id != STORE_ENTRY_NONE)
		annotate_source_of(&source->files, names->store, store_id);
	if (!annotate_source_find(&source->files, at->path, at->line, &text))
		return true;
	text_str(t, prefix);
	text_printf(t, "|%-8u ", at->line);
	text_bytes(t, text.data, text.len);
	return true;
}
