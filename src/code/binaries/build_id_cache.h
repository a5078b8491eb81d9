/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id_cache.h - manages the cache of program files by build ID, which is shared with perf and has perf's layout:
 *
 *	DIR/usr/bin/ls/<id>/elf	                     a hard link or copy; `debug` beside it: its debug file
 *	DIR/[kernel.kallsyms]/<id>/kallsyms          DIR/[vdso]/<id>/vdso
 *	DIR/.build-id/12/3456...  ->  ../../usr/bin/ls/<id>
 *
 * Several programs may write at once: each file and link is created under a temporary name and renamed. Names come from
 * recordings and are not trusted: a name that is not a plain absolute path (or a word in brackets) is refused, and no
 * symbolic link inside the cache is followed, so that nothing outside DIR is written or removed. Sources must be
 * regular files that have the given build ID.
 *
 *	build_id_cache_init(&cache, NULL, err);
 *	build_id_cache_add(&cache, STR("/usr/bin/ls"), &id, "/usr/bin/ls", err);
 */
#ifndef CODE_BINARIES_BUILD_ID_CACHE_H
#define CODE_BINARIES_BUILD_ID_CACHE_H

#include <limits.h>

#include "base/arena.h"
#include "object/elf/elf_image.h"

#define BUILD_ID_CACHE_KERNEL "[kernel.kallsyms]"
#define BUILD_ID_CACHE_VDSO   "[vdso]"
#define BUILD_ID_CACHE_VDSO32 "[vdso32]"

struct build_id_cache {
	char dir[PATH_MAX];
};

struct build_id_cache_entry {
	struct tally_str name; /* Path or bracketed name, as recorded. */
	struct elf_build_id id;
	uint64_t bytes; /* Number of bytes that only the cache holds; files that have other hard links count as 0. */
	uint64_t time_ns; /* Time at which the entry was added. */
};

struct build_id_cache_list {
	struct arena arena;
	VEC(struct build_id_cache_entry) entries; /* Sorted by build ID. */
	size_t failures; /* Number of entries and folders that cannot be read. */
	struct tally_error failure; /* Reason for the first of them; valid if failures is not 0. */
};

/* Sets the cache directory (~/.debug if dir is NULL) without creating it. A relative dir can be read but not added to,
 * because it would mean another cache in another working directory. */
TALLY_MUST_CHECK enum tally_status build_id_cache_init(
	struct build_id_cache *cache, const char *dir, struct tally_error *err);
/* Returns whether the name is a plain absolute path, or a word in brackets, which can be a name in the cache. */
bool build_id_cache_name_is_safe(struct tally_str name);
/* Returns whether the cache has a file with this build ID. */
bool build_id_cache_has(const struct build_id_cache *cache, const struct elf_build_id *id);
/* Returns whether the entry with this build ID was made from a file with that name; any file may claim a build ID. */
bool build_id_cache_is_of(const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_str name);
/* Returns whether the open file belongs to this user or root, and not everyone may write to it. */
bool build_id_cache_is_trusted(int fd);
/* Opens a file ("elf", "debug", "kallsyms" ...) of the entry for reading. NOT_FOUND: there is no such file. INVALID:
 * the file is a symbolic link, not regular, or writable by others, or the entry is not a directory of this cache. */
TALLY_MUST_CHECK enum tally_status build_id_cache_open(const struct build_id_cache *cache,
	const struct elf_build_id *id, const char *file, int *fd, struct tally_error *err);
/* Adds the file at path as a hard link or a copy, and replaces an existing file. A file that another user could modify
 * is copied. INVALID: it is not a regular file, or has another build ID. */
TALLY_MUST_CHECK enum tally_status build_id_cache_add(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const char *path, struct tally_error *err);
/* Works like build_id_cache_add for an open file. */
TALLY_MUST_CHECK enum tally_status build_id_cache_add_fd(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, int fd, struct tally_error *err);
/* Adds the symbols of the running kernel. DENIED: the kernel hides its addresses. */
TALLY_MUST_CHECK enum tally_status build_id_cache_add_kernel(
	const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_error *err);
/* Adds the vDSO of this machine; name is BUILD_ID_CACHE_VDSO or BUILD_ID_CACHE_VDSO32. NOT_FOUND: this machine has no
 * such vDSO. */
TALLY_MUST_CHECK enum tally_status build_id_cache_add_vdso(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, struct tally_error *err);
/* Writes a small file ("probes") next to the program with that name and build ID; replaces an existing one. */
TALLY_MUST_CHECK enum tally_status build_id_cache_put(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const char *file, struct tally_bytes bytes, struct tally_error *err);
/* Removes the entry. NOT_FOUND: there is none. */
TALLY_MUST_CHECK enum tally_status build_id_cache_remove(
	const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_error *err);
/* Lists the entries, without damaged ones. A missing cache is empty. */
TALLY_MUST_CHECK enum tally_status build_id_cache_read(
	const struct build_id_cache *cache, struct build_id_cache_list *list, struct tally_error *err);
void build_id_cache_list_deinit(struct build_id_cache_list *list);
/* Removes the oldest entries until the rest has at most the given number of bytes; *removed becomes their number. */
TALLY_MUST_CHECK enum tally_status build_id_cache_trim(
	const struct build_id_cache *cache, uint64_t bytes, size_t *removed, struct tally_error *err);

#endif
