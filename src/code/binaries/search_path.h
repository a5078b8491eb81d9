/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_path.h - lists the places where a program file and its debug files may be, in the order of the search. It
 * opens nothing.
 *
 * A root is a folder that stands for "/": this machine's own, --symfs, or that of a process that still runs. Paths are
 * made in the arena; a place whose path is NULL (no memory, or not applicable) is skipped by binary_file_open.
 */
#ifndef CODE_BINARIES_SEARCH_PATH_H
#define CODE_BINARIES_SEARCH_PATH_H

#include "code/binaries/binary_entry.h"

#define SEARCH_PLACES_MAX 16

enum binary_place_kind {
	PLACE_PATH,
	PLACE_CACHE, /* inside: a file of the entry of this build id in the cache */
	PLACE_PROCESS, /* inside: a path in the root of a process */
	PLACE_KEPT /* fd */
};

struct binary_place {
	enum binary_place_kind kind;
	const char *source; /* what kind of place, in words */
	const char *path; /* as shown; opened only of PLACE_PATH */
	const char *inside;
	int32_t pid; /* > 0: the process whose file it is */
	int fd; /* of PLACE_KEPT: its owner's */
	struct elf_build_id id; /* of the cache's entry */
	bool has_crc; /* the file must have it */
	uint32_t crc;
};

struct binary_places {
	struct binary_place items[SEARCH_PLACES_MAX];
	size_t count;
};

/* Whether a file of that id is the recorded one; true where the recording has no id. */
bool search_is_recorded(const struct binary_key *key, struct elf_build_id found);
/* In lower-case hex, in the arena; "" when memory runs out. */
const char *search_hex(struct arena *arena, const uint8_t *bytes, size_t count);
/* ~/.debug/.build-id/ab/cdef.../FILE, as perf keeps it; NULL without a build id or a home. */
const char *search_build_id_cache(struct arena *arena, const struct binary_store_options *options,
	const struct binary_key *key, const char *file);
/* Adds a file of that build id in the cache, or a path below a root; inside NULL: not applicable. */
void search_add_cached(struct binary_places *places, struct arena *arena, const struct binary_store_options *options,
	struct elf_build_id id, const char *file);
void search_add_path(struct binary_places *places, struct arena *arena, const struct binary_root *root,
	const char *source, const char *inside);
/* Adds the debug file that debuginfod fetched earlier. */
void search_add_fetched(struct binary_places *places, struct arena *arena, struct elf_build_id id);
/* The places where the entry's program may be: without a build ID, only places that cannot hold another file. */
void search_program(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places);
/* Adds other places, as the process sees them: in a container, deleted, or replaced since. */
void search_process(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places);
void search_vdso(struct binary_entry *entry, const struct binary_store_options *options, struct binary_place *place);
/* Adds the places where the debug file of the entry's image may be. */
void search_debug_file(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places);
/* Where dwz's common file may be that the debug file at path names so. */
void search_supplement(struct binary_entry *entry, const char *path, const char *name, struct elf_build_id id,
	struct binary_places *places);

/* Where the .dwp may be of a program whose debug information is in the file at path. */
void search_package(struct binary_entry *entry, const char *path, struct binary_places *places);

#endif
