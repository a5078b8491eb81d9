/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_path.h - lists the places where a program file and its debug files may be, in search order. It opens no files.
 *
 * A root is a directory that stands for "/": this machine's own, --symfs, or that of a running process. Paths are
 * allocated in the arena of the entry. A place that is not applicable is left out.
 */
#ifndef CODE_BINARIES_SEARCH_PATH_H
#define CODE_BINARIES_SEARCH_PATH_H

#include "code/binaries/binary_entry.h"

#define SEARCH_PLACES_MAX 16

enum binary_place_kind {
	PLACE_PATH,
	PLACE_CACHE, /* inside is the name of a file in the cache entry with this build ID. */
	PLACE_PROCESS, /* inside is a path in the root of a process. */
	PLACE_KEPT /* A file that the caller holds open: fd. */
};

struct binary_place {
	enum binary_place_kind kind;
	const char *source; /* Kind of place, for messages. */
	const char *path; /* Path for messages; it is opened only for PLACE_PATH. */
	const char *inside; /* For PLACE_CACHE and PLACE_PROCESS; see enum binary_place_kind. */
	int32_t pid; /* PID of the process that has the file; 0 if none. */
	int fd; /* Descriptor for PLACE_KEPT; borrowed. */
	struct elf_build_id id; /* Build ID for PLACE_CACHE. */
	bool has_crc; /* The file must have this CRC. */
	uint32_t crc;
};

struct binary_places {
	struct binary_place items[SEARCH_PLACES_MAX];
	size_t count;
};

/* Returns whether a file with build ID found is the recorded one; true if the recording has no build ID. */
bool search_is_recorded(const struct binary_key *key, struct elf_build_id found);
/* Formats bytes as lower-case hex digits in the arena; "" if memory runs out. */
const char *search_hex(struct arena *arena, const uint8_t *bytes, size_t count);
/* Returns the path of a file in the build-ID cache, such as ~/.debug/.build-id/ab/cdef.../elf; NULL if the file does
 * not exist, or key has no build ID. */
const char *search_build_id_cache(struct arena *arena, const struct binary_store_options *options,
	const struct binary_key *key, const char *file);
/* Adds a file of the cache entry with that build ID. */
void search_add_cached(struct binary_places *places, struct arena *arena, const struct binary_store_options *options,
	struct elf_build_id id, const char *file);
/* Adds the path inside below a root; adds nothing if inside is NULL. */
void search_add_path(struct binary_places *places, struct arena *arena, const struct binary_root *root,
	const char *source, const char *inside);
/* Adds the debug file that debuginfod fetched earlier. */
void search_add_fetched(struct binary_places *places, struct arena *arena, struct elf_build_id id);
/* Lists the places where the entry's program may be. If the recording has no build ID, and the process still maps the
 * file but has another root, or the file was deleted, only places that are reached through the process are listed. */
void search_program(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places);
/* Lists the places of a program with a build ID that are reached through its process, for programs in containers and
 * for files that were deleted or replaced. */
void search_process(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places);
/* Sets *place to the place of a vDSO in the build-ID cache; its path is NULL if there is none. */
void search_vdso(struct binary_entry *entry, const struct binary_store_options *options, struct binary_place *place);
/* Lists the places where the debug file of the entry's image may be. */
void search_debug_file(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places);
/* Lists the places of dwz's common file, to which the debug file at path refers by name. */
void search_supplement(struct binary_entry *entry, const char *path, const char *name, struct elf_build_id id,
	struct binary_places *places);

/* Lists the places of the .dwp file of a program that has its debug information in the file at path. */
void search_package(struct binary_entry *entry, const char *path, struct binary_places *places);

#endif
