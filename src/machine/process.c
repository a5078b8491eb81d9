/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/process.h"

#include "base/visible.h"

void process_table_init(struct process_table *table, struct intern *strings)
{
	*table = (struct process_table){.strings = strings};
	arena_init(&table->arena);
}

void process_table_deinit(struct process_table *table)
{
	vec_free(&table->spaces);
	vec_free(&table->processes);
	vec_free(&table->threads);
	map_u64_deinit(&table->by_pid);
	map_u64_deinit(&table->by_tid);
	arena_deinit(&table->arena);
}

static struct process *find_or_add_process(struct process_table *table, int32_t pid)
{
	/* The mappings of a new image arrive one after another, so the last process is checked first. */
	if (table->last_process < table->processes.len && table->processes.items[table->last_process].pid == pid)
		return &table->processes.items[table->last_process];
	bool is_new;
	const struct process process = {.pid = pid};
	/* Room is reserved first, so that every index in the map is also in the table. */
	uint64_t *index = vec_reserve(&table->processes, table->processes.len + 1)
				  ? map_u64_at(&table->by_pid, (uint32_t)pid, &is_new)
				  : NULL;
	if (!index)
		return NULL;
	if (is_new) {
		*index = table->processes.len;
		table->processes.items[table->processes.len++] = process;
	}
	table->last_process = (size_t)*index;
	return &table->processes.items[*index];
}

static struct thread *process_find_or_add_thread(struct process_table *table, int32_t tid)
{
	bool is_new;
	const struct thread thread = {.tid = tid};
	uint64_t *index = vec_reserve(&table->threads, table->threads.len + 1)
				  ? map_u64_at(&table->by_tid, (uint32_t)tid, &is_new)
				  : NULL;
	if (!index)
		return NULL;
	if (is_new) {
		*index = table->threads.len;
		table->threads.items[table->threads.len++] = thread;
	}
	return &table->threads.items[*index];
}

static struct address_space *add_image(struct process_table *table, struct process *process, uint64_t time_ns)
{
	struct address_space *space = arena_new(&table->arena, struct address_space);
	if (!space || !vec_push(&table->spaces, space))
		return NULL;
	address_space_init(space, &table->arena);
	struct process_image image = {.time_from_ns = time_ns, .space = space};
	return arena_vec_push(&table->arena, &process->images, image) ? space : NULL;
}

struct address_space *process_table_space(struct process_table *table, int32_t pid, uint64_t time_ns)
{
	struct process *process = find_or_add_process(table, pid);
	if (!process)
		return NULL;
	if (process->images.len > 0)
		return process->images.items[process->images.len - 1].space;
	return add_image(table, process, time_ns);
}

bool process_table_exec(struct process_table *table, int32_t pid, uint64_t time_ns)
{
	struct process *process = find_or_add_process(table, pid);
	if (!process)
		return false;
	const struct address_space *before =
		process->images.len ? process->images.items[process->images.len - 1].space : NULL;
	struct address_space *space = add_image(table, process, time_ns);
	/*
	 * A sample taken inside execve still has the old image's return address in its chain, so what the new image does
	 * not cover is looked up in the old one, as perf does.
	 */
	return space && (!before || address_space_fork(space, before, time_ns));
}

bool process_table_name(struct process_table *table, int32_t tid, struct tally_str comm, uint64_t time_ns)
{
	struct thread *thread = process_find_or_add_thread(table, tid);
	struct thread_name name = {.time_from_ns = time_ns};
	comm = visible_str(&table->arena, comm);
	return thread && comm.data && intern_add(table->strings, comm.data, comm.len, &name.comm) &&
	       arena_vec_push(&table->arena, &thread->names, name);
}

static bool process_inherit_name(struct process_table *table, const struct record_task *task, uint64_t time_ns)
{
	struct thread_name name = {.time_from_ns = time_ns};
	name.comm = process_table_name_at(table, (int32_t)task->ptid, time_ns, NULL);
	if (name.comm == INTERN_NONE)
		return true;
	struct thread *thread = process_find_or_add_thread(table, (int32_t)task->tid);
	return thread && arena_vec_push(&table->arena, &thread->names, name);
}

bool process_table_fork(struct process_table *table, const struct record_task *task, uint64_t time_ns)
{
	if (!process_inherit_name(table, task, time_ns))
		return false;
	if (task->pid == task->ppid)
		return true; /* A new thread shares the address space of its process. */
	struct address_space *parent = process_table_space(table, (int32_t)task->ppid, time_ns);
	struct process *child = find_or_add_process(table, (int32_t)task->pid);
	if (!parent || !child)
		return false;
	struct address_space *space = add_image(table, child, time_ns);
	return space && address_space_fork(space, parent, time_ns);
}

/* True if an element that is valid from from_ns is valid at time_ns. Cuts span to the times with the same answer. */
static bool is_newest(uint64_t from_ns, uint64_t time_ns, struct valid_span *span)
{
	bool has_come = from_ns <= time_ns;
	if (span)
		valid_span_cut(span, has_come ? from_ns : 0, has_come ? UINT64_MAX : from_ns);
	return has_come;
}

const struct address_space *process_table_space_at(
	const struct process_table *table, int32_t pid, uint64_t time_ns, struct valid_span *span)
{
	uint64_t index;
	if (!map_u64_find(&table->by_pid, (uint32_t)pid, &index))
		return NULL;
	const struct process *process = &table->processes.items[index];
	for (size_t i = process->images.len; i-- > 0;)
		if (is_newest(process->images.items[i].time_from_ns, time_ns, span))
			return process->images.items[i].space;
	return NULL;
}

uint32_t process_table_name_at(
	const struct process_table *table, int32_t tid, uint64_t time_ns, struct valid_span *span)
{
	uint64_t index;
	if (!map_u64_find(&table->by_tid, (uint32_t)tid, &index))
		return INTERN_NONE;
	const struct thread *thread = &table->threads.items[index];
	for (size_t i = thread->names.len; i-- > 0;)
		if (is_newest(thread->names.items[i].time_from_ns, time_ns, span))
			return thread->names.items[i].comm;
	return INTERN_NONE;
}
