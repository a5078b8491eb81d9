#include "code/binaries/load_lines.h"

#include "base/error.h"
#include "code/binaries/search_path.h"

static bool has_debug_info(const struct elf_image *image)
{
	return elf_image_section(image, ".debug_info").len > 0 || elf_image_section(image, ".zdebug_info").len > 0;
}

static bool is_same_build(const struct elf_image *image, const struct elf_image *debug)
{
	struct elf_build_id wanted = elf_image_build_id(image);
	struct elf_build_id id = elf_image_build_id(debug);
	return wanted.size == 0 || (id.size == wanted.size && memcmp(id.bytes, wanted.bytes, id.size) == 0);
}

/* dwz's common file: .gnu_debugaltlink says its path, from the file that refers to it, and its build id. */
static struct elf_image *open_supplement(struct binary_entry *entry, const struct elf_image *image, const char *path,
	const struct binary_store_options *options)
{
	struct tally_bytes link = elf_image_section(image, ".gnu_debugaltlink");
	size_t length = strnlen((const char *)(link.data ? link.data : (const uint8_t *)""), link.len);
	if (link.len == 0 || length == link.len || length == 0)
		return NULL;
	const char *name = (const char *)link.data;
	const uint8_t *id = link.data + length + 1;
	size_t id_size = link.len - length - 1;
	const char *slash = strrchr(path, '/');
	struct elf_build_id wanted = {.size = (uint8_t)(id_size < ELF_BUILD_ID_MAX ? id_size : ELF_BUILD_ID_MAX)};
	memcpy(wanted.bytes, id, wanted.size);
	const char *candidates[] = {
		*name == '/' ? arena_printf(&entry->arena, "%s%s", options->symfs ? options->symfs : "", name)
			     : arena_printf(&entry->arena, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name),
		search_system_debug(&entry->arena, options, wanted),
	};
	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		struct elf_image *found;
		if (!candidates[i] || elf_image_open(candidates[i], &found, NULL) != TALLY_OK)
			continue;
		struct elf_build_id has = elf_image_build_id(found);
		if (has.size == wanted.size && memcmp(has.bytes, wanted.bytes, wanted.size) == 0)
			return found;
		elf_image_close(found);
	}
	return NULL;
}

/* The file with the debug sections, and whether it was opened for this. */
static bool choose_file(
	const struct binary_store_options *options, struct binary_entry *entry, struct source_lines_files *files)
{
	if (has_debug_info(entry->image)) {
		files->image = entry->image;
		files->path = entry->used_path;
		return true;
	}
	if (entry->debug && has_debug_info(entry->debug)) {
		files->image = entry->debug;
		files->path = entry->used_path;
		return true;
	}
	const char *path =
		search_debug_file(&entry->arena, options, entry->used_path, entry->key.path.data, entry->image);
	if (!path || elf_image_open(path, &files->owned, NULL) != TALLY_OK)
		return false;
	files->image = files->owned;
	files->path = path;
	if (is_same_build(entry->image, files->owned) && has_debug_info(files->owned))
		return true;
	elf_image_close(files->owned);
	return false;
}

enum tally_status load_lines(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err)
{
	struct source_lines_files files = {.root = options->symfs ? options->symfs : ""};
	if (entry->lines_are_looked_for)
		return TALLY_OK;
	entry->lines_are_looked_for = true;
	if (!entry->image || entry->key.kind != BINARY_USER || !entry->used_path ||
		!choose_file(options, entry, &files))
		return TALLY_OK;
	files.supplement = open_supplement(entry, files.image, files.path, options);
	enum tally_status status = source_lines_open(&files, &entry->lines, err);
	return status == TALLY_NOMEM ? status : TALLY_OK;
}
