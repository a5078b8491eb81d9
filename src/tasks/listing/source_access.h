/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_access.h - decides which of the files that debug information names may be shown as source.
 *
 * Debug information is not trusted: it may name any file, and the user of tally may be allowed to read files that the
 * program's owner must not read. So only regular text files that are named like source code are read. If tally runs as
 * root, the owners of the program and of the file with its debug information must also be allowed to read them.
 *
 *	source_readers_of(&readers, store, store_id);
 *	text = source_access_read(path, &readers, &len, &why);   // freed by the caller
 */
#ifndef TASKS_LISTING_SOURCE_ACCESS_H
#define TASKS_LISTING_SOURCE_ACCESS_H

#include <sys/types.h>

#include "code/binary_store.h"

#define SOURCE_READERS 3

/* Owners of a program that are not root. Unused elements are 0, because the structs are compared with memcmp. */
struct source_readers {
	size_t count;
	uid_t uids[SOURCE_READERS];
	gid_t gids[SOURCE_READERS];
};

void source_readers_of(struct source_readers *readers, const struct binary_store *store, uint32_t id);
/* Decides by the name, such as "x.c" or "/usr/include/c++/12/vector". */
bool source_access_is_source(const char *path);
/* Returns the NUL-terminated text of the file, which the caller frees. Returns NULL on failure; *why is then the reason
 * if the file was refused, or NULL if it cannot be opened or read. */
char *source_access_read(const char *path, const struct source_readers *readers, size_t *len, const char **why);

#endif
