/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id_cache.h - manages the cache of program files by build ID, which is shared with perf and has perf's layout:
 *
 *	DIR/usr/bin/ls/<id>/elf	                     a hard link or copy; `debug` beside it: its debug file
 *	DIR/[kernel.kallsyms]/<id>/kallsyms          DIR/[vdso]/<id>/vdso
 *	DIR/.build-id/12/3456...  ->  ../../usr/bin/ls/<id>
 *
 * Several programs may write at once: each file and link is made under another name and renamed. Names come from
 * recordings: a name that is not a plain absolute path (or a word in brackets) is refused, and no symbolic link inside
 * the cache is followed, so that nothing outside DIR is written or removed. Sources must be regular files whose build
 * ID is the given one.
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
	struct tally_str name; /* as the recording has it */
	struct elf_build_id id;
	uint64_t bytes; /* bytes that only the cache holds; files with other hard links cost nothing */
	uint64_t time_ns; /* when it was added */
};

struct build_id_cache_list {
	struct arena arena;
	VEC(struct build_id_cache_entry) entries; /* by build id */
};

/* dir NULL: ~/.debug. Creates nothing. Nothing is added to a relative dir, because it would be another cache in
 * another folder. */
TALLY_MUST_CHECK enum tally_status build_id_cache_init(
	struct build_id_cache *cache, const char *dir, struct tally_error *err);
bool build_id_cache_name_is_safe(struct tally_str name);
/* Whether the cache has a file of this id. */
bool build_id_cache_has(const struct build_id_cache *cache, const struct elf_build_id *id);
/* Whether the entry of this id was made from a file with that name, because any file may claim an id. */
bool build_id_cache_is_of(const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_str name);
/* Whether only this user and root can change the open file. */
bool build_id_cache_is_trusted(int fd);
/* Opens file ("elf", "debug", "kallsyms" ...) of the entry to read. NOT_FOUND: there is no such file. INVALID: the file
 * is a symbolic link, not regular, or writable by others, or the entry is not a folder of this cache. */
TALLY_MUST_CHECK enum tally_status build_id_cache_open(const struct build_id_cache *cache,
	const struct elf_build_id *id, const char *file, int *fd, struct tally_error *err);
/* Links or copies the file at path, which replaces an existing file. INVALID: it is not a regular file, or has another
 * build ID. A file that another user could change is copied. */
TALLY_MUST_CHECK enum tally_status build_id_cache_add(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const char *path, struct tally_error *err);
/* The same for an open file, regardless of its path. */
TALLY_MUST_CHECK enum tally_status build_id_cache_add_fd(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, int fd, struct tally_error *err);
/* This machine's kernel symbols and vdso. DENIED where the kernel hides its addresses. */
TALLY_MUST_CHECK enum tally_status build_id_cache_add_kernel(
	const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status build_id_cache_add_vdso(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, struct tally_error *err);
/* Writes a small file ("probes") beside the program of that name and id, which replaces an existing one. */
TALLY_MUST_CHECK enum tally_status build_id_cache_put(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const char *file, struct tally_bytes bytes, struct tally_error *err);
/* NOT_FOUND if there is none. */
TALLY_MUST_CHECK enum tally_status build_id_cache_remove(
	const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_error *err);
/* Skips damaged entries. A missing cache is empty. */
TALLY_MUST_CHECK enum tally_status build_id_cache_read(
	const struct build_id_cache *cache, struct build_id_cache_list *list, struct tally_error *err);
void build_id_cache_list_deinit(struct build_id_cache_list *list);
/* Removes the oldest entries until the rest holds at most that many bytes. */
TALLY_MUST_CHECK enum tally_status build_id_cache_trim(
	const struct build_id_cache *cache, uint64_t bytes, size_t *removed, struct tally_error *err);

#endif
