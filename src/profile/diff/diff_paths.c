/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff/diff_paths.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/id_table.h"
#include "base/vec.h"

struct path_builder {
	struct diff_paths *paths;
	struct id_table ids; /* Maps the caller's path and a name to a path. */
	VEC(struct diff_path) items;
	VEC(struct diff_value) values;
	struct text name;
	const struct diff_paths_options *options;
};

static bool diff_paths_name_of(
	struct path_builder *b, const struct profile *p, const struct profile_frame *frame, uint32_t *name)
{
	text_clear(&b->name);
	if (frame->function != PROFILE_NONE) {
		struct tally_str function = name_match_get(
			b->options->match, NAME_MATCH_FUNCTION, profile_string(p, p->functions[frame->function].name));
		text_bytes(&b->name, function.data, function.len);
	} else {
		/* Addresses differ between two builds, so all unnamed code of a file is one path. */
		struct tally_str object = frame->binary == PROFILE_NONE
						  ? STR("unknown")
						  : name_match_get(b->options->match, NAME_MATCH_FILE,
							    profile_string(p, p->binaries[frame->binary].name));
		text_char(&b->name, '[');
		text_bytes(&b->name, object.data, object.len);
		text_char(&b->name, ']');
	}
	if (b->options->by_line && profile_string(p, frame->own_line.file).len) {
		struct tally_str line = profile_string(p, frame->own_line.line);
		text_char(&b->name, ' ');
		text_bytes(&b->name, line.data, line.len);
	}
	return !b->name.failed && intern_add(&b->paths->names, b->name.data, b->name.len, name);
}

/* Returns PROFILE_NONE if out of memory. */
static uint32_t diff_paths_find_path(
	struct path_builder *b, const struct profile *p, uint32_t parent, uint32_t frame_id)
{
	const struct profile_frame *frame = &p->frames[frame_id];
	struct diff_path path = {.parent = parent};
	path.is_inlined = profile_frame_is_inlined(p, frame_id);
	if (!diff_paths_name_of(b, p, frame, &path.name))
		return PROFILE_NONE;
	bool was_new;
	/* The key ignores inlining, which changes with each compiler: it is the same call. */
	uint32_t id = id_table_add(&b->ids, (const uint64_t[]){parent, path.name}, &was_new);
	if (id == ID_TABLE_NONE)
		return PROFILE_NONE;
	if (!was_new) {
		b->items.items[id + 1].is_inlined &= path.is_inlined;
		return id + 1;
	}
	size_t files = b->paths->file_count;
	if (!vec_push(&b->items, path) || !vec_reserve(&b->values, b->values.len + files))
		return PROFILE_NONE;
	memset(b->values.items + b->values.len, 0, files * sizeof(*b->values.items));
	b->values.len += files;
	return id + 1; /* Path 0 is the root. */
}

/* Returns the path of each stack; NULL if out of memory. */
static uint32_t *map_stacks(struct path_builder *b, const struct profile *p)
{
	size_t count = list_table_len(&p->stacks);
	uint32_t *path_of = malloc((count + 1) * sizeof(*path_of));
	for (size_t i = 0; path_of && i < count; i++) {
		struct list stack = profile_stack(p, (uint32_t)i);
		path_of[i] = 0;
		for (uint32_t k = stack.count; k-- > 0 && path_of[i] != PROFILE_NONE;)
			path_of[i] = diff_paths_find_path(b, p, path_of[i], stack.items[k]);
		if (path_of[i] == PROFILE_NONE) {
			free(path_of);
			return NULL;
		}
	}
	return path_of;
}

static bool diff_paths_passes(const struct diff_path_source *source, const struct profile_sample *sample)
{
	if (sample->event != source->event || (source->filter && !profile_filter_passes(source->filter, sample)))
		return false;
	return !source->cpu_passes ||
	       (sample->cpu >= 0 && (size_t)sample->cpu < source->cpu_limit && source->cpu_passes[sample->cpu]);
}

static bool diff_paths_add_file(struct path_builder *b, const struct diff_path_source *source, size_t file)
{
	const struct profile *p = source->profile;
	if (source->event == PROFILE_NONE)
		return true;
	uint32_t *path_of = map_stacks(b, p);
	bool is_done = path_of != NULL;
	for (size_t i = 0; is_done && i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		if (!diff_paths_passes(source, sample))
			continue;
		uint32_t path = sample->stack == PROFILE_NONE ? diff_paths_find_path(b, p, 0, sample->leaf)
							      : path_of[sample->stack];
		is_done = path != PROFILE_NONE;
		if (!is_done)
			break;
		struct diff_value *value = &b->values.items[path * b->paths->file_count + file];
		value->period += sample->period;
		value->count += sample->count;
		value->is_there = true;
	}
	free(path_of);
	return is_done;
}

/* The values of callers include those of their callees. */
static void diff_paths_add_up(struct diff_paths *paths)
{
	for (size_t path = paths->count; path-- > 1;) {
		for (size_t file = 0; file < paths->file_count; file++) {
			const struct diff_value *value = diff_paths_value(paths, path, file);
			struct diff_value *caller =
				&paths->values[paths->items[path].parent * paths->file_count + file];
			caller->period += value->period;
			caller->count += value->count;
			caller->is_there |= value->is_there;
		}
	}
	for (size_t file = 0; file < paths->file_count; file++)
		paths->totals[file] = diff_paths_value(paths, 0, file)->period;
}

static bool add_root(struct path_builder *b)
{
	struct diff_path root = {.parent = PROFILE_NONE};
	size_t files = b->paths->file_count;
	if (!intern_add(&b->paths->names, "", 0, &root.name) || !vec_push(&b->items, root) ||
		!vec_reserve(&b->values, files))
		return false;
	memset(b->values.items, 0, files * sizeof(*b->values.items));
	b->values.len = files;
	return true;
}

enum tally_status diff_paths_init(struct diff_paths *paths, const struct diff_path_source *sources, size_t file_count,
	const struct diff_paths_options *options, struct tally_error *err)
{
	struct diff_paths made = {.file_count = file_count};
	struct path_builder b = {.paths = &made, .options = options, .ids.words = 2};
	intern_init(&made.names);
	made.totals = calloc(file_count + 1, sizeof(*made.totals));
	bool is_built = made.totals && add_root(&b);
	for (size_t file = 0; is_built && file < file_count; file++)
		is_built = diff_paths_add_file(&b, &sources[file], file);
	id_table_deinit(&b.ids);
	text_deinit(&b.name);
	made.items = b.items.items;
	made.values = b.values.items;
	made.count = b.items.len;
	if (!is_built) {
		diff_paths_deinit(&made);
		return error_nomem(err);
	}
	diff_paths_add_up(&made);
	*paths = made;
	return TALLY_OK;
}

void diff_paths_deinit(struct diff_paths *paths)
{
	intern_deinit(&paths->names);
	free(paths->items);
	free(paths->values);
	free(paths->totals);
	*paths = (struct diff_paths){0};
}
