/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_binary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "code/binaries/kernel_files.h"
#include "code/binaries/load_elf.h"
#include "code/binaries/load_kernel.h"
#include "code/binaries/load_lines.h"
#include "code/probing/probe_functions.h"
#include "code/probing/probe_kallsyms.h"
#include "code/probing/probe_variables_cache.h"
#include "code/process_files.h"

#define PROBE_SECTION_FIRST \
	UINT64_C(0x1000) /* First address for the sections of a module's file, which have no addresses of their own. */

struct probe_binary_opened {
	struct probe_binary binary; /* Must come first, because probe_binary_close converts a pointer to it. */
	struct binary_store_options options;
	struct binary_entry entry;
	char root[32]; /* Root of the process that the path is relative to. */
};

/* Returns the path of the running kernel's vmlinux, found by build ID; NULL if there is none. */
static const char *probe_binary_find_vmlinux(struct probe_binary_opened *opened)
{
	struct binary_entry entry;
	const char *path = NULL;
	binary_entry_init(&entry, &opened->options, &(struct binary_key){.kind = BINARY_KERNEL, .pid = -1});
	entry.kernel_id = host_kernel_notes("/sys/kernel/notes");
	struct elf_image *image = kernel_files_open(&opened->options, &entry, KERNEL_FILE_LINES, &path);
	if (image)
		path = arena_string(&opened->entry.arena, path, strlen(path));
	elf_image_close(image);
	binary_entry_deinit(&entry);
	return path;
}

/* Returns the path of a loaded module's file; NULL if there is none. */
static const char *probe_binary_find_module(struct probe_binary_opened *opened, const char *name)
{
	struct binary_entry entry;
	const char *path = NULL;
	struct arena *arena = &opened->entry.arena;
	const char *notes = arena_printf(arena, "/sys/module/%s/notes/.note.gnu.build-id", name);
	const char *bracketed = arena_printf(arena, "[%s]", name);
	struct elf_build_id id = host_kernel_notes(notes);
	struct binary_key key = {
		.kind = BINARY_MODULE, .path = str_from(bracketed), .pid = -1, .build_id_size = id.size};
	memcpy(key.build_id, id.bytes, id.size);
	binary_entry_init(&entry, &opened->options, &key);
	struct elf_image *image = kernel_files_open(&opened->options, &entry, KERNEL_FILE_LINES, &path);
	if (!image)
		image = kernel_files_open(&opened->options, &entry, KERNEL_FILE_NAMES, &path);
	if (image)
		path = arena_string(arena, path, strlen(path));
	elf_image_close(image);
	binary_entry_deinit(&entry);
	return path;
}

/* Places the sections of a module's file, which have no addresses, one after another. */
static enum tally_status probe_binary_place_sections(struct elf_image *image, struct tally_error *err)
{
	size_t count = elf_image_section_count(image);
	if (!elf_image_is_relocatable(image) || count == 0)
		return TALLY_OK;
	uint64_t *addresses = calloc(count, sizeof(*addresses));
	if (!addresses)
		return error_nomem(err);
	uint64_t at = PROBE_SECTION_FIRST;
	struct elf_section_info section;
	for (size_t i = 1; i < count; i++) {
		if (!elf_image_section_info(image, i, &section) || !section.is_in_memory)
			continue;
		uint64_t alignment = MAX(section.alignment, UINT64_C(1));
		if (section.size > INT_MAX || alignment > INT_MAX)
			continue;
		at = (at + alignment - 1) / alignment * alignment;
		addresses[i] = at;
		at += section.size;
	}
	enum tally_status status = elf_image_place_sections(image, addresses, count, err);
	free(addresses);
	return status;
}

/* The file "kernel/net/nf-nat.ko.xz" has module "nf_nat". */
static struct tally_str probe_binary_module_name(struct arena *arena, const char *path)
{
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	const char *end = strstr(base, ".ko");
	size_t len = end ? (size_t)(end - base) : strlen(base);
	char *name = arena_string(arena, base, len);
	for (size_t i = 0; name && i < len; i++)
		if (name[i] == '-')
			name[i] = '_';
	return (struct tally_str){name, name ? len : 0};
}

/* Loads the symbols and the debug information of the file, and sets the members of the result that come from them. */
static enum tally_status probe_binary_fill(struct probe_binary_opened *opened, struct tally_error *err)
{
	struct probe_binary *binary = &opened->binary;
	struct binary_entry *entry = &opened->entry;
	load_user_file(&opened->options, entry);
	if (!entry->image) {
		const char *path = entry->key.path.data, *why = entry->text ? entry->text : "it cannot be read";
		bool has_path = str_starts_with(str_from(why), entry->key.path);
		return error_set(err, TALLY_NOT_FOUND, "%s%s%s", has_path ? "" : path, has_path ? "" : ": ", why);
	}
	enum tally_status status = probe_binary_place_sections(entry->image, err);
	if (status == TALLY_OK)
		status = load_lines(&opened->options, entry, err);
	if (status != TALLY_OK)
		return status;
	binary->image = entry->image;
	binary->arch = arch_find_elf((uint16_t)elf_image_machine(entry->image), elf_image_pointer_bytes(entry->image));
	if (!entry->lines)
		return TALLY_OK;
	binary->info = source_lines_info(entry->lines);
	binary->debug_image = source_lines_image(entry->lines);
	binary->debug_path = source_lines_path(entry->lines);
	binary->moved = entry->moved;
	return TALLY_OK;
}

/* Returns the path of the file to open; NULL if there is none. */
static const char *probe_binary_choose(struct probe_binary_opened *opened, const struct probe_binary_options *options)
{
	if (options->path || options->kind == PROBE_PROGRAM)
		return options->path;
	if (options->kind == PROBE_KERNEL)
		return options->vmlinux ? options->vmlinux : probe_binary_find_vmlinux(opened);
	return options->module ? probe_binary_find_module(opened, options->module) : NULL;
}

/* Without a file, only the kernel's list of symbols is available. */
static enum tally_status probe_binary_use_list(struct probe_binary_opened *opened,
	const struct probe_binary_options *options, struct probe_binary **out, struct tally_error *err)
{
	struct probe_binary *binary = &opened->binary;
	struct arena *arena = &opened->entry.arena;
	const char *module = options->module ? options->module : "";
	binary->path = options->kind == PROBE_MODULE ? arena_printf(arena, "[%s]", module) : "[kernel.kallsyms]";
	binary->module = str_from(arena_string(arena, module, strlen(module)));
	enum tally_status status = binary->path && binary->module.data
					   ? probe_kallsyms_read(binary->module, arena, &binary->symbols, err)
					   : error_nomem(err);
	if (status != TALLY_OK) {
		probe_binary_close(binary);
		return status;
	}
	*out = binary;
	return TALLY_OK;
}

enum tally_status probe_binary_open(
	const struct probe_binary_options *options, struct probe_binary **out, struct tally_error *err)
{
	struct probe_binary_opened *opened = calloc(1, sizeof(*opened));
	if (!opened)
		return error_nomem(err);
	opened->options.symfs = options->symfs;
	opened->options.index_dir = "";
	opened->binary.kind = options->kind;
	opened->binary.is_offline = options->kind == PROBE_KERNEL && options->vmlinux;
	if (options->root_pid > 0 && process_is_elsewhere(options->root_pid)) {
		snprintf(opened->root, sizeof(opened->root), "/proc/%d/root", (int)options->root_pid);
		opened->options.symfs = opened->root;
	}
	binary_entry_init(&opened->entry, &opened->options, &(struct binary_key){.kind = BINARY_USER, .pid = -1});
	struct arena *arena = &opened->entry.arena;
	const char *path = probe_binary_choose(opened, options);
	if (!path && options->kind != PROBE_PROGRAM)
		return probe_binary_use_list(opened, options, out, err);
	enum tally_status status = path ? TALLY_OK : error_set(err, TALLY_NOT_FOUND, "no program is named");
	char real[PATH_MAX];
	if (path && !opened->root[0] && realpath(path, real))
		path = real;
	path = path ? arena_string(arena, path, strlen(path)) : NULL;
	opened->entry.key.path = str_from(path);
	opened->binary.path = path;
	if (status == TALLY_OK)
		status = path ? probe_binary_fill(opened, err) : error_nomem(err);
	if (status == TALLY_OK && options->kind == PROBE_MODULE)
		opened->binary.module =
			options->module ? str_from(arena_string(arena, options->module, strlen(options->module)))
					: probe_binary_module_name(arena, path);
	if (status != TALLY_OK) {
		probe_binary_close(&opened->binary);
		return status;
	}
	*out = &opened->binary;
	return TALLY_OK;
}

void probe_binary_close(struct probe_binary *binary)
{
	struct probe_binary_opened *opened = (struct probe_binary_opened *)binary;
	if (!opened)
		return;
	probe_symbols_free(binary->symbols);
	probe_functions_free(opened->binary.functions);
	probe_variables_cache_free(opened->binary.variables);
	source_lines_close(opened->entry.lines);
	binary_entry_deinit(&opened->entry);
	free(opened);
}

uint64_t probe_binary_offset(const struct probe_binary *binary, uint64_t address)
{
	size_t count;
	if (!binary->image)
		return UINT64_MAX;
	const struct elf_segment *segments = elf_image_segments(binary->image, &count);
	for (size_t i = 0; i < count; i++)
		if (address >= segments[i].vaddr && address - segments[i].vaddr < segments[i].file_size)
			return segments[i].offset + (address - segments[i].vaddr);
	return UINT64_MAX;
}

/* image is the program or its debug file. */
static enum tally_status probe_binary_add_symbols(struct probe_symbols *symbols, const struct elf_image *program,
	struct elf_image *image, struct tally_error *err)
{
	struct elf_symbol_list list = {0};
	uint64_t moved = elf_image_moved(program, image);
	enum tally_status status = elf_image_symbols(image, &list, err);
	for (size_t i = 0; i < list.symbols.len && status == TALLY_OK; i++) {
		const struct elf_symbol *from = &list.symbols.items[i];
		struct elf_section_info section;
		bool is_code = from->is_function || (elf_image_section_info(image, from->section, &section) &&
							    section.is_executable && !from->is_object);
		const struct probe_symbol symbol = {.address = from->vaddr + moved,
			.size = from->size,
			.name = from->name,
			.is_code = is_code,
			.is_function = from->is_function,
			.is_global = from->binding != 'l',
			.is_resolver = from->is_resolver};
		if (from->name[0] && !vec_push(&symbols->items, symbol))
			status = error_nomem(err);
	}
	vec_free(&list.symbols);
	return status;
}

/* Adds the entries of the PLT, which load_user_file has named, and converts their file offsets to addresses. */
static enum tally_status probe_binary_add_plt(
	struct probe_symbols *symbols, const struct binary_entry *entry, struct tally_error *err)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(entry->image, &count);
	for (size_t i = 0; i < entry->symbols.symbols.len; i++) {
		const struct symbol *from = &entry->symbols.symbols.items[i];
		struct tally_str name = str_from(from->name);
		if (!str_ends_with(name, STR("@plt")) && !str_equal(name, STR(".plt")))
			continue;
		for (size_t s = 0; s < count; s++) {
			uint64_t inside = from->start - segments[s].offset;
			if (from->start < segments[s].offset || inside >= segments[s].file_size)
				continue;
			const struct probe_symbol symbol = {.address = segments[s].vaddr + inside,
				.size = from->end - from->start,
				.name = from->name,
				.is_code = true,
				.is_function = true,
				.is_global = true};
			if (!vec_push(&symbols->items, symbol))
				return error_nomem(err);
			break;
		}
	}
	return TALLY_OK;
}

enum tally_status probe_binary_symbols(
	struct probe_binary *binary, const struct probe_symbols **out, struct tally_error *err)
{
	struct binary_entry *entry = &((struct probe_binary_opened *)binary)->entry;
	*out = binary->symbols;
	if (binary->symbols)
		return TALLY_OK;
	struct probe_symbols *symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return error_nomem(err);
	enum tally_status status = probe_binary_add_symbols(symbols, entry->image, entry->image, err);
	if (status == TALLY_OK && entry->debug)
		status = probe_binary_add_symbols(symbols, entry->image, entry->debug, err);
	if (status == TALLY_OK)
		status = probe_binary_add_plt(symbols, entry, err);
	if (status == TALLY_OK)
		status = probe_symbols_finish(symbols, err);
	if (status != TALLY_OK) {
		probe_symbols_free(symbols);
		return status;
	}
	*out = binary->symbols = symbols;
	return TALLY_OK;
}

const char *probe_binary_symbol_at(struct probe_binary *binary, uint64_t address, uint64_t *start)
{
	const struct probe_symbols *symbols;
	if (probe_binary_symbols(binary, &symbols, NULL) != TALLY_OK)
		return NULL;
	const struct probe_symbol *symbol = probe_symbols_at(symbols, address);
	if (symbol)
		*start = symbol->address;
	return symbol ? symbol->name : NULL;
}
