#include "machine/binary_id.h"

#include <stdio.h>
#include <sys/mman.h>

void binary_table_init(struct binary_table *table, struct intern *strings)
{
	*table = (struct binary_table){.strings = strings};
	intern_init(&table->keys);
	intern_init(&table->build_id_paths);
}

void binary_table_deinit(struct binary_table *table)
{
	intern_deinit(&table->keys);
	intern_deinit(&table->build_id_paths);
	vec_free(&table->binaries);
	vec_free(&table->build_ids);
}

static struct tally_str base_name(struct tally_str path)
{
	size_t start = path.len;
	while (start > 0 && path.data[start - 1] != '/')
		start--;
	if (start == path.len)
		return path;
	return (struct tally_str){path.data + start, path.len - start};
}

/* Adds or finds the binary of (path, build id, pid); the short name is taken only for a new one. */
static bool add(struct binary_table *table, struct machine_binary *binary, struct tally_str path,
	struct tally_str short_name, uint32_t *index)
{
	struct {
		uint32_t path;
		int32_t pid;
		struct record_build_id build_id;
		bool is_dump; /* apart from the marker that names it */
	} key;
	memset(&key, 0, sizeof(key));
	if (!intern_add(table->strings, path.data, path.len, &binary->path))
		return false;
	key.path = binary->path;
	key.is_dump = binary->kind == MACHINE_JITDUMP;
	key.pid = binary->kind == MACHINE_ANON_JIT || binary->kind == MACHINE_JITDUMP ? binary->pid : -1;
	key.build_id = binary->build_id;
	uint32_t id;
	if (!intern_add(&table->keys, &key, sizeof(key), &id))
		return false;
	if (id < table->binaries.len) {
		*index = id;
		return true;
	}
	if (!intern_add(table->strings, short_name.data, short_name.len, &binary->short_name))
		return false;
	if (!vec_push(&table->binaries, *binary))
		return false;
	*index = id;
	return true;
}

static bool is_anonymous(struct tally_str name)
{
	return str_equal(name, STR("//anon")) || str_starts_with(name, STR("/dev/zero")) ||
	       str_starts_with(name, STR("/anon_hugepage")) || str_starts_with(name, STR("[anon"));
}

/* Memory that a program asked for: what runs there was generated, as in anonymous memory. */
static bool is_own_memory(struct tally_str name)
{
	return str_starts_with(name, STR("[stack")) || str_starts_with(name, STR("/SYSV")) ||
	       str_starts_with(name, STR("[heap]"));
}

static bool has_no_file(struct tally_str name)
{
	return is_own_memory(name) || str_equal(name, STR("[vsyscall]")) || str_starts_with(name, STR("anon_inode:"));
}

static bool has_build_id(const struct binary_table *table, uint32_t index, const struct record_build_id *id)
{
	return memcmp(&table->binaries.items[index].build_id, id, sizeof(*id)) == 0;
}

static bool is_recent(const struct binary_table *table, uint32_t index, const struct record_mmap *mmap)
{
	return has_build_id(table, index, &mmap->build_id) &&
	       str_equal(intern_get(table->strings, table->binaries.items[index].path), mmap->filename);
}

static bool add_user(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index)
{
	struct machine_binary binary = {
		.kind = MACHINE_USER_FILE, .build_id = mmap->build_id, .pid = (int32_t)mmap->pid};
	struct tally_str path = mmap->filename;
	struct tally_str short_name = base_name(path);
	char map_path[32];
	char jit_name[32];
	bool is_code = mmap->prot & PROT_EXEC;
	if (is_anonymous(path) && !is_code) {
		binary.kind = MACHINE_ANON_DATA;
	} else if (is_anonymous(path) || (is_own_memory(path) && is_code)) {
		binary.kind = MACHINE_ANON_JIT;
		path = (struct tally_str){
			map_path, (size_t)snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", binary.pid)};
		short_name = (struct tally_str){
			jit_name, (size_t)snprintf(jit_name, sizeof(jit_name), "[JIT] tid %d", binary.pid)};
	} else if (str_equal(path, STR("[vdso]")) || str_equal(path, STR("[vdso32]")) ||
		   str_equal(path, STR("[vdsox32]"))) {
		binary.kind = MACHINE_VDSO;
	} else if (has_no_file(path)) {
		binary.kind = MACHINE_NO_FILE;
	}
	return add(table, &binary, path, short_name, index);
}

/* Names differ at their ends. */
static size_t recent_slot(struct tally_str name)
{
	uint64_t tail = 0;
	if (name.len >= sizeof(tail))
		memcpy(&tail, name.data + name.len - sizeof(tail), sizeof(tail));
	return (tail * UINT64_C(0x9e3779b97f4a7c15) >> 32 ^ name.len) % BINARY_TABLE_RECENT;
}

bool binary_table_add_user(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index)
{
	uint32_t *recent = &table->recent[recent_slot(mmap->filename)];
	if (*recent > 0 && is_recent(table, *recent - 1, mmap)) {
		*index = *recent - 1;
		return true;
	}
	if (!add_user(table, mmap, index))
		return false;
	/* Neither what depends on more than name and build id, nor what was given another build id at a finish. */
	if (!is_anonymous(mmap->filename) && has_build_id(table, *index, &mmap->build_id))
		*recent = *index + 1;
	return true;
}

/* "/lib/modules/6.1/kernel/net/nf_nat.ko.xz" -> "[nf_nat]"; dashes are underscores in a module's name. */
static struct tally_str module_name(struct tally_str path, char *buffer, size_t size)
{
	struct tally_str base = base_name(path);
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
	/* "[kernel.kallsyms]_text": what follows the bracket names the reference symbol, whose address is pgoff. */
	if (str_starts_with(name, STR("[kernel.kallsyms]")) || str_starts_with(name, STR("[kernel.vmlinux]"))) {
		binary.kind = MACHINE_KERNEL;
		binary.start = mmap->pgoff ? mmap->pgoff : mmap->start;
		if (__builtin_add_overflow(mmap->start, mmap->len, &binary.end) || mmap->len == 0)
			binary.end = UINT64_MAX;
		return add(table, &binary, STR("[kernel.kallsyms]"), STR("[kernel.kallsyms]"), index);
	}
	if (str_starts_with(name, STR("[guest.kernel.kallsyms"))) {
		binary.kind = MACHINE_NO_FILE; /* another machine's kernel: nothing here can name it */
		return add(table, &binary, STR("[guest.kernel.kallsyms]"), STR("[guest.kernel.kallsyms]"), index);
	}
	return add(table, &binary, name, module_name(name, buffer, sizeof(buffer)), index);
}

bool binary_table_add_bpf(struct binary_table *table, const struct record_ksymbol *ksymbol, uint32_t *index)
{
	struct machine_binary binary = {.kind = MACHINE_BPF, .pid = -1, .start = ksymbol->addr};
	return add(table, &binary, ksymbol->name, ksymbol->name, index);
}

bool binary_table_add_jitdump(struct binary_table *table, struct tally_str path, int32_t pid, uint32_t *index)
{
	struct machine_binary binary = {.kind = MACHINE_JITDUMP, .pid = pid};
	return add(table, &binary, path, base_name(path), index);
}

bool binary_table_add_build_id(struct binary_table *table, struct tally_str path, const uint8_t *id, uint8_t size)
{
	struct record_build_id build_id = {
		.size = size > sizeof(build_id.bytes) ? (uint8_t)sizeof(build_id.bytes) : size};
	memcpy(build_id.bytes, id, build_id.size);
	uint32_t index;
	if (!intern_add(&table->build_id_paths, path.data, path.len, &index))
		return false;
	if (index < table->build_ids.len)
		return true; /* the first one of a path stays: perf lists a path once per machine */
	return vec_push(&table->build_ids, build_id);
}

const struct record_build_id *binary_table_listed_build_id(const struct binary_table *table, uint32_t index)
{
	const struct machine_binary *binary = &table->binaries.items[index];
	struct tally_str path = intern_get(table->strings, binary->path);
	uint32_t listed = intern_find(&table->build_id_paths, path.data, path.len);
	if (listed == INTERN_NONE)
		return NULL;
	return binary->build_id.size ? &binary->build_id : &table->build_ids.items[listed];
}

void binary_table_finish(struct binary_table *table)
{
	memset(table->recent, 0, sizeof(table->recent)); /* they are told by the build ids that the records have */
	for (size_t i = 0; i < table->binaries.len; i++) {
		struct machine_binary *binary = &table->binaries.items[i];
		const struct record_build_id *listed = binary_table_listed_build_id(table, (uint32_t)i);
		binary->is_listed = listed != NULL;
		if (listed)
			binary->build_id = *listed;
	}
}
