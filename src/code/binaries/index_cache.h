/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_cache.h - caches on disk what takes long to read: line indexes (DIR/ab/cdef...-1234abcd.lines), by build ID and
 * the file they were read from, and symbol lists of kernels (.kallsyms), by build ID. The folder is $TALLY_CACHE, or
 * tally's folder in the user's cache. Several programs may write at once: a file is written under another name and
 * renamed, and does not change afterwards. Files that another user owns are not read. The oldest files are removed when
 * the cache exceeds its size.
 *
 *	if (index_cache_dir(options->index_dir, dir) && index_cache_open(&key, &map, err) == TALLY_OK) ...
 */
#ifndef CODE_BINARIES_INDEX_CACHE_H
#define CODE_BINARIES_INDEX_CACHE_H

#include <limits.h>

#include "base/file.h"
#include "object/elf/elf_image.h"

/* wanted NULL: $TALLY_CACHE, $XDG_CACHE_HOME/tally or ~/.cache/tally. False: none, or "" was asked for. */
bool index_cache_dir(const char *wanted, char dir[PATH_MAX]);

enum index_kind { INDEX_LINES, INDEX_KERNEL_LIST, INDEX_KINDS };
struct index_key { /* borrows both */
	const char *dir;
	const struct elf_build_id *id;
	enum index_kind kind;
	uint32_t variant; /* of line indexes: distinguishes files with one build ID */
};

/* False: a key without a build ID has no path. */
bool index_cache_path(const struct index_key *key, char path[PATH_MAX]);
/* NOT_FOUND if there is none; it counts as used now. */
TALLY_MUST_CHECK enum tally_status index_cache_open(
	const struct index_key *key, struct file_map *map, struct tally_error *err);
struct index_file { /* a file that is being written next to its final name */
	int fd;
	uint64_t bytes; /* its end so far */
	char path[PATH_MAX], beside[PATH_MAX];
};

TALLY_MUST_CHECK enum tally_status index_cache_create(
	const struct index_key *key, struct index_file *file, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status index_cache_put(
	struct index_file *file, uint64_t offset, struct tally_bytes bytes, struct tally_error *err);
/* Completes the file: with status OK it replaces an existing one, otherwise it is removed. The oldest files are removed
 * so that all files have at most max_bytes; a larger file is not stored (LIMIT). Returns status, or the failure that
 * happened here. */
TALLY_MUST_CHECK enum tally_status index_cache_finish(const char *dir, struct index_file *file, uint64_t max_bytes,
	enum tally_status status, struct tally_error *err);

#endif
