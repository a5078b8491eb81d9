/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_maps.h"

#include <string.h>
#include <sys/mman.h>

#include "analysis/jit_code.h"
#include "base/error.h"
#include "base/order.h"
#include "machine/binary_id.h"

#define FILES_KEPT 4096 /* Minimum number of files for which removing those no longer mapped is worthwhile. */

void live_maps_init(struct live_maps *maps)
{
	*maps = (struct live_maps){0};
	intern_init(&maps->paths);
	intern_init(&maps->keys);
}

static struct live_process *live_maps_process_of(uint64_t value)
{
	return (struct live_process *)(uintptr_t)value;
}

static void process_destroy(struct live_process *process)
{
	if (!process)
		return;
	vec_free(&process->mappings);
	free(process);
}

static void drop_tables(struct live_maps *maps)
{
	map_u64_deinit(&maps->by_pid);
	vec_free(&maps->files);
	vec_free(&maps->ended);
	intern_deinit(&maps->paths);
	intern_deinit(&maps->keys);
}

void live_maps_deinit(struct live_maps *maps)
{
	size_t position = 0;
	uint64_t pid, value;
	while (map_u64_next(&maps->by_pid, &position, &pid, &value))
		process_destroy(live_maps_process_of(value));
	drop_tables(maps);
}

struct live_process *live_maps_process(const struct live_maps *maps, int32_t pid)
{
	uint64_t value;
	return map_u64_find(&maps->by_pid, (uint32_t)pid, &value) ? live_maps_process_of(value) : NULL;
}

static struct live_process *live_maps_find_or_add(struct live_maps *maps, int32_t pid)
{
	uint64_t *slot = map_u64_at(&maps->by_pid, (uint32_t)pid, NULL);
	if (!slot || *slot)
		return slot ? live_maps_process_of(*slot) : NULL;
	struct live_process *process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	*slot = (uintptr_t)process;
	maps->process_count++;
	return process;
}

/* Returns the index of the first mapping that ends after address. */
static size_t lower_bound(const struct live_process *process, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, process->mappings.len, middle, process->mappings.items[middle].end <= address);
	return low;
}

const struct live_mapping *live_maps_find(const struct live_process *process, uint64_t address)
{
	size_t at = lower_bound(process, address);
	return at < process->mappings.len && process->mappings.items[at].start <= address ? &process->mappings.items[at]
											  : NULL;
}

/* Inserts a mapping and cuts the existing mappings that overlap it. */
static bool live_maps_put_mapping(struct live_process *process, const struct live_mapping *map)
{
	size_t first = lower_bound(process, map->start), end = first, len = process->mappings.len;
	struct live_mapping pieces[3];
	size_t count = 0;
	while (end < len && process->mappings.items[end].start < map->end)
		end++;
	if (first < end && process->mappings.items[first].start < map->start) {
		pieces[count] = process->mappings.items[first];
		pieces[count++].end = map->start;
	}
	pieces[count++] = *map;
	if (first < end && process->mappings.items[end - 1].end > map->end) {
		pieces[count] = process->mappings.items[end - 1];
		pieces[count].pgoff += map->end - pieces[count].start;
		pieces[count++].start = map->end;
	}
	if (!vec_reserve(&process->mappings, len + count))
		return false;
	struct live_mapping *items = process->mappings.items;
	memmove(items + first + count, items + end, (len - end) * sizeof(*items));
	memcpy(items + first, pieces, count * sizeof(*items));
	process->mappings.len = len - (end - first) + count;
	process->changes++;
	return true;
}

static enum live_file_kind live_maps_kind_of(const struct record_mmap *mmap)
{
	struct tally_str path = mmap->filename;
	if (jit_code_is_marker(mmap))
		return LIVE_DUMP;
	if (str_equal(path, STR("[vdso]")) || str_equal(path, STR(BINARY_VDSO_32)))
		return LIVE_VDSO;
	bool is_file = str_starts_with(path, STR("/")) && !binary_is_generated(mmap) &&
		       !str_starts_with(path, STR("//anon")) && !str_starts_with(path, STR("/dev/zero")) &&
		       !str_starts_with(path, STR("/anon_hugepage")) && !str_starts_with(path, STR("/SYSV"));
	return is_file ? LIVE_FILE : LIVE_NO_FILE;
}

struct file_key {
	uint64_t inode, generation;
	uint32_t path, major, minor;
	uint8_t build_id[20], build_id_size, zero[7];
};

static bool find_or_add_file(struct live_maps *maps, const struct record_mmap *mmap, uint32_t *index)
{
	struct file_key key;
	struct tally_str name = sizeof(void *) == 8 && binary_is_vdso_32(mmap) ? STR(BINARY_VDSO_32) : mmap->filename;
	struct live_file file = {
		.kind = live_maps_kind_of(mmap), .pid = (int32_t)mmap->pid, .build_id = mmap->build_id};
	memset(&key, 0, sizeof(key));
	if (!intern_add(&maps->paths, name.data, name.len, &file.path))
		return false;
	key.path = file.path;
	key.build_id_size = mmap->build_id.size;
	memcpy(key.build_id, mmap->build_id.bytes, sizeof(key.build_id));
	if (mmap->build_id.size == 0) { /* The kernel reports either a build ID or an inode. */
		key.inode = mmap->inode;
		key.generation = mmap->inode_generation;
		key.major = mmap->major;
		key.minor = mmap->minor;
		file.major = mmap->major;
		file.minor = mmap->minor;
		file.inode = mmap->inode;
		file.generation = mmap->inode_generation;
	}
	return intern_add(&maps->keys, &key, sizeof(key), index) &&
	       (*index < maps->files.len || (*index == maps->files.len && vec_push(&maps->files, file)));
}

/* Makes a jitdump the first one in which generated code is searched. A process has several because a child also uses
 * those of its parent, whose code it inherits. */
static void live_maps_put_dump(struct live_process *process, uint32_t file)
{
	unsigned at = 0;
	while (at < process->dump_count && process->dumps[at] != file)
		at++;
	if (at == process->dump_count && process->dump_count < LIVE_DUMPS_MAX)
		process->dump_count++;
	if (at == LIVE_DUMPS_MAX)
		at--;
	memmove(process->dumps + 1, process->dumps, at * sizeof(process->dumps[0]));
	process->dumps[0] = file;
	process->changes++;
}

static bool live_maps_apply_mmap(struct live_maps *maps, const struct record *record, const struct record_mmap *mmap)
{
	struct live_mapping map = {.start = mmap->start, .pgoff = mmap->pgoff, .is_shared = mmap->flags & MAP_SHARED};
	unsigned mode = record->misc & MISC_CPUMODE_MASK;
	if (mode == MISC_CPUMODE_KERNEL || mmap->pid == UINT32_MAX || mmap->len == 0 ||
		__builtin_add_overflow(mmap->start, mmap->len, &map.end))
		return true;
	struct live_process *process = live_maps_find_or_add(maps, (int32_t)mmap->pid);
	if (!process || !find_or_add_file(maps, mmap, &map.file) || !live_maps_put_mapping(process, &map))
		return false;
	if (maps->files.items[map.file].kind == LIVE_DUMP)
		live_maps_put_dump(process, map.file);
	return true;
}

static bool apply_exec(struct live_maps *maps, int32_t pid)
{
	struct live_process *process = live_maps_find_or_add(maps, pid);
	if (!process)
		return false;
	process->mappings.len = 0;
	process->dump_count = 0;
	process->changes++;
	process->has_ended = false;
	return true;
}

static bool live_maps_apply_fork(struct live_maps *maps, const struct record_task *task)
{
	if (task->pid == task->ppid)
		return true; /* The fork created a thread. */
	const struct live_process *parent = live_maps_process(maps, (int32_t)task->ppid);
	if (!parent)
		return true;
	struct live_process *child = live_maps_find_or_add(maps, (int32_t)task->pid);
	if (!child || !vec_reserve(&child->mappings, parent->mappings.len))
		return false;
	if (parent->mappings.len)
		memcpy(child->mappings.items, parent->mappings.items,
			parent->mappings.len * sizeof(*parent->mappings.items));
	child->mappings.len = parent->mappings.len;
	memcpy(child->dumps, parent->dumps, sizeof(child->dumps));
	child->dump_count = parent->dump_count;
	child->changes++;
	child->has_ended = false;
	return true;
}

/* Assumes that no other thread outlives the first one, as in nearly all programs. */
static bool live_maps_apply_exit(struct live_maps *maps, const struct record_task *task)
{
	struct live_process *process = live_maps_process(maps, (int32_t)task->pid);
	if (!process || task->tid != task->pid || process->has_ended)
		return true;
	process->has_ended = true;
	return vec_push(&maps->ended, process->pid);
}

enum tally_status live_maps_apply(struct live_maps *maps, const struct record *record,
	const struct record_fields *fields, struct tally_error *err)
{
	bool ok = true;
	switch (fields->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		ok = live_maps_apply_mmap(maps, record, &fields->mmap);
		break;
	case RECORD_COMM:
		ok = !fields->comm.is_exec || apply_exec(maps, (int32_t)fields->comm.pid);
		break;
	case RECORD_FORK:
		ok = live_maps_apply_fork(maps, &fields->task);
		break;
	case RECORD_EXIT:
		ok = live_maps_apply_exit(maps, &fields->task);
		break;
	default:
		break;
	}
	return ok ? TALLY_OK : error_nomem(err);
}

void live_maps_forget(struct live_maps *maps, void (*dropped)(void *context, int32_t pid), void *context)
{
	for (size_t i = 0; i < maps->ended.len; i++) {
		uint64_t *slot = map_u64_at(&maps->by_pid, (uint32_t)maps->ended.items[i], NULL);
		struct live_process *process = slot ? live_maps_process_of(*slot) : NULL;
		if (!process || !process->has_ended)
			continue; /* The PID was reused by another process. */
		if (dropped)
			dropped(context, process->pid);
		process_destroy(process);
		*slot = 0;
		maps->process_count--;
	}
	maps->ended.len = 0;
}

bool live_maps_is_stale(const struct live_maps *maps)
{
	return maps->files.len >= maps->stale_at && maps->files.len >= FILES_KEPT;
}

struct renumbering {
	struct live_maps *from, *to;
	uint32_t *numbers; /* Maps an old file number to the new one + 1; 0 if not copied yet. */
};

static bool take_over(struct renumbering *r, uint32_t *file_number)
{
	uint32_t *number = &r->numbers[*file_number];
	if (*number == 0) {
		struct live_file file = r->from->files.items[*file_number];
		struct tally_str key = intern_get(&r->from->keys, *file_number);
		struct tally_str path = live_maps_path(r->from, &file);
		struct file_key bytes;
		uint32_t index;
		memcpy(&bytes, key.data, sizeof(bytes));
		if (!intern_add(&r->to->paths, path.data, path.len, &file.path))
			return false;
		bytes.path = file.path;
		if (!intern_add(&r->to->keys, &bytes, sizeof(bytes), &index) || !vec_push(&r->to->files, file))
			return false;
		*number = index + 1;
	}
	*file_number = *number - 1;
	return true;
}

enum tally_status live_maps_renumber(struct live_maps *maps, struct tally_error *err)
{
	struct live_maps fresh;
	size_t position = 0;
	uint64_t pid, value;
	live_maps_init(&fresh);
	struct renumbering r = {maps, &fresh, calloc(maps->files.len + 1, sizeof(*r.numbers))};
	bool ok = r.numbers != NULL;
	while (ok && map_u64_next(&maps->by_pid, &position, &pid, &value)) {
		struct live_process *process = live_maps_process_of(value);
		if (!process)
			/* The process was removed, but map_u64 cannot delete keys: only this rebuild drops them. */
			continue;
		for (size_t i = 0; ok && i < process->mappings.len; i++)
			ok = take_over(&r, &process->mappings.items[i].file);
		for (unsigned i = 0; ok && i < process->dump_count; i++)
			ok = take_over(&r, &process->dumps[i]);
		ok = ok && map_u64_set(&fresh.by_pid, pid, value);
	}
	free(r.numbers);
	if (!ok) {
		drop_tables(&fresh);
		return error_nomem(err);
	}
	fresh.process_count = maps->process_count;
	fresh.stale_at = 2 * fresh.files.len;
	drop_tables(maps);
	*maps = fresh;
	return TALLY_OK;
}

struct tally_str live_maps_path(const struct live_maps *maps, const struct live_file *file)
{
	return intern_get(&maps->paths, file->path);
}
