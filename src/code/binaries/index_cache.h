/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_cache.h - caches on disk what takes long to read: line indexes (DIR/ab/cdef...-1234abcd.lines), by build ID and
 * the file they were read from, and symbol lists of kernels (.kallsyms), by build ID. The directory is $TALLY_CACHE, or
 * tally's directory in the user's cache. Several programs may write at once: a file is written under a temporary name
 * and renamed, and does not change afterwards. Files that another user owns are not read. The oldest files are removed
 * when the cache exceeds its size.
 *
 *	if (index_cache_dir(options->index_dir, dir) && index_cache_open(&key, &map, err) == TALLY_OK) ...
 */
#ifndef CODE_BINARIES_INDEX_CACHE_H
#define CODE_BINARIES_INDEX_CACHE_H

#include <limits.h>

#include "base/file.h"
#include "object/elf/elf_image.h"

/* Sets dir to the cache directory: wanted, or $TALLY_CACHE, $XDG_CACHE_HOME/tally or ~/.cache/tally if wanted is NULL.
 * Returns false if there is none, or wanted is "". */
bool index_cache_dir(const char *wanted, char dir[PATH_MAX]);

enum index_kind { INDEX_LINES, INDEX_KERNEL_LIST, INDEX_KINDS };
/* Key of a cached file; dir and id are borrowed. */
struct index_key {
	const char *dir;
	const struct elf_build_id *id;
	enum index_kind kind;
	uint32_t variant; /* Distinguishes line indexes of several files with the same build ID; 0 for other kinds. */
};

/* Sets path to the path of the file with that key, which need not exist. Returns false if the key has no build ID. */
bool index_cache_path(const struct index_key *key, char path[PATH_MAX]);
/* Maps the file, and marks it as used if that was not done within a day. NOT_FOUND: there is none. INVALID: it belongs
 * to another user, or is not a regular file. */
TALLY_MUST_CHECK enum tally_status index_cache_open(
	const struct index_key *key, struct file_map *map, struct tally_error *err);
/* A file that is being written under a temporary name. */
struct index_file {
	int fd;
	uint64_t bytes; /* Size of the file so far. */
	char path[PATH_MAX], beside[PATH_MAX]; /* The final path, and the temporary one. */
};

/* Creates the temporary file, which index_cache_finish must complete. */
TALLY_MUST_CHECK enum tally_status index_cache_create(
	const struct index_key *key, struct index_file *file, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status index_cache_put(
	struct index_file *file, uint64_t offset, struct tally_bytes bytes, struct tally_error *err);
/* Completes the file: if status is OK, the file replaces an existing one, otherwise it is removed. Then removes the
 * oldest files until all have at most max_bytes together; a file larger than that is not stored (LIMIT). Returns status
 * or, if that is OK, the error of completing the file. */
TALLY_MUST_CHECK enum tally_status index_cache_finish(const char *dir, struct index_file *file, uint64_t max_bytes,
	enum tally_status status, struct tally_error *err);

#endif
