/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/frame_names.h"

#include <inttypes.h>

#include "analysis/frame_symbol.h"
#include "analysis/store_entry.h"
#include "analysis/symbolise.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/visible.h"

#define FRAME_NAMES_NOT_ASKED (UINT32_MAX - 1)

void frame_names_init(struct frame_names *names, const struct resolver *resolver, const struct machine *machine,
	struct binary_store *store)
{
	*names = (struct frame_names){.resolver = resolver, .machine = machine, .store = store};
	arena_init(&names->arena);
}

void frame_names_deinit(struct frame_names *names)
{
	vec_free(&names->names);
	vec_free(&names->binaries);
	map_u64_deinit(&names->readable);
	arena_deinit(&names->arena);
}

/* Returns NULL if out of memory. */
static struct named_binary *named_binary_of(struct frame_names *names, uint32_t binary)
{
	while (names->binaries.len <= binary)
		if (!vec_push(&names->binaries, (struct named_binary){.store_id = FRAME_NAMES_NOT_ASKED}))
			return NULL;
	return &names->binaries.items[binary];
}

enum tally_status frame_names_store_id(
	struct frame_names *names, uint32_t binary, uint32_t *id, struct tally_error *err)
{
	struct named_binary *named = named_binary_of(names, binary);
	if (!named)
		return error_nomem(err);
	uint32_t *slot = &named->store_id;
	if (*slot == FRAME_NAMES_NOT_ASKED) {
		enum tally_status status = store_entry_id(names->machine, names->store, binary, slot, err);
		if (status != TALLY_OK)
			return status;
		if (*slot != RESOLVE_NONE)
			binary_store_load(names->store, slot, 1);
	}
	*id = *slot;
	return TALLY_OK;
}

/* Returns a path without data if out of memory. */
static struct tally_str frame_names_path(struct frame_names *names, uint32_t binary)
{
	struct named_binary *named = named_binary_of(names, binary);
	if (named && !named->path.data)
		named->path = visible_str(&names->arena,
			machine_string(names->machine, machine_binary_get(names->machine, binary)->path));
	return named ? named->path : (struct tally_str){0};
}

/* Returns the demangled name. The frames of a function share it, because demangling is the most expensive step of
 * naming a frame. Returns NULL if out of memory. */
static const char *frame_names_readable(struct frame_names *names, const char *function)
{
	bool is_new;
	uint64_t *slot = map_u64_at(&names->readable, (uintptr_t)function, &is_new);
	if (!slot)
		return NULL;
	if (is_new)
		*slot = (uintptr_t)binary_store_readable(names->store, function, &names->arena);
	return (const char *)(uintptr_t)*slot;
}

static enum tally_status frame_names_fill(
	struct frame_names *names, const struct resolved_frame *frame, struct frame_name *name, struct tally_error *err)
{
	name->path = name->shown = STR("[unknown]");
	uint64_t shown = resolved_frame_shown(frame);
	name->link_address = shown;
	if (frame->binary == RESOLVE_NONE)
		return TALLY_OK;
	const struct machine_binary *binary = machine_binary_get(names->machine, frame->binary);
	name->path = frame_names_path(names, frame->binary);
	if (!name->path.data)
		return error_nomem(err);
	name->shown = machine_string(names->machine, binary->short_name);
	/* Kernel modules are shown by their short name, unless the recording's table of build IDs lists them: then by
	 * their path. */
	name->has_short_name = binary->kind == MACHINE_KERNEL_MODULE && !binary->is_listed;
	name->is_kernel = binary->kind == MACHINE_KERNEL || binary->kind == MACHINE_KERNEL_MODULE;
	if (binary->kind == MACHINE_BPF) {
		name->symbol = name->path.data;
		name->symbol_offset = shown - binary->start;
		return TALLY_OK;
	}
	uint32_t id = RESOLVE_NONE;
	enum tally_status status = frame_names_store_id(names, frame->binary, &id, err);
	if (status != TALLY_OK || id == RESOLVE_NONE)
		return status;
	const struct symbol *symbol = frame_symbol_find(names->store, id, frame);
	struct tally_elf_va va;
	if (binary->kind == MACHINE_USER_FILE && binary_store_elf_va(names->store, id, FILE_OFF(shown), &va))
		name->link_address = va.value;
	if (binary->kind == MACHINE_KERNEL_MODULE)
		name->link_address = machine_module_offset(binary, frame->address);
	if (!symbol && binary->kind == MACHINE_KERNEL && frame->address >= binary->end) {
		name->path = name->shown = STR("[unknown]");
		name->is_kernel = false;
	}
	if (symbol) {
		name->symbol = frame_names_readable(names, symbol->name);
		if (!name->symbol)
			return error_nomem(err);
		name->symbol_offset = shown - symbol->start;
		name->symbol_size = symbol->end - symbol->start;
		name->symbol_is_local = symbol->binding == 'l';
	}
	return TALLY_OK;
}

struct frame_name *frame_names_get(struct frame_names *names, uint32_t frame, struct tally_error *err)
{
	while (names->names.len <= frame)
		if (!vec_push(&names->names, NULL)) {
			error_nomem(err);
			return NULL;
		}
	struct frame_name *name = names->names.items[frame];
	if (name)
		return name;
	name = arena_new(&names->arena, struct frame_name);
	if (!name) {
		error_nomem(err);
		return NULL;
	}
	struct resolved_frame resolved = resolved_frame_get(&names->resolver->frames, frame);
	if (frame_names_fill(names, &resolved, name, err) != TALLY_OK)
		return NULL;
	names->names.items[frame] = name;
	return name;
}

const struct symbol *frame_names_symbol(
	const struct frame_names *names, const struct resolved_frame *frame, uint32_t *store_id)
{
	if (frame->binary == RESOLVE_NONE || frame->binary >= names->binaries.len)
		return NULL;
	uint32_t id = names->binaries.items[frame->binary].store_id;
	if (id == FRAME_NAMES_NOT_ASKED || id == RESOLVE_NONE)
		return NULL;
	*store_id = id;
	return binary_store_find(names->store, id, frame->address);
}

const char *frame_names_kernel(struct frame_names *names, struct resolver *resolver, const struct resolve_where *where,
	uint64_t *address, const char **module)
{
	uint32_t frame = resolver_frame(resolver, where, MISC_CPUMODE_KERNEL, *address);
	const struct frame_name *name = resolver->failed ? NULL : frame_names_get(names, frame, NULL);
	if (!name || !name->symbol)
		return NULL;
	uint32_t binary = resolved_frame_get(&resolver->frames, frame).binary;
	if (machine_binary_get(names->machine, binary)->kind == MACHINE_KERNEL_MODULE)
		*module = name->shown.data;
	*address -= name->symbol_offset;
	return name->symbol;
}

/* The line information of a BPF program is in the recording itself. */
static bool bpf_place(struct frame_names *names, const struct resolved_frame *frame, struct frame_name *name)
{
	const struct machine_binary *binary = machine_binary_get(names->machine, frame->binary);
	const struct bpf_line *line =
		names->bpf_lines ? bpf_lines_find(names->bpf_lines, binary->start, frame->address) : NULL;
	if (!line)
		return true;
	struct source_place *place = arena_new(&names->arena, struct source_place);
	const char *path = arena_string(&names->arena, line->path.data, line->path.len);
	if (!place || !path)
		return false;
	*place = (struct source_place){.function = name->symbol, .path = path, .line = line->number};
	name->places = place;
	name->place_count = 1;
	return true;
}

bool frame_names_places(struct frame_names *names, uint32_t frame, struct frame_name *name)
{
	struct resolved_frame resolved = resolved_frame_get(&names->resolver->frames, frame);
	struct source_place places[LIMIT_INLINE_DEPTH];
	uint32_t id;
	if (name->has_places)
		return true;
	name->has_places = true;
	if (resolved.binary != RESOLVE_NONE && machine_binary_get(names->machine, resolved.binary)->kind == MACHINE_BPF)
		return bpf_place(names, &resolved, name);
	if (resolved.binary == RESOLVE_NONE ||
		!symbolise_has_lines(machine_binary_get(names->machine, resolved.binary)->kind))
		return true;
	if (frame_names_store_id(names, resolved.binary, &id, NULL) != TALLY_OK)
		return false;
	if (id == RESOLVE_NONE)
		return true;
	resolved = frame_of_symbol(resolved, frame_symbol_find(names->store, id, &resolved));
	if (binary_store_load_places(names->store, id, &resolved.address, 1, NULL) != TALLY_OK)
		return false;
	size_t count = binary_store_places(names->store, id, resolved.address, places, LIMIT_INLINE_DEPTH);
	struct source_place *copy = arena_array(&names->arena, struct source_place, count);
	if (!copy)
		return false;
	for (size_t i = 0; i < count; i++) {
		copy[i] = places[i];
		copy[i].function = places[i].function ? frame_names_readable(names, places[i].function) : NULL;
		if (places[i].function && !copy[i].function)
			return false;
	}
	name->places = copy;
	name->place_count = count;
	return true;
}

enum tally_status frame_names_hits(const struct frame_names *names, struct binary_hits *hits, struct tally_error *err)
{
	for (size_t i = 0; i < names->names.len; i++) {
		const struct frame_name *name = names->names.items[i];
		if (!name)
			continue;
		uint32_t binary = resolved_frame_get(&names->resolver->frames, (uint32_t)i).binary;
		if (!binary_hits_add(hits, binary, name->samples, name->symbol != NULL))
			return error_nomem(err);
	}
	return binary_hits_finish(hits, names->machine, names->store, err);
}

void frame_name_line_text(const struct frame_name *name, bool with_whole_path, struct text *t)
{
	const struct source_place *place = name->place_count ? &name->places[0] : NULL;
	if (place && place->path && place->line) {
		const char *slash = with_whole_path ? NULL : strrchr(place->path, '/');
		text_visible(t, str_from(slash ? slash + 1 : place->path));
		text_printf(t, ":%" PRIu32, place->line);
	} else if (name->symbol) {
		text_printf(t, "%s+%" PRIu64, name->symbol, name->symbol_offset);
	} else {
		text_printf(t, "%.*s[%" PRIx64 "]", (int)name->shown.len, name->shown.data, name->link_address);
	}
}
