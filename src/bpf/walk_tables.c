/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/walk_tables.h"

#include "tally_config.h"

#if HAVE_BPF
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "bpf/walk_pool.h"
#include "bpf/walk_spans.h"
#include "code/binary_store.h"
#include "kernel/recording/proc_maps.h"
#include "kernel/system/kernel_files.h"

#define WALK_TABLES_SWEEP_MS 1000 /* how often ended processes are looked for */

static const char *const walk_map_names[] = {
	"walk_processes", "walk_mappings", "walk_rows", "walk_rules", "walk_misses", "walk_losses"};
enum walk_map { MAP_PROCESSES, MAP_MAPPINGS, MAP_ROWS, MAP_RULES, MAP_MISSES, MAP_LOSSES, MAP_COUNT };

struct walk_file { /* a distinct file that was mapped */
	uint32_t id; /* in the store */
	bool is_known; /* to the store */
	bool is_tried; /* the table was made, or is not available */
	bool has_table;
	struct walk_place place;
};

struct walk_known { /* a process */
	struct walk_span span;
};

struct walk_tables {
	struct walk_tables_config config;
	struct bpf_map *maps[MAP_COUNT];
	int fds[MAP_COUNT];
	size_t rows_bytes; /* of the mapping */
	struct walk_pool pool;
	uint32_t rules_written;
	struct walk_spans spans;
	struct binary_store *store;
	struct intern keys; /* of files */
	VEC(struct walk_file) files;
	struct map_u64 by_pid; /* -> index in known + 1; 0: forgotten */
	VEC(struct walk_known) known;
	VEC(uint32_t) unused; /* of known */
	VEC(struct walk_mapping) mappings; /* of the process that is looked at */
	VEC(uint32_t) mapped_files;
	struct ring_buffer *ring;
	int stop_fd;
	pthread_t thread;
	bool has_thread;
	int64_t swept_ms;
	_Atomic uint64_t table_count, process_count, refused_processes, chunks_used;
};

static enum tally_status walk_tables_find_maps(
	struct walk_tables *t, struct bpf_object *object, struct tally_error *err)
{
	for (unsigned i = 0; i < MAP_COUNT; i++) {
		t->maps[i] = bpf_object__find_map_by_name(object, walk_map_names[i]);
		t->fds[i] = t->maps[i] ? bpf_map__fd(t->maps[i]) : -1;
		if (t->fds[i] < 0)
			return error_set(err, TALLY_INVALID, "the BPF program has no map '%s'", walk_map_names[i]);
	}
	return TALLY_OK;
}

/* Rows are written where the kernel reads them. */
static enum tally_status walk_tables_map_rows(struct walk_tables *t, struct tally_error *err)
{
	uint32_t chunks = bpf_map__max_entries(t->maps[MAP_ROWS]);
	t->rows_bytes = (size_t)chunks * sizeof(struct walk_chunk);
	void *rows = mmap(NULL, t->rows_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, t->fds[MAP_ROWS], 0);
	if (rows == MAP_FAILED) {
		t->rows_bytes = 0;
		return error_set_errno(err, TALLY_IO, errno, "cannot map the unwind tables of the BPF program");
	}
	if (!walk_pool_init(&t->pool, rows, chunks, bpf_map__max_entries(t->maps[MAP_RULES])))
		return error_nomem(err);
	return TALLY_OK;
}

static int walk_tables_take_miss(void *context, void *data, size_t size);

enum tally_status walk_tables_create(struct bpf_object *object, const struct walk_tables_config *config,
	struct walk_tables **out, struct tally_error *err)
{
	struct walk_tables *t = calloc(1, sizeof(*t));
	if (!t)
		return error_nomem(err);
	t->config = *config;
	t->stop_fd = -1;
	intern_init(&t->keys);
	struct binary_store_options options = {.build_id_dir = config->build_id_dir, .threads = 1};
	enum tally_status status = binary_store_create(&options, &t->store, err);
	if (status == TALLY_OK)
		status = walk_tables_find_maps(t, object, err);
	if (status == TALLY_OK)
		status = walk_tables_map_rows(t, err);
	if (status == TALLY_OK) {
		walk_spans_init(&t->spans, bpf_map__max_entries(t->maps[MAP_MAPPINGS]));
		t->stop_fd = eventfd(0, EFD_CLOEXEC);
		t->ring = ring_buffer__new(t->fds[MAP_MISSES], walk_tables_take_miss, t, NULL);
		if (t->stop_fd < 0 || !t->ring)
			status = error_set_errno(err, TALLY_IO, errno, "cannot read the ring of the BPF program");
	}
	if (status != TALLY_OK) {
		walk_tables_destroy(t);
		return status;
	}
	*out = t;
	return TALLY_OK;
}

void walk_tables_destroy(struct walk_tables *t)
{
	uint64_t one = 1;
	if (!t)
		return;
	if (t->has_thread && write(t->stop_fd, &one, sizeof(one)) == (ssize_t)sizeof(one))
		(void)pthread_join(t->thread, NULL);
	ring_buffer__free(t->ring);
	if (t->stop_fd >= 0)
		close(t->stop_fd);
	if (t->rows_bytes) {
		munmap(t->pool.chunks, t->rows_bytes);
		walk_pool_deinit(&t->pool);
	}
	walk_spans_deinit(&t->spans);
	binary_store_destroy(t->store);
	intern_deinit(&t->keys);
	map_u64_deinit(&t->by_pid);
	vec_free(&t->files);
	vec_free(&t->known);
	vec_free(&t->unused);
	vec_free(&t->mappings);
	vec_free(&t->mapped_files);
	free(t);
}

enum tally_status walk_tables_share(struct bpf_object *object, struct bpf_object *from, struct tally_error *err)
{
	for (unsigned i = 0; i < MAP_COUNT; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, walk_map_names[i]);
		struct bpf_map *other = bpf_object__find_map_by_name(from, walk_map_names[i]);
		int failed = map && other ? bpf_map__reuse_fd(map, bpf_map__fd(other)) : -ENOENT;
		if (failed)
			return error_set_errno(
				err, TALLY_IO, -failed, "cannot share the map '%s' of BPF programs", walk_map_names[i]);
	}
	return TALLY_OK;
}

/* The file's number; UINT32_MAX: memory runs out. */
static uint32_t walk_tables_file(struct walk_tables *t, const struct proc_map *map, pid_t pid)
{
	char key[64];
	uint32_t number, path;
	if (!intern_add(&t->keys, map->path.data, map->path.len, &path))
		return UINT32_MAX;
	int len = snprintf(
		key, sizeof(key), "%u %x:%x %llu", path, map->major, map->minor, (unsigned long long)map->inode);
	if (!intern_add(&t->keys, key, (size_t)len, &number) || !vec_reserve(&t->files, (size_t)number + 1))
		return UINT32_MAX;
	while (t->files.len <= number)
		t->files.items[t->files.len++] = (struct walk_file){0};
	struct walk_file *file = &t->files.items[number];
	bool is_vdso = str_equal(map->path, STR("[vdso]"));
	struct binary_key wanted = {.kind = is_vdso ? BINARY_VDSO : BINARY_USER,
		.path = map->path,
		.major = map->major,
		.minor = map->minor,
		.inode = map->inode,
		.pid = pid};
	if (!file->is_known && (is_vdso || (map->path.len > 0 && map->path.data[0] == '/')))
		file->is_known = binary_store_add(t->store, &wanted, &file->id, NULL) == TALLY_OK;
	file->is_tried |= !file->is_known;
	return number;
}

/* False: too many, or no memory. */
static bool walk_tables_read_maps(struct walk_tables *t, pid_t pid)
{
	char *text;
	bool is_good = true;
	t->mappings.len = t->mapped_files.len = 0;
	if (kernel_text(t->config.kernel, &text, NULL, "/proc/%d/maps", (int)pid) != TALLY_OK)
		return false;
	for (char *line = text, *end; is_good && *line; line = *end ? end + 1 : end) {
		struct proc_map map;
		end = line + strcspn(line, "\n");
		if (!proc_map_parse((struct tally_str){line, (size_t)(end - line)}, &map) || !(map.prot & PROT_EXEC) ||
			map.start >= INT64_MAX)
			continue;
		uint32_t file = walk_tables_file(t, &map, pid);
		/* The bias is known with the table: until then it is the place in the file. */
		struct walk_mapping mapping = {.start = map.start, .end = map.end, .bias = map.pgoff};
		is_good = file != UINT32_MAX && t->mappings.len < WALK_MAPPINGS && vec_push(&t->mappings, mapping) &&
			  vec_push(&t->mapped_files, file);
	}
	free(text);
	return is_good;
}

static void walk_tables_write_rules(struct walk_tables *t)
{
	for (; t->rules_written < t->pool.rules.len && t->rules_written < t->pool.rule_max; t->rules_written++)
		(void)bpf_map_update_elem(t->fds[MAP_RULES], &t->rules_written,
			intern_get(&t->pool.rules, t->rules_written).data, BPF_ANY);
}

/* Rules are written before any mapping leads to rows that name them. */
static void walk_tables_make(struct walk_tables *t, struct walk_file *file)
{
	file->is_tried = true;
	const struct unwind_table *table = binary_store_unwind(t->store, file->id);
	if (!table)
		return;
	file->has_table = walk_pool_add(&t->pool, t->config.arch, table, &file->place);
	t->table_count += file->has_table;
	t->chunks_used = t->pool.chunks_used;
	walk_tables_write_rules(t);
}

/* A segment need not fill its first and last page: what is in between tells the bias. */
static bool walk_tables_find_bias(struct walk_tables *t, const struct walk_file *file,
	const struct walk_mapping *mapping, uint64_t pgoff, uint64_t *bias)
{
	uint64_t size = mapping->end - mapping->start;
	const uint64_t places[] = {size / 2, 4095, size - 1, 0, size - 4096};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct tally_elf_va va;
		if (places[i] < size &&
			binary_store_unwind_va(t->store, file->id, (struct tally_file_off){pgoff + places[i]}, &va)) {
			*bias = mapping->start + places[i] - va.value + file->place.base;
			return true;
		}
	}
	return false;
}

/* Mappings as the kernel has them, into its array at first. */
static void walk_tables_write_mappings(struct walk_tables *t, uint32_t first)
{
	for (uint32_t i = 0; i < t->mappings.len; i++) {
		struct walk_mapping mapping = t->mappings.items[i];
		const struct walk_file *file = &t->files.items[t->mapped_files.items[i]];
		uint64_t bias;
		if (file->has_table && walk_tables_find_bias(t, file, &mapping, mapping.bias, &bias)) {
			mapping.bias = bias;
			mapping.has_table = 1;
			mapping.chunk = file->place.chunk;
			mapping.chunk_count = file->place.chunk_count;
		}
		uint32_t key = first + i;
		(void)bpf_map_update_elem(t->fds[MAP_MAPPINGS], &key, &mapping, BPF_ANY);
	}
}

static struct walk_known *walk_tables_known(struct walk_tables *t, uint32_t pid)
{
	uint64_t *index = map_u64_at(&t->by_pid, pid, NULL);
	if (!index)
		return NULL;
	if (*index == 0) {
		if (t->unused.len == 0) {
			if (!vec_push(&t->known, (struct walk_known){0}))
				return NULL;
			*index = t->known.len;
		} else {
			*index = t->unused.items[--t->unused.len] + 1u;
		}
		t->known.items[*index - 1] = (struct walk_known){0};
	}
	return &t->known.items[*index - 1];
}

/* What the programs read from now on. */
static void walk_tables_publish(struct walk_tables *t, const struct walk_miss *miss)
{
	struct walk_known *known = walk_tables_known(t, miss->pid);
	struct walk_span span;
	if (!known || !walk_spans_take(&t->spans, (uint32_t)t->mappings.len, &span)) {
		t->refused_processes++;
		return;
	}
	walk_tables_write_mappings(t, span.first);
	struct walk_process process = {.mm = miss->mm,
		.exec_vm = miss->exec_vm,
		.asked_exec_vm = miss->exec_vm,
		.start_stack = miss->start_stack,
		.mapping = span.first,
		.mapping_count = (uint32_t)t->mappings.len};
	if (bpf_map_update_elem(t->fds[MAP_PROCESSES], &miss->pid, &process, BPF_ANY)) {
		walk_spans_give(&t->spans, span);
		t->refused_processes++;
		return;
	}
	walk_spans_give(&t->spans, known->span);
	known->span = span;
}

static void walk_tables_forget(struct walk_tables *t, uint32_t pid)
{
	uint64_t *index = map_u64_at(&t->by_pid, pid, NULL);
	(void)bpf_map_delete_elem(t->fds[MAP_PROCESSES], &pid);
	if (!index || *index == 0)
		return;
	struct walk_known *known = &t->known.items[*index - 1];
	walk_spans_give(&t->spans, known->span);
	known->span = (struct walk_span){0};
	if (vec_push(&t->unused, (uint32_t)(*index - 1)))
		*index = 0;
}

static bool walk_tables_has_ended(uint32_t pid)
{
	return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* The file of the code that was missed first; true: some table came. */
static bool walk_tables_make_for(struct walk_tables *t, uint64_t pc, bool only_there)
{
	bool has_made = false;
	for (size_t i = 0; i < t->mappings.len; i++) {
		const struct walk_mapping *mapping = &t->mappings.items[i];
		struct walk_file *file = &t->files.items[t->mapped_files.items[i]];
		if (file->is_tried || (only_there && (pc < mapping->start || pc >= mapping->end)))
			continue;
		walk_tables_make(t, file);
		has_made |= file->has_table;
	}
	return has_made;
}

static int walk_tables_take_miss(void *context, void *data, size_t size)
{
	struct walk_tables *t = context;
	struct walk_miss miss;
	if (size < sizeof(miss))
		return 0;
	memcpy(&miss, data, sizeof(miss));
	if (!walk_tables_read_maps(t, (pid_t)miss.pid)) {
		if (walk_tables_has_ended(miss.pid))
			walk_tables_forget(t, miss.pid);
		else
			t->refused_processes++;
		return 0;
	}
	t->process_count++;
	walk_tables_make_for(t, miss.pc, true);
	walk_tables_publish(t, &miss);
	if (walk_tables_make_for(t, 0, false))
		walk_tables_publish(t, &miss);
	return 0;
}

void walk_tables_preload(struct walk_tables *t, pid_t pid, bool only_libraries)
{
	if (!walk_tables_read_maps(t, pid))
		return;
	/* The program itself is mapped first. */
	for (size_t i = 0; i < t->mappings.len; i++) {
		struct walk_file *file = &t->files.items[t->mapped_files.items[i]];
		bool is_wanted = !only_libraries || t->mapped_files.items[i] != t->mapped_files.items[0];
		if (is_wanted && !file->is_tried)
			walk_tables_make(t, file);
	}
}

/* Those that ended give their place back. */
static void walk_tables_sweep(struct walk_tables *t)
{
	int64_t now = clock_ms();
	size_t position = 0;
	uint64_t pid, index;
	if (now - t->swept_ms < WALK_TABLES_SWEEP_MS)
		return;
	t->swept_ms = now;
	walk_spans_age(&t->spans);
	while (map_u64_next(&t->by_pid, &position, &pid, &index))
		if (index != 0 && walk_tables_has_ended((uint32_t)pid))
			walk_tables_forget(t, (uint32_t)pid);
}

static void *walk_tables_run(void *context)
{
	struct walk_tables *t = context;
	struct pollfd fds[] = {
		{.fd = t->stop_fd, .events = POLLIN}, {.fd = ring_buffer__epoll_fd(t->ring), .events = POLLIN}};
	for (;;) {
		(void)poll(fds, 2, WALK_TABLES_SWEEP_MS);
		if (fds[0].revents)
			return NULL;
		(void)ring_buffer__consume(t->ring);
		walk_tables_sweep(t);
	}
}

enum tally_status walk_tables_start(struct walk_tables *t, struct tally_error *err)
{
	sigset_t all, before;
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
	int failed = pthread_create(&t->thread, NULL, walk_tables_run, t);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return error_set_errno(err, TALLY_IO, failed, "cannot start the thread that loads unwind tables");
	t->has_thread = true;
	return TALLY_OK;
}

struct walk_tables_totals walk_tables_totals(struct walk_tables *t)
{
	struct walk_tables_totals totals = {.tables = t->table_count,
		.rows_bytes = t->chunks_used * sizeof(struct walk_chunk),
		.processes = t->process_count,
		.refused_tables = t->pool.refused,
		.refused_processes = t->refused_processes};
	int cpus = libbpf_num_possible_cpus();
	uint32_t zero = 0;
	struct walk_losses *losses = cpus > 0 ? calloc((size_t)cpus, sizeof(*losses)) : NULL;
	if (losses && bpf_map_lookup_elem(t->fds[MAP_LOSSES], &zero, losses) == 0)
		for (int i = 0; i < cpus; i++)
			totals.missed += losses[i].misses;
	free(losses);
	return totals;
}
#endif
