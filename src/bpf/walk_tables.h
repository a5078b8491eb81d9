/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_tables.h - fills the maps of walk.bpf.h: the mappings of processes, and the unwind tables of the mapped files.
 * Its own thread answers the requests of the programs in order: it reads the mappings from /proc/PID/maps, and first
 * the file whose code had no table. Tables stay until the end; processes that have ended are removed.
 *
 * The caller owns it and destroys it before the skeleton. Several BPF objects may share maps by walk_tables_share, so
 * that one thread serves them all. Bad input: whatever /proc and the files contain, a walk in the kernel reads only its
 * own maps.
 *
 *	walk_tables_create(skeleton->obj, &config, &tables, err);	// after bpf_load
 *	walk_tables_preload(tables, pid, false);	// so that its first stacks are whole
 *	walk_tables_start(tables, err);
 *	... walk_tables_destroy(tables);
 */
#ifndef BPF_WALK_TABLES_H
#define BPF_WALK_TABLES_H

#include <stdbool.h>
#include <sys/types.h>

#include "bpf/walk_config.h"

struct bpf_object; /* libbpf's */
struct walk_tables;

struct walk_tables_totals {
	uint64_t tables, rows_bytes; /* files, and bytes of their rows in the kernel */
	uint64_t processes;
	uint64_t refused_tables; /* that the kernel's map had no room for */
	uint64_t refused_files; /* that the table of files had no room for */
	uint64_t refused_processes; /* whose mappings had no room, or that have more than one may have */
	uint64_t unread_processes; /* whose mappings or files cannot be read */
	uint64_t ended_processes; /* before they could be */
	uint64_t missed; /* questions that the programs' ring had no room for */
};

TALLY_MUST_CHECK enum tally_status walk_tables_create(struct bpf_object *object,
	const struct walk_tables_config *config, struct walk_tables **tables, struct tally_error *err);
void walk_tables_destroy(struct walk_tables *tables);
/* Before object is loaded: it takes the maps of walk.bpf.h that another one, which is loaded, has. */
TALLY_MUST_CHECK enum tally_status walk_tables_share(
	struct bpf_object *object, struct bpf_object *from, struct tally_error *err);
/* Reads the tables of all files that a process has mapped, or only of its libraries. Call it before walk_tables_start.
 * A process that has ended is ignored. */
void walk_tables_preload(struct walk_tables *tables, pid_t pid, bool only_libraries);
TALLY_MUST_CHECK enum tally_status walk_tables_start(struct walk_tables *tables, struct tally_error *err);
/* NULL: Python frames are not looked for. */
struct python_frames *walk_tables_python(const struct walk_tables *tables);
/* From any thread. */
struct walk_tables_totals walk_tables_totals(struct walk_tables *tables);

#endif
