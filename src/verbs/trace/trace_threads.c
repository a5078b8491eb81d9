/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FILES_MAX		 65536 /* Maximum number of descriptors per process for which files are stored. */
#define TRACE_THREADS_PATH_BYTES 4096

void trace_threads_init(struct trace_threads *t, bool keeps_ended)
{
	*t = (struct trace_threads){.keeps_ended = keeps_ended};
}

static void free_files(struct trace_thread *thread)
{
	for (size_t i = 0; i < thread->files.len; i++)
		free(thread->files.items[i]);
	vec_free(&thread->files);
}

void trace_threads_deinit(struct trace_threads *t)
{
	for (size_t i = 0; i < t->items.len; i++) {
		free_files(t->items.items[i]);
		text_deinit(&t->items.items[i]->call);
		free(t->items.items[i]);
	}
	vec_free(&t->items);
	vec_free(&t->unused);
	map_u64_deinit(&t->by_tid);
}

struct trace_thread *trace_threads_known(const struct trace_threads *t, int32_t tid)
{
	uint64_t index;
	if (!map_u64_find(&t->by_tid, (uint32_t)tid, &index))
		return NULL;
	struct trace_thread *thread = t->items.items[index];
	return thread->tid == tid ? thread : NULL; /* The structure may be in use for another thread by now. */
}

struct trace_thread *trace_threads_find(const struct trace_threads *t, int32_t tid)
{
	struct trace_thread *thread = trace_threads_known(t, tid);
	return thread && !thread->has_ended ? thread : NULL;
}

/* Returns an unused structure for a thread, allocated if necessary, and stores its index in items. */
static struct trace_thread *trace_threads_place(struct trace_threads *t, uint32_t *index)
{
	if (t->unused.len > 0) {
		*index = t->unused.items[--t->unused.len];
		return t->items.items[*index];
	}
	struct trace_thread *thread = calloc(1, sizeof(*thread));
	*index = (uint32_t)t->items.len;
	if (thread && vec_push(&t->items, thread))
		return thread;
	free(thread);
	return NULL;
}

static struct trace_thread *trace_threads_make(struct trace_threads *t, int32_t tid, int32_t pid)
{
	uint32_t index;
	struct trace_thread *thread = trace_threads_place(t, &index);
	if (!thread)
		return NULL;
	*thread = (struct trace_thread){.tid = tid, .pid = pid, .call = thread->call};
	text_clear(&thread->call);
	if (map_u64_set(&t->by_tid, (uint32_t)tid, index))
		return thread;
	thread->has_ended = true;
	return NULL;
}

struct trace_thread *trace_threads_get(struct trace_threads *t, int32_t tid, int32_t pid)
{
	struct trace_thread *thread = trace_threads_find(t, tid);
	if (thread) {
		thread->pid = pid;
		return thread;
	}
	return trace_threads_make(t, tid, pid);
}

static bool trace_threads_apply_comm(struct trace_threads *t, const struct record_comm *comm)
{
	struct trace_thread *thread = trace_threads_get(t, (int32_t)comm->tid, (int32_t)comm->pid);
	if (!thread)
		return false;
	thread->comm_len = (uint8_t)(MIN(comm->comm.len, TRACE_COMM_BYTES - 1));
	memcpy(thread->comm, comm->comm.data, thread->comm_len);
	if (comm->is_exec && !thread->keeps_files)
		free_files(thread);
	thread->keeps_files &= !comm->is_exec;
	return true;
}

/* Returns false if there is no memory. */
static bool copy_files(struct trace_threads *t, const struct trace_thread *from, struct trace_thread *to)
{
	for (size_t i = 0; i < from->files.len; i++) {
		const char *path = from->files.items[i];
		if (path && !trace_threads_set_file(t, to->pid, (int)i, str_from(path)))
			return false;
	}
	return true;
}

/* A child has its parent's name and files until it changes them. */
static bool trace_threads_apply_fork(struct trace_threads *t, const struct record_task *task)
{
	const struct trace_thread *parent = trace_threads_find(t, (int32_t)task->ptid);
	struct trace_thread *thread = trace_threads_find(t, (int32_t)task->tid);
	if (task->tid == task->ptid)
		return true; /* Recordings begin with such records for threads that ran before. */
	if (thread && thread->events == 0)
		thread->pid = (int32_t)task->pid; /* The thread exists already if its name was recorded first. */
	else
		thread = trace_threads_make(t, (int32_t)task->tid, (int32_t)task->pid);
	if (!thread)
		return false;
	if (parent && thread->comm_len == 0) {
		thread->comm_len = parent->comm_len;
		memcpy(thread->comm, parent->comm, sizeof(thread->comm));
	}
	const struct trace_thread *process = trace_threads_find(t, (int32_t)task->ppid);
	return !process || task->pid == task->ppid || copy_files(t, process, thread);
}

static bool trace_threads_apply_exit(struct trace_threads *t, const struct record_task *task)
{
	uint64_t index;
	struct trace_thread *thread = trace_threads_find(t, (int32_t)task->tid);
	if (!thread || !map_u64_find(&t->by_tid, (uint32_t)task->tid, &index))
		return true;
	thread->has_ended = true;
	thread->is_in_call = false;
	free_files(thread);
	if (t->keeps_ended) {
		text_deinit(&thread->call);
		thread->call = (struct text){0};
		return true;
	}
	return vec_push(&t->unused, (uint32_t)index);
}

bool trace_threads_apply(struct trace_threads *t, const struct record *record, const struct record_fields *fields)
{
	switch (record->type) {
	case RECORD_COMM:
		return trace_threads_apply_comm(t, &fields->comm);
	case RECORD_FORK:
		return trace_threads_apply_fork(t, &fields->task);
	case RECORD_EXIT:
		return trace_threads_apply_exit(t, &fields->task);
	default:
		return true;
	}
}

bool trace_threads_set_file(struct trace_threads *t, int32_t pid, int fd, struct tally_str path)
{
	if (fd < 0 || fd >= FILES_MAX || path.len > TRACE_THREADS_PATH_BYTES)
		return true;
	struct trace_thread *process = trace_threads_get(t, pid, pid);
	if (process && !path.data && (size_t)fd >= process->files.len)
		return true;
	while (process && process->files.len <= (size_t)fd)
		if (!vec_push(&process->files, NULL))
			return false;
	if (!process)
		return false;
	char *copy = path.data ? malloc(path.len + 1) : NULL;
	if (path.data && !copy)
		return false;
	if (copy) {
		memcpy(copy, path.data, path.len);
		copy[path.len] = 0;
	}
	free(process->files.items[fd]);
	process->files.items[fd] = copy;
	return true;
}

const char *trace_threads_file(const struct trace_threads *t, int32_t pid, int fd)
{
	const struct trace_thread *process = trace_threads_find(t, pid);
	return process && fd >= 0 && (size_t)fd < process->files.len ? process->files.items[fd] : NULL;
}

void trace_threads_forget_files(struct trace_threads *t, int32_t pid, uint64_t first, uint64_t last)
{
	struct trace_thread *process = trace_threads_find(t, pid);
	for (uint64_t i = first; process && i <= last && i < process->files.len; i++) {
		free(process->files.items[i]);
		process->files.items[i] = NULL;
	}
}

void trace_thread_learn_name(struct trace_thread *thread, const char *name)
{
	if (thread->comm_len > 0)
		return;
	thread->comm_len = (uint8_t)strnlen(name, TRACE_COMM_BYTES - 1);
	memcpy(thread->comm, name, thread->comm_len);
}

struct tally_str trace_thread_name(const struct trace_thread *thread, char room[TRACE_COMM_BYTES])
{
	if (thread->comm_len > 0)
		return (struct tally_str){thread->comm, thread->comm_len};
	snprintf(room, TRACE_COMM_BYTES, ":%" PRId32, thread->tid);
	return str_from(room);
}
