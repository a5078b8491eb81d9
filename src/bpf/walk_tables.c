/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/walk_tables.h"

#include "bpf/bpf_load.h"
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
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "bpf/bpf_load.h"
#include "bpf/walk_files.h"
#include "bpf/walk_spans.h"
#include "kernel/recording/proc_maps.h"
#include "kernel/system/kernel_files.h"

#define WALK_TABLES_SWEEP_MS 1000 /* Interval at which ended processes are removed, in milliseconds. */
#define WALK_TABLES_NICE     (-15)
#define WALK_TABLES_PAUSE_NS 2000000

static const char *const walk_map_names[] = {"walk_processes", "walk_mappings", "walk_rows", "walk_rules",
	"walk_recent", "walk_files", "walk_misses", "walk_losses"};
enum walk_map {
	MAP_PROCESSES,
	MAP_MAPPINGS,
	MAP_ROWS,
	MAP_RULES,
	MAP_RECENT,
	MAP_FILES,
	MAP_MISSES,
	WALK_TABLES_MAP_LOSSES,
	WALK_TABLES_MAP_COUNT
};

struct walk_known { /* A process; by_pid maps its ID to its index. */
	/* Range of the process's mappings in the BPF programs' array; empty if they were not published. */
	struct walk_span span;
};

struct walk_tables {
	struct walk_tables_config config;
	int fds[WALK_TABLES_MAP_COUNT];
	struct walk_files files;
	struct walk_spans spans;
	struct map_u64 by_pid; /* Maps a process ID to its index in known plus 1; 0 if it was forgotten. */
	VEC(struct walk_known) known;
	VEC(uint32_t) unused; /* Indices of unused elements of known. */
	VEC(struct walk_mapping) mappings; /* Mappings of the process that is being read. */
	VEC(uint32_t) mapped_files;
	struct ring_buffer *ring;
	int stop_fd;
	pthread_t thread;
	bool has_thread;
	atomic_bool is_stopped;
	int64_t swept_ms;
	_Atomic uint64_t process_count, refused_processes, unread_processes, ended_processes;
};

static uint32_t walk_tables_max_entries(struct bpf_object *object, unsigned map)
{
	return bpf_map__max_entries(bpf_object__find_map_by_name(object, walk_map_names[map]));
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
	enum tally_status status = bpf_find_maps(object, walk_map_names, WALK_TABLES_MAP_COUNT, t->fds, err);
	if (status == TALLY_OK)
		status = python_frames_create(object, &config->python, &t->files.python, err);
	if (status == TALLY_OK) {
		const struct walk_files_maps maps = {.rows = t->fds[MAP_ROWS],
			.rules = t->fds[MAP_RULES],
			.files = t->fds[MAP_FILES],
			.rules_max = walk_tables_max_entries(object, MAP_RULES)};
		status = walk_files_init(&t->files, &t->config, &maps, err);
	}
	if (status == TALLY_OK) {
		walk_spans_init(&t->spans, walk_tables_max_entries(object, MAP_MAPPINGS));
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
	atomic_store(&t->is_stopped, true);
	if (t->has_thread) {
		/* The thread also checks is_stopped regularly, so a failure only delays its end. */
		(void)!write(t->stop_fd, &one, sizeof(one));
		(void)pthread_join(t->thread, NULL);
	}
	ring_buffer__free(t->ring);
	if (t->stop_fd >= 0)
		close(t->stop_fd);
	python_frames_destroy(t->files.python);
	walk_files_deinit(&t->files);
	walk_spans_deinit(&t->spans);
	map_u64_deinit(&t->by_pid);
	vec_free(&t->known);
	vec_free(&t->unused);
	vec_free(&t->mappings);
	vec_free(&t->mapped_files);
	free(t);
}

enum tally_status walk_tables_share(struct bpf_object *object, struct bpf_object *from, struct tally_error *err)
{
	enum tally_status status = bpf_share_maps(object, from, walk_map_names, WALK_TABLES_MAP_COUNT, err);
	return status == TALLY_OK ? python_frames_share(object, from, err) : status;
}

/* Sets t->mappings to the executable ones of a maps file; false if they are too many or there is no memory. */
static bool walk_tables_take_maps(struct walk_tables *t, char *text, pid_t pid)
{
	bool is_good = true;
	t->mappings.len = t->mapped_files.len = 0;
	for (char *line = text, *end; is_good && *line; line = *end ? end + 1 : end) {
		struct proc_map map;
		end = line + strcspn(line, "\n");
		if (!proc_map_parse((struct tally_str){line, (size_t)(end - line)}, &map) || !(map.prot & PROT_EXEC) ||
			map.start >= INT64_MAX)
			continue;
		uint32_t file = walk_files_number(&t->files, &map, pid);
		/* The bias requires the unwind table; until that is loaded, this is the file offset. */
		struct walk_mapping mapping = {.start = map.start, .end = map.end, .bias = map.pgoff};
		is_good = file != UINT32_MAX && t->mappings.len < WALK_MAPPINGS && vec_push(&t->mappings, mapping) &&
			  vec_push(&t->mapped_files, file);
	}
	return is_good;
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

/* Publishes the mappings of the process to the BPF programs. */
static void walk_tables_publish(struct walk_tables *t, const struct walk_miss *miss)
{
	struct walk_known *known = walk_tables_known(t, miss->pid);
	struct walk_span span;
	if (!known || !walk_spans_take(&t->spans, (uint32_t)t->mappings.len, &span)) {
		t->refused_processes++;
		return;
	}
	for (uint32_t i = 0; i < t->mappings.len; i++) {
		struct walk_mapping mapping = t->mappings.items[i];
		(void)walk_files_fill(&t->files, t->mapped_files.items[i], &mapping);
		uint32_t key = span.first + i;
		(void)bpf_map_update_elem(t->fds[MAP_MAPPINGS], &key, &mapping, BPF_ANY);
	}
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

/* Loads the tables of all mapped files, or only of the one that contains pc; true if a table was added. */
static bool walk_tables_make_for(struct walk_tables *t, uint64_t pc, bool only_there)
{
	bool has_made = false;
	for (size_t i = 0; i < t->mappings.len; i++) {
		const struct walk_mapping *mapping = &t->mappings.items[i];
		uint32_t number = t->mapped_files.items[i];
		if (walk_files_get(&t->files, number)->is_tried ||
			(only_there && (pc < mapping->start || pc >= mapping->end)))
			continue;
		walk_files_make(&t->files, number);
		has_made |= walk_files_get(&t->files, number)->has_table;
	}
	return has_made;
}

/* Reads /proc/PID/maps; false, after counting the failure, if the process has ended or the file cannot be read. */
static bool walk_tables_read_maps(struct walk_tables *t, uint32_t pid, char **text)
{
	if (kernel_text(t->config.kernel, text, NULL, "/proc/%u/maps", pid) == TALLY_OK)
		return true;
	if (walk_tables_has_ended(pid))
		t->ended_processes++;
	else
		t->unread_processes++;
	return false;
}

static void walk_tables_answer_process(struct walk_tables *t, const struct walk_miss *miss)
{
	char *text;
	if (!walk_tables_read_maps(t, miss->pid, &text)) {
		walk_tables_forget(t, miss->pid);
		return;
	}
	bool is_good = walk_tables_take_maps(t, text, (pid_t)miss->pid);
	free(text);
	if (!is_good) {
		t->refused_processes++;
		return;
	}
	t->process_count++;
	walk_tables_make_for(t, miss->pc, true);
	walk_tables_publish(t, miss);
	if (walk_tables_make_for(t, 0, false))
		walk_tables_publish(t, miss);
}

static int walk_tables_take_miss(void *context, void *data, size_t size)
{
	struct walk_tables *t = context;
	struct walk_miss miss;
	if (size < sizeof(miss))
		return 0;
	memcpy(&miss, data, sizeof(miss));
	if (miss.kind == WALK_MISS_PROCESS) {
		walk_tables_answer_process(t, &miss);
		return 0;
	}
	enum walk_answer answer = walk_files_ask(&t->files, &miss);
	t->ended_processes += answer == WALK_HAS_ENDED;
	t->unread_processes += answer == WALK_UNREADABLE;
	return 0;
}

void walk_tables_preload(struct walk_tables *t, pid_t pid, bool only_libraries)
{
	char *text;
	struct proc_map map;
	uint64_t program = 0; /* Inode of the program itself, which is the first mapping. */
	if (kernel_text(t->config.kernel, &text, NULL, "/proc/%d/maps", (int)pid) != TALLY_OK)
		return;
	for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (!proc_map_parse((struct tally_str){line, (size_t)(end - line)}, &map))
			continue;
		program = line == text ? map.inode : program;
		if ((map.prot & PROT_EXEC) && !(only_libraries && map.inode == program))
			walk_files_expect(&t->files, &map, pid);
	}
	free(text);
}

/* Frees the entries of processes that have ended. */
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
	const struct timespec pause = {0, WALK_TABLES_PAUSE_NS}; /* Avoids a busy loop if poll is denied or fails. */
	bool has_work = false;
	/* On a machine under load, stacks remain incomplete for as long as this thread waits for a CPU. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), WALK_TABLES_NICE);
	for (;;) {
		bool can_wait = poll(fds, 2, has_work ? 0 : WALK_TABLES_SWEEP_MS) >= 0;
		if (atomic_load(&t->is_stopped))
			return NULL;
		if (!can_wait && !has_work)
			(void)nanosleep(&pause, NULL);
		(void)ring_buffer__consume(t->ring);
		walk_tables_sweep(t);
		has_work = walk_files_work(&t->files);
	}
}

enum tally_status walk_tables_start(struct walk_tables *t, struct tally_error *err)
{
	sigset_t all, before;
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* Signals must be delivered to the caller's threads. */
	int failed = pthread_create(&t->thread, NULL, walk_tables_run, t);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return error_set_errno(err, TALLY_IO, failed, "cannot start the thread that loads unwind tables");
	t->has_thread = true;
	return TALLY_OK;
}

struct python_frames *walk_tables_python(const struct walk_tables *t)
{
	return t ? t->files.python : NULL;
}

struct walk_tables_totals walk_tables_totals(struct walk_tables *t)
{
	struct walk_tables_totals totals = {.tables = t->files.table_count,
		.rows_bytes = t->files.chunks_used * sizeof(struct walk_chunk),
		.processes = t->process_count,
		.refused_tables = t->files.pool.refused,
		.refused_processes = t->refused_processes,
		.unread_processes = t->unread_processes,
		.ended_processes = t->ended_processes};
	int cpus = libbpf_num_possible_cpus();
	uint32_t zero = 0;
	struct walk_losses *losses = cpus > 0 ? calloc((size_t)cpus, sizeof(*losses)) : NULL;
	if (losses && bpf_map_lookup_elem(t->fds[WALK_TABLES_MAP_LOSSES], &zero, losses) == 0)
		for (int i = 0; i < cpus; i++)
			totals.missed += losses[i].misses, totals.refused_files += losses[i].files;
	free(losses);
	return totals;
}
#endif
