/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_files.h - makes the unwind tables of mapped files, and writes them into the maps of walk.bpf.h: rows, rules and,
 * where the walk asks for a file by its inode, which rows are whose. Used by walk_tables.c.
 *
 * The caller owns it and deinitializes it before the maps. One thread. A file that cannot be read has no table, and is
 * tried again when another process maps it.
 *
 *	walk_files_init(&files, &config, &maps, err);
 *	walk_files_ask(&files, &question);	// of kind WALK_MISS_FILE
 *	while (walk_files_work(&files)) ... take the next questions
 */
#ifndef BPF_WALK_FILES_H
#define BPF_WALK_FILES_H

#include "bpf/python_versions.h"
#include "bpf/walk_config.h"
#include "bpf/walk_pool.h"
#include "code/binary_store.h"
#include "kernel/recording/proc_maps.h"

struct walk_files_maps { /* descriptors */
	int rows, rules, files;
	uint32_t rules_max;
};

struct walk_file { /* by its number in the store */
	bool is_tried; /* the table was made, or is not available */
	bool has_table;
	struct walk_place place;
	const struct python_version *python; /* by its name; NULL: it has no interpreter */
	uint32_t interpreter; /* as in struct walk_mapping */
};

struct walk_file_asked { /* a file whose table will be made */
	int fd;
	uint32_t number;
	uint64_t bytes;
	struct walk_file_key key;
};

enum walk_answer {
	WALK_ANSWERED, /* or it will be */
	WALK_HAS_ENDED, /* the process, or its mapping of the file */
	WALK_UNREADABLE, /* /proc/PID/maps, or the file */
};

struct walk_files {
	const struct walk_tables_config *config;
	struct walk_files_maps maps;
	struct walk_pool pool;
	uint32_t rules_written;
	struct binary_kept kept;
	int fd; /* the file that is being read; -1: none */
	struct binary_store *store;
	struct python_frames *python; /* NULL: not looked for */
	VEC(struct walk_file) files;
	struct intern paths, places; /* of mappings: path, device and inode */
	VEC(uint32_t) numbers; /* of files, by place */
	VEC(struct walk_file_asked) asked;
	_Atomic uint64_t table_count, chunks_used;
};

TALLY_MUST_CHECK enum tally_status walk_files_init(struct walk_files *files, const struct walk_tables_config *config,
	const struct walk_files_maps *maps, struct tally_error *err);
void walk_files_deinit(struct walk_files *files);
/* Opens the file whose mapping the question names, before its process ends, for walk_files_work. */
enum walk_answer walk_files_ask(struct walk_files *files, const struct walk_miss *question);
/* Makes the table of the smallest file that was asked for, and tells the walk. False: there is none. */
bool walk_files_work(struct walk_files *files);
/* The same for a file that a process, of which maps is a line, has mapped, before the walk asks. */
void walk_files_expect(struct walk_files *files, const struct proc_map *map, pid_t pid);

/* For walks that find mappings by process: the file's number; UINT32_MAX: memory runs out. */
uint32_t walk_files_number(struct walk_files *files, const struct proc_map *map, pid_t pid);
struct walk_file *walk_files_get(struct walk_files *files, uint32_t number);
void walk_files_make(struct walk_files *files, uint32_t number);
/* Of a mapping, whose bias is its place in the file at first. False: it has no table. */
bool walk_files_fill(struct walk_files *files, uint32_t number, struct walk_mapping *mapping);

#endif
