#include "code/binaries/load_elf.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "code/binaries/search_path.h"
#include "code/binaries/vdso_image.h"

/* Opens path if it is the recorded file; a file that is another one leaves the reason in the entry. */
static struct elf_image *open_matching(struct binary_entry *entry, const char *path)
{
	struct elf_image *image;
	enum tally_status status = path ? elf_image_open(path, &image, NULL) : TALLY_NOT_FOUND;
	if (status == TALLY_CORRUPT)
		binary_entry_set(entry, BINARY_DAMAGED, arena_printf(&entry->arena, "%s is no sound ELF file", path));
	/* What was found before says more than a place that is closed. */
	if (status == TALLY_DENIED && entry->status == BINARY_NO_FILE)
		binary_entry_set(entry, BINARY_NO_FILE, arena_printf(&entry->arena, "%s may not be read", path));
	if (status != TALLY_OK)
		return NULL;
	struct elf_build_id found = elf_image_build_id(image);
	if (search_is_recorded(&entry->key, found))
		return image;
	elf_image_close(image);
	binary_entry_set(entry, BINARY_BUILD_ID_DIFFERS,
		arena_printf(&entry->arena, "%s is not the file that was recorded: its build id is %s, not %s", path,
			found.size ? search_hex(&entry->arena, found.bytes, found.size) : "missing",
			search_hex(&entry->arena, entry->key.build_id, entry->key.build_id_size)));
	return NULL;
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

/* "target@plt"; where code chooses the target at run time, the name of that code. */
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
	return target ? arena_printf(&entry->arena, "%s@plt", target)
		      : arena_printf(&entry->arena, "*ABS*+0x%" PRIx64 "@plt", plt->resolver);
}

static bool add_plt(struct binary_entry *entry)
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

/* Symbols of one image, placed by the program file's segments. */
static bool add_symbols(struct binary_entry *entry, struct elf_image *from)
{
	struct elf_symbol_list list = {0};
	bool ok = elf_image_symbols(from, &list, NULL) == TALLY_OK &&
		  vec_reserve(&entry->symbols.symbols, list.symbols.len);
	for (size_t i = 0; i < list.symbols.len && ok; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		uint64_t offset;
		if (vaddr_to_offset(entry->image, symbol->vaddr, &offset))
			ok = symbol_table_add(&entry->symbols, offset, symbol->size, symbol->name, symbol->binding);
	}
	vec_free(&list.symbols);
	return ok;
}

/* The separate debug file, if it is of this image and has symbols. */
static struct elf_image *open_debug_file(
	const struct binary_store_options *options, struct binary_entry *entry, const char **path)
{
	const char *found =
		search_debug_file(&entry->arena, options, entry->used_path, entry->key.path.data, entry->image);
	struct elf_image *debug;
	if (!found || elf_image_open(found, &debug, NULL) != TALLY_OK)
		return NULL;
	struct elf_build_id wanted = elf_image_build_id(entry->image);
	struct elf_build_id id = elf_image_build_id(debug);
	bool is_same = wanted.size == 0 || (id.size == wanted.size && memcmp(id.bytes, wanted.bytes, id.size) == 0);
	if (is_same && elf_image_has_symtab(debug)) {
		*path = found;
		return debug;
	}
	elf_image_close(debug);
	return NULL;
}

static void load_image_symbols(const struct binary_store_options *options, struct binary_entry *entry)
{
	bool ok = true;
	if (elf_image_has_symtab(entry->image)) {
		ok = add_symbols(entry, entry->image);
	} else if ((entry->debug = open_debug_file(options, entry, &entry->used_path))) {
		ok = add_symbols(entry, entry->debug);
	} else {
		ok = add_symbols(entry, entry->image);
		/* Fedora's compromise: names of the functions that .dynsym lacks. */
		if (ok && elf_image_open_minidebug(entry->image, &entry->debug, NULL) == TALLY_OK)
			ok = add_symbols(entry, entry->debug);
	}
	if (!ok || !add_plt(entry) || !symbol_table_finish(&entry->symbols, SYMBOLS_SIZED))
		binary_entry_out_of_memory(entry);
	else if (entry->symbols.symbols.len == 0)
		binary_entry_set(entry, BINARY_NO_SYMBOLS, "the file is stripped and no debug file of it was found");
	else
		binary_entry_set(entry, BINARY_OK, NULL);
}

void load_user_file(const struct binary_store_options *options, struct binary_entry *entry)
{
	const char *root = options->symfs ? options->symfs : "";
	const char *path = entry->key.path.data;
	binary_entry_set(entry, BINARY_NO_FILE, "no such file, nor its build id in the cache");
	const char *candidates[] = {
		search_build_id_cache(&entry->arena, options, &entry->key, "elf"),
		arena_printf(&entry->arena, "%s%s", root, path),
		/* A process in a container saw another file system; only the build id can tell that it is the file. */
		entry->key.pid > 0 && entry->key.build_id_size > 0 && !*root
			? arena_printf(&entry->arena, "/proc/%d/root%s", entry->key.pid, path)
			: NULL,
	};
	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		entry->image = open_matching(entry, candidates[i]);
		if (!entry->image)
			continue;
		entry->used_path = candidates[i];
		load_image_symbols(options, entry);
		return;
	}
}

void load_vdso(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct tally_bytes own = vdso_image_own();
	/* With the root of another machine only its build id tells that it is the same. */
	bool can_tell = entry->key.build_id_size > 0 || !options->symfs;
	if (can_tell && own.len > 0 && elf_image_open_bytes(own, &entry->image, NULL) == TALLY_OK) {
		if (search_is_recorded(&entry->key, elf_image_build_id(entry->image))) {
			entry->used_path = "[vdso]";
			load_image_symbols(options, entry);
			return;
		}
		elf_image_close(entry->image);
		entry->image = NULL;
	}
	entry->used_path = search_build_id_cache(&entry->arena, options, &entry->key, "vdso");
	entry->image = open_matching(entry, entry->used_path);
	if (entry->image)
		load_image_symbols(options, entry);
	else
		binary_entry_set(entry, BINARY_NO_FILE, "another kernel's vdso, which is not in the build-id cache");
}
