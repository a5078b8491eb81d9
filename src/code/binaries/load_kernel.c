/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_kernel.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/own_home.h"
#include "code/binaries/binary_file.h"
#include "code/binaries/binary_trail.h"
#include "code/binaries/kernel_files.h"
#include "code/binaries/kernel_list_cache.h"
#include "code/binaries/kernel_match.h"

#define LOAD_KERNEL_PAGE_MASK 0xfffu
#define KCORE_DIRECTORY	      "[kernel.kcore]"

void host_kernel_deinit(struct host_kernel *host)
{
	free(host->text);
	*host = (struct host_kernel){0};
}

struct elf_build_id host_kernel_notes(const char *path)
{
	struct elf_build_id id = {0};
	char *notes;
	size_t len;
	if (!path || file_read(path, LIMIT_SMALL_FILE, &notes, &len, NULL) != TALLY_OK)
		return id;
	id = elf_notes_build_id((struct tally_bytes){(const uint8_t *)notes, len}, false);
	free(notes);
	return id;
}

/* Returns whether the recorded kernel has another release than the running one; used if the recording has no build
 * ID. */
static bool is_other_release(struct arena *arena, const struct binary_store_options *options)
{
	const char *path = kernel_files_system_path(arena, options, "/proc/sys/kernel/osrelease");
	struct tally_str recorded = kernel_files_release(options);
	char *text;
	size_t len;
	if (recorded.len == 0 || !path || file_read(path, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return false;
	bool is_other = !str_equal(str_trim((struct tally_str){text, len}), recorded);
	free(text);
	return is_other;
}

/* With the root of another machine (symfs), the kernel was another machine's too, whatever the recording says. */
bool host_kernel_is_recorded(const struct binary_store_options *options, const struct host_kernel *host)
{
	return options->kallsyms || (!host->is_foreign && (!options->symfs || options->system_root));
}

const struct kallsyms *host_kernel_list(const struct binary_store_options *options, struct host_kernel *host,
	struct binary_entry *entry, const char **path)
{
	size_t len;
	*path = options->kallsyms ? options->kallsyms
				  : kernel_files_system_path(&entry->arena, options, "/proc/kallsyms");
	if (!host->is_read) {
		host->is_read = true;
		host->status = !*path		   ? TALLY_NOMEM
			       : options->kallsyms ? file_read(*path, LIMIT_SMALL_FILE, &host->text, &len, NULL)
						   : kernel_list_read(*path, &host->text, &len, NULL);
		if (host->status == TALLY_OK)
			kallsyms_open(host->text, len, &host->kallsyms);
		else
			host->text = NULL;
	}
	if (host->text)
		return &host->kallsyms;
	binary_trail_add(entry, KERNEL_LIST, *path, binary_trail_found(host->status), NULL);
	return NULL;
}

/* Compares as match_place does, but with the list that an earlier run has cached, because the kernel formats its list
 * again for each reader. Returns false if there is none. */
static bool match_kept(const struct binary_store_options *options, const struct host_kernel *host,
	struct binary_entry *kernel, enum kernel_match *match)
{
	struct kernel_list kept;
	const struct kernel_list_place place = {options->index_dir, &host->build_id, "/proc/kallsyms", "/proc/modules"};
	if (options->system_root || host->build_id.size == 0 || !kernel_list_cache_open(&place, &kept))
		return false;
	*match = kernel_match_list(&kept.kallsyms, kernel->key.start, kernel->key.end);
	kallsyms_marks_deinit(&kept.marks);
	file_map_close(&kept.map);
	return true;
}

/* Compares the running kernel with a recorded one that has no build ID, by the addresses of their symbols. */
static enum kernel_match match_place(
	const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *kernel)
{
	const char *path;
	if (kernel->key.start == 0 || options->vmlinux || options->kallsyms || !host_kernel_is_recorded(options, host))
		return KERNEL_MATCH_UNKNOWN;
	enum kernel_match match;
	if (match_kept(options, host, kernel, &match))
		return match;
	const struct kallsyms *list = host_kernel_list(options, host, kernel, &path);
	return list ? kernel_match_list(list, kernel->key.start, kernel->key.end) : KERNEL_MATCH_UNKNOWN;
}

void host_kernel_compare(
	const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *kernel)
{
	struct arena arena;
	arena_init(&arena);
	if (host->build_id.size == 0)
		host->build_id = host_kernel_notes(kernel_files_system_path(&arena, options, "/sys/kernel/notes"));
	bool has_id = kernel->key.build_id_size > 0;
	if (!search_is_recorded(&kernel->key, host->build_id) || (!has_id && is_other_release(&arena, options)))
		host->is_foreign = true;
	enum kernel_match match = has_id ? KERNEL_MATCH_SAME : match_place(options, host, kernel);
	host->is_foreign |= match == KERNEL_MATCH_OTHER;
	host->is_proven |= match == KERNEL_MATCH_SAME;
	arena_deinit(&arena);
}

static uint64_t load_kernel_displacement_of(const struct binary_entry *entry, uint64_t text)
{
	uint64_t by = entry->key.start - text;
	return entry->key.start == 0 || text == 0 || (by & LOAD_KERNEL_PAGE_MASK) != 0 ? 0 : by;
}

/* Returns the address of the symbol that recordings use as a reference for the kernel's position. */
static uint64_t reference_of(const struct elf_symbol_list *list)
{
	uint64_t text = 0, stext = 0;
	for (size_t i = 0; i < list->symbols.len; i++) {
		const struct elf_symbol *symbol = &list->symbols.items[i];
		if (text == 0 && strcmp(symbol->name, "_text") == 0)
			text = symbol->vaddr;
		if (stext == 0 && strcmp(symbol->name, "_stext") == 0)
			stext = symbol->vaddr;
	}
	return text ? text : stext;
}

uint64_t load_kernel_displacement(const struct binary_entry *entry, struct elf_image *image)
{
	struct elf_symbol_list list = {0};
	uint64_t text = elf_image_symbols(image, &list, NULL) == TALLY_OK ? reference_of(&list) : 0;
	vec_free(&list.symbols);
	return load_kernel_displacement_of(entry, text);
}

/* Returns a message that says what hides the addresses, and the least change that reveals them. */
static const char *hidden_text(const struct binary_store_options *options, struct binary_entry *entry)
{
	const char *path = kernel_files_system_path(&entry->arena, options, "/proc/sys/kernel/kptr_restrict");
	char *text;
	size_t len;
	bool is_closed = false;
	if (path && file_read(path, LIMIT_SMALL_FILE, &text, &len, NULL) == TALLY_OK) {
		is_closed = len > 0 && text[0] >= '2';
		free(text);
	}
	return is_closed ? "the kernel hides its addresses from everyone: set kernel.kptr_restrict from 2 to 1 and run "
			   "as root (or with CAP_SYSLOG), or record on a machine where it is"
			 : "the kernel hides its addresses: run as root (or with CAP_SYSLOG), or set "
			   "kernel.kptr_restrict to 0 and kernel.perf_event_paranoid to 1";
}

/* Reads the whole list, because one that is not sorted cannot be searched. */
static enum tally_status read_whole_list(
	const struct kallsyms *kallsyms, struct binary_entry *entry, struct kallsyms_marks *marks)
{
	struct symbol_table *table = &entry->symbols;
	if (!kallsyms_add_kernel(kallsyms, &entry->arena, table, &marks->is_hidden))
		return TALLY_NOMEM;
	marks->text = kallsyms_address(table, "_text");
	marks->stext = kallsyms_address(table, "_stext");
	if (!marks->is_hidden) {
		entry->moved = load_kernel_displacement_of(entry, marks->text ? marks->text : marks->stext);
		symbol_table_move(table, entry->moved);
	}
	bool ok = symbol_table_finish(table, SYMBOLS_UNSIZED);
	marks->count = table->symbols.len;
	return ok ? TALLY_OK : TALLY_NOMEM;
}

/* marks is empty, or holds the marks of the list as an earlier run cached them, which move to the entry. On success, it
 * describes the list, and its marks are borrowed from the entry. */
static enum tally_status load_kernel_read_list(
	const struct kallsyms *kallsyms, struct binary_entry *entry, struct kallsyms_marks *marks)
{
	enum tally_status status = marks->count ? kernel_symbols_open_marked(kallsyms, marks, &entry->kernel_symbols)
						: kernel_symbols_open(kallsyms, &entry->kernel_symbols);
	if (status == TALLY_NOT_FOUND)
		return read_whole_list(kallsyms, entry, marks);
	if (status != TALLY_OK)
		return status;
	*marks = *kernel_symbols_marks(entry->kernel_symbols);
	if (!marks->is_hidden) {
		entry->moved = load_kernel_displacement_of(entry, marks->text ? marks->text : marks->stext);
		kernel_symbols_move(entry->kernel_symbols, entry->moved);
	}
	return TALLY_OK;
}

static void forget_list(struct binary_entry *entry)
{
	kernel_symbols_close(entry->kernel_symbols);
	entry->kernel_symbols = NULL;
	symbol_table_deinit(&entry->symbols);
	entry->symbols = (struct symbol_table){0};
}

struct named_list {
	const struct kallsyms *kallsyms;
	const char *path;
	struct kallsyms_marks marks; /* Empty if the marks are not known. */
};

static void use_kallsyms(
	const struct binary_store_options *options, struct binary_entry *entry, const struct named_list *list)
{
	struct kallsyms_marks marks = list->marks; /* After the list was read, these are borrowed from the entry. */
	const char *path = list->path;
	enum tally_status status = load_kernel_read_list(list->kallsyms, entry, &marks);
	entry->used_path = path;
	if (status != TALLY_OK)
		binary_entry_out_of_memory(entry);
	else if (marks.is_hidden)
		binary_entry_set(entry, BINARY_HIDDEN, hidden_text(options, entry));
	else if (marks.count == 0)
		binary_entry_set(entry, BINARY_NO_SYMBOLS, "the list of the kernel's symbols has no symbol of it");
	else
		binary_entry_set(entry, BINARY_OK, NULL);
	if (entry->status != BINARY_OK)
		forget_list(entry);
	binary_trail_add(entry, KERNEL_LIST, path,
		entry->status == BINARY_OK ? BINARY_FOUND_USED
		: marks.is_hidden	   ? BINARY_FOUND_CLOSED
					   : BINARY_FOUND_NO_SYMBOLS,
		marks.is_hidden ? "its addresses are hidden: see kernel.kptr_restrict" : NULL);
}

/* Mapping avoids a copy of pages that are already in memory. */
static enum tally_status map_list(const char *path, struct file_map *map)
{
	if (file_exists(path) && !file_is_regular(path)) /* Reading a FIFO might block forever. */
		return TALLY_INVALID;
	enum tally_status status = file_map_open(path, map, NULL);
	if (status == TALLY_OK && map->bytes.len > LIMIT_SMALL_FILE) {
		file_map_close(map);
		return TALLY_LIMIT;
	}
	return status;
}

/* list points into the entry's map. Returns false if the kernel hid its addresses when the copy was made. */
static bool use_mapped_list(const struct binary_store_options *options, struct host_kernel *host,
	struct binary_entry *entry, const struct named_list *list)
{
	use_kallsyms(options, entry, list);
	if (entry->status == BINARY_OK) {
		/* After a reboot, each module lies at another address, so the copy is used for modules only if nothing
		 * moved. */
		host->copy_path = entry->moved == 0 ? list->path : NULL;
		return true;
	}
	file_map_close(&entry->kernel_list);
	entry->used_path = NULL;
	return false;
}

static bool use_kallsyms_copy(const struct binary_store_options *options, struct host_kernel *host,
	struct binary_entry *entry, const char *path)
{
	struct file_map *map = &entry->kernel_list;
	const struct named_list list = {.kallsyms = &host->copy, .path = path};
	if (!path)
		return false;
	enum tally_status status = map_list(path, map);
	if (status != TALLY_OK) {
		binary_trail_add(entry, KERNEL_LIST, path, binary_trail_found(status), NULL);
		return false;
	}
	kallsyms_open((const char *)map->bytes.data, map->bytes.len, &host->copy);
	return use_mapped_list(options, host, entry, &list);
}

static struct kernel_list_place place_of_list(const struct binary_store_options *options, struct binary_entry *entry)
{
	return (struct kernel_list_place){options->index_dir, &entry->kernel_id,
		kernel_files_system_path(&entry->arena, options, "/proc/kallsyms"),
		kernel_files_system_path(&entry->arena, options, "/proc/modules")};
}

/* Uses the list that an earlier run has cached. */
static bool use_kept_list(
	const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry)
{
	const struct kernel_list_place place = place_of_list(options, entry);
	struct kernel_list kept;
	if (!place.live || !place.modules || !kernel_list_cache_open(&place, &kept))
		return false;
	entry->kernel_list = kept.map;
	host->copy = kept.kallsyms;
	const struct named_list list = {
		&host->copy, arena_string(&entry->arena, kept.path, strlen(kept.path)), kept.marks};
	return use_mapped_list(options, host, entry, &list);
}

/* Caches the list for later runs, unless it is not sorted: such a list must be read completely each time. */
static void keep_list(
	const struct binary_store_options *options, struct binary_entry *entry, const struct kallsyms *kallsyms)
{
	const struct kernel_list_place place = place_of_list(options, entry);
	if (place.live && place.modules && entry->kernel_symbols)
		kernel_list_cache_save(&place, kallsyms, kernel_symbols_marks(entry->kernel_symbols));
}

static bool load_kernel_is_number(const char *name)
{
	return *name && name[strspn(name, "0123456789")] == '\0';
}

/* Returns the path of the latest copy that `buildid-cache --kcore` made of this kernel:
 * DIR/[kernel.kcore]/ID/20240131123000/kallsyms. */
static const char *kcore_copy(const struct binary_store_options *options, struct binary_entry *entry)
{
	char home[PATH_MAX];
	struct arena *arena = &entry->arena;
	const char *hex = search_hex(arena, entry->key.build_id, entry->key.build_id_size);
	const char *dir = options->build_id_dir;
	if (!dir && own_home(home))
		dir = arena_printf(arena, "%s/.debug", home);
	const char *folder = dir && *hex ? arena_printf(arena, "%s/" KCORE_DIRECTORY "/%s", dir, hex) : NULL;
	DIR *stream = folder ? opendir(folder) : NULL;
	const char *latest = NULL;
	struct dirent *found;
	while (stream && (found = readdir(stream)))
		if (load_kernel_is_number(found->d_name) && (!latest || strcmp(found->d_name, latest) > 0))
			latest = arena_string(arena, found->d_name, strlen(found->d_name));
	if (stream)
		closedir(stream);
	return latest ? arena_printf(arena, "%s/%s/kallsyms", folder, latest) : NULL;
}

/* Reads names from entry->image, which was opened from path. */
static void use_vmlinux(struct binary_entry *entry, const char *path)
{
	struct elf_symbol_list list = {0};
	bool ok = elf_image_symbols(entry->image, &list, NULL) == TALLY_OK;
	uint64_t text = reference_of(&list);
	entry->used_path = path;
	entry->moved = load_kernel_displacement_of(entry, text);
	for (size_t i = 0; i < list.symbols.len && ok; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		if (symbol->vaddr < text) /* Per-CPU variables have small addresses. */
			continue;
		ok = symbol_table_add(
			&entry->symbols, symbol->vaddr + entry->moved, symbol->size, symbol->name, symbol->binding);
		symbol_table_mark_object(&entry->symbols, symbol->is_object);
	}
	vec_free(&list.symbols);
	if (ok && symbol_table_finish(&entry->symbols, SYMBOLS_KERNEL))
		binary_entry_set(entry, BINARY_OK, NULL);
	else
		binary_entry_out_of_memory(entry);
}

/* A vmlinux that the user names is refused if its build ID differs, because it would provide wrong names. */
static void use_named_vmlinux(const struct binary_store_options *options, struct binary_entry *entry)
{
	const struct binary_place place = {.kind = PLACE_PATH, .source = "--vmlinux", .path = options->vmlinux};
	struct arena *arena = &entry->arena;
	entry->image = binary_file_open(entry, &place, &entry->key);
	if (entry->image && elf_image_has_symtab(entry->image)) {
		use_vmlinux(entry, options->vmlinux);
		return;
	}
	const struct binary_step *last = entry->trail.len ? &entry->trail.items[entry->trail.len - 1] : NULL;
	if (last && last->found == BINARY_FOUND_OTHER_BUILD_ID)
		binary_entry_set(entry, BINARY_BUILD_ID_DIFFERS,
			arena_printf(arena, "%s is not the kernel that was recorded: its build id is %s, not %s",
				options->vmlinux, last->detail ? last->detail : "another",
				search_hex(arena, entry->key.build_id, entry->key.build_id_size)));
	else
		binary_entry_set(entry, BINARY_NO_FILE,
			arena_printf(arena, "%s is not a kernel image with symbols", options->vmlinux));
}

static bool use_found_vmlinux(const struct binary_store_options *options, struct binary_entry *entry)
{
	const char *path;
	struct elf_image *image = kernel_files_open(options, entry, KERNEL_FILE_NAMES, &path);
	if (!image)
		return false;
	forget_list(entry);
	entry->image = image;
	use_vmlinux(entry, path);
	return true;
}

static void tell_nothing_found(
	const struct binary_store_options *options, const struct host_kernel *host, struct binary_entry *entry)
{
	binary_entry_set(entry, BINARY_NO_FILE,
		host_kernel_is_recorded(options, host) ? "/proc/kallsyms cannot be read"
		: !host->is_foreign		       ? "with --symfs, the symbols of this machine's kernel are not "
							 "used"
				    : "recorded on another kernel than this machine's, and its symbols are not in "
				      "the build-ID cache");
}

void load_kernel(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry)
{
	bool is_host = host_kernel_is_recorded(options, host);
	entry->kernel_id.size = entry->key.build_id_size;
	memcpy(entry->kernel_id.bytes, entry->key.build_id, sizeof(entry->kernel_id.bytes));
	if (entry->kernel_id.size == 0 && is_host && !options->kallsyms)
		entry->kernel_id = host->build_id;
	if (options->vmlinux) {
		use_named_vmlinux(options, entry);
		return;
	}
	entry->is_unproven = is_host && !options->kallsyms && !host->is_proven;
	bool is_live = is_host && !options->kallsyms && !options->system_root;
	if (is_live && use_kept_list(options, host, entry))
		return;
	/* Reading a file is ten times as fast as reading /proc/kallsyms, which the kernel formats for each reader. */
	if (!options->kallsyms && (use_kallsyms_copy(options, host, entry,
					   search_build_id_cache(&entry->arena, options, &entry->key, "kallsyms")) ||
					  use_kallsyms_copy(options, host, entry, kcore_copy(options, entry))))
		return;
	struct named_list list = {.path = NULL};
	list.kallsyms = is_host ? host_kernel_list(options, host, entry, &list.path) : NULL;
	if (list.kallsyms) {
		use_kallsyms(options, entry, &list);
		if (is_live && entry->status == BINARY_OK)
			keep_list(options, entry, list.kallsyms);
		if (entry->status == BINARY_OK || options->kallsyms)
			return;
	}
	if (!use_found_vmlinux(options, entry) && !list.kallsyms)
		tell_nothing_found(options, host, entry);
}
