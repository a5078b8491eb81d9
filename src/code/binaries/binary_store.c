#include "code/binary_store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/limits.h"
#include "base/thread_pool.h"
#include "code/binaries/search_path.h"
#include "code/binaries/vdso_image.h"
#include "code/demangle/demangle.h"
#include "code/symbols/kallsyms.h"
#include "code/symbols/perf_map.h"
#include "object/elf/elf_image.h"

struct entry {
	struct binary_key key; /* path is in the store's intern */
	struct arena arena; /* paths and copied names; used by the one worker that loads the entry */
	enum binary_status status;
	const char *used_path;
	const char *text;
	struct elf_image *image; /* the program file: segments */
	struct elf_image *debug; /* where names live, if in another file */
	struct symbol_table symbols;
	bool is_loaded;
};

struct binary_store {
	struct binary_store_options options;
	struct intern keys; /* bytes of the key -> index */
	struct intern paths;
	VEC(struct entry *) entries;
	char *kallsyms; /* this kernel's, read once */
	size_t kallsyms_len;
	bool kallsyms_tried;
	struct elf_build_id host_kernel;
};

enum tally_status binary_store_create(
	const struct binary_store_options *options, struct binary_store **out, struct tally_error *err)
{
	struct binary_store *store = calloc(1, sizeof(*store));
	if (!store)
		return error_nomem(err);
	store->options = *options;
	intern_init(&store->keys);
	intern_init(&store->paths);
	*out = store;
	return TALLY_OK;
}

static void entry_destroy(struct entry *entry)
{
	elf_image_close(entry->image);
	elf_image_close(entry->debug);
	symbol_table_deinit(&entry->symbols);
	arena_deinit(&entry->arena);
	free(entry);
}

void binary_store_destroy(struct binary_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->entries.len; i++)
		entry_destroy(store->entries.items[i]);
	vec_free(&store->entries);
	intern_deinit(&store->keys);
	intern_deinit(&store->paths);
	free(store->kallsyms);
	free(store);
}

enum tally_status binary_store_add(
	struct binary_store *store, const struct binary_key *key, uint32_t *id, struct tally_error *err)
{
	struct {
		uint64_t start;
		uint32_t path;
		int32_t pid;
		uint32_t kind;
		uint8_t build_id[20];
		uint8_t build_id_size;
		uint8_t zero[7];
	} bytes;
	memset(&bytes, 0, sizeof(bytes));
	uint32_t path;
	uint32_t index;
	if (!intern_add(&store->paths, key->path.data, key->path.len, &path))
		return error_nomem(err);
	bytes.path = path;
	bytes.kind = (uint32_t)key->kind;
	bytes.pid = key->kind == BINARY_PERF_MAP ? key->pid : -1;
	bytes.build_id_size = key->build_id_size > sizeof(bytes.build_id) ? sizeof(bytes.build_id) : key->build_id_size;
	memcpy(bytes.build_id, key->build_id, bytes.build_id_size);
	if (!intern_add(&store->keys, &bytes, sizeof(bytes), &index))
		return error_nomem(err);
	if (index < store->entries.len) {
		*id = index;
		return TALLY_OK;
	}
	struct entry *entry = calloc(1, sizeof(*entry));
	if (!entry || !vec_push(&store->entries, entry)) {
		free(entry);
		return error_nomem(err);
	}
	entry->key = *key;
	entry->key.build_id_size = bytes.build_id_size;
	entry->key.path = intern_get(&store->paths, path);
	arena_init(&entry->arena);
	*id = index;
	return TALLY_OK;
}

static void set_status(struct entry *entry, enum binary_status status, const char *text)
{
	entry->status = status;
	entry->text = text;
}

static bool has_recorded_id(const struct entry *entry, struct elf_build_id found)
{
	const struct binary_key *key = &entry->key;
	if (key->build_id_size == 0)
		return true;
	/* Recordings pad short ids with zeros. */
	size_t n = found.size < key->build_id_size ? found.size : key->build_id_size;
	if (n == 0 || memcmp(key->build_id, found.bytes, n) != 0)
		return false;
	for (size_t i = n; i < key->build_id_size; i++)
		if (key->build_id[i] != 0)
			return false;
	return true;
}

/* Opens path if it is the recorded file. */
static struct elf_image *open_matching(struct entry *entry, const char *path, bool *differs)
{
	struct elf_image *image;
	if (!path || elf_image_open(path, &image, NULL) != TALLY_OK)
		return NULL;
	if (has_recorded_id(entry, elf_image_build_id(image)))
		return image;
	*differs = true;
	elf_image_close(image);
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

static bool add_plt(struct entry *entry)
{
	struct elf_plt plt = {0};
	bool ok = elf_image_plt(entry->image, &plt, NULL) == TALLY_OK && symbol_table_sort(&entry->symbols);
	size_t sorted = entry->symbols.symbols.len;
	for (size_t i = 0; i < plt.entries.len && ok; i++) {
		const struct elf_plt_entry *from = &plt.entries.items[i];
		const char *name = from->target;
		uint64_t offset;
		if (!vaddr_to_offset(entry->image, from->vaddr, &offset))
			continue;
		if (from->is_header) {
			ok = symbol_table_add(&entry->symbols, offset, from->size, ".plt", 'l');
			continue;
		}
		uint64_t resolver;
		if (!name && vaddr_to_offset(entry->image, from->resolver, &resolver)) {
			const struct symbol_table known = {.symbols = {entry->symbols.symbols.items, sorted, sorted}};
			const struct symbol *chooser = symbol_table_at(&known, resolver);
			name = chooser ? chooser->name : NULL;
		}
		name = name ? arena_printf(&entry->arena, "%s@plt", name)
			    : arena_printf(&entry->arena, "*ABS*+0x%" PRIx64 "@plt", from->resolver);
		ok = name && symbol_table_add(&entry->symbols, offset, from->size, name, 'g');
	}
	vec_free(&plt.entries);
	return ok;
}

/* Symbols of one image, placed by the program file's segments. */
static bool add_symbols(struct entry *entry, struct elf_image *from)
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
	return ok && add_plt(entry) && symbol_table_finish(&entry->symbols, false);
}

static void load_image_symbols(struct binary_store *store, struct entry *entry)
{
	struct elf_image *from = entry->image;
	if (!elf_image_has_symtab(entry->image)) {
		const char *debug = search_debug_file(&entry->arena, &entry->key,
			entry->used_path ? entry->used_path : "", store->options.symfs, entry->image);
		if (debug && elf_image_open(debug, &entry->debug, NULL) == TALLY_OK) {
			if (elf_image_has_symtab(entry->debug)) {
				from = entry->debug;
				entry->used_path = debug;
			}
		}
	}
	if (!add_symbols(entry, from))
		set_status(entry, BINARY_DAMAGED, "out of memory for its symbols");
	else if (entry->symbols.symbols.len == 0)
		set_status(entry, BINARY_NO_SYMBOLS, "the file is stripped and no debug file is there");
	else
		entry->status = BINARY_OK;
}

static void load_user(struct binary_store *store, struct entry *entry)
{
	bool differs = false;
	const char *path = search_with_root(&entry->arena, store->options.symfs, entry->key.path);
	entry->image = open_matching(entry, path, &differs);
	if (!entry->image) {
		path = search_build_id_cache(&entry->arena, &entry->key, "elf");
		entry->image = open_matching(entry, path, &differs);
	}
	if (!entry->image) {
		if (differs)
			set_status(entry, BINARY_BUILD_ID_DIFFERS,
				"the file there is not the one that was recorded: its build id differs");
		else
			set_status(entry, BINARY_NO_FILE, "no such file, nor its build id in the cache");
		return;
	}
	entry->used_path = path;
	load_image_symbols(store, entry);
}

static void load_vdso(struct binary_store *store, struct entry *entry)
{
	bool differs = false;
	struct tally_bytes own = vdso_image_own();
	if (own.len > 0 && elf_image_open_bytes(own, &entry->image, NULL) == TALLY_OK) {
		if (has_recorded_id(entry, elf_image_build_id(entry->image))) {
			load_image_symbols(store, entry);
			return;
		}
		elf_image_close(entry->image);
		entry->image = NULL;
	}
	entry->used_path = search_build_id_cache(&entry->arena, &entry->key, "vdso");
	entry->image = open_matching(entry, entry->used_path, &differs);
	if (entry->image)
		load_image_symbols(store, entry);
	else
		set_status(entry, BINARY_NO_FILE, "another kernel's vdso, which is not in the cache");
}

static void load_kallsyms(struct entry *entry, struct tally_str text)
{
	struct kallsyms_request request = {.text = text};
	if (entry->key.kind == BINARY_MODULE)
		request.module = entry->key.path;
	bool is_hidden;
	if (!kallsyms_parse(&request, &entry->arena, &entry->symbols, &is_hidden))
		set_status(entry, BINARY_DAMAGED, "out of memory for its symbols");
	else if (is_hidden)
		set_status(entry, BINARY_HIDDEN,
			"the kernel hides its addresses (kernel.kptr_restrict): run as root, or set it to 0");
	else if (entry->symbols.symbols.len == 0)
		set_status(entry, BINARY_NO_SYMBOLS, "kallsyms has no symbols of it");
	else
		entry->status = BINARY_OK;
}

static void load_kernel(struct binary_store *store, struct entry *entry)
{
	const char *cached = search_build_id_cache(&entry->arena, &entry->key, "kallsyms");
	bool is_host = has_recorded_id(entry, store->host_kernel) || entry->key.kind == BINARY_MODULE;
	if (store->options.kallsyms || (is_host && store->kallsyms)) {
		entry->used_path = store->options.kallsyms ? store->options.kallsyms : "/proc/kallsyms";
		load_kallsyms(entry, (struct tally_str){store->kallsyms ? store->kallsyms : "", store->kallsyms_len});
		return;
	}
	char *text;
	size_t len;
	if (cached && file_read(cached, LIMIT_SMALL_FILE, &text, &len, NULL) == TALLY_OK) {
		entry->used_path = cached;
		load_kallsyms(entry, (struct tally_str){text, len});
		free(text);
		return;
	}
	set_status(
		entry, BINARY_NO_FILE, "another kernel than this machine's: its symbols are not in the build-id cache");
}

static void load_perf_map(struct entry *entry)
{
	char *text;
	size_t len;
	const char *path = arena_printf(&entry->arena, "/proc/%d/root/tmp/perf-%d.map", entry->key.pid, entry->key.pid);
	if (!path || !file_exists(path))
		path = entry->key.path.data;
	if (file_read(path, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK) {
		set_status(entry, BINARY_NO_FILE, "generated code, and its runtime wrote no perf map");
		return;
	}
	entry->used_path = path;
	if (perf_map_parse((struct tally_str){text, len}, &entry->arena, &entry->symbols))
		entry->status = entry->symbols.symbols.len > 0 ? BINARY_OK : BINARY_NO_SYMBOLS;
	else
		set_status(entry, BINARY_DAMAGED, "out of memory for its symbols");
	free(text);
}

struct load {
	struct binary_store *store;
	const uint32_t *ids;
};

static void load_one(void *context, size_t index, unsigned worker)
{
	const struct load *load = context;
	struct entry *entry = load->store->entries.items[load->ids[index]];
	if (entry->is_loaded)
		return;
	entry->is_loaded = true;
	switch (entry->key.kind) {
	case BINARY_USER:
		load_user(load->store, entry);
		break;
	case BINARY_KERNEL:
	case BINARY_MODULE:
		load_kernel(load->store, entry);
		break;
	case BINARY_VDSO:
		load_vdso(load->store, entry);
		break;
	case BINARY_PERF_MAP:
		load_perf_map(entry);
		break;
	case BINARY_NONE:
		set_status(entry, BINARY_NO_FILE, "not a file");
		break;
	}
}

/* The kernel's own list is large: read once, before the workers share it. */
static void read_host_kernel(struct binary_store *store)
{
	if (store->kallsyms_tried)
		return;
	store->kallsyms_tried = true;
	char *notes;
	size_t len;
	if (file_read("/sys/kernel/notes", LIMIT_SMALL_FILE, &notes, &len, NULL) == TALLY_OK) {
		store->host_kernel = elf_notes_build_id((struct tally_bytes){(const uint8_t *)notes, len}, false);
		free(notes);
	}
	const char *path = store->options.kallsyms ? store->options.kallsyms : "/proc/kallsyms";
	if (file_read(path, LIMIT_SMALL_FILE, &store->kallsyms, &store->kallsyms_len, NULL) != TALLY_OK)
		store->kallsyms = NULL;
}

void binary_store_load(struct binary_store *store, const uint32_t *ids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum binary_kind kind = store->entries.items[ids[i]]->key.kind;
		if (kind == BINARY_KERNEL || kind == BINARY_MODULE)
			read_host_kernel(store);
	}
	struct load load = {.store = store, .ids = ids};
	thread_pool_for(count, 0, load_one, &load);
}

const struct symbol *binary_store_find(const struct binary_store *store, uint32_t id, uint64_t address)
{
	return symbol_table_find(&store->entries.items[id]->symbols, address);
}

struct binary_info binary_store_info(const struct binary_store *store, uint32_t id)
{
	const struct entry *entry = store->entries.items[id];
	return (struct binary_info){
		.path = entry->key.path,
		.used_path = entry->used_path,
		.status = entry->is_loaded ? entry->status : BINARY_NOT_LOADED,
		.symbol_count = entry->symbols.symbols.len,
		.text = entry->text,
	};
}

bool binary_store_elf_va(
	const struct binary_store *store, uint32_t id, struct tally_file_off offset, struct tally_elf_va *va)
{
	const struct elf_image *image = store->entries.items[id]->image;
	size_t count;
	const struct elf_segment *segments = image ? elf_image_segments(image, &count) : NULL;
	for (size_t i = 0; segments && i < count; i++) {
		if (offset.value >= segments[i].offset && offset.value - segments[i].offset < segments[i].file_size) {
			va->value = offset.value - segments[i].offset + segments[i].vaddr;
			return true;
		}
	}
	return false;
}

const char *binary_store_display_name(
	const struct binary_store *store, const struct symbol *symbol, struct arena *arena)
{
	return store->options.no_demangle ? symbol->name : demangle(arena, symbol->name);
}
