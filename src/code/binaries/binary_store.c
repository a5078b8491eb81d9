/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binary_store.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/limits.h"
#include "base/side_thread.h"
#include "base/thread_pool.h"
#include "base/visible.h"
#include "code/binaries/binary_entry.h"
#include "code/binaries/binary_trail.h"
#include "code/binaries/line_program.h"
#include "code/binaries/load_code.h"
#include "code/binaries/load_elf.h"
#include "code/binaries/load_index.h"
#include "code/binaries/load_jit.h"
#include "code/binaries/load_kernel.h"
#include "code/binaries/load_lines.h"
#include "code/binaries/load_module.h"
#include "code/binaries/load_pack.h"
#include "code/binaries/load_roots.h"
#include "code/binaries/load_types.h"
#include "code/binaries/load_unwind.h"
#include "code/demangle/demangle.h"

struct binary_store {
	struct binary_store_options options;
	struct intern keys; /* Maps the bytes of a key to its index in entries. */
	struct intern paths;
	VEC(struct binary_entry *) entries;
	struct host_kernel host;
	struct arena arena; /* Owns option strings that the store derives itself. */
	struct pack *pack; /* NULL if the recording has no pack or the pack is damaged. */
	struct tally_error pack_error;
	struct side_thread ahead; /* Loads entries ahead of need; see binary_store_load_ahead. */
};

static void binary_store_load_entry(void *context, void *entry);

bool binary_store_has_root(const char *symfs)
{
	return symfs && *symfs && strcmp(symfs, "/") != 0;
}

enum tally_status binary_store_create(
	const struct binary_store_options *options, struct binary_store **out, struct tally_error *err)
{
	/* Files that the user names must exist: if one were skipped silently, symbols could be wrong. */
	const char *const named[] = {options->vmlinux, options->kallsyms};
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (named[i] && !file_exists(named[i]))
			return error_set(err, TALLY_NOT_FOUND, "Invalid file: %s", named[i]);
	struct binary_store *store = calloc(1, sizeof(*store));
	if (!store)
		return error_nomem(err);
	store->options = *options;
	arena_init(&store->arena);
	if (binary_store_has_root(options->symfs) && !options->build_id_dir) {
		store->options.build_id_dir = arena_printf(&store->arena, "%s/.debug", options->symfs);
		if (!store->options.build_id_dir) {
			free(store);
			return error_nomem(err);
		}
	}
	intern_init(&store->keys);
	intern_init(&store->paths);
	side_thread_init(&store->ahead, binary_store_load_entry, store);
	if (options->pack.len > 0 && pack_open(options->pack, &store->pack, &store->pack_error) != TALLY_OK)
		store->pack = NULL;
	*out = store;
	return TALLY_OK;
}

void binary_store_set_arch(struct binary_store *store, const struct arch *arch)
{
	store->options.recorded_arch = arch;
}

static struct binary_entry *entry_create(const struct binary_store_options *options, const struct binary_key *key)
{
	struct binary_entry *entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	binary_entry_init(entry, options, key);
	load_unwind_init(&entry->unwind);
	return entry;
}

static void entry_destroy(struct binary_entry *entry)
{
	if (entry->unpacked)
		entry_destroy(entry->unpacked);
	load_unwind_deinit(&entry->unwind);
	unload_code(entry);
	unload_types(entry);
	source_lines_close(entry->lines);
	line_program_close(entry->line_program);
	unload_index(entry);
	kernel_symbols_close(entry->kernel_symbols);
	jitdump_deinit(&entry->jitdump);
	file_map_close(&entry->kernel_list);
	binary_entry_deinit(entry);
	free(entry);
}

void binary_store_destroy(struct binary_store *store)
{
	if (!store)
		return;
	side_thread_join(&store->ahead);
	side_thread_deinit(&store->ahead);
	for (size_t i = 0; i < store->entries.len; i++)
		entry_destroy(store->entries.items[i]);
	vec_free(&store->entries);
	intern_deinit(&store->keys);
	intern_deinit(&store->paths);
	host_kernel_deinit(&store->host);
	pack_close(store->pack);
	arena_deinit(&store->arena);
	free(store);
}

/* Marks the entries that share their path with another file and have no build ID. Equal paths have the same pointer,
 * because they are interned. */
static void note_siblings(struct binary_store *store, struct binary_entry *entry)
{
	if (entry->key.inode == 0 || entry->key.build_id_size > 0)
		return;
	for (size_t i = 0; i < store->entries.len; i++) {
		struct binary_entry *other = store->entries.items[i];
		if (other == entry || other->key.path.data != entry->key.path.data || other->key.inode == 0 ||
			other->key.build_id_size > 0)
			continue;
		atomic_store(&other->is_one_of_several, true);
		atomic_store(&entry->is_one_of_several, true);
	}
}

enum tally_status binary_store_add(
	struct binary_store *store, const struct binary_key *key, uint32_t *id, struct tally_error *err)
{
	struct {
		uint64_t start, inode, generation;
		uint32_t major, minor;
		uint32_t path;
		int32_t pid;
		uint32_t kind;
		uint8_t build_id[20];
		uint8_t build_id_size;
		uint8_t zero[7];
	} bytes;
	memset(&bytes, 0, sizeof(bytes));
	uint32_t path, file;
	uint32_t index;
	if (!intern_add(&store->paths, key->path.data, key->path.len, &path) ||
		!intern_add(&store->paths, key->file.data, key->file.len, &file))
		return error_nomem(err);
	bytes.path = path;
	bytes.kind = (uint32_t)key->kind;
	bool is_generated = key->kind == BINARY_PERF_MAP || key->kind == BINARY_JITDUMP;
	bytes.pid = is_generated ? key->pid : -1;
	bytes.build_id_size = MIN(sizeof(bytes.build_id), key->build_id_size);
	memcpy(bytes.build_id, key->build_id, bytes.build_id_size);
	if (bytes.build_id_size == 0 && key->kind == BINARY_USER) {
		bytes.inode = key->inode;
		bytes.generation = key->generation;
		bytes.major = key->major;
		bytes.minor = key->minor;
	}
	if (!intern_add(&store->keys, &bytes, sizeof(bytes), &index))
		return error_nomem(err);
	if (index < store->entries.len) {
		*id = index;
		return TALLY_OK;
	}
	if (index > store->entries.len)
		/* The key of a lower index was interned, but its entry could not be allocated. */
		return error_nomem(err);
	struct binary_key kept = *key;
	kept.build_id_size = bytes.build_id_size;
	kept.path = intern_get(&store->paths, path);
	kept.file = intern_get(&store->paths, file);
	struct binary_entry *entry = entry_create(&store->options, &kept);
	if (!entry || !vec_push(&store->entries, entry)) {
		if (entry)
			entry_destroy(entry);
		return error_nomem(err);
	}
	note_siblings(store, entry);
	*id = index;
	return TALLY_OK;
}

struct binary_store_load {
	struct binary_store *store;
	const uint32_t *ids;
	size_t count;
};

static struct binary_entry *wanted_entry(const struct binary_store_load *load, size_t index)
{
	return load->store->entries.items[load->ids[index]];
}

static void load_files(struct binary_store *store, struct binary_entry *entry)
{
	switch (entry->key.kind) {
	case BINARY_USER:
		load_user_file(&store->options, entry);
		break;
	case BINARY_VDSO:
		load_vdso(&store->options, entry);
		break;
	case BINARY_PERF_MAP:
		load_perf_map(&store->options, entry);
		break;
	case BINARY_JITDUMP:
		load_jitdump(&store->options, entry);
		break;
	case BINARY_KERNEL:
		load_kernel(&store->options, &store->host, entry);
		break;
	case BINARY_MODULE:
		load_module(&store->options, &store->host, entry);
		break;
	case BINARY_NONE:
		binary_entry_set(entry, BINARY_NO_FILE, "not a file");
		break;
	}
}

static bool binary_store_is_of_kernel(const struct binary_entry *entry)
{
	return entry->key.kind == BINARY_KERNEL || entry->key.kind == BINARY_MODULE;
}

/* A pack has the files as they were when it was made, so only files that the user names take precedence. */
static bool prefers_files(const struct binary_store_options *options, const struct binary_entry *entry)
{
	if (binary_store_is_of_kernel(entry) && (options->vmlinux || options->kallsyms))
		return true;
	return options->symfs && *options->symfs;
}

static void load_entry(struct binary_store *store, struct binary_entry *entry)
{
	const struct pack_object *packed = store->pack ? pack_find(store->pack, &entry->key) : NULL;
	entry->is_loaded = true;
	if (packed && packed->status == BINARY_OK && !prefers_files(&store->options, entry)) {
		load_pack(&store->options, entry, packed);
		return;
	}
	load_files(store, entry);
	if (packed && entry->status != BINARY_OK)
		load_pack(&store->options, entry, packed);
}

/* Returns an entry with data from files, for data that the pack does not have. */
static struct binary_entry *files_of(struct binary_store *store, struct binary_entry *entry)
{
	if (!entry->packed)
		return entry;
	if (!entry->unpacked) {
		entry->unpacked = entry_create(&store->options, &entry->key);
		if (!entry->unpacked)
			return entry;
		entry->unpacked->is_loaded = true;
		load_files(store, entry->unpacked);
	}
	return entry->unpacked;
}

/* One worker loads the kernel and its modules: the list of symbols is long and is read once, and modules need it. */
static void load_kernels(const struct binary_store_load *load)
{
	struct binary_store *store = load->store;
	for (size_t i = 0; i < store->entries.len; i++)
		if (store->entries.items[i]->key.kind == BINARY_KERNEL && !store->entries.items[i]->is_loaded)
			host_kernel_compare(&store->options, &store->host, store->entries.items[i]);
	for (size_t i = 0; i < load->count; i++) {
		struct binary_entry *entry = wanted_entry(load, i);
		/* Other workers set is_loaded of other entries, so it must not be read here. */
		if (binary_store_is_of_kernel(entry) && !entry->is_loaded)
			load_entry(store, entry);
	}
}

static void load_one(void *context, size_t index, unsigned worker)
{
	const struct binary_store_load *load = context;
	if (index == 0) {
		load_kernels(load);
		return;
	}
	struct binary_entry *entry = wanted_entry(load, index - 1);
	if (!binary_store_is_of_kernel(entry) && !entry->is_loaded)
		load_entry(load->store, entry);
}

static void binary_store_load_entry(void *context, void *entry)
{
	struct binary_store *store = context;
	struct binary_entry *to = entry;
	if (to->key.kind == BINARY_KERNEL)
		host_kernel_compare(&store->options, &store->host, to);
	load_entry(store, to);
}

void binary_store_load_ahead(struct binary_store *store, uint32_t id)
{
	struct binary_entry *entry = store->entries.items[id];
	if (store->options.threads != 1 && !entry->is_loaded)
		side_thread_add(&store->ahead, entry);
}

void binary_store_end_ahead(struct binary_store *store)
{
	side_thread_close(&store->ahead);
}

void binary_store_load(struct binary_store *store, const uint32_t *ids, size_t count)
{
	side_thread_join(&store->ahead);
	struct binary_store_load load = {.store = store, .ids = ids, .count = count};
	thread_pool_for(count + 1, store->options.threads, load_one, &load);
}

void binary_store_forget(struct binary_store *store, uint32_t id)
{
	struct binary_entry *entry = store->entries.items[id], *fresh;
	bool is_of_process = entry->key.kind == BINARY_USER || entry->key.kind == BINARY_PERF_MAP ||
			     entry->key.kind == BINARY_JITDUMP;
	if (!entry->is_loaded || !is_of_process || store->pack)
		return;
	fresh = entry_create(&store->options, &entry->key);
	if (!fresh)
		return; /* The entry remains loaded, which only costs memory. */
	entry_destroy(entry);
	store->entries.items[id] = fresh;
}

bool binary_store_has_grown(const struct binary_store *store, uint32_t id, uint64_t *bytes)
{
	const struct binary_entry *entry = store->entries.items[id];
	bool is_generated = entry->key.kind == BINARY_PERF_MAP || entry->key.kind == BINARY_JITDUMP;
	*bytes = 0;
	return is_generated && entry->is_loaded && !store->pack && load_jit_has_changed(&store->options, entry, bytes);
}

static const struct symbol *binary_store_find_symbol(const struct binary_entry *entry, uint64_t address)
{
	return entry->kernel_symbols ? kernel_symbols_find(entry->kernel_symbols, address)
				     : symbol_table_find(&entry->symbols, address);
}

const struct symbol *binary_store_find(const struct binary_store *store, uint32_t id, uint64_t address)
{
	return binary_store_find_symbol(store->entries.items[id], address);
}

void binary_store_find_span(const struct binary_store *store, uint32_t id, uint64_t address, struct symbol_span *span)
{
	const struct binary_entry *entry = store->entries.items[id];
	if (entry->kernel_symbols)
		kernel_symbols_find_span(entry->kernel_symbols, address, span);
	else
		symbol_table_find_span(&entry->symbols, address, span);
}

size_t binary_store_count(const struct binary_store *store)
{
	return store->entries.len;
}

/* Explains a missing perf map by the jitdump of the process, if that was found but could not be read. */
static void tell_of_dump(const struct binary_store *store, struct binary_info *info, int32_t pid)
{
	for (size_t i = 0; i < store->entries.len; i++) {
		const struct binary_entry *dump = store->entries.items[i];
		if (dump->key.kind != BINARY_JITDUMP || dump->key.pid != pid || !dump->is_loaded ||
			dump->status == BINARY_OK)
			continue;
		info->text = dump->text;
		info->is_refused = dump->is_refused || dump->status != BINARY_NO_FILE;
	}
}

struct binary_info binary_store_info(const struct binary_store *store, uint32_t id)
{
	const struct binary_entry *entry = store->entries.items[id];
	struct elf_build_id build_id = {.size = entry->key.build_id_size};
	memcpy(build_id.bytes, entry->key.build_id, build_id.size);
	if (build_id.size == 0 && entry->image)
		build_id = elf_image_build_id(entry->image);
	if (build_id.size == 0 && entry->packed) {
		build_id.size = entry->packed->found_id.size;
		memcpy(build_id.bytes, entry->packed->found_id.bytes, build_id.size);
	}
	struct binary_info info = {
		.kind = entry->key.kind,
		.build_id_size = build_id.size,
		.path = entry->key.path,
		.used_path = entry->used_path,
		.status = entry->is_loaded ? entry->status : BINARY_NOT_LOADED,
		.symbol_count = entry->packed ? entry->packed->symbol_count : binary_entry_symbol_count(entry),
		.text = entry->text,
		.is_unproven = entry->is_loaded && entry->is_unproven,
		.doubt = entry->doubt,
		.is_refused = entry->is_refused,
	};
	memcpy(info.build_id, build_id.bytes, build_id.size);
	if (info.kind == BINARY_PERF_MAP && info.status == BINARY_NO_FILE && !info.is_refused)
		tell_of_dump(store, &info, entry->key.pid);
	return info;
}

enum tally_status binary_store_code(struct binary_store *store, uint32_t id, uint64_t start, uint64_t end,
	struct binary_code *code, struct tally_error *err)
{
	const struct code_range range = {start, end};
	struct binary_entry *entry = store->entries.items[id];
	if (entry->packed && pack_code_find(entry->packed, start, end, code))
		return TALLY_OK;
	return load_code(&store->options, &store->host, files_of(store, entry), &range, code, err);
}

bool binary_store_name_at(struct binary_store *store, uint32_t id, uint64_t address, struct binary_name *name)
{
	struct binary_entry *entry = store->entries.items[id];
	const struct binary_name *packed = entry->packed ? pack_name_find(entry->packed, address) : NULL;
	if (packed)
		*name = *packed;
	if (packed)
		return true;
	entry = entry->unpacked ? entry->unpacked : entry;
	bool is_run_time = entry->key.kind == BINARY_KERNEL || entry->key.kind == BINARY_MODULE;
	if (is_run_time || entry->key.kind == BINARY_JITDUMP) {
		const struct symbol *symbol = is_run_time ? binary_store_find_symbol(entry, address) : NULL;
		if (symbol)
			*name = (struct binary_name){.name = symbol->name, .offset = address - symbol->start};
		return symbol != NULL;
	}
	if (!load_code_names(entry))
		return false;
	const struct address_name *found = address_names_find(&entry->address_names, address);
	if (found)
		*name = (struct binary_name){
			.name = found->name, .offset = address - found->address, .is_plt = found->is_plt};
	return found != NULL;
}

const struct jitdump *binary_store_jitdump(const struct binary_store *store, uint32_t id)
{
	const struct binary_entry *entry = store->entries.items[id];
	return entry->jitdump.codes.len > 0 ? &entry->jitdump : NULL;
}

struct binary_lack_text binary_store_lack(const struct binary_store *store, uint32_t id, enum binary_lack lack)
{
	const struct binary_entry *entry = store->entries.items[id];
	return entry->unpacked ? entry->unpacked->lacks[lack] : entry->lacks[lack];
}

const struct binary_step *binary_store_trail(const struct binary_store *store, uint32_t id, size_t *count)
{
	const struct binary_entry *entry = store->entries.items[id];
	*count = entry->trail.len;
	return entry->trail.items;
}

static bool elf_va(const struct binary_entry *entry, struct tally_file_off offset, struct tally_elf_va *va)
{
	const struct elf_image *image = entry->image;
	size_t count;
	if (!image && entry->packed)
		return load_pack_elf_va(entry->packed, offset, va);
	const struct elf_segment *segments = image ? elf_image_segments(image, &count) : NULL;
	return segments && load_unwind_va(segments, count, offset, va);
}

bool binary_store_elf_va(
	const struct binary_store *store, uint32_t id, struct tally_file_off offset, struct tally_elf_va *va)
{
	return elf_va(store->entries.items[id], offset, va);
}

const struct unwind_table *binary_store_unwind(struct binary_store *store, uint32_t id)
{
	return load_unwind(&store->options, store->entries.items[id])->table;
}

const struct unwind_table *binary_store_unwind_within(
	struct binary_store *store, uint32_t id, uint64_t bytes, bool *is_refused)
{
	struct binary_store_options options = store->options;
	options.unwind_bytes = bytes > 0 ? bytes : 1;
	const struct load_unwind *unwind = load_unwind(&options, store->entries.items[id]);
	*is_refused = unwind->is_refused;
	return unwind->table;
}

bool binary_store_unwind_va(
	struct binary_store *store, uint32_t id, struct tally_file_off offset, struct tally_elf_va *va)
{
	const struct load_unwind *unwind = load_unwind(&store->options, store->entries.items[id]);
	return load_unwind_va(unwind->segments, unwind->segment_count, offset, va);
}

const struct elf_segment *binary_store_unwind_segments(
	struct binary_store *store, uint32_t id, size_t *count, uint64_t *entry)
{
	const struct load_unwind *unwind = load_unwind(&store->options, store->entries.items[id]);
	*count = unwind->segment_count;
	*entry = unwind->entry;
	return unwind->segments;
}

void binary_store_find_roots(
	struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count, bool *are_roots)
{
	load_roots(&store->options, store->entries.items[id], addresses, count, are_roots);
}

/* Converts an address of the store (of the kernel, or an offset in the file) to the one in the debug information. */
static bool link_address(const struct binary_entry *entry, uint64_t address, uint64_t *link)
{
	struct tally_elf_va va;
	bool is_kernel = entry->key.kind == BINARY_KERNEL || entry->key.kind == BINARY_MODULE;
	if (!is_kernel && !elf_va(entry, (struct tally_file_off){address}, &va))
		return false;
	*link = (is_kernel ? address : va.value) - entry->moved;
	return true;
}

enum tally_status binary_store_data_access(
	struct binary_store *store, uint32_t id, uint64_t address, struct data_access *access, struct tally_error *err)
{
	uint64_t link;
	struct binary_entry *entry = files_of(store, store->entries.items[id]);
	*access = (struct data_access){.kind = DATA_ACCESS_NO_DEBUG_INFO};
	enum tally_status status = load_lines(&store->options, entry, err);
	if (status != TALLY_OK || !entry->lines || !link_address(entry, address, &link))
		return status;
	status = source_lines_load(entry->lines, &link, 1, store->options.threads, err);
	load_lines_note_lacks(entry);
	if (status == TALLY_OK)
		status = load_types(&store->options, entry, err);
	if (status != TALLY_OK || !entry->types)
		return status;
	struct tally_bytes code = {NULL, 0};
	uint64_t low, high;
	if (!data_types_has(entry->types, link) && data_types_range(entry->types, link, &low, &high)) {
		/* Store and link-time addresses differ by a constant within a function. */
		const struct code_range range = {address - (link - low), address + (high - link)};
		struct binary_code found;
		if (load_code(&store->options, &store->host, entry, &range, &found, NULL) == TALLY_OK)
			code = found.bytes;
	}
	return data_types_find(entry->types, link, code, access, err);
}

enum tally_status binary_store_data_fields(struct binary_store *store, uint32_t id, const struct dwarf_type *type,
	const struct data_field **fields, size_t *count, struct tally_error *err)
{
	return data_types_fields(files_of(store, store->entries.items[id])->types, type, fields, count, err);
}

enum tally_status binary_store_load_places(
	struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count, struct tally_error *err)
{
	struct binary_entry *entry = store->entries.items[id];
	enum tally_status status = TALLY_OK;
	if (entry->packed && load_pack_has_places(entry->packed, addresses, count))
		return TALLY_OK;
	entry = files_of(store, entry);
	const char *program = store->options.line_program;
	if (!program)
		load_index(&store->options, entry);
	if (entry->index.bytes.len == 0)
		status = load_lines(&store->options, entry, err);
	if (status != TALLY_OK || (entry->index.bytes.len == 0 && !entry->lines && !program))
		return status;
	VEC(uint64_t) link_time = {0};
	if (!vec_reserve(&link_time, count))
		return error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		uint64_t *link = &link_time.items[link_time.len];
		if (link_address(entry, addresses[i], link) && !line_index_has(&entry->index, *link))
			link_time.len++;
	}
	if (link_time.len > 0)
		status = load_lines(&store->options, entry, err);
	if (status == TALLY_OK && program)
		status = load_program_lines(&store->options, entry, link_time.items, link_time.len, err);
	else if (status == TALLY_OK && link_time.len > 0 && entry->lines)
		status = source_lines_load(entry->lines, link_time.items, link_time.len, store->options.threads, err);
	vec_free(&link_time);
	load_lines_note_lacks(entry);
	return status;
}

size_t binary_store_places(
	struct binary_store *store, uint32_t id, uint64_t address, struct source_place *places, size_t max)
{
	uint64_t link;
	struct binary_entry *entry = store->entries.items[id];
	if (entry->packed && load_pack_has_places(entry->packed, &address, 1))
		return load_pack_places(entry->packed, address, places, max);
	entry = entry->unpacked ? entry->unpacked : entry;
	if (entry->key.kind == BINARY_JITDUMP)
		return max > 0 && jitdump_line(&entry->jitdump, address, places) ? 1 : 0;
	if (entry->key.kind == BINARY_PERF_MAP)
		return max > 0 && load_jit_python_line(entry, address, places) ? 1 : 0;
	bool is_known = entry->lines || entry->go_lines.image || entry->line_program || entry->index.bytes.len > 0;
	if (!is_known || !link_address(entry, address, &link))
		return 0;
	if (entry->line_program)
		return line_program_find(entry->line_program, link, places, max);
	if (line_index_has(&entry->index, link))
		return line_index_find(&entry->index, link, places, max);
	return entry->lines ? source_lines_find(entry->lines, link, places, max)
			    : load_lines_find_go(entry, link + entry->moved, places, max);
}

const char *binary_store_places_path(const struct binary_store *store, uint32_t id)
{
	const struct binary_entry *entry = store->entries.items[id];
	if (!entry->lines && entry->packed && entry->packed->places_path)
		return entry->packed->places_path;
	if (entry->go_lines.image)
		return entry->used_path;
	return entry->lines ? source_lines_path(entry->lines) : entry->index.source;
}

bool binary_store_lacks_places(const struct binary_store *store, uint32_t id)
{
	const struct binary_entry *entry = store->entries.items[id];
	bool has_program = entry->line_program || (store->options.line_program && entry->image && entry->used_path);
	bool is_asked = entry->key.kind == BINARY_JITDUMP || entry->key.kind == BINARY_PERF_MAP || has_program;
	return !is_asked && entry->lines_are_looked_for && !binary_store_places_path(store, id);
}

enum tally_status binary_store_load_all_places(struct binary_store *store, uint32_t id, struct tally_error *err)
{
	struct binary_entry *entry = store->entries.items[id];
	if (entry->image && elf_image_build_id(entry->image).size == 0)
		return error_set(err, TALLY_NOT_FOUND, "it has no build ID, which an index is stored under");
	load_index(&store->options, entry);
	enum tally_status status = load_lines(&store->options, entry, err);
	if (status != TALLY_OK)
		return status;
	if (entry->go_lines.image)
		return error_set(
			err, TALLY_NOT_FOUND, "its lines are in its table of Go functions, which needs no index");
	if (!entry->lines)
		return error_set(err, TALLY_NOT_FOUND, "%s",
			entry->image || !entry->text ? "no debug information is found" : entry->text);
	status = source_lines_load_all(entry->lines, store->options.threads, err);
	load_lines_note_lacks(entry);
	return status;
}

enum tally_status binary_store_save_places(struct binary_store *store, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < store->entries.len && !store->options.line_program; i++) {
		enum tally_status saved = save_index(&store->options, store->entries.items[i], err);
		if (saved != TALLY_OK && saved != TALLY_NOT_FOUND)
			status = saved;
	}
	return status;
}

const char *binary_store_display_name(
	const struct binary_store *store, const struct symbol *symbol, struct arena *arena)
{
	return binary_store_readable(store, symbol->name, arena);
}

const char *binary_store_readable(const struct binary_store *store, const char *name, struct arena *arena)
{
	const char *visible = visible_string(arena, store->options.no_demangle ? name : demangle(arena, name));
	return visible ? visible : "";
}

const char *binary_store_pack_damage(const struct binary_store *store)
{
	return store->options.pack.len > 0 && !store->pack ? store->pack_error.text : NULL;
}

bool binary_store_describe(const struct binary_store *store, uint32_t id, struct pack_object *object)
{
	return load_pack_describe(store->entries.items[id], object);
}
