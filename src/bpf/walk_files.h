/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_files.h - makes the unwind tables of mapped files, and writes them into the maps of walk.bpf.h: rows, rules and,
 * on kernels where the walk finds files by inode, the table of each inode. Used by walk_tables.c.
 *
 * The caller owns the object, and deinitializes it before the maps are closed. Used by one thread. A file that cannot
 * be read has no table, and is tried again when another process maps it.
 *
 *	walk_files_init(&files, &config, &maps, err);
 *	walk_files_ask(&files, &question);	// of kind WALK_MISS_FILE
 *	while (walk_files_work(&files)) ... handle new requests
 */
#ifndef BPF_WALK_FILES_H
#define BPF_WALK_FILES_H

#include "bpf/python_versions.h"
#include "bpf/walk_config.h"
#include "bpf/walk_pool.h"
#include "code/binary_store.h"
#include "kernel/recording/proc_maps.h"

struct walk_files_maps { /* File descriptors of the maps. */
	int rows, rules, files;
	uint32_t rules_max;
};

struct walk_file { /* A file of the store, indexed by its number. */
	bool is_tried; /* True if the table was made or is not available. */
	bool has_table;
	struct walk_place place;
	const struct python_version *python; /* Version that its name indicates; NULL if it contains no interpreter. */
	uint32_t interpreter; /* Index in python_binaries; 0 if the file contains no interpreter. */
};

struct walk_file_asked { /* A requested file, of which the table will be made. */
	int fd; /* The open file. */
	uint32_t number; /* Index in walk_files.files. */
	uint64_t bytes; /* Size of the file. */
	struct walk_file_key key;
};

enum walk_answer {
	WALK_ANSWERED, /* The table is available, or will be. */
	WALK_HAS_ENDED, /* The process, or its mapping of the file, no longer exists. */
	WALK_UNREADABLE, /* /proc/PID/maps or the file cannot be read. */
};

struct walk_files {
	const struct walk_tables_config *config;
	struct walk_files_maps maps;
	struct walk_pool pool;
	uint32_t rules_written;
	struct binary_kept kept;
	int fd; /* File that is being read; -1 if there is none. */
	struct binary_store *store;
	struct python_frames *python; /* Set by the caller; NULL if Python frames are not recognized. */
	VEC(struct walk_file) files;
	struct intern paths, places; /* Mapped files by path, and by path, device and inode. */
	VEC(uint32_t) numbers; /* Numbers of files, indexed by the result of places. */
	VEC(struct walk_file_asked) asked;
	_Atomic uint64_t table_count, chunks_used; /* May be read by other threads. */
};

/* config must outlive files, which is zero-initialized. */
TALLY_MUST_CHECK enum tally_status walk_files_init(struct walk_files *files, const struct walk_tables_config *config,
	const struct walk_files_maps *maps, struct tally_error *err);
void walk_files_deinit(struct walk_files *files);
/* Opens the file of the requested mapping for walk_files_work, because the process may end soon. */
enum walk_answer walk_files_ask(struct walk_files *files, const struct walk_miss *question);
/* Makes and publishes the table of the smallest requested file. Returns false if no request is pending. */
bool walk_files_work(struct walk_files *files);
/* Makes the table of a mapped file before the walk requests it. map is a line of the process's /proc/PID/maps. */
void walk_files_expect(struct walk_files *files, const struct proc_map *map, pid_t pid);

/* Returns the file's number; UINT32_MAX if it is out of memory. For kernels on which walks find mappings by process. */
uint32_t walk_files_number(struct walk_files *files, const struct proc_map *map, pid_t pid);
/* Returns a pointer that is valid until another file is added. */
struct walk_file *walk_files_get(struct walk_files *files, uint32_t number);
/* Makes the table of a file, unless this was tried before. */
void walk_files_make(struct walk_files *files, uint32_t number);
/*
 * Sets the table of a mapping and its bias, which must contain the file offset before the call. Returns false if the
 * file has no table.
 */
bool walk_files_fill(struct walk_files *files, uint32_t number, struct walk_mapping *mapping);

#endif
