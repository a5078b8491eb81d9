/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - stores processes and threads over time: which address space a pid had, which name a tid had.
 *
 * Owned by machine. Nothing is removed when a process ends; a reused pid gets a new entry in its history.
 */
#ifndef MACHINE_PROCESS_H
#define MACHINE_PROCESS_H

#include "abi/record.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "machine/address_space.h"

struct process_image { /* from time_from_ns to the next image's */
	uint64_t time_from_ns;
	struct address_space *space;
};

struct process {
	int32_t pid;
	VEC(struct process_image) images; /* by time */
};

struct thread_name {
	uint64_t time_from_ns;
	uint32_t comm; /* string id */
};

struct thread {
	int32_t tid;
	VEC(struct thread_name) names; /* by time */
};

struct process_table {
	struct intern *strings;
	VEC(struct process) processes;
	size_t last_process; /* index of the process of the last look-up */
	VEC(struct thread) threads;
	VEC(struct address_space *) spaces; /* all, in order of creation */
	struct map_u64 by_pid, by_tid; /* -> index */
	struct arena arena; /* of spaces, images and names */
};

void process_table_init(struct process_table *table, struct intern *strings);
void process_table_deinit(struct process_table *table);
/* The space that pid has from time_ns on; made empty if the pid is new. NULL: out of memory. */
struct address_space *process_table_space(struct process_table *table, int32_t pid, uint64_t time_ns);
/* Begins a new image (exec). The old image remains visible where the new one maps nothing. */
bool process_table_exec(struct process_table *table, int32_t pid, uint64_t time_ns);
bool process_table_fork(struct process_table *table, const struct record_task *task, uint64_t time_ns);
bool process_table_name(struct process_table *table, int32_t tid, struct tally_str comm, uint64_t time_ns);
/* NULL if pid had none then. span may be NULL. */
const struct address_space *process_table_space_at(
	const struct process_table *table, int32_t pid, uint64_t time_ns, struct valid_span *span);
/* INTERN_NONE if it had none then. span may be NULL. */
uint32_t process_table_name_at(
	const struct process_table *table, int32_t tid, uint64_t time_ns, struct valid_span *span);

#endif
