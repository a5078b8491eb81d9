/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/binary_id.h"

#include <stdio.h>
#include <sys/mman.h>

#include "abi/perf_constants.h"
#include "base/hash.h"
#include "base/text.h"

#define KERNEL_NAME	  "[kernel.kallsyms]"
#define VMLINUX_NAME	  "[kernel.vmlinux]"
#define GUEST_KERNEL_NAME "[guest.kernel.kallsyms"

void binary_table_init(struct binary_table *table, struct intern *strings)
{
	*table = (struct binary_table){.strings = strings};
	intern_init(&table->keys);
	table->kernel_path = INTERN_NONE;
	for (size_t i = 0; i < BINARY_OWNERS; i++)
		intern_init(&table->listed[i].names);
}

void binary_table_deinit(struct binary_table *table)
{
	intern_deinit(&table->keys);
	vec_free(&table->binaries);
	for (size_t i = 0; i < BINARY_OWNERS; i++) {
		intern_deinit(&table->listed[i].names);
		vec_free(&table->listed[i].ids);
	}
}

static struct tally_str binary_id_base_name(struct tally_str path)
{
	size_t start = path.len;
	while (start > 0 && path.data[start - 1] != '/')
		start--;
	if (start == path.len)
		return path;
	return (struct tally_str){path.data + start, path.len - start};
}

/* Interns the name as it is printed. The path remains as it is, because files are found by it. */
static bool add_visible(struct binary_table *table, struct tally_str name, uint32_t *id)
{
	struct text visible = {0};
	text_visible(&visible, name);
	bool ok = !visible.failed && intern_add(table->strings, visible.data ? visible.data : "", visible.len, id);
	text_deinit(&visible);
	return ok;
}

/* Adds or finds the binary of (path, build ID or file, pid); short_name is used only for a new one. */
static bool binary_id_add(struct binary_table *table, struct machine_binary *binary, struct tally_str path,
	struct tally_str short_name, uint32_t *index)
{
	struct {
		uint32_t path;
		int32_t pid;
		struct record_build_id build_id;
		struct machine_file file;
		bool is_dump; /* Distinguishes the code in a jitdump from the mapping of the dump itself. */
	} key;
	memset(&key, 0, sizeof(key));
	if (!intern_add(table->strings, path.data, path.len, &binary->path))
		return false;
	key.path = binary->path;
	key.is_dump = binary->kind == MACHINE_JITDUMP;
	key.pid = binary->kind == MACHINE_ANON_JIT || binary->kind == MACHINE_JITDUMP ? binary->pid : -1;
	key.build_id = binary->build_id;
	key.file = binary->file;
	binary->has_own_id = binary->build_id.size > 0;
	uint32_t id;
	if (!intern_add(&table->keys, &key, sizeof(key), &id))
		return false;
	if (id < table->binaries.len) {
		*index = id;
		return true;
	}
	if (!add_visible(table, short_name, &binary->short_name))
		return false;
	/* A greater id means that there was no memory for an earlier binary. */
	if (id > table->binaries.len || !vec_push(&table->binaries, *binary))
		return false;
	*index = id;
	return true;
}

static bool is_anonymous(struct tally_str name)
{
	return str_equal(name, STR("//anon")) || str_starts_with(name, STR("/dev/zero")) ||
	       str_starts_with(name, STR("/anon_hugepage")) || str_starts_with(name, STR("[anon"));
}

/* True for memory that a program allocated: code in it is generated, as in anonymous memory. */
static bool is_own_memory(struct tally_str name)
{
	return str_starts_with(name, STR("[stack")) || str_starts_with(name, STR("/SYSV")) ||
	       str_starts_with(name, STR("[heap]"));
}

bool binary_is_generated(const struct record_mmap *mmap)
{
	struct tally_str name = mmap->filename;
	/*
	 * A file may exist only in memory or be deleted. Runtimes that map code twice, to write it and to run it, use
	 * one such file in two shared mappings; loaders map programs and libraries in such files privately.
	 */
	bool is_shared_memory_file = (mmap->flags & MAP_SHARED) && mmap->build_id.size == 0 &&
				     (str_starts_with(name, STR("/memfd:")) || str_starts_with(name, STR("/dev/")) ||
					     str_ends_with(name, STR(" (deleted)")));
	return (mmap->prot & PROT_EXEC) &&
	       (is_own_memory(name) || str_starts_with(name, STR("anon_inode:")) || is_shared_memory_file);
}

static struct machine_file file_of(const struct record_mmap *mmap)
{
	struct tally_str path = mmap->filename;
	/* The path identifies some memory better than the inode: memory without a file, and memfds, devices and shared
	 * memory, which get a new inode whenever they are made. */
	bool is_told_by_path = !str_starts_with(path, STR("/")) || str_starts_with(path, STR("/memfd:")) ||
			       str_starts_with(path, STR("/dev/")) || str_starts_with(path, STR("/SYSV"));
	if (mmap->build_id.size > 0 || is_told_by_path)
		return (struct machine_file){0};
	return (struct machine_file){mmap->major, mmap->minor, mmap->inode, mmap->inode_generation};
}

static bool binary_id_is_same_file(const struct binary_table *table, uint32_t index, const struct record_mmap *mmap)
{
	const struct machine_binary *binary = &table->binaries.items[index];
	const struct machine_file file = file_of(mmap);
	return memcmp(&binary->build_id, &mmap->build_id, sizeof(binary->build_id)) == 0 &&
	       (mmap->build_id.size > 0 ||
		       (binary->file.inode == file.inode && binary->file.major == file.major &&
			       binary->file.minor == file.minor && binary->file.generation == file.generation));
}

static bool is_recent(const struct binary_table *table, uint32_t index, const struct record_mmap *mmap)
{
	return binary_id_is_same_file(table, index, mmap) &&
	       str_equal(intern_get(table->strings, table->binaries.items[index].path), mmap->filename);
}

static bool add_user(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index)
{
	struct machine_binary binary = {
		.kind = MACHINE_USER_FILE, .build_id = mmap->build_id, .pid = (int32_t)mmap->pid};
	struct tally_str path = mmap->filename;
	struct tally_str short_name = binary_id_base_name(path);
	char map_path[32];
	char jit_name[32];
	bool is_code = mmap->prot & PROT_EXEC;
	if (is_anonymous(path) && !is_code) {
		binary.kind = MACHINE_ANON_DATA;
	} else if (is_anonymous(path) || binary_is_generated(mmap)) {
		binary.kind = MACHINE_ANON_JIT;
		path = (struct tally_str){
			map_path, (size_t)snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", binary.pid)};
		short_name = (struct tally_str){
			jit_name, (size_t)snprintf(jit_name, sizeof(jit_name), "[JIT] tid %d", binary.pid)};
	} else if (str_equal(path, STR("[vdso]")) || str_equal(path, STR("[vdso32]")) ||
		   str_equal(path, STR("[vdsox32]"))) {
		binary.kind = MACHINE_VDSO;
	} else if (is_own_memory(path) || str_equal(path, STR("[vsyscall]")) ||
		   str_starts_with(path, STR("anon_inode:"))) {
		binary.kind = MACHINE_NO_FILE;
	}
	if (binary.kind == MACHINE_USER_FILE)
		binary.file = file_of(mmap);
	return binary_id_add(table, &binary, path, short_name, index);
}

/* Hashes the end of the name, where most names differ. */
static size_t recent_slot(struct tally_str name)
{
	uint64_t tail = 0;
	if (name.len >= sizeof(tail))
		memcpy(&tail, name.data + name.len - sizeof(tail), sizeof(tail));
	return (tail * HASH_FACTOR >> 32 ^ name.len) % BINARY_TABLE_RECENT;
}

/* 64-bit kernels place the mappings of 32-bit programs at a quarter of 4 GiB or above it. */
#define VDSO_32_LEAST UINT32_C(0x40000000)

bool binary_is_vdso_32(const struct record_mmap *mmap)
{
	return str_equal(mmap->filename, STR("[vdso]")) && mmap->start >= VDSO_32_LEAST && mmap->start <= UINT32_MAX;
}

bool binary_table_add_user(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index)
{
	if (!table->is_32_bit && binary_is_vdso_32(mmap)) {
		struct record_mmap renamed = *mmap;
		renamed.filename = STR(BINARY_VDSO_32);
		return add_user(table, &renamed, index);
	}
	uint32_t *recent = &table->recent[recent_slot(mmap->filename)];
	if (*recent > 0 && is_recent(table, *recent - 1, mmap)) {
		*index = *recent - 1;
		return true;
	}
	if (!add_user(table, mmap, index))
		return false;
	/*
	 * The binary of anonymous memory depends on more than name and file, and binary_table_finish may have changed
	 * the build ID of a binary.
	 */
	if (!is_anonymous(mmap->filename) && binary_id_is_same_file(table, *index, mmap))
		*recent = *index + 1;
	return true;
}

static bool is_kernel_name(struct tally_str name)
{
	return str_starts_with(name, STR(KERNEL_NAME)) || str_starts_with(name, STR(VMLINUX_NAME));
}

/* Converts "/lib/modules/6.1/kernel/net/nf_nat.ko.xz" to "[nf_nat]". A module's name has underscores for dashes. */
static struct tally_str binary_id_module_name(struct tally_str path, char *buffer, size_t size)
{
	struct tally_str base = binary_id_base_name(path);
	if (base.len > 0 && base.data[0] == '[')
		return base;
	size_t len = 0;
	while (len < base.len && base.data[len] != '.')
		len++;
	if (len + 3 > size)
		return base;
	buffer[0] = '[';
	for (size_t i = 0; i < len; i++)
		buffer[i + 1] = base.data[i] == '-' ? '_' : base.data[i];
	buffer[len + 1] = ']';
	return (struct tally_str){buffer, len + 2};
}

bool binary_table_add_kernel(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index)
{
	struct machine_binary binary = {
		.kind = MACHINE_KERNEL_MODULE, .build_id = mmap->build_id, .pid = -1, .start = mmap->start};
	struct tally_str name = mmap->filename;
	char buffer[80];
	/*
	 * In "[kernel.kallsyms]_text", the part after the bracket names the reference symbol, whose address is pgoff.
	 */
	if (is_kernel_name(name)) {
		binary.kind = MACHINE_KERNEL;
		binary.start = mmap->pgoff ? mmap->pgoff : mmap->start;
		if (__builtin_add_overflow(mmap->start, mmap->len, &binary.end) || mmap->len == 0)
			binary.end = UINT64_MAX;
		return binary_id_add(table, &binary, STR(KERNEL_NAME), STR(KERNEL_NAME), index);
	}
	if (str_starts_with(name, STR(GUEST_KERNEL_NAME))) {
		/* The guest's kernel is another one, so nothing on this machine can name its functions. */
		binary.kind = MACHINE_NO_FILE;
		return binary_id_add(
			table, &binary, STR("[guest.kernel.kallsyms]"), STR("[guest.kernel.kallsyms]"), index);
	}
	return binary_id_add(table, &binary, name, binary_id_module_name(name, buffer, sizeof(buffer)), index);
}

bool binary_table_add_bpf(struct binary_table *table, const struct record_ksymbol *ksymbol, uint32_t *index)
{
	struct machine_binary binary = {.kind = MACHINE_BPF, .pid = -1, .start = ksymbol->addr};
	return binary_id_add(table, &binary, ksymbol->name, ksymbol->name, index);
}

bool binary_table_add_jitdump(struct binary_table *table, struct tally_str path, int32_t pid, uint32_t *index)
{
	struct machine_binary binary = {.kind = MACHINE_JITDUMP, .pid = pid};
	return binary_id_add(table, &binary, path, binary_id_base_name(path), index);
}

static bool is_module_file(struct tally_str path)
{
	struct tally_str base = binary_id_base_name(path);
	for (size_t i = 1; i + 3 <= base.len; i++)
		if (memcmp(base.data + i, ".ko", 3) == 0 && (i + 3 == base.len || base.data[i + 3] == '.'))
			return true;
	return false;
}

/* Returns whether a mapping of the kernel with this name is the kernel itself. Other names in brackets are those of modules
 * without a file and of the vDSO; files with .ko are modules, and names with bpf_ are BPF programs. */
static bool is_kernel_file(struct tally_str path)
{
	return is_kernel_name(path) || str_equal(path, STR("[kernel.kcore]")) ||
	       (path.len > 0 && path.data[0] != '[' && !is_module_file(path) &&
		       !str_starts_with(path, STR("bpf_prog_")) && !str_starts_with(path, STR("bpf_trampoline_")));
}

bool binary_is_listed_kernel(uint16_t misc, struct tally_str path)
{
	unsigned mode = misc & MISC_CPUMODE_MASK;
	return mode == MISC_CPUMODE_KERNEL ? is_kernel_file(path)
					   : mode != MISC_CPUMODE_GUEST_KERNEL && is_kernel_name(path);
}

static enum binary_owner binary_owner_of(const struct binary_table *table, const struct machine_binary *binary)
{
	if (binary->kind == MACHINE_KERNEL || binary->kind == MACHINE_KERNEL_MODULE)
		return BINARY_OF_KERNEL;
	return str_starts_with(intern_get(table->strings, binary->path), STR("[guest.")) ? BINARY_OF_GUEST
											 : BINARY_OF_USER;
}

static bool list_id(struct binary_listing *listing, struct tally_str name, const struct record_build_id *id)
{
	uint32_t index;
	if (!intern_add(&listing->names, name.data, name.len, &index))
		return false;
	if (index < listing->ids.len)
		return true; /* The first build ID of a path is kept: perf lists each path once per machine. */
	return vec_push(&listing->ids, ((struct binary_listed){.build_id = *id}));
}

static bool list_guest(struct binary_table *table, const struct machine_listed_id *entry)
{
	char name[64];
	int len = entry->pid > 0 ? snprintf(name, sizeof(name), GUEST_KERNEL_NAME ".%d]", entry->pid)
				 : snprintf(name, sizeof(name), GUEST_KERNEL_NAME "]");
	bool is_kernel = is_kernel_file(entry->path) || str_starts_with(entry->path, STR(GUEST_KERNEL_NAME));
	return list_id(&table->listed[BINARY_OF_GUEST], is_kernel ? (struct tally_str){name, (size_t)len} : entry->path,
		&entry->id);
}

static bool list_kernel(struct binary_table *table, const struct machine_listed_id *entry)
{
	if (table->kernel_path == INTERN_NONE &&
		!intern_add(table->strings, entry->path.data, entry->path.len, &table->kernel_path))
		return false;
	return list_id(&table->listed[BINARY_OF_KERNEL], STR(KERNEL_NAME), &entry->id);
}

bool binary_table_add_build_id(struct binary_table *table, const struct machine_listed_id *entry)
{
	unsigned mode = entry->misc & MISC_CPUMODE_MASK;
	struct tally_str path = entry->path;
	char buffer[80];
	if (mode == MISC_CPUMODE_GUEST_KERNEL)
		return list_guest(table, entry);
	if (mode == MISC_CPUMODE_GUEST_USER)
		return true; /* The mappings of a guest's processes are not recorded. */
	if (binary_is_listed_kernel(entry->misc, path))
		return list_kernel(table, entry);
	/*
	 * Some writers do not say whether the kernel owns a file, or assign the vdso to it; the file's mapping then
	 * decides.
	 */
	bool is_module = is_module_file(path) || (path.len > 0 && path.data[0] == '[');
	if ((mode == MISC_CPUMODE_KERNEL || is_module) &&
		!list_id(&table->listed[BINARY_OF_KERNEL], binary_id_module_name(path, buffer, sizeof(buffer)),
			&entry->id))
		return false;
	return list_id(&table->listed[BINARY_OF_USER], path, &entry->id);
}

static struct tally_str listed_name(
	const struct binary_table *table, const struct machine_binary *binary, char *buffer, size_t size)
{
	struct tally_str path = intern_get(table->strings, binary->path);
	switch (binary_owner_of(table, binary)) {
	case BINARY_OF_KERNEL:
		return binary->kind == MACHINE_KERNEL ? STR(KERNEL_NAME) : binary_id_module_name(path, buffer, size);
	case BINARY_OF_GUEST:
	case BINARY_OF_USER:
	case BINARY_OWNERS:
	default:
		return path;
	}
}

static struct binary_listed *listed_of(const struct binary_table *table, const struct machine_binary *binary)
{
	const struct binary_listing *listing = &table->listed[binary_owner_of(table, binary)];
	char buffer[80];
	struct tally_str name = listed_name(table, binary, buffer, sizeof(buffer));
	uint32_t listed = intern_find(&listing->names, name.data, name.len);
	return listed == INTERN_NONE ? NULL : &listing->ids.items[listed];
}

const struct record_build_id *binary_table_listed_build_id(const struct binary_table *table, uint32_t index)
{
	const struct machine_binary *binary = &table->binaries.items[index];
	const struct binary_listed *listed = listed_of(table, binary);
	if (!listed)
		return NULL;
	return binary->build_id.size ? &binary->build_id : &listed->build_id;
}

bool binary_table_lists_build_ids(const struct binary_table *table)
{
	for (size_t owner = 0; owner < BINARY_OWNERS; owner++)
		if (table->listed[owner].ids.len > 0)
			return true;
	return false;
}

/*
 * Determines to which of the binaries at a path the listed build ID belongs: the last one without a build ID of its
 * own, unless another one has the listed build ID.
 */
static void binary_id_find_listed(struct binary_table *table)
{
	for (size_t owner = 0; owner < BINARY_OWNERS; owner++)
		for (size_t i = 0; i < table->listed[owner].ids.len; i++) {
			table->listed[owner].ids.items[i].is_taken = false;
			table->listed[owner].ids.items[i].last = 0;
		}
	for (size_t i = 0; i < table->binaries.len; i++) {
		const struct machine_binary *binary = &table->binaries.items[i];
		struct binary_listed *listed = listed_of(table, binary);
		if (!listed)
			continue;
		if (binary->has_own_id)
			listed->is_taken |= !memcmp(&binary->build_id, &listed->build_id, sizeof(listed->build_id));
		else
			listed->last = (uint32_t)i + 1;
	}
}

/* Gives the kernel its path in the table of build IDs, and a short name as in perf. */
static bool name_kernel(struct binary_table *table, struct machine_binary *kernel)
{
	if (table->kernel_path == INTERN_NONE)
		return true;
	struct tally_str path = intern_get(table->strings, table->kernel_path);
	if (is_kernel_name(path))
		return true;
	struct tally_str shown = memmem(path.data, path.len, "vmlinux", strlen("vmlinux")) ? STR(VMLINUX_NAME)
											   : binary_id_base_name(path);
	kernel->path = table->kernel_path;
	return intern_add(table->strings, shown.data, shown.len, &kernel->short_name);
}

bool binary_table_finish(struct binary_table *table)
{
	/* The cached binaries were found by the build IDs of their records, which may change below. */
	memset(table->recent, 0, sizeof(table->recent));
	binary_id_find_listed(table);
	for (size_t i = 0; i < table->binaries.len; i++) {
		struct machine_binary *binary = &table->binaries.items[i];
		const struct binary_listed *listed = listed_of(table, binary);
		binary->is_listed = listed != NULL;
		bool is_meant = listed && !listed->is_taken && listed->last == i + 1;
		if (listed && !binary->has_own_id && (is_meant || binary->file.inode == 0))
			binary->build_id = listed->build_id;
		if (binary->kind == MACHINE_KERNEL && !name_kernel(table, binary))
			return false;
	}
	return true;
}
