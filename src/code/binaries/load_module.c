/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_module.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/order.h"
#include "code/binaries/binary_trail.h"
#include "code/binaries/kernel_files.h"

#define CODE_BYTES_MAX UINT64_C(0x10000000) /* Sections of one module lie closer together than this. */

struct placing {
	const struct binary_store_options *options;
	struct binary_entry *entry;
	struct elf_image *image;
	VEC(uint64_t) addresses; /* Run-time addresses by section index; 0 if not known. */
};

static struct tally_str load_module_name(const struct binary_entry *entry)
{
	struct tally_str name = entry->key.path; /* The name is in brackets. */
	return name.len > 2 ? (struct tally_str){name.data + 1, name.len - 2} : (struct tally_str){"", 0};
}

/* Returns whether the module that is loaded now is the recorded one, as far as build IDs are known. */
static bool is_module_of_host(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct tally_str name = load_module_name(entry);
	if (entry->key.build_id_size == 0 || name.len == 0)
		return true;
	const char *path =
		arena_printf(&entry->arena, "/sys/module/%.*s/notes/.note.gnu.build-id", (int)name.len, name.data);
	struct elf_build_id id =
		host_kernel_notes(path ? kernel_files_system_path(&entry->arena, options, path) : NULL);
	return id.size == 0 || search_is_recorded(&entry->key, id);
}

/* Reads a section's address from sysfs, which shows it only to root. Returns 0 if it is not available. */
static uint64_t section_by_sysfs(const struct placing *p, const char *section)
{
	struct tally_str name = load_module_name(p->entry);
	struct arena *arena = &p->entry->arena;
	char *text;
	size_t len;
	uint64_t address = 0;
	const char *path = strchr(section, '/') ? NULL
						: arena_printf(arena, "/sys/module/%.*s/sections/%s", (int)name.len,
							  name.data, section);
	path = path ? kernel_files_system_path(arena, p->options, path) : NULL;
	if (!path || file_read(path, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return 0;
	struct tally_str trimmed = str_trim((struct tally_str){text, len});
	if (str_starts_with(trimmed, STR("0x")))
		trimmed = (struct tally_str){trimmed.data + 2, trimmed.len - 2};
	if (!str_to_u64(trimmed, 16, &address))
		address = 0;
	free(text);
	return address;
}

static void place_by_sysfs(struct placing *p)
{
	struct elf_section_info section;
	for (size_t i = 1; p->entry->is_loaded_now && i < p->addresses.len; i++)
		if (elf_image_section_info(p->image, i, &section) && section.is_in_memory)
			p->addresses.items[i] = section_by_sysfs(p, section.name);
}

static int load_module_by_name(const void *a, const void *b)
{
	return strcmp((*(const struct symbol *const *)a)->name, (*(const struct symbol *const *)b)->name);
}

/* Returns the only symbol of that name; NULL if there is none or more than one. */
static const struct symbol *only_one(const struct symbol *const *sorted, size_t count, const char *name)
{
	size_t low;
	LOWER_BOUND(low, count, middle, strcmp(sorted[middle]->name, name) < 0);
	if (low == count || strcmp(sorted[low]->name, name) != 0)
		return NULL;
	return low + 1 < count && strcmp(sorted[low + 1]->name, name) == 0 ? NULL : sorted[low];
}

/* Places sections by symbols that both the kernel's list and the file have. */
static enum tally_status place_by_names(struct placing *p, struct tally_error *err)
{
	const struct symbol_table *table = &p->entry->symbols;
	size_t count = table->symbols.len;
	struct elf_symbol_list list = {0};
	const struct symbol **sorted = malloc((count ? count : 1) * sizeof(*sorted));
	enum tally_status status = sorted ? elf_image_symbols(p->image, &list, err) : error_nomem(err);
	for (size_t i = 0; i < count && sorted; i++)
		sorted[i] = &table->symbols.items[i];
	if (count && status == TALLY_OK)
		qsort(sorted, count, sizeof(*sorted), load_module_by_name);
	for (size_t i = 0; i < list.symbols.len && status == TALLY_OK; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		if (symbol->section >= p->addresses.len || p->addresses.items[symbol->section] != 0)
			continue;
		const struct symbol *known = only_one(sorted, count, symbol->name);
		if (known && known->start > symbol->vaddr)
			p->addresses.items[symbol->section] = known->start - symbol->vaddr;
	}
	free(sorted);
	vec_free(&list.symbols);
	return status;
}

/* The kernel places sections of code one after another, in the file's order, but those of start-up code separately. */
static void place_code_in_order(struct placing *p)
{
	uint64_t at = 0;
	struct elf_section_info section;
	for (size_t i = 1; i < p->addresses.len && p->entry->key.start != 0; i++) {
		if (!elf_image_section_info(p->image, i, &section) || !section.is_in_memory || !section.is_executable ||
			strncmp(section.name, ".init", strlen(".init")) == 0)
			continue;
		uint64_t alignment = section.alignment ? section.alignment : 1;
		if (section.size > CODE_BYTES_MAX || at > CODE_BYTES_MAX || alignment > CODE_BYTES_MAX)
			return;
		at = (at + alignment - 1) / alignment * alignment;
		if (p->addresses.items[i] == 0)
			p->addresses.items[i] = p->entry->key.start + at;
		at += section.size;
	}
}

enum tally_status load_module_place(const struct binary_store_options *options, struct binary_entry *entry,
	struct elf_image *image, struct tally_error *err)
{
	struct placing p = {.options = options, .entry = entry, .image = image};
	size_t count = elf_image_section_count(image);
	if (!elf_image_is_relocatable(image) || count == 0)
		return TALLY_OK;
	if (!vec_reserve(&p.addresses, count))
		return error_nomem(err);
	memset(p.addresses.items, 0, count * sizeof(*p.addresses.items));
	p.addresses.len = count;
	place_by_sysfs(&p);
	enum tally_status status = place_by_names(&p, err);
	if (status == TALLY_OK) {
		place_code_in_order(&p);
		status = elf_image_place_sections(image, p.addresses.items, count, err);
	}
	vec_free(&p.addresses);
	return status;
}

static bool add_file_symbols(struct binary_entry *entry)
{
	struct elf_symbol_list list = {0};
	bool ok = elf_image_symbols(entry->image, &list, NULL) == TALLY_OK;
	for (size_t i = 0; i < list.symbols.len && ok; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		if (symbol->vaddr < entry->key.start) /* The symbol's section is not in memory. */
			continue;
		ok = symbol_table_add(&entry->symbols, symbol->vaddr, symbol->size, symbol->name, symbol->binding);
		symbol_table_mark_object(&entry->symbols, symbol->is_object);
	}
	vec_free(&list.symbols);
	return ok && symbol_table_finish(&entry->symbols, SYMBOLS_KERNEL);
}

/* Returns false if the module's address is not known, or no file has its symbols. */
static bool use_file(const struct binary_store_options *options, struct binary_entry *entry)
{
	const char *path = NULL;
	if (entry->key.start == 0)
		return false;
	entry->image = kernel_files_open(options, entry, KERNEL_FILE_NAMES, &path);
	if (!entry->image)
		return false;
	entry->used_path = path;
	if (load_module_place(options, entry, entry->image, NULL) != TALLY_OK || !add_file_symbols(entry))
		binary_entry_out_of_memory(entry);
	else if (entry->symbols.symbols.len == 0)
		binary_entry_set(entry, BINARY_NO_SYMBOLS, arena_printf(&entry->arena, "%s has no symbols", path));
	else
		binary_entry_set(entry, BINARY_OK, NULL);
	return true;
}

/* Returns false if the list has no symbol of the module, or has the module at another address than the recorded one. */
static bool use_list(const struct kallsyms *kallsyms, struct binary_entry *entry, const char *path)
{
	struct symbol_table *table = &entry->symbols;
	if (!kallsyms_add_module(kallsyms, entry->key.path, &entry->arena, table) ||
		!symbol_table_finish(table, SYMBOLS_UNSIZED)) {
		binary_entry_out_of_memory(entry);
		return true;
	}
	bool is_elsewhere = table->symbols.len > 0 && entry->key.start != 0 &&
			    /* The unsigned difference is also large if the symbol lies before the recorded start. */
			    table->symbols.items[0].start - entry->key.start >= CODE_BYTES_MAX;
	bool is_used = table->symbols.len > 0 && !is_elsewhere;
	const char *detail = is_elsewhere	       ? "the module was loaded at another address when it was recorded"
			     : table->symbols.len == 0 ? "it has no symbol of the module"
						       : NULL;
	binary_trail_add(entry, KERNEL_LIST, path, is_used ? BINARY_FOUND_USED : BINARY_FOUND_NO_SYMBOLS, detail);
	if (is_used) {
		entry->used_path = path;
		binary_entry_set(entry, BINARY_OK, NULL);
		return true;
	}
	symbol_table_deinit(table);
	*table = (struct symbol_table){0};
	binary_entry_set(entry, BINARY_NO_SYMBOLS, detail);
	return false;
}

void load_module(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry)
{
	const char *path;
	bool is_host = host_kernel_is_recorded(options, host);
	entry->is_loaded_now = is_host && !options->kallsyms && is_module_of_host(options, entry);
	bool is_listed = options->kallsyms || entry->is_loaded_now;
	binary_entry_set(entry, BINARY_NO_FILE, "the module belongs to another kernel than this machine's");
	if (host->copy_path && !options->kallsyms && entry->key.start != 0 &&
		use_list(&host->copy, entry, host->copy_path))
		return;
	const struct kallsyms *kallsyms = is_listed ? host_kernel_list(options, host, entry, &path) : NULL;
	if (kallsyms && use_list(kallsyms, entry, path))
		return;
	use_file(options, entry);
}
