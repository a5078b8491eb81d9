/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_elf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "code/binaries/binary_file.h"
#include "code/binaries/binary_trail.h"
#include "code/binaries/file_doubt.h"
#include "code/binaries/load_archive.h"
#include "code/binaries/vdso_image.h"
#include "code/process_files.h"
#include "object/elf/go_table.h"

/* Sets the entry's status from the failure at the place that was tried last. The status remains if no later place has
 * the file. */
static void take_reason(struct binary_entry *entry, const struct binary_place *place)
{
	struct arena *arena = &entry->arena;
	const struct binary_step *step = entry->trail.len > 0 ? &entry->trail.items[entry->trail.len - 1] : NULL;
	if (!step || strcmp(step->path, place->path) != 0)
		return;
	switch (step->found) {
	case BINARY_FOUND_DAMAGED:
		binary_entry_set(entry, BINARY_DAMAGED, arena_printf(arena, "%s is not a valid ELF file", place->path));
		break;
	case BINARY_FOUND_OTHER_BUILD_ID:
		binary_entry_set(entry, BINARY_BUILD_ID_DIFFERS,
			arena_printf(arena, "%s is not the file that was recorded: its build id is %s, not %s",
				place->path, step->detail ? step->detail : "another",
				search_hex(arena, entry->key.build_id, entry->key.build_id_size)));
		break;
	case BINARY_FOUND_OTHER_FILE:
		binary_entry_set(entry, BINARY_BUILD_ID_DIFFERS,
			arena_printf(arena,
				"%s is not the file that was mapped: several files had that path, none with a build id",
				place->path));
		break;
	case BINARY_FOUND_CLOSED:
	case BINARY_FOUND_NO_REGULAR_FILE:
	case BINARY_FOUND_UNREADABLE:
		/* An earlier failure is more specific than an unreadable file. */
		if (entry->status == BINARY_NO_FILE)
			binary_entry_set(entry, BINARY_NO_FILE,
				arena_printf(arena,
					step->found == BINARY_FOUND_CLOSED	      ? "%s may not be read"
					: step->found == BINARY_FOUND_NO_REGULAR_FILE ? "%s is not a regular file"
										      : "%s cannot be read",
					place->path));
		break;
	case BINARY_FOUND_USED:
	case BINARY_FOUND_NOTHING:
	case BINARY_FOUND_OTHER_PROCESS:
	case BINARY_FOUND_OTHER_CHECKSUM:
	case BINARY_FOUND_OTHER_UNITS:
	case BINARY_FOUND_NO_SYMBOLS:
	case BINARY_FOUND_CHANGED:
		break;
	}
}

static bool vaddr_to_offset(const struct elf_image *image, uint64_t vaddr, uint64_t *offset)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++) {
		if (vaddr >= segments[i].vaddr && vaddr - segments[i].vaddr < segments[i].memory_size) {
			*offset = vaddr - segments[i].vaddr + segments[i].offset;
			return true;
		}
	}
	return false;
}

/* Does not use printf: a program may have thousands of PLT entries, and formatting their names would take longer than
 * reading its symbols. */
static const char *with_suffix(struct arena *arena, const char *name, const char *suffix)
{
	size_t len = strlen(name), suffix_len = strlen(suffix);
	char *text = arena_alloc(arena, len + suffix_len + 1, 1);
	if (!text)
		return NULL;
	memcpy(text, name, len);
	memcpy(text + len, suffix, suffix_len + 1);
	return text;
}

/* Returns "target@plt", or ".plt" for the header. The target of an IRELATIVE slot is named after its resolver, which is
 * searched in the first `sorted` symbols of the entry. */
static const char *plt_name(struct binary_entry *entry, const struct elf_plt_entry *plt, size_t sorted)
{
	const char *target = plt->target;
	uint64_t resolver;
	if (plt->is_header)
		return ".plt";
	if (!target && vaddr_to_offset(entry->image, plt->resolver, &resolver)) {
		const struct symbol_table known = {.symbols = {entry->symbols.symbols.items, sorted, sorted}};
		const struct symbol *chooser = symbol_table_at(&known, resolver);
		target = chooser ? chooser->name : NULL;
	}
	return target ? with_suffix(&entry->arena, target, "@plt")
		      : arena_printf(&entry->arena, "*ABS*+0x%" PRIx64 "@plt", plt->resolver);
}

static bool load_elf_add_plt(struct binary_entry *entry)
{
	struct elf_plt plt = {0};
	bool ok = elf_image_plt(entry->image, &plt, NULL) == TALLY_OK;
	bool is_chosen = false;
	for (size_t i = 0; i < plt.entries.len; i++)
		is_chosen = is_chosen || (!plt.entries.items[i].target && !plt.entries.items[i].is_header);
	if (ok && is_chosen)
		ok = symbol_table_sort(&entry->symbols);
	size_t sorted = entry->symbols.symbols.len;
	for (size_t i = 0; i < plt.entries.len && ok; i++) {
		const struct elf_plt_entry *from = &plt.entries.items[i];
		uint64_t offset;
		if (!vaddr_to_offset(entry->image, from->vaddr, &offset))
			continue;
		const char *name = plt_name(entry, from, sorted);
		ok = name && symbol_table_add(&entry->symbols, offset, from->size, name, 'g');
	}
	vec_free(&plt.entries);
	return ok;
}

/* Adds the symbols of an image, converted to file offsets by the program's segments. */
static bool load_elf_add_symbols(struct binary_entry *entry, struct elf_image *from)
{
	struct elf_symbol_list list = {0};
	uint64_t moved = elf_image_moved(entry->image, from);
	bool ok = elf_image_symbols(from, &list, NULL) == TALLY_OK &&
		  vec_reserve(&entry->symbols.symbols, list.symbols.len);
	for (size_t i = 0; i < list.symbols.len && ok; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		uint64_t offset;
		if (!vaddr_to_offset(entry->image, symbol->vaddr + moved, &offset))
			continue;
		ok = symbol_table_add(&entry->symbols, offset, symbol->size, symbol->name, symbol->binding);
		symbol_table_mark_object(&entry->symbols, symbol->is_object);
	}
	vec_free(&list.symbols);
	return ok;
}

/* Adds the symbols of MiniDebugInfo (section .gnu_debugdata), which has the functions that .dynsym lacks. */
static bool add_minidebug(struct binary_entry *entry, const char *path)
{
	enum tally_status status = elf_image_open_minidebug(entry->image, &entry->debug, NULL);
	size_t before = entry->symbols.symbols.len;
	bool ok = status != TALLY_NOMEM;
	if (status == TALLY_OK)
		ok = load_elf_add_symbols(entry, entry->debug);
	size_t count = entry->symbols.symbols.len - before;
	if (status == TALLY_UNSUPPORTED)
		binary_trail_add(entry, ".gnu_debugdata", path, BINARY_FOUND_UNREADABLE, "built without liblzma");
	else if (status == TALLY_OK)
		binary_trail_add(entry, ".gnu_debugdata", path, BINARY_FOUND_USED,
			arena_printf(&entry->arena, "%zu names", count));
	else if (status != TALLY_NOT_FOUND)
		binary_trail_add(entry, ".gnu_debugdata", path, binary_trail_found(status), NULL);
	return ok;
}

/* Even a stripped Go program has the function table that its runtime uses for tracebacks. */
static bool add_go_functions(struct binary_entry *entry, const char *path)
{
	struct go_function_list list = {0};
	struct tally_error why;
	enum tally_status status = elf_image_go_functions(entry->image, &list, &why);
	bool ok = status != TALLY_NOMEM;
	size_t before = entry->symbols.symbols.len;
	for (size_t i = 0; i < list.functions.len && ok; i++) {
		const struct go_function *function = &list.functions.items[i];
		uint64_t offset;
		if (vaddr_to_offset(entry->image, function->vaddr, &offset))
			ok = symbol_table_add(&entry->symbols, offset, function->size, function->name, 'l');
	}
	size_t count = entry->symbols.symbols.len - before;
	if (count > 0)
		binary_trail_add(
			entry, ".gopclntab", path, BINARY_FOUND_USED, arena_printf(&entry->arena, "%zu names", count));
	else if (status != TALLY_NOT_FOUND && ok)
		binary_trail_add(entry, ".gopclntab", path, BINARY_FOUND_DAMAGED,
			arena_printf(&entry->arena, "%s",
				status == TALLY_OK ? "none of its functions lies in a segment of the file" : why.text));
	vec_free(&list.functions);
	return ok;
}

/* Adds a step that says which symbol table the program has and how many names it provides. */
static void tell_table(struct binary_entry *entry, const char *source, const char *path)
{
	size_t count = entry->symbols.symbols.len;
	bool is_all = elf_image_has_symtab(entry->image);
	binary_trail_add(entry, source, path, is_all || count > 0 ? BINARY_FOUND_USED : BINARY_FOUND_NO_SYMBOLS,
		is_all ? arena_printf(&entry->arena, ".symtab, %zu names", count)
		       : arena_printf(&entry->arena, "no .symtab; .dynsym, %zu names", count));
}

/* A .symtab may be incomplete: 'strip -K' retains only selected symbols. */
static bool may_have_more(const struct binary_entry *entry)
{
	struct tally_str name;
	uint32_t crc;
	if (elf_image_debuglink(entry->image, &name, &crc) || elf_image_section(entry->image, ".gnu_debugdata").len > 0)
		return true;
	/* A table that covers less than half of .text is not complete; some functions' symbols have no size. */
	uint64_t bytes = 0;
	for (size_t i = 0; i < entry->symbols.symbols.len; i++)
		bytes += entry->symbols.symbols.items[i].end - entry->symbols.symbols.items[i].start;
	return bytes < elf_image_section(entry->image, ".text").len / 2;
}

static bool add_more_symbols(const struct binary_store_options *options, struct binary_entry *entry)
{
	const char *path = entry->used_path;
	entry->debug = binary_file_debug(entry, options, DEBUG_FILE_SYMBOLS, &entry->used_path);
	if (!entry->debug)
		return add_minidebug(entry, path);
	entry->moved = elf_image_moved(entry->image, entry->debug);
	return load_elf_add_symbols(entry, entry->debug);
}

static bool add_best_symbols(const struct binary_store_options *options, struct binary_entry *entry, const char *source)
{
	const char *path = entry->used_path;
	if (elf_image_has_symtab(entry->image)) {
		bool ok = load_elf_add_symbols(entry, entry->image);
		tell_table(entry, source, path);
		return ok && (!may_have_more(entry) || add_more_symbols(options, entry));
	}
	entry->debug = binary_file_debug(entry, options, DEBUG_FILE_SYMBOLS, &entry->used_path);
	if (entry->debug) {
		binary_trail_add(entry, source, path, BINARY_FOUND_NO_SYMBOLS, "no .symtab");
		entry->moved = elf_image_moved(entry->image, entry->debug);
		return load_elf_add_symbols(entry, entry->debug);
	}
	bool ok = load_elf_add_symbols(entry, entry->image);
	tell_table(entry, source, path);
	return ok && add_minidebug(entry, path) && add_go_functions(entry, path);
}

static bool has_changed(struct binary_entry *entry, const char *source, const char *path)
{
	const char *changed = NULL;
	if (!elf_image_is_unchanged(entry->image, path))
		changed = path;
	else if (entry->debug && !elf_image_is_unchanged(entry->debug, entry->used_path))
		changed = entry->used_path;
	if (!changed)
		return false;
	if (changed == path)
		binary_trail_add(entry, source, path, BINARY_FOUND_CHANGED, NULL);
	entry->symbols.symbols.len = 0;
	binary_entry_set(entry, BINARY_DAMAGED, arena_printf(&entry->arena, "%s changed while it was read", changed));
	return true;
}

/* source is the kind of place where the image, at entry->used_path, was found. */
static void load_image_symbols(
	const struct binary_store_options *options, struct binary_entry *entry, const char *source)
{
	const char *path = entry->used_path;
	bool ok = add_best_symbols(options, entry, source);
	bool has_names = entry->symbols.symbols.len > 0;
	if (has_changed(entry, source, path))
		return;
	if (!ok || !load_elf_add_plt(entry) || !symbol_table_finish(&entry->symbols, SYMBOLS_SIZED))
		binary_entry_out_of_memory(entry);
	else if (has_names)
		binary_entry_set(entry, BINARY_OK, NULL);
	else if (elf_image_is_cut(entry->image))
		binary_entry_set(
			entry, BINARY_DAMAGED, arena_printf(&entry->arena, "%s ends before its sections", path));
	else
		binary_entry_set(entry, BINARY_NO_SYMBOLS, "the file is stripped, and no debug file was found for it");
	if (elf_image_is_cut(entry->image))
		binary_trail_add(entry, source, path, BINARY_FOUND_DAMAGED, "it ends before its sections");
	elf_image_drop(entry->image);
	if (entry->debug)
		elf_image_drop(entry->debug);
}

/* Opens the file at a place if it is, or may be, the recorded one. */
static struct elf_image *open_program(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_place *place)
{
	struct elf_image *image = binary_file_open(entry, place, &entry->key);
	if (!image || file_doubt_accept(options, entry, place))
		return image;
	elf_image_close(image);
	return NULL;
}

const char *load_open_user_file(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct binary_places places;
	search_program(entry, options, &places);
	binary_entry_set(entry, BINARY_NO_FILE, "the file does not exist, and the build-ID cache has no copy");
	for (size_t i = 0; i < places.count; i++) {
		const struct binary_place *place = &places.items[i];
		entry->image = open_program(options, entry, place);
		if (!entry->image) {
			take_reason(entry, place);
			continue;
		}
		entry->used_path = place->path;
		entry->is_cached = place->kind == PLACE_CACHE;
		if (place->pid > 0 && process_is_elsewhere(place->pid))
			entry->root = (struct binary_root){
				.prefix = arena_printf(&entry->arena, "/proc/%d/root", place->pid), .pid = place->pid};
		if (entry->root.prefix)
			return place->source;
		binary_entry_out_of_memory(entry);
		return NULL;
	}
	return NULL;
}

bool load_open_user_archive(
	const struct binary_store_options *options, struct binary_entry *entry, struct archive_images *images)
{
	struct binary_places places;
	search_program(entry, options, &places);
	for (size_t i = 0; i < places.count; i++) {
		struct elf_image *image = open_program(options, entry, &places.items[i]);
		elf_image_close(image);
		if (!image && load_archive_open(options, entry, &places.items[i], images))
			return true;
	}
	return false;
}

/* Sets the root in which debug files are searched: the one of the process whose program was found. Returns false if out
 * of memory. */
static bool set_root(struct binary_entry *entry, const struct binary_place *place)
{
	if (place->pid <= 0 || !process_is_elsewhere(place->pid))
		return true;
	entry->root.prefix = arena_printf(&entry->arena, "/proc/%d/root", place->pid);
	entry->root.pid = place->pid;
	return entry->root.prefix != NULL;
}

/* Loads the file at the first place that has it. Returns false if none has it. */
static bool load_first(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct binary_place *place = &places->items[i];
		entry->image = open_program(options, entry, place);
		if (!entry->image) {
			take_reason(entry, place);
			if (load_archive(options, entry, place))
				return true;
			continue;
		}
		entry->used_path = place->path;
		entry->is_cached = place->kind == PLACE_CACHE;
		if (set_root(entry, place))
			load_image_symbols(options, entry, place->source);
		else
			binary_entry_out_of_memory(entry);
		return true;
	}
	return false;
}

void load_user_file(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct binary_places places;
	search_program(entry, options, &places);
	binary_entry_set(entry, BINARY_NO_FILE, "the file does not exist, and the build-ID cache has no copy");
	if (load_first(options, entry, &places))
		return;
	search_process(entry, options, &places);
	(void)load_first(options, entry, &places);
}

#define OWN_VDSO "vdso of this machine"

static bool open_own_vdso(struct binary_entry *entry)
{
	struct vdso_image own;
	if (!vdso_image_open(entry->key.path, &own))
		return false;
	if (elf_image_open_bytes(own.bytes, &entry->image, NULL) != TALLY_OK) {
		vdso_image_close(&own);
		return false;
	}
	if (search_is_recorded(&entry->key, elf_image_build_id(entry->image))) {
		entry->names = (char *)own.owned;
		entry->used_path = entry->key.path.data;
		return true;
	}
	elf_image_close(entry->image);
	vdso_image_close(&own);
	entry->image = NULL;
	binary_trail_add(entry, OWN_VDSO, entry->key.path.data, BINARY_FOUND_OTHER_BUILD_ID, NULL);
	return false;
}

const char *load_open_vdso(const struct binary_store_options *options, struct binary_entry *entry)
{
	/* With another machine's root, only the build ID proves that this machine's vdso is the recorded one. */
	bool can_tell = entry->key.build_id_size > 0 || !options->symfs;
	if (can_tell && open_own_vdso(entry))
		return OWN_VDSO;
	struct binary_place place;
	search_vdso(entry, options, &place);
	entry->image = binary_file_open(entry, &place, &entry->key);
	if (!entry->image)
		return NULL;
	entry->used_path = place.path;
	return place.source;
}

void load_vdso(const struct binary_store_options *options, struct binary_entry *entry)
{
	const char *source = load_open_vdso(options, entry);
	if (source)
		load_image_symbols(options, entry, source);
	else
		binary_entry_set(entry, BINARY_NO_FILE, "another kernel's vdso, which is not in the build-id cache");
}
