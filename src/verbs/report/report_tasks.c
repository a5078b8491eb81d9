/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_tasks.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/order.h"
#include "base/vec.h"
#include "machine/address_space.h"
#include "perfdata/time_order.h"

#define NO_TASK	   UINT32_MAX
#define NO_PARENT  (-1)
#define NO_PROCESS (-1)
#define MAX_INDENT 256 /* Deeper levels of the tree are not indented further. */
#define BUCKETS	   256 /* perf sorts siblings by tid modulo this number, then by tid. */

struct task {
	int32_t pid, tid, parent_tid;
	uint32_t comm; /* INTERN_NONE if no name is known. */
	/* Indices of items, valid after link_tasks; NO_TASK if there is none. */
	uint32_t first_child, last_child, next_sibling;
	bool is_linked;
};

/* The file of one mapping record. The same path may denote a different file in another record. */
struct report_tasks_mapped_file {
	uint32_t path;
	uint64_t inode;
};

struct tasks {
	struct text *out;
	struct json *json; /* NULL for text output. */
	bool with_mmaps;
	VEC(struct task) items;
	struct map_u64 by_tid; /* Maps a tid to an index of items. */
	struct intern comms;
	VEC(struct address_space *) spaces;
	struct arena arena; /* Owns the address spaces. */
	struct map_u64 space_of; /* Maps a pid to an index of spaces. */
	VEC(struct report_tasks_mapped_file) files; /* Indexed by the binary of a mapping. */
	struct intern paths;
	uint64_t now; /* Logical time of the address spaces, which advances by one per record. */
};

/* Returns NULL if out of memory, as the functions below do. */
static struct task *task_of_thread(struct tasks *tasks, int32_t pid, int32_t tid)
{
	bool is_new;
	uint64_t *index = map_u64_at(&tasks->by_tid, (uint32_t)tid, &is_new);
	if (!index)
		return NULL;
	if (is_new) {
		struct task task = {.pid = pid,
			.tid = tid,
			.parent_tid = NO_PARENT,
			.comm = INTERN_NONE,
			.first_child = NO_TASK,
			.last_child = NO_TASK,
			.next_sibling = NO_TASK};
		*index = tasks->items.len;
		if (!vec_push(&tasks->items, task))
			return NULL;
	}
	return &tasks->items.items[*index];
}

/* Also adds the process, because its main thread may occur in no record. */
static struct task *add_thread(struct tasks *tasks, int32_t pid, int32_t tid)
{
	if (pid != tid && pid != NO_PROCESS && !task_of_thread(tasks, pid, pid))
		return NULL;
	return task_of_thread(tasks, pid, tid);
}

static struct address_space *new_space(struct tasks *tasks, int32_t pid)
{
	struct address_space *space = arena_new(&tasks->arena, struct address_space);
	if (!space || !vec_push(&tasks->spaces, space))
		return NULL;
	address_space_init(space, &tasks->arena);
	return map_u64_set(&tasks->space_of, (uint32_t)pid, tasks->spaces.len - 1) ? space : NULL;
}

static struct address_space *find_space(const struct tasks *tasks, int32_t pid)
{
	uint64_t index;
	return map_u64_find(&tasks->space_of, (uint32_t)pid, &index) ? tasks->spaces.items[index] : NULL;
}

static bool add_fork(struct tasks *tasks, const struct record_task *fork, bool is_of_running)
{
	const struct task *parent = add_thread(tasks, (int32_t)fork->ppid, (int32_t)fork->ptid);
	if (!parent)
		return false;
	uint32_t comm = parent->comm;
	struct task *child = add_thread(tasks, (int32_t)fork->pid, (int32_t)fork->tid);
	if (!child)
		return false;
	child->pid = (int32_t)fork->pid;
	child->parent_tid = (int32_t)fork->ptid;
	child->comm = comm;
	if (fork->pid == fork->ppid)
		return true;
	const struct address_space *from = find_space(tasks, (int32_t)fork->ppid);
	struct address_space *space = new_space(tasks, (int32_t)fork->pid);
	/* The mappings of a process that was running before the recording follow as individual records. */
	return space && (!from || is_of_running || address_space_fork(space, from, tasks->now));
}

static bool add_comm(struct tasks *tasks, const struct record_comm *comm)
{
	struct task *task = add_thread(tasks, (int32_t)comm->pid, (int32_t)comm->tid);
	return task && intern_add(&tasks->comms, comm->comm.data, comm->comm.len, &task->comm);
}

static bool add_mmap(struct tasks *tasks, const struct record *record, const struct record_mmap *m)
{
	unsigned mode = record->misc & MISC_CPUMODE_MASK;
	if (mode == MISC_CPUMODE_KERNEL || mode == MISC_CPUMODE_GUEST_KERNEL)
		return true;
	if (!tasks->with_mmaps)
		/* As in perf, a thread that occurs only in mapping records is listed only with mappings. */
		return true;
	if (!add_thread(tasks, (int32_t)m->pid, (int32_t)m->tid))
		return false;
	if (m->len > UINT64_MAX - m->start)
		return true;
	struct report_tasks_mapped_file file = {.inode = m->inode};
	struct address_space *space = find_space(tasks, (int32_t)m->pid);
	if (!space)
		space = new_space(tasks, (int32_t)m->pid);
	if (!space || !intern_add(&tasks->paths, m->filename.data, m->filename.len, &file.path) ||
		!vec_push(&tasks->files, file))
		return false;
	struct mapping mapping = {.start = m->start,
		.end = m->start + m->len,
		.pgoff = m->pgoff,
		.time_from_ns = tasks->now,
		.binary = (uint32_t)(tasks->files.len - 1),
		.prot = m->prot,
		.flags = m->flags};
	return address_space_map(space, &mapping);
}

static bool report_tasks_add_record(struct tasks *tasks, const struct record *record)
{
	struct record_fields fields;
	uint32_t type = record->type;
	if (type != RECORD_COMM && type != RECORD_FORK && type != RECORD_MMAP && type != RECORD_MMAP2)
		return true;
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return true;
	tasks->now++;
	if (type == RECORD_COMM)
		return add_comm(tasks, &fields.comm);
	if (type == RECORD_FORK)
		return add_fork(tasks, &fields.task, (record->misc & MISC_COMM_EXEC) != 0);
	return add_mmap(tasks, record, &fields.mmap);
}

static int report_tasks_compare(const void *a, const void *b)
{
	const struct task *x = a;
	const struct task *y = b;
	uint32_t x_bucket = (uint32_t)x->tid % BUCKETS;
	uint32_t y_bucket = (uint32_t)y->tid % BUCKETS;
	if (x_bucket != y_bucket)
		return x_bucket < y_bucket ? -1 : 1;
	return COMPARE(x->tid, y->tid);
}

/* Returns the index of the parent. If there is none, returns the number of tasks, which is the index of the root. */
static size_t report_tasks_parent_of(const struct tasks *tasks, const struct task *task)
{
	uint64_t parent;
	bool has_parent =
		task->parent_tid != NO_PARENT && map_u64_find(&tasks->by_tid, (uint32_t)task->parent_tid, &parent);
	return has_parent ? (size_t)parent : tasks->items.len;
}

/* Makes the tree. A parent is added to its own parent when its first descendant is added, which gives siblings the same
 * order as in perf. The last item becomes the root. */
static bool link_tasks(struct tasks *tasks)
{
	size_t count = tasks->items.len;
	if (count > 1)
		qsort(tasks->items.items, count, sizeof(struct task), report_tasks_compare);
	for (size_t i = 0; i < count; i++)
		if (!map_u64_set(&tasks->by_tid, (uint32_t)tasks->items.items[i].tid, i))
			return false;
	struct task root = {.first_child = NO_TASK, .last_child = NO_TASK, .next_sibling = NO_TASK, .is_linked = true};
	if (!vec_reserve(&tasks->items, count + 1))
		return false;
	tasks->items.items[count] = root;
	for (size_t i = 0; i < count; i++)
		for (size_t at = i; !tasks->items.items[at].is_linked;) {
			struct task *task = &tasks->items.items[at];
			size_t parent_at = report_tasks_parent_of(tasks, task);
			struct task *parent = &tasks->items.items[parent_at];
			if (parent->first_child == NO_TASK)
				parent->first_child = (uint32_t)at;
			else
				tasks->items.items[parent->last_child].next_sibling = (uint32_t)at;
			parent->last_child = (uint32_t)at;
			task->is_linked = true;
			at = parent_at;
		}
	return true;
}

static void print_mapping(struct tasks *tasks, const struct mapping *m, size_t level)
{
	const struct report_tasks_mapped_file *file = &tasks->files.items[m->binary];
	struct tally_str path = intern_get(&tasks->paths, file->path);
	text_repeat(tasks->out, ' ', 32 + level);
	text_hex(tasks->out, m->start, 0);
	text_char(tasks->out, '-');
	text_hex(tasks->out, m->end, 0);
	text_char(tasks->out, ' ');
	text_char(tasks->out, m->prot & 1 ? 'r' : '-');
	text_char(tasks->out, m->prot & 2 ? 'w' : '-');
	text_char(tasks->out, m->prot & 4 ? 'x' : '-');
	text_char(tasks->out, m->flags & 1 ? 's' : 'p');
	text_char(tasks->out, ' ');
	text_hex(tasks->out, m->pgoff, 8);
	text_char(tasks->out, ' ');
	text_u64(tasks->out, file->inode);
	text_char(tasks->out, ' ');
	text_visible(tasks->out, path);
	text_char(tasks->out, '\n');
}

static void report_tasks_put_mapping(struct tasks *tasks, const struct mapping *m)
{
	const struct report_tasks_mapped_file *file = &tasks->files.items[m->binary];
	struct json *j = tasks->json;
	char rights[] = {
		m->prot & 1 ? 'r' : '-', m->prot & 2 ? 'w' : '-', m->prot & 4 ? 'x' : '-', m->flags & 1 ? 's' : 'p'};
	json_object(j, NULL);
	json_hex(j, "start", m->start);
	json_hex(j, "end", m->end);
	json_string(j, "rights", (struct tally_str){rights, sizeof(rights)});
	json_hex(j, "offset", m->pgoff);
	json_u64(j, "inode", file->inode);
	json_string(j, "path", intern_get(&tasks->paths, file->path));
	json_object_end(j);
}

static bool print_mappings(struct tasks *tasks, const struct task *task, size_t level)
{
	const struct address_space *space = find_space(tasks, task->pid);
	struct address_space flat;
	struct arena arena;
	if (!space)
		return true;
	arena_init(&arena);
	address_space_init(&flat, &arena);
	bool ok = address_space_flatten(&flat, space, tasks->now);
	for (size_t i = 0; ok && i < flat.active.len; i++)
		if (tasks->json)
			report_tasks_put_mapping(tasks, &flat.mappings.items[flat.active.items[i]]);
		else
			print_mapping(tasks, &flat.mappings.items[flat.active.items[i]], level);
	arena_deinit(&arena);
	return ok;
}

static bool report_tasks_put_task(struct tasks *tasks, const struct task *task, size_t level)
{
	struct json *j = tasks->json;
	bool ok = true;
	json_object(j, NULL);
	json_i64(j, "pid", task->pid);
	json_i64(j, "tid", task->tid);
	json_i64(j, "ppid", task->parent_tid);
	json_u64(j, "level", level);
	if (task->comm != INTERN_NONE)
		json_string(j, "comm", intern_get(&tasks->comms, task->comm));
	if (tasks->with_mmaps) {
		json_array(j, "mappings");
		ok = print_mappings(tasks, task, level);
		json_array_end(j);
	}
	json_object_end(j);
	return ok;
}

static bool report_tasks_print_task(struct tasks *tasks, const struct task *task, size_t level)
{
	if (tasks->json)
		return report_tasks_put_task(tasks, task, level);

	size_t indent = MIN(level, MAX_INDENT);
	text_printf(tasks->out, "  %8d %8d %8d |", task->pid, task->tid, task->parent_tid);
	text_repeat(tasks->out, ' ', indent);
	if (task->comm == INTERN_NONE) {
		text_char(tasks->out, ':');
		text_i64(tasks->out, task->tid);
	} else {
		struct tally_str comm = intern_get(&tasks->comms, task->comm);
		text_visible(tasks->out, comm);
	}
	text_char(tasks->out, '\n');
	return !tasks->with_mmaps || print_mappings(tasks, task, indent);
}

/* Prints the tasks in tree order. Returns TALLY_END if the reader of the output has closed it. */
static enum tally_status report_tasks_print_tree(struct tasks *tasks, struct tally_error *err)
{
	VEC(uint32_t) path = {0}; /* Indices from a top-level task to the most recently printed task. */
	enum tally_status status = TALLY_OK;
	uint32_t next = tasks->items.items[tasks->items.len].first_child; /* The root is the item after the last. */
	while (next != NO_TASK && status == TALLY_OK) {
		const struct task *task = &tasks->items.items[next];
		if (!report_tasks_print_task(tasks, task, path.len) || !vec_push(&path, next) || tasks->out->failed)
			status = error_nomem(err);
		else if (!text_line_end(tasks->out))
			status = TALLY_END;
		next = task->first_child;
		while (next == NO_TASK && path.len > 0)
			next = tasks->items.items[path.items[--path.len]].next_sibling;
	}
	vec_free(&path);
	return status;
}

static enum tally_status report_tasks_read_all(
	struct tasks *tasks, struct perfdata_reader *reader, struct tally_error *err)
{
	struct time_order *order;
	enum tally_status status = time_order_create(reader, &order, err);
	if (status != TALLY_OK)
		return status;
	struct time_order_item item;
	while ((status = time_order_next(order, &item, err)) == TALLY_OK)
		if (!report_tasks_add_record(tasks, &item.record)) {
			status = error_nomem(err);
			break;
		}
	time_order_destroy(order);
	return status == TALLY_END ? TALLY_OK : status;
}

enum tally_status report_tasks(
	struct text *out, struct json *j, struct perfdata_reader *reader, bool with_mmaps, struct tally_error *err)
{
	struct tasks tasks = {.out = out, .json = j, .with_mmaps = with_mmaps};
	intern_init(&tasks.comms);
	intern_init(&tasks.paths);
	struct record_comm idle = {.comm = STR("swapper")};
	enum tally_status read =
		add_comm(&tasks, &idle) ? report_tasks_read_all(&tasks, reader, err) : error_nomem(err);
	enum tally_status printed = read;
	/* A truncated recording is printed as far as it can be read. */
	if (read == TALLY_OK || read == TALLY_CORRUPT) {
		if (j)
			json_array(j, "tasks");
		else
			text_str(out, "#      pid      tid     ppid  comm\n");
		printed = link_tasks(&tasks) ? report_tasks_print_tree(&tasks, err) : error_nomem(err);
	}
	if (j && (read == TALLY_OK || read == TALLY_CORRUPT))
		json_array_end(j);
	vec_free(&tasks.spaces);
	arena_deinit(&tasks.arena);
	vec_free(&tasks.items);
	vec_free(&tasks.files);
	map_u64_deinit(&tasks.by_tid);
	map_u64_deinit(&tasks.space_of);
	intern_deinit(&tasks.comms);
	intern_deinit(&tasks.paths);
	return printed == TALLY_OK ? read : printed;
}
