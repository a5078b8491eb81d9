#include "code/binaries/load_kernel.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/limits.h"
#include "code/binaries/search_path.h"

#define HIDDEN_TEXT "the kernel hides its addresses (kernel.kptr_restrict): run as root, or set it to 0"
#define PAGE_MASK   0xfffu

void host_kernel_deinit(struct host_kernel *host)
{
	free(host->text);
	*host = (struct host_kernel){0};
}

static const char *system_path(struct arena *arena, const struct binary_store_options *options, const char *path)
{
	return options->system_root ? arena_printf(arena, "%s%s", options->system_root, path) : path;
}

static struct elf_build_id read_notes(const char *path)
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

void host_kernel_compare(
	const struct binary_store_options *options, struct host_kernel *host, const struct binary_entry *kernel)
{
	struct arena arena;
	arena_init(&arena);
	if (host->build_id.size == 0)
		host->build_id = read_notes(system_path(&arena, options, "/sys/kernel/notes"));
	if (!search_is_recorded(&kernel->key, host->build_id))
		host->is_foreign = true;
	arena_deinit(&arena);
}

static const struct kallsyms *host_kallsyms(
	const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry)
{
	const char *path =
		options->kallsyms ? options->kallsyms : system_path(&entry->arena, options, "/proc/kallsyms");
	size_t len;
	if (!host->is_read) {
		host->is_read = true;
		if (path && file_read(path, LIMIT_SMALL_FILE, &host->text, &len, NULL) == TALLY_OK)
			kallsyms_open(host->text, len, &host->kallsyms);
		else
			host->text = NULL;
	}
	entry->used_path = host->text ? path : NULL;
	return host->text ? &host->kallsyms : NULL;
}

/* How far the kernel ran from where this list has it: it is placed anew at every boot. */
static uint64_t displacement(const struct binary_entry *entry, uint64_t text)
{
	uint64_t by = entry->key.start - text;
	return entry->key.start == 0 || text == 0 || (by & PAGE_MASK) != 0 ? 0 : by;
}

static void use_kallsyms(struct binary_entry *entry, const struct kallsyms *kallsyms)
{
	struct symbol_table *table = &entry->symbols;
	bool is_module = entry->key.kind == BINARY_MODULE;
	bool is_hidden = false;
	bool ok = is_module ? kallsyms_add_module(kallsyms, entry->key.path, &entry->arena, table)
			    : kallsyms_add_kernel(kallsyms, table, &is_hidden);
	if (ok && !is_module && !is_hidden)
		symbol_table_move(table, displacement(entry, kallsyms_address(table, "_text")));
	if (!ok || !symbol_table_finish(table, SYMBOLS_UNSIZED))
		binary_entry_out_of_memory(entry);
	else if (is_hidden)
		binary_entry_set(entry, BINARY_HIDDEN, HIDDEN_TEXT);
	else if (table->symbols.len == 0)
		binary_entry_set(entry, BINARY_NO_SYMBOLS, "the list of the kernel's symbols has none of it");
	else
		binary_entry_set(entry, BINARY_OK, NULL);
}

/* A copy that was made where the kernel hid its addresses is no use. */
static bool use_kallsyms_copy(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct kallsyms kallsyms;
	size_t len;
	const char *path = search_build_id_cache(&entry->arena, options, &entry->key, "kallsyms");
	if (!path || file_read(path, LIMIT_SMALL_FILE, &entry->names, &len, NULL) != TALLY_OK) {
		entry->names = NULL;
		return false;
	}
	kallsyms_open(entry->names, len, &kallsyms);
	use_kallsyms(entry, &kallsyms);
	entry->used_path = entry->status == BINARY_OK ? path : NULL;
	return entry->status == BINARY_OK;
}

/* is_trusted: the user named it, so its build id is not asked for. */
static bool use_vmlinux(struct binary_entry *entry, const char *path, bool is_trusted)
{
	struct elf_symbol_list list = {0};
	if (!path || elf_image_open(path, &entry->image, NULL) != TALLY_OK)
		return false;
	struct elf_build_id id = elf_image_build_id(entry->image);
	bool is_it = is_trusted || (entry->key.build_id_size > 0 && search_is_recorded(&entry->key, id));
	if (!is_it || !elf_image_has_symtab(entry->image)) {
		elf_image_close(entry->image);
		entry->image = NULL;
		return false;
	}
	entry->used_path = path;
	uint64_t text = 0;
	bool ok = elf_image_symbols(entry->image, &list, NULL) == TALLY_OK;
	for (size_t i = 0; i < list.symbols.len && ok && text == 0; i++)
		if (strcmp(list.symbols.items[i].name, "_text") == 0)
			text = list.symbols.items[i].vaddr;
	uint64_t by = displacement(entry, text);
	for (size_t i = 0; i < list.symbols.len && ok; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		if (symbol->vaddr >= text) /* per-CPU variables lie at small addresses */
			ok = symbol_table_add(
				&entry->symbols, symbol->vaddr + by, symbol->size, symbol->name, symbol->binding);
	}
	vec_free(&list.symbols);
	if (ok && symbol_table_finish(&entry->symbols, SYMBOLS_SIZED))
		binary_entry_set(entry, BINARY_OK, NULL);
	else
		binary_entry_out_of_memory(entry);
	return true;
}

static bool use_vmlinux_by_id(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct arena *arena = &entry->arena;
	struct elf_build_id id = {.size = entry->key.build_id_size};
	memcpy(id.bytes, entry->key.build_id, sizeof(id.bytes));
	return use_vmlinux(entry, search_build_id_cache(arena, options, &entry->key, "elf"), false) ||
	       use_vmlinux(entry, search_build_id_cache(arena, options, &entry->key, "vmlinux"), false) ||
	       use_vmlinux(entry, search_system_debug(arena, options, id), false);
}

static bool use_host_vmlinux(const struct binary_store_options *options, struct binary_entry *entry)
{
	static const char *const formats[] = {
		"/boot/vmlinux-", "/usr/lib/debug/boot/vmlinux-", "/usr/lib/debug/lib/modules/", "/lib/modules/"};
	static const char *const endings[] = {"", "", "/vmlinux", "/build/vmlinux"};
	struct utsname name;
	if (options->system_root || uname(&name) != 0)
		return false;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (use_vmlinux(
			    entry, arena_printf(&entry->arena, "%s%s%s", formats[i], name.release, endings[i]), false))
			return true;
	return false;
}

/* The root of another machine's files says that the kernel was another's too, whatever the recording knows of it. */
static bool is_of_host(const struct binary_store_options *options, const struct host_kernel *host)
{
	if (options->kallsyms)
		return true;
	return !host->is_foreign && (!options->symfs || options->system_root);
}

void load_kernel(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry)
{
	if (options->vmlinux) {
		if (!use_vmlinux(entry, options->vmlinux, true))
			binary_entry_set(entry, BINARY_NO_FILE,
				arena_printf(&entry->arena, "%s is no kernel with symbols", options->vmlinux));
		return;
	}
	bool is_host = is_of_host(options, host);
	/* A file is read ten times as fast as /proc/kallsyms, which the kernel prints anew. */
	if (!options->kallsyms && use_kallsyms_copy(options, entry))
		return;
	const struct kallsyms *kallsyms = is_host ? host_kallsyms(options, host, entry) : NULL;
	if (kallsyms) {
		use_kallsyms(entry, kallsyms);
		if (entry->status == BINARY_OK || options->kallsyms)
			return;
	}
	if (use_vmlinux_by_id(options, entry) || (is_host && use_host_vmlinux(options, entry)))
		return;
	if (!kallsyms)
		binary_entry_set(entry, BINARY_NO_FILE,
			is_host ? "/proc/kallsyms cannot be read"
			: !host->is_foreign
				? "with --symfs the kernel of this machine is not asked"
				: "another kernel than this machine's: its symbols are not in the build-id cache");
}

/* Whether the module that is loaded now is the recorded one. */
static bool is_module_of_host(const struct binary_store_options *options, struct binary_entry *entry)
{
	struct tally_str name = entry->key.path; /* in brackets */
	if (entry->key.build_id_size == 0 || name.len <= 2)
		return true;
	const char *path = arena_printf(
		&entry->arena, "/sys/module/%.*s/notes/.note.gnu.build-id", (int)(name.len - 2), name.data + 1);
	struct elf_build_id id = read_notes(path ? system_path(&entry->arena, options, path) : NULL);
	return id.size == 0 || search_is_recorded(&entry->key, id);
}

void load_module(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry)
{
	const struct kallsyms *kallsyms = NULL;
	if (options->kallsyms || (is_of_host(options, host) && is_module_of_host(options, entry)))
		kallsyms = host_kallsyms(options, host, entry);
	if (!kallsyms) {
		binary_entry_set(entry, BINARY_NO_FILE, "a module of another kernel than this machine's");
		return;
	}
	use_kallsyms(entry, kallsyms);
	const struct symbol_table *table = &entry->symbols;
	if (entry->status == BINARY_OK && entry->key.start != 0 && table->symbols.items[0].start < entry->key.start) {
		entry->symbols.symbols.len = 0;
		binary_entry_set(
			entry, BINARY_NO_SYMBOLS, "the module was loaded at another place when it was recorded");
	}
}
