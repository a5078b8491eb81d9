/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/walk_files.h"

#include "tally_config.h"

#if HAVE_BPF
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/error.h"
#include "code/binaries/mapped_file.h"
#include "kernel/system/kernel_files.h"

#define WALK_ASKED_MOST	       128 /* Maximum number of files that are open at a time. */
#define WALK_DEVICE_MINOR_BITS 20 /* Number of bits of the minor number in the kernel's device numbers. */
#define WALK_BLOCK_BYTES       (WALK_BLOCK_CHUNKS * sizeof(struct walk_chunk))

static int walk_files_find_kept(void *context, const struct binary_key *key)
{
	const struct walk_files *f = context;
	return f->fd;
}

/*
 * The map can be mapped into memory, so that rows are written where the BPF programs read them. The map of maps holds a
 * reference to the block.
 */
static struct walk_chunk *walk_files_grow(void *context, uint32_t block)
{
	const struct walk_files *f = context;
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "walk_block", sizeof(uint32_t), sizeof(struct walk_chunk),
		WALK_BLOCK_CHUNKS, &options);
	if (fd < 0)
		return NULL;
	void *chunks = mmap(NULL, WALK_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (chunks != MAP_FAILED && bpf_map_update_elem(f->maps.rows, &block, &fd, BPF_ANY) != 0) {
		munmap(chunks, WALK_BLOCK_BYTES);
		chunks = MAP_FAILED;
	}
	close(fd);
	return chunks == MAP_FAILED ? NULL : chunks;
}

enum tally_status walk_files_init(struct walk_files *f, const struct walk_tables_config *config,
	const struct walk_files_maps *maps, struct tally_error *err)
{
	f->config = config;
	f->maps = *maps;
	f->fd = -1;
	intern_init(&f->paths);
	intern_init(&f->places);
	f->kept = (struct binary_kept){.find = walk_files_find_kept, .context = f};
	struct binary_store_options options = config->store;
	options.threads = 1;
	options.kept = &f->kept;
	enum tally_status status = binary_store_create(&options, &f->store, err);
	const struct walk_pool_grower grower = {walk_files_grow, f};
	if (status == TALLY_OK && !walk_pool_init(&f->pool, WALK_BLOCKS * WALK_BLOCK_CHUNKS, maps->rules_max, &grower))
		status = error_nomem(err);
	return status;
}

void walk_files_deinit(struct walk_files *f)
{
	for (size_t i = 0; i < f->pool.blocks.len; i++)
		munmap(f->pool.blocks.items[i], WALK_BLOCK_BYTES);
	walk_pool_deinit(&f->pool);
	for (size_t i = 0; i < f->asked.len; i++)
		close(f->asked.items[i].fd);
	vec_free(&f->asked);
	binary_store_destroy(f->store);
	intern_deinit(&f->paths);
	intern_deinit(&f->places);
	vec_free(&f->numbers);
	vec_free(&f->files);
}

static uint32_t walk_files_add(struct walk_files *f, const struct binary_key *key)
{
	uint32_t number;
	if (binary_store_add(f->store, key, &number, NULL) != TALLY_OK || !vec_reserve(&f->files, (size_t)number + 1))
		return UINT32_MAX;
	while (f->files.len <= number)
		f->files.items[f->files.len++] = (struct walk_file){0};
	return number;
}

static bool walk_files_is_file(const struct proc_map *map)
{
	return map->path.len > 0 && map->path.data[0] == '/';
}

static struct binary_key walk_files_key(const struct proc_map *map, pid_t pid)
{
	bool is_vdso = str_equal(map->path, STR("[vdso]"));
	return (struct binary_key){.kind = is_vdso		     ? BINARY_VDSO
					   : walk_files_is_file(map) ? BINARY_USER
								     : BINARY_NONE,
		.path = map->path,
		.major = map->major,
		.minor = map->minor,
		.inode = map->inode,
		.pid = pid};
}

struct walk_file *walk_files_get(struct walk_files *f, uint32_t number)
{
	return &f->files.items[number];
}

void walk_files_make(struct walk_files *f, uint32_t number)
{
	struct walk_file *file = &f->files.items[number];
	if (file->is_tried)
		return;
	file->is_tried = true;
	const struct unwind_table *table = binary_store_unwind(f->store, number);
	if (!table)
		return;
	file->has_table = walk_pool_add(&f->pool, f->config->arch, table, &file->place);
	if (file->has_table)
		file->interpreter = python_frames_add(f->python, file->python, f->fd, file->place.base);
	f->table_count += file->has_table;
	f->chunks_used = f->pool.chunks_used;
	/* Rules are written before rows that refer to them become visible. */
	for (; f->rules_written < f->pool.rules.len && f->rules_written < f->pool.rule_max; f->rules_written++)
		(void)bpf_map_update_elem(
			f->maps.rules, &f->rules_written, intern_get(&f->pool.rules, f->rules_written).data, BPF_ANY);
}

/*
 * Tries an address in the middle first, because the first and last page of a segment may be shared with its neighbours.
 */
static bool walk_files_find_shift(struct walk_files *f, uint32_t number, uint64_t begin, uint64_t end, uint64_t *shift)
{
	uint64_t size = end - begin;
	const uint64_t places[] = {size / 2, 4095, size - 1, 0, size - 4096};
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct tally_elf_va va;
		uint64_t offset = begin + places[i];
		if (places[i] < size &&
			binary_store_unwind_va(f->store, number, (struct tally_file_off){offset}, &va)) {
			*shift = va.value - offset - f->files.items[number].place.base;
			return true;
		}
	}
	return false;
}

bool walk_files_fill(struct walk_files *f, uint32_t number, struct walk_mapping *mapping)
{
	const struct walk_file *file = &f->files.items[number];
	uint64_t shift, offset = mapping->bias;
	if (!file->has_table ||
		!walk_files_find_shift(f, number, offset, offset + (mapping->end - mapping->start), &shift))
		return false;
	mapping->bias = mapping->start - offset - shift;
	mapping->has_table = 1;
	mapping->interpreter = file->interpreter;
	mapping->chunk = file->place.chunk;
	mapping->chunk_count = file->place.chunk_count;
	return true;
}

/* Describes where the rows of each executable segment are. */
static void walk_files_describe(struct walk_files *f, uint32_t number, struct walk_file_table *table)
{
	size_t count;
	uint64_t entry;
	const struct walk_file *file = &f->files.items[number];
	const struct elf_segment *segments = binary_store_unwind_segments(f->store, number, &count, &entry);
	table->state = file->has_table ? WALK_FILE_HAS_TABLE : WALK_FILE_HAS_NONE;
	table->chunk = file->place.chunk;
	table->chunk_count = file->place.chunk_count;
	table->has_entry = entry != 0;
	table->entry = entry - file->place.base;
	table->interpreter = file->interpreter;
	for (size_t i = 0; i < count && table->segment_count < WALK_SEGMENTS; i++)
		if (segments[i].is_executable)
			table->segments[table->segment_count++] = (struct walk_segment){.begin = segments[i].offset,
				.end = segments[i].offset + segments[i].file_size,
				.shift = segments[i].vaddr - segments[i].offset - file->place.base};
}

/* Publishes the file's table to the BPF programs. */
static void walk_files_write(struct walk_files *f, const struct walk_file_key *key, uint32_t number)
{
	struct walk_file_table table = {.state = WALK_FILE_HAS_NONE,
		.page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE))};
	if (number != UINT32_MAX) {
		walk_files_make(f, number);
		walk_files_describe(f, number, &table);
	}
	(void)bpf_map_update_elem(f->maps.files, key, &table, BPF_ANY);
}

static bool walk_files_open(struct walk_files *f, const struct proc_map *map, pid_t pid)
{
	char *path = strndup(map->path.data, map->path.len);
	const struct mapped_file file = {.pid = pid,
		.start = map->start,
		.end = map->end,
		.path = path ? path : "",
		.major = map->major,
		.minor = map->minor,
		.inode = map->inode};
	f->fd = mapped_file_open(&file);
	free(path);
	return f->fd >= 0;
}

/* Identifies the open file by its contents, because its path may soon name another file. */
static uint32_t walk_files_number_open(struct walk_files *f, const struct proc_map *map, const struct stat *st)
{
	char path[32];
	struct elf_build_id id = {.size = 0};
	struct binary_key key = walk_files_key(map, -1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	if (elf_file_build_id(path, &id, NULL) == TALLY_OK && id.size <= sizeof(key.build_id)) {
		key.build_id_size = id.size;
		memcpy(key.build_id, id.bytes, id.size);
	} else {
		key.generation = (uint64_t)st->st_mtim.tv_sec << 32 ^ (uint64_t)st->st_mtim.tv_nsec;
	}
	uint32_t number = walk_files_add(f, &key);
	if (number != UINT32_MAX)
		f->files.items[number].python = python_version_of(map->path);
	return number;
}

static void walk_files_close(struct walk_files *f)
{
	close(f->fd);
	f->fd = -1;
}

/* Stores the file's number by path and inode, because opening the file is slow. */
static uint32_t walk_files_remember(struct walk_files *f, const struct proc_map *map, uint32_t number)
{
	char key[64];
	uint32_t path, place;
	if (!intern_add(&f->paths, map->path.data, map->path.len, &path))
		return UINT32_MAX;
	int len = snprintf(
		key, sizeof(key), "%u %x:%x %llu", path, map->major, map->minor, (unsigned long long)map->inode);
	if (!intern_add(&f->places, key, (size_t)len, &place))
		return UINT32_MAX;
	while (f->numbers.len <= place)
		if (!vec_push(&f->numbers, UINT32_MAX))
			return UINT32_MAX;
	if (number != UINT32_MAX)
		f->numbers.items[place] = number;
	return f->numbers.items[place];
}

uint32_t walk_files_number(struct walk_files *f, const struct proc_map *map, pid_t pid)
{
	struct stat st;
	const struct binary_key key = walk_files_key(map, pid);
	uint32_t number = walk_files_remember(f, map, UINT32_MAX);
	if (number != UINT32_MAX)
		return number;
	if (key.kind == BINARY_USER && walk_files_open(f, map, pid)) {
		number = fstat(f->fd, &st) == 0 ? walk_files_number_open(f, map, &st) : UINT32_MAX;
		if (number != UINT32_MAX)
			walk_files_make(f, number);
		walk_files_close(f);
	} else {
		number = walk_files_add(f, &key);
		if (number != UINT32_MAX && key.kind != BINARY_VDSO)
			f->files.items[number].is_tried = true;
	}
	return number == UINT32_MAX ? number : walk_files_remember(f, map, number);
}

/* Publishes the table of the open file now, or leaves that to walk_files_work. */
static void walk_files_take(struct walk_files *f, const struct walk_file_key *key, uint32_t number, uint64_t bytes)
{
	bool is_ready = number == UINT32_MAX || f->files.items[number].is_tried;
	if (!is_ready && vec_push(&f->asked, ((struct walk_file_asked){f->fd, number, bytes, *key}))) {
		f->fd = -1;
		return;
	}
	walk_files_write(f, key, number);
	walk_files_close(f);
}

static enum walk_answer walk_files_ask_mapping(
	struct walk_files *f, const struct walk_miss *question, const struct proc_map *map)
{
	const struct walk_file_key *key = &question->file;
	struct stat st;
	/* Inodes are compared only on the same device, because some file systems show other device numbers in mappings
	 * than in inodes. */
	bool is_same_device = (map->major << WALK_DEVICE_MINOR_BITS | map->minor) == key->device;
	if (is_same_device && map->inode != key->inode)
		return WALK_HAS_ENDED;
	if (!walk_files_is_file(map)) {
		walk_files_write(f, key, walk_files_number(f, map, (pid_t)question->pid));
		return WALK_ANSWERED;
	}
	if (f->asked.len >= WALK_ASKED_MOST || !walk_files_open(f, map, (pid_t)question->pid))
		return WALK_UNREADABLE;
	if (fstat(f->fd, &st) == 0 && st.st_mtim.tv_sec == key->mtime_s &&
		(uint32_t)st.st_mtim.tv_nsec == key->mtime_ns) {
		walk_files_take(f, key, walk_files_number_open(f, map, &st), (uint64_t)st.st_size);
		return WALK_ANSWERED;
	}
	walk_files_close(f);
	return WALK_HAS_ENDED;
}

bool walk_files_work(struct walk_files *f)
{
	size_t best = 0;
	if (f->asked.len == 0)
		return false;
	for (size_t i = 1; i < f->asked.len; i++)
		if (f->asked.items[i].bytes < f->asked.items[best].bytes)
			best = i;
	const struct walk_file_asked asked = f->asked.items[best];
	f->asked.items[best] = f->asked.items[--f->asked.len];
	f->fd = asked.fd;
	walk_files_write(f, &asked.key, asked.number);
	walk_files_close(f);
	return true;
}

static bool walk_files_find_line(char *text, const struct walk_miss *question, struct proc_map *map)
{
	for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (proc_map_parse((struct tally_str){line, (size_t)(end - line)}, map) &&
			map->start == question->start && (map->prot & PROT_EXEC))
			return true;
	}
	return false;
}

enum walk_answer walk_files_ask(struct walk_files *f, const struct walk_miss *question)
{
	char *text;
	struct proc_map map;
	enum walk_answer answer = WALK_HAS_ENDED;
	enum tally_status status = kernel_text(f->config->kernel, &text, NULL, "/proc/%d/maps", (int)question->pid);
	if (status == TALLY_OK && walk_files_find_line(text, question, &map))
		answer = walk_files_ask_mapping(f, question, &map);
	else if (status != TALLY_OK && status != TALLY_NOT_FOUND)
		answer = WALK_UNREADABLE;
	if (answer != WALK_ANSWERED) /* Without an entry, the next process that maps the file asks again. */
		(void)bpf_map_delete_elem(f->maps.files, &question->file);
	if (status == TALLY_OK)
		free(text);
	return answer;
}

void walk_files_expect(struct walk_files *f, const struct proc_map *map, pid_t pid)
{
	struct stat st;
	struct walk_file_key key = {.inode = map->inode, .device = map->major << WALK_DEVICE_MINOR_BITS | map->minor};
	if (str_equal(map->path, STR("[vdso]"))) {
		walk_files_write(f, &(struct walk_file_key){0}, walk_files_number(f, map, pid));
		return;
	}
	if (!walk_files_is_file(map) || !walk_files_open(f, map, pid))
		return;
	if (fstat(f->fd, &st) == 0) {
		key.mtime_s = st.st_mtim.tv_sec;
		key.mtime_ns = (uint32_t)st.st_mtim.tv_nsec;
		uint32_t number = walk_files_number_open(f, map, &st);
		walk_files_write(f, &key, number);
		(void)walk_files_remember(f, map, number);
	}
	walk_files_close(f);
}
#endif
