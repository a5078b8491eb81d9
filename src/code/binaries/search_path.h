/*
 * search_path.h - where a program file and its debug file may lie, by path, build id and debug link.
 *
 * Paths are made in the arena. Looks at the file system only; opens nothing but to check a debug link's CRC.
 */
#ifndef CODE_BINARIES_SEARCH_PATH_H
#define CODE_BINARIES_SEARCH_PATH_H

#include "base/arena.h"
#include "code/binary_store.h"
#include "object/elf/elf_image.h"

/* ~/.debug/.build-id/ab/cdef.../FILE, as perf keeps it; NULL without a build id or a home. */
const char *search_build_id_cache(struct arena *arena, const struct binary_key *key, const char *file);
/* The separate debug file of image; NULL if none is there. */
const char *search_debug_file(struct arena *arena, const struct binary_key *key, const char *used_path,
	const char *symfs, const struct elf_image *image);
const char *search_with_root(struct arena *arena, const char *symfs, struct tally_str path);

#endif
