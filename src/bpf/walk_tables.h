/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_tables.h - fills the maps of walk.bpf.h: the mappings of processes, and the unwind tables of the mapped files.
 * Its thread answers the requests of the BPF programs in order: it reads the mappings from /proc/PID/maps, and loads
 * the table of the requested code first. Tables are retained until the object is destroyed; processes that have ended
 * are removed.
 *
 * The caller owns the object and destroys it before the skeleton. Several BPF objects may share maps by
 * walk_tables_share, so that one thread serves them all. Invalid contents of files cannot harm the kernel, because a
 * walk reads only its own maps and checked user memory.
 *
 *	walk_tables_create(skeleton->obj, &config, &tables, err);	// after bpf_load
 *	walk_tables_preload(tables, pid, false);	// optional: makes the process's first stacks complete
 *	walk_tables_start(tables, err);
 *	... walk_tables_destroy(tables);
 */
#ifndef BPF_WALK_TABLES_H
#define BPF_WALK_TABLES_H

#include <stdbool.h>
#include <sys/types.h>

#include "bpf/walk_config.h"

struct bpf_object; /* A type of libbpf. */
struct walk_tables;

struct walk_tables_totals {
	uint64_t tables, rows_bytes; /* Number of files with a table, and the size of their rows in the kernel. */
	uint64_t processes; /* Number of times that the mappings of a process were read, before Linux 6.1. */
	uint64_t refused_tables; /* Number of tables for which the kernel's map had no room. */
	uint64_t refused_files; /* Number of files for which the table of files had no room. */
	/* Number of processes with mappings for which there was no room, or with more than WALK_MAPPINGS. */
	uint64_t refused_processes;
	uint64_t unread_processes; /* Number of processes with mappings or files that cannot be read. */
	uint64_t ended_processes; /* Number of processes that ended before they could be read. */
	uint64_t missed; /* Number of requests for which the programs' ring buffer had no room. */
};

TALLY_MUST_CHECK enum tally_status walk_tables_create(struct bpf_object *object,
	const struct walk_tables_config *config, struct walk_tables **tables, struct tally_error *err);
void walk_tables_destroy(struct walk_tables *tables);
/* Makes object use the maps of walk.bpf.h of another, loaded object. Call it before object is loaded. */
TALLY_MUST_CHECK enum tally_status walk_tables_share(
	struct bpf_object *object, struct bpf_object *from, struct tally_error *err);
/* Reads the tables of all files that a process has mapped, or only of its libraries. Call it before walk_tables_start.
 * A process that has ended is ignored. */
void walk_tables_preload(struct walk_tables *tables, pid_t pid, bool only_libraries);
TALLY_MUST_CHECK enum tally_status walk_tables_start(struct walk_tables *tables, struct tally_error *err);
/* Returns NULL if Python frames are not recognized. */
struct python_frames *walk_tables_python(const struct walk_tables *tables);
/* May be called from any thread. */
struct walk_tables_totals walk_tables_totals(struct walk_tables *tables);

#endif
