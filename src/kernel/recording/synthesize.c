/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/synthesize.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "abi/encode.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/file_lines.h"
#include "base/limits.h"
#include "kernel/recording/cgroups.h"
#include "kernel/recording/kernel_maps.h"
#include "kernel/system/kernel_files.h"

#define FLUSH_BYTES (256u << 10)
#define COMM_BYTES  16
#define ANON_NAME   "//anon"

void synthesize_init(struct synthesis *s, const struct kernel_seam *kernel, const struct record_layout *layout,
	const struct record_sink *sink)
{
	*s = (struct synthesis){.kernel = kernel, .layout = *layout, .sink = *sink};
}

void synthesize_deinit(struct synthesis *s)
{
	writer_deinit(&s->writer);
	map_u64_deinit(&s->told);
}

enum tally_status synthesize_flush(struct synthesis *s, struct tally_error *err)
{
	struct tally_bytes all = writer_view(&s->writer);
	enum tally_status status = TALLY_OK;
	if (s->writer.failed)
		return error_nomem(err);
	if (all.len)
		status = s->sink.take(s->sink.context, &all, 1, err);
	writer_clear(&s->writer);
	return status;
}

static enum tally_status synthesize_put(struct synthesis *s, const struct record_fields *fields, uint16_t misc,
	const struct record_layout *layout, struct tally_error *err)
{
	struct sample_id id = {0};
	if (!record_encode(&s->writer, fields, misc, layout, &id)) {
		if (s->writer.failed)
			return error_nomem(err);
		s->left_out++;
		return TALLY_OK;
	}
	return s->writer.len >= FLUSH_BYTES ? synthesize_flush(s, err) : TALLY_OK;
}

static bool read_proc(const struct synthesis *s, pid_t pid, const char *what, char **text, size_t *len)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/proc/%d/%s", s->kernel->root, pid, what);
	return file_read(path, LIMIT_SMALL_FILE, text, len, NULL) == TALLY_OK;
}

/* Reads Tgid and PPid of /proc/PID/status, each 0 if its line is missing. */
static bool synthesize_read_ids(const struct synthesis *s, pid_t tid, uint32_t *pid, uint32_t *ppid)
{
	char *text;
	size_t len;
	if (!read_proc(s, tid, "status", &text, &len))
		return false;
	struct tally_str rest = {text, len}, line;
	uint64_t value;
	*pid = *ppid = 0;
	while (str_next(&rest, '\n', &line)) {
		if (str_starts_with(line, STR("Tgid:")) &&
			str_to_u64(str_trim((struct tally_str){line.data + 5, line.len - 5}), 10, &value))
			*pid = (uint32_t)value;
		if (str_starts_with(line, STR("PPid:")) &&
			str_to_u64(str_trim((struct tally_str){line.data + 5, line.len - 5}), 10, &value))
			*ppid = (uint32_t)value;
	}
	free(text);
	return *pid != 0;
}

static enum tally_status synthesize_put_comm(struct synthesis *s, uint32_t pid, uint32_t tid, struct tally_error *err)
{
	char *text;
	size_t len;
	if (!read_proc(s, (pid_t)tid, "comm", &text, &len))
		return TALLY_OK;
	if (len && text[len - 1] == '\n')
		len--;
	len = MIN(len, COMM_BYTES - 1);
	struct record_fields f = {.type = RECORD_COMM, .comm = {pid, tid, false, {text, len}}};
	enum tally_status status = synthesize_put(s, &f, 0, &s->layout, err);
	free(text);
	return status;
}

static enum tally_status put_fork(
	struct synthesis *s, uint32_t pid, uint32_t tid, uint32_t parent, struct tally_error *err)
{
	struct record_fields f = {.type = RECORD_FORK, .task = {pid, parent, tid, parent, 0}};
	return synthesize_put(s, &f, MISC_FORK_EXEC, &s->layout, err);
}

static enum tally_status put_map(
	struct synthesis *s, uint32_t pid, const struct proc_map *map, uint16_t misc, struct tally_error *err)
{
	bool is_data = !(map->prot & PROT_EXEC);
	if (is_data && !s->with_data_maps)
		return TALLY_OK;
	struct record_fields f = {.type = RECORD_MMAP2};
	f.mmap = (struct record_mmap){.pid = pid,
		.tid = pid,
		.start = map->start,
		.len = map->end - map->start,
		.pgoff = map->pgoff,
		.major = map->major,
		.minor = map->minor,
		.inode = map->inode,
		.prot = map->prot,
		.flags = map->flags,
		.filename = map->path};
	if (map->path.len == 0 || str_starts_with(map->path, STR("/anon_hugepage")))
		f.mmap.filename = STR(ANON_NAME);
	else if (s->ids && map->path.data[0] == '/' && s->ids->of_file(s->ids->context, pid, map, &f.mmap.build_id))
		misc |= MISC_MMAP_BUILD_ID;
	return synthesize_put(
		s, &f, (uint16_t)(MISC_CPUMODE_USER | misc | (is_data ? MISC_MMAP_DATA : 0)), &s->layout, err);
}

static enum tally_status put_maps(struct synthesis *s, uint32_t pid, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	char path[4096];
	struct file_lines lines;
	struct tally_str line;
	int64_t deadline_ms = s->map_timeout_ms ? clock_ms() + s->map_timeout_ms : INT64_MAX;
	bool is_late = false, is_told = false;
	/* The file is read by lines, because a million mappings take 100 MB. */
	snprintf(path, sizeof(path), "%s/proc/%d/maps", s->kernel->root, (int)pid);
	bool is_open = file_lines_open(path, &lines, NULL) == TALLY_OK;
	while (is_open && status == TALLY_OK && !is_told && file_lines_next(&lines, &line)) {
		struct proc_map map;
		if (line.len == 0)
			continue;
		is_late = is_late || clock_ms() >= deadline_ms;
		if (!proc_map_parse(line, &map)) {
			s->left_out++;
			continue;
		}
		/* This last record reports the timeout. */
		is_told = is_late && ((map.prot & PROT_EXEC) || s->with_data_maps);
		status = put_map(s, pid, &map, is_late ? MISC_PROC_MAP_PARSE_TIMEOUT : 0, err);
	}
	file_lines_close(&lines);
	return status;
}

/* Calls visit for each number that names an entry of the directory. */
static enum tally_status each_number(struct synthesis *s, const char *path, uint32_t pid,
	enum tally_status (*visit)(struct synthesis *, uint32_t, uint32_t, struct tally_error *),
	struct tally_error *err)
{
	char full[4096];
	enum tally_status status = TALLY_OK;
	struct dirent *entry;
	snprintf(full, sizeof(full), "%s%s", s->kernel->root, path);
	DIR *dir = opendir(full);
	if (!dir)
		return TALLY_OK;
	while (status == TALLY_OK && (entry = readdir(dir))) {
		uint64_t number;
		if (str_to_u64(str_from(entry->d_name), 10, &number) && number <= INT32_MAX)
			status = visit(s, pid, (uint32_t)number, err);
	}
	closedir(dir);
	return status;
}

/* Notes the thread and whether it is new: a target may name a process by each of its threads. */
static enum tally_status take_turn(struct synthesis *s, uint32_t tid, bool *is_first, struct tally_error *err)
{
	return map_u64_at(&s->told, tid, is_first) ? TALLY_OK : error_nomem(err);
}

static enum tally_status put_thread(struct synthesis *s, uint32_t pid, uint32_t tid, struct tally_error *err)
{
	bool is_first = false;
	enum tally_status status = take_turn(s, tid, &is_first, err);
	if (status == TALLY_OK && is_first)
		status = put_fork(s, pid, tid, pid, err);
	return status == TALLY_OK && is_first ? synthesize_put_comm(s, pid, tid, err) : status;
}

enum tally_status synthesize_process(struct synthesis *s, pid_t tid, struct tally_error *err)
{
	uint32_t pid, ppid;
	bool is_first;
	uint64_t unused;
	char path[64];
	if (s->no_tasks || map_u64_find(&s->told, (uint32_t)tid, &unused) || !synthesize_read_ids(s, tid, &pid, &ppid))
		return TALLY_OK; /* The thread was written with its process, has ended or is not requested. */
	enum tally_status status = take_turn(s, pid, &is_first, err);
	if (status != TALLY_OK)
		return status;
	if (!is_first) /* The process was written before this thread started. */
		return put_thread(s, pid, (uint32_t)tid, err);
	status = put_fork(s, pid, pid, ppid, err);
	if (status == TALLY_OK)
		status = synthesize_put_comm(s, pid, pid, err);
	if (status == TALLY_OK && !s->no_maps)
		status = put_maps(s, pid, err);
	if (status != TALLY_OK)
		return status;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	return each_number(s, path, pid, put_thread, err);
}

enum tally_status synthesize_mappings(struct synthesis *s, pid_t pid, struct tally_error *err)
{
	return put_maps(s, (uint32_t)pid, err);
}

enum tally_status synthesize_comm(struct synthesis *s, pid_t pid, struct tally_error *err)
{
	return synthesize_put_comm(s, (uint32_t)pid, (uint32_t)pid, err);
}

static enum tally_status put_process(struct synthesis *s, uint32_t unused, uint32_t pid, struct tally_error *err)
{
	return synthesize_process(s, (pid_t)pid, err);
}

enum tally_status synthesize_all(struct synthesis *s, struct tally_error *err)
{
	return each_number(s, "/proc", 0, put_process, err);
}

static enum tally_status put_cgroup(void *context, uint64_t id, struct tally_str path, struct tally_error *err)
{
	struct synthesis *s = context;
	struct record_fields f = {.type = RECORD_CGROUP, .cgroup = {id, path}};
	return synthesize_put(s, &f, 0, &s->layout, err);
}

enum tally_status synthesize_cgroups(struct synthesis *s, struct tally_error *err)
{
	return cgroups_each(s->kernel, put_cgroup, s, err);
}

static enum tally_status put_kernel_map(void *context, const struct kernel_map *map, struct tally_error *err)
{
	struct synthesis *s = context;
	struct record_fields f = {.type = RECORD_MMAP};
	s->hides_kernel = false;
	f.mmap = (struct record_mmap){.pid = UINT32_MAX,
		.start = map->start,
		.len = map->len,
		.pgoff = map->pgoff,
		.prot = PROT_EXEC,
		.filename = map->name};
	if (!s->ids || !s->ids->of_kernel(s->ids->context, map->name, &f.mmap.build_id))
		return synthesize_put(s, &f, MISC_CPUMODE_KERNEL, &s->layout, err);
	f.type = RECORD_MMAP2;
	return synthesize_put(s, &f, MISC_CPUMODE_KERNEL | MISC_MMAP_BUILD_ID, &s->layout, err);
}

enum tally_status synthesize_kernel(struct synthesis *s, struct tally_error *err)
{
	s->hides_kernel = kernel_has(s->kernel, "/proc/kallsyms");
	return kernel_maps_each(s->kernel, s->kernel_list, put_kernel_map, s, err);
}

static enum tally_status synthesize_put_entries(struct synthesis *s, struct record_fields *f, struct writer *entries,
	struct tally_bytes *place, struct tally_error *err)
{
	enum tally_status status = entries->failed ? error_nomem(err) : TALLY_OK;
	*place = writer_view(entries);
	if (status == TALLY_OK)
		status = synthesize_put(s, f, 0, NULL, err);
	writer_deinit(entries);
	return status;
}

/* A record has at most 64 KiB, so a large recording needs several. */
enum tally_status synthesize_id_index(
	struct synthesis *s, const struct recorder_source *sources, size_t count, struct tally_error *err)
{
	enum { ENTRIES_MAX = 65000 / 32 };
	size_t done = 0;

	while (done < count) {
		struct record_fields f = {.type = RECORD_ID_INDEX};
		struct writer w = {0};
		for (; done < count && f.id_index.count < ENTRIES_MAX; done++) {
			const struct recorder_source *source = &sources[done];
			if (source->fd < 0)
				continue;
			writer_u64(&w, source->id);
			writer_u64(&w, source->ring);
			writer_u64(&w, (uint64_t)(int64_t)source->cpu);
			writer_u64(&w, (uint64_t)(int64_t)source->thread);
			f.id_index.count++;
		}
		enum tally_status status = synthesize_put_entries(s, &f, &w, &f.id_index.entries, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

enum tally_status synthesize_time_conv(struct synthesis *s, const struct ring_clock *clock, struct tally_error *err)
{
	struct record_fields f = {.type = RECORD_TIME_CONV};
	f.time_conv = (struct record_time_conv){clock->shift, clock->mult, clock->zero, clock->cycles, clock->mask,
		true, clock->has_zero, clock->has_short};
	return synthesize_put(s, &f, 0, NULL, err);
}

enum tally_status synthesize_thread_map(
	struct synthesis *s, const pid_t *threads, size_t count, struct tally_error *err)
{
	enum { ENTRIES_MAX = 65000 / 24 };
	struct record_fields f = {.type = RECORD_THREAD_MAP};
	struct writer w = {0};

	f.thread_map.count = MIN(count, ENTRIES_MAX);
	for (size_t i = 0; i < f.thread_map.count; i++) {
		char comm[COMM_BYTES] = {0};
		char *text = NULL;
		size_t len = 0;
		if (threads[i] > 0 && read_proc(s, threads[i], "comm", &text, &len)) {
			len -= len && text[len - 1] == '\n';
			memcpy(comm, text, len < COMM_BYTES ? len : COMM_BYTES - 1);
			free(text);
		}
		writer_u64(&w, (uint64_t)(int64_t)threads[i]);
		writer_bytes(&w, comm, sizeof(comm));
	}
	return synthesize_put_entries(s, &f, &w, &f.thread_map.entries, err);
}

enum tally_status synthesize_cpu_map(struct synthesis *s, const int *cpus, size_t count, struct tally_error *err)
{
	enum { CPUS_MAX = 65000 / 2 };
	struct record_fields f = {.type = RECORD_CPU_MAP, .cpu_map = {.encoding = CPU_MAP_CPUS}};
	struct writer w = {0};

	count = MIN(count, CPUS_MAX);
	writer_u16(&w, (uint16_t)count);
	for (size_t i = 0; i < count; i++)
		writer_u16(&w, (uint16_t)cpus[i]);
	return synthesize_put_entries(s, &f, &w, &f.cpu_map.payload, err);
}

enum tally_status synthesize_finished(struct synthesis *s, struct tally_error *err)
{
	struct record_fields f = {.type = RECORD_FINISHED_INIT};
	return synthesize_put(s, &f, 0, NULL, err);
}
