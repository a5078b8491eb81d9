/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - stores the history of processes and threads: the address space of each process, and the name of each
 * thread, at any time.
 *
 * Owned by machine. Nothing is removed when a process ends; a reused process ID gets a new entry in its history.
 */
#ifndef MACHINE_PROCESS_H
#define MACHINE_PROCESS_H

#include "abi/record.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "machine/address_space.h"

struct process_image { /* Valid from time_from_ns to that of the next image. */
	uint64_t time_from_ns;
	struct address_space *space;
};

struct process {
	int32_t pid;
	VEC(struct process_image) images; /* Ascending by time. */
};

struct thread_name {
	uint64_t time_from_ns;
	uint32_t comm; /* String ID. */
};

struct thread {
	int32_t tid;
	VEC(struct thread_name) names; /* Ascending by time. */
};

struct process_table {
	struct intern *strings; /* Borrowed from the machine. */
	VEC(struct process) processes;
	size_t last_process; /* Index of the process of the last lookup. */
	VEC(struct thread) threads;
	VEC(struct address_space *) spaces; /* All address spaces, in order of creation. */
	struct map_u64 by_pid, by_tid; /* Map IDs to indices in processes and threads. */
	struct arena arena; /* Memory of spaces, images and names. */
};

void process_table_init(struct process_table *table, struct intern *strings);
void process_table_deinit(struct process_table *table);
/*
 * Returns the newest space of pid; if pid is new, creates an empty one that is valid from time_ns on. Returns NULL if
 * out of memory.
 */
struct address_space *process_table_space(struct process_table *table, int32_t pid, uint64_t time_ns);
/*
 * Starts a new image (exec). The old image remains visible where the new one maps nothing. Returns false if out of
 * memory.
 */
bool process_table_exec(struct process_table *table, int32_t pid, uint64_t time_ns);
/*
 * Gives a new process the mappings and the name of its parent, or a new thread only the name. Returns false if out of
 * memory.
 */
bool process_table_fork(struct process_table *table, const struct record_task *task, uint64_t time_ns);
bool process_table_name(struct process_table *table, int32_t tid, struct tally_str comm, uint64_t time_ns);
/*
 * Returns the address space of pid at a time; NULL if it had none. Narrows span, if it is not NULL, to the times around
 * it with the same result.
 */
const struct address_space *process_table_space_at(
	const struct process_table *table, int32_t pid, uint64_t time_ns, struct valid_span *span);
/*
 * Returns the string ID of the name of tid at a time; INTERN_NONE if it had none. Narrows span, if it is not NULL, to
 * the times around it with the same result.
 */
uint32_t process_table_name_at(
	const struct process_table *table, int32_t tid, uint64_t time_ns, struct valid_span *span);

#endif
