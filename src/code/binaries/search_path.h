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

/* Whether a file of that id is the recorded one; true where the recording has no id. */
bool search_is_recorded(const struct binary_key *key, struct elf_build_id found);
/* In lower-case hex, in the arena; "" when memory is out. */
const char *search_hex(struct arena *arena, const uint8_t *bytes, size_t count);
/* ~/.debug/.build-id/ab/cdef.../FILE, as perf keeps it; NULL without a build id or a home. */
const char *search_build_id_cache(struct arena *arena, const struct binary_store_options *options,
	const struct binary_key *key, const char *file);
/* /usr/lib/debug/.build-id/ab/cdef....debug; NULL if it is not there. */
const char *search_system_debug(
	struct arena *arena, const struct binary_store_options *options, struct elf_build_id id);
/* The separate debug file of image, by build id or debug link; NULL if none is there. used_path: where image was found;
 * recorded_path: what the recording calls it; NULL none. */
const char *search_debug_file(struct arena *arena, const struct binary_store_options *options, const char *used_path,
	const char *recorded_path, const struct elf_image *image);

#endif
