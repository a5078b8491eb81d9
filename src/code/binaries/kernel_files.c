/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/kernel_files.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "base/file.h"
#include "base/limits.h"
#include "code/binaries/binary_file.h"
#include "code/binaries/binary_trail.h"

struct search {
	const struct binary_store_options *options;
	struct binary_entry *entry;
	struct binary_root root;
	const char *release;
	struct binary_places places;
};

const char *kernel_files_system_path(struct arena *arena, const struct binary_store_options *options, const char *path)
{
	return options->system_root ? arena_printf(arena, "%s%s", options->system_root, path) : path;
}

struct tally_str kernel_files_release(const struct binary_store_options *options)
{
	return options->kernel_release ? *options->kernel_release : (struct tally_str){NULL, 0};
}

static const char *release_of(struct arena *arena, const struct binary_store_options *options)
{
	struct utsname name;
	struct tally_str recorded = kernel_files_release(options);
	if (recorded.len > 0)
		return memchr(recorded.data, '/', recorded.len) ? NULL
								: arena_string(arena, recorded.data, recorded.len);
	return uname(&name) == 0 ? arena_string(arena, name.release, strlen(name.release)) : NULL;
}

static void kernel_files_add_path(struct search *search, const char *source, const char *inside)
{
	search_add_path(&search->places, &search->entry->arena, &search->root, source, inside);
}

/* Adds places by build ID: the caches, and the folder of debug packages. */
static void add_by_id(struct search *search, struct elf_build_id id, enum kernel_file_need need)
{
	struct arena *arena = &search->entry->arena;
	const char *hex = search_hex(arena, id.bytes, id.size);
	if (need == KERNEL_FILE_LINES)
		search_add_cached(&search->places, arena, search->options, id, "debug");
	search_add_cached(&search->places, arena, search->options, id, "elf");
	if (search->entry->key.kind == BINARY_KERNEL)
		search_add_cached(&search->places, arena, search->options, id, "vmlinux");
	if (strlen(hex) > 2)
		kernel_files_add_path(search, "debug file by build id",
			arena_printf(arena, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2));
	search_add_fetched(&search->places, arena, id);
}

static void add_vmlinux(struct search *search)
{
	static const char *const before[] = {
		"/boot/vmlinux-", "/usr/lib/debug/boot/vmlinux-", "/lib/modules/", "/usr/lib/debug/lib/modules/"};
	static const char *const behind[] = {"", "", "/build/vmlinux", "/vmlinux"};
	if (search->options->ignore_vmlinux || search->entry->kernel_id.size == 0)
		return;
	add_by_id(search, search->entry->kernel_id, KERNEL_FILE_NAMES);
	for (size_t i = 0; search->release && i < ARRAY_LEN(before); i++)
		kernel_files_add_path(search, "vmlinux of the release",
			arena_printf(&search->entry->arena, "%s%s%s", before[i], search->release, behind[i]));
}

/* Module names have underscores for the dashes in file names: "kernel/net/nf-nat.ko.xz" is module "nf_nat". */
static bool kernel_files_is_named(struct tally_str path, struct tally_str name)
{
	size_t start = path.len;
	while (start > 0 && path.data[start - 1] != '/')
		start--;
	if (path.len - start < name.len + 3 || memcmp(path.data + start + name.len, ".ko", 3) != 0)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = path.data[start + i] == '-' ? '_' : path.data[start + i];
		if (c != name.data[i])
			return false;
	}
	return true;
}

/* Finds a module's path in modules.dep, which has lines such as "kernel/net/nf_nat.ko: DEPENDENCIES". */
static const char *listed_path(struct search *search, struct tally_str name)
{
	struct arena *arena = &search->entry->arena;
	char *text;
	size_t len;
	const char *found = NULL;
	const char *list = arena_printf(arena, "%s/lib/modules/%s/modules.dep", search->root.prefix, search->release);
	if (!list || file_read(list, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return NULL;
	struct tally_str rest = {text, len};
	struct tally_str path;
	while (!found && rest.len > 0 && str_next(&rest, '\n', &path)) {
		const char *colon = memchr(path.data, ':', path.len);
		if (!colon)
			continue;
		path.len = (size_t)(colon - path.data);
		if (kernel_files_is_named(path, name))
			found = arena_printf(arena, "/lib/modules/%s/%.*s", search->release, (int)path.len, path.data);
	}
	free(text);
	return found;
}

/* Debug packages drop the suffix of compressed modules: the debug file of "x.ko.xz" is "x.ko.debug" or "x.ko". */
static void add_module_debug(struct search *search, const char *path)
{
	struct arena *arena = &search->entry->arena;
	const char *end = strstr(path, ".ko");
	int len = end ? (int)(end + strlen(".ko") - path) : (int)strlen(path);
	kernel_files_add_path(
		search, "debug file of the module", arena_printf(arena, "/usr/lib/debug%.*s.debug", len, path));
	kernel_files_add_path(search, "debug file of the module", arena_printf(arena, "/usr/lib/debug%.*s", len, path));
}

static void add_module(struct search *search, enum kernel_file_need need)
{
	struct binary_entry *entry = search->entry;
	struct elf_build_id id = {.size = entry->key.build_id_size};
	struct tally_str name = entry->key.path; /* The name is in brackets. */
	memcpy(id.bytes, entry->key.build_id, id.size);
	add_by_id(search, id, need);
	const char *path = entry->key.file.len > 0 && entry->key.file.data[0] == '/' ? entry->key.file.data : NULL;
	if (!path && search->release && name.len > 2)
		path = listed_path(search, (struct tally_str){name.data + 1, name.len - 2});
	if (!path)
		return;
	if (need == KERNEL_FILE_LINES)
		add_module_debug(search, path);
	kernel_files_add_path(search, "module", path);
}

struct elf_image *kernel_files_open(const struct binary_store_options *options, struct binary_entry *entry,
	enum kernel_file_need need, const char **path)
{
	struct search search = {.options = options,
		.entry = entry,
		.release = release_of(&entry->arena, options),
		.root.prefix = options->symfs	      ? options->symfs
			       : options->system_root ? options->system_root
						      : ""};
	bool is_module = entry->key.kind == BINARY_MODULE;
	struct binary_key key = {.build_id_size = is_module ? entry->key.build_id_size : entry->kernel_id.size};
	memcpy(key.build_id, is_module ? entry->key.build_id : entry->kernel_id.bytes, key.build_id_size);
	if (key.build_id_size == 0)
		return NULL;
	if (is_module)
		add_module(&search, need);
	else
		add_vmlinux(&search);
	for (size_t i = 0; i < search.places.count; i++) {
		const struct binary_place *place = &search.places.items[i];
		struct elf_image *image = binary_file_open(entry, place, &key);
		if (!image)
			continue;
		if (need == KERNEL_FILE_NAMES ? elf_image_has_symtab(image) : binary_file_has_debug_info(image)) {
			*path = place->path;
			return image;
		}
		binary_trail_add(entry, place->source, place->path, BINARY_FOUND_NO_SYMBOLS,
			need == KERNEL_FILE_NAMES ? "no .symtab" : "no .debug_info");
		elf_image_close(image);
	}
	return NULL;
}
