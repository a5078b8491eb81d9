/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_lines.h"

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "code/binaries/binary_file.h"
#include "code/binaries/binary_trail.h"
#include "code/binaries/kernel_files.h"
#include "code/binaries/line_program.h"
#include "code/binaries/load_module.h"
#include "object/dwarf/debug_info.h"

#define LOAD_LINES_GO "lines in .gopclntab"

static size_t info_bytes(const struct elf_image *image)
{
	return elf_image_section(image, ".debug_info").len + elf_image_section(image, ".zdebug_info").len;
}

/* Chooses the file with the debug sections: the program or its separate debug file. */
static void choose_file(
	const struct binary_store_options *options, struct binary_entry *entry, struct source_lines_files *files)
{
	bool has_own = binary_file_has_debug_info(entry->image);
	struct tally_str name;
	uint32_t crc;
	if (entry->debug && binary_file_has_debug_info(entry->debug)) {
		files->image = entry->debug;
		files->path = entry->used_path;
	} else if (!has_own || elf_image_debuglink(entry->image, &name, &crc)) {
		files->owned = binary_file_debug(entry, options, DEBUG_FILE_INFO, &files->path);
		files->image = files->owned;
	}
	/* If debug information was split off, the program may still have some units; the file with more debug
	 * information has all of them. */
	if (!has_own || (files->image && info_bytes(files->image) > info_bytes(entry->image)))
		return;
	elf_image_close(files->owned);
	files->owned = NULL;
	files->image = entry->image;
	files->path = entry->used_path;
}

/* Addresses are converted by entry->moved, so a debug file with another displacement cannot be used. */
static void choose_user_file(
	const struct binary_store_options *options, struct binary_entry *entry, struct source_lines_files *files)
{
	choose_file(options, entry, files);
	if (!files->image || elf_image_moved(entry->image, files->image) == entry->moved)
		return;
	elf_image_close(files->owned);
	files->owned = NULL;
	files->image = NULL;
}

/* Chooses the file for the kernel or a module, which usually is not the one that the names came from. */
static enum tally_status choose_kernel_file(const struct binary_store_options *options, struct binary_entry *entry,
	struct source_lines_files *files, struct tally_error *err)
{
	if (entry->image && binary_file_has_debug_info(entry->image)) {
		files->image = entry->image;
		files->path = entry->used_path;
		return TALLY_OK;
	}
	files->owned = kernel_files_open(options, entry, KERNEL_FILE_LINES, &files->path);
	files->image = files->owned;
	if (!files->owned)
		return TALLY_OK;
	if (entry->key.kind == BINARY_MODULE)
		return load_module_place(options, entry, files->owned, err);
	entry->moved = load_kernel_displacement(entry, files->owned);
	return TALLY_OK;
}

/* Even a stripped Go program has the line table that its runtime uses for tracebacks. */
static void load_go_lines(struct binary_entry *entry)
{
	struct tally_error why;
	if (entry->key.kind != BINARY_USER || !entry->image || !entry->used_path)
		return;
	enum tally_status status = go_lines_open(entry->image, &entry->go_lines, &why);
	if (status == TALLY_OK)
		binary_trail_add(entry, LOAD_LINES_GO, entry->used_path, BINARY_FOUND_USED, NULL);
	else if (status != TALLY_NOT_FOUND)
		binary_trail_add(entry, LOAD_LINES_GO, entry->used_path, BINARY_FOUND_DAMAGED, NULL);
}

size_t load_lines_find_go(const struct binary_entry *entry, uint64_t address, struct source_place *places, size_t max)
{
	struct go_place found[LIMIT_INLINE_DEPTH];
	size_t count = go_lines_find(&entry->go_lines, address, found, MIN(max, LIMIT_INLINE_DEPTH));
	for (size_t i = 0; i < count; i++)
		places[i] = (struct source_place){.function = found[i].function,
			.path = found[i].path,
			.line = found[i].line,
			.is_inlined = found[i].is_inlined};
	return count;
}

static void note_supplement(struct binary_entry *entry)
{
	const char *name = binary_file_supplement_name(source_lines_image(entry->lines));
	if (!name || !debug_info_lacks_supplement(source_lines_info(entry->lines)))
		return;
	entry->lacks[BINARY_LACKS_SUPPLEMENT] = (struct binary_lack_text){
		arena_printf(&entry->arena,
			"%s: some inlined functions, lines and types are not known, because a part of the debug "
			"information is in the common file '%s', which is not found or damaged",
			source_lines_path(entry->lines), name),
		"put that file of dwz back, or install the package of debug information that has it"};
}

static void note_missing_splits(struct binary_entry *entry)
{
	const struct debug_missing_splits missing = debug_info_missing_splits(source_lines_info(entry->lines));
	bool has_more = missing.units > 1;
	if (missing.units == entry->lacking_splits)
		return;
	entry->lacking_splits = missing.units;
	const char *path = source_lines_path(entry->lines);
	const char *first = source_lines_missing_split(entry->lines, &entry->arena);
	const char *package = entry->package_path ? entry->package_path : "";
	const char *of_package = !entry->package_path						  ? ""
				 : debug_info_package_is_damaged(source_lines_info(entry->lines)) ? " is damaged"
												  : " does not have it";
	entry->lacks[BINARY_LACKS_SPLITS] = (struct binary_lack_text){
		arena_printf(&entry->arena,
			"%s: inlined functions and types of %llu unit%s are not known, because %s split debug "
			"information is not found: '%s'%s is %s%s%s%s",
			path, (unsigned long long)missing.units, has_more ? "s" : "", has_more ? "their" : "its",
			first ? first : "the .dwo file", has_more ? ", the first of them," : "",
			missing.is_other ? "of another build or damaged" : "not there", *package ? ", and " : "",
			package, of_package),
		arena_printf(&entry->arena,
			"put the .dwo files of this build back where they were or beside '%s', or pack them by dwp or "
			"llvm-dwp as '%s.dwp'",
			path, path)};
	binary_trail_add(entry, "split units (.dwo)", path,
		missing.is_other ? BINARY_FOUND_OTHER_UNITS : BINARY_FOUND_NOTHING,
		arena_printf(&entry->arena, "%s of %llu unit%s hit", first ? first : "those",
			(unsigned long long)missing.units, has_more ? "s that were" : " that was"));
}

static void note_damage(struct binary_entry *entry)
{
	uint64_t damaged = source_lines_damaged(entry->lines);
	const char *path = source_lines_path(entry->lines);
	if (damaged == entry->damaged_units)
		return;
	entry->damaged_units = damaged;
	entry->lacks[BINARY_LACKS_UNITS].what =
		arena_printf(&entry->arena, "%s: units of debug information that are damaged and left out: %llu", path,
			(unsigned long long)damaged);
	binary_trail_add(entry, "units of debug information", path, BINARY_FOUND_DAMAGED,
		arena_printf(&entry->arena, "%llu", (unsigned long long)damaged));
}

void load_lines_note_lacks(struct binary_entry *entry)
{
	if (!entry->lines)
		return;
	note_missing_splits(entry);
	note_damage(entry);
}

enum tally_status load_lines(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err)
{
	struct source_lines_files files = {.root = entry->root.prefix, .root_pid = entry->root.pid};
	if (entry->lines_are_looked_for)
		return TALLY_OK;
	entry->lines_are_looked_for = true;
	enum tally_status status = TALLY_OK;
	if (entry->key.kind == BINARY_KERNEL || entry->key.kind == BINARY_MODULE)
		status = choose_kernel_file(options, entry, &files, err);
	else if (entry->image && entry->key.kind == BINARY_USER && entry->used_path)
		choose_user_file(options, entry, &files);
	if (status == TALLY_OK && !files.image)
		load_go_lines(entry);
	if (status != TALLY_OK || !files.image) {
		elf_image_close(files.owned);
		return status;
	}
	files.supplement = binary_file_supplement(entry, files.image, files.path);
	files.package = binary_file_package(entry, files.image, files.path, &entry->package_path);
	status = source_lines_open(&files, &entry->lines, err);
	if (status == TALLY_OK)
		note_supplement(entry);
	return status == TALLY_NOMEM ? status : TALLY_OK;
}

enum tally_status load_program_lines(const struct binary_store_options *options, struct binary_entry *entry,
	const uint64_t *addresses, size_t count, struct tally_error *err)
{
	struct tally_error why;
	const char *path = entry->lines ? source_lines_path(entry->lines) : entry->image ? entry->used_path : NULL;
	enum tally_status status = TALLY_OK;
	if (!path || count == 0)
		return TALLY_OK;
	if (!entry->line_program)
		status = line_program_open(options->line_program, path, &entry->line_program, err);
	if (status != TALLY_OK)
		return status;
	status = line_program_load(entry->line_program, addresses, count, &why);
	if (status == TALLY_NOMEM)
		return error_nomem(err);
	if (status != TALLY_OK)
		binary_trail_add(entry, BINARY_SOURCE_LINE_PROGRAM, path, BINARY_FOUND_UNREADABLE,
			arena_printf(&entry->arena, "%s", why.text));
	return TALLY_OK;
}
