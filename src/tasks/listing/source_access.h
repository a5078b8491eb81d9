/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_access.h - decides which of the files that debug information names may be shown as source.
 *
 * Debug information is not trusted: it may name any file, and the user of tally may be allowed to read files that the
 * program's owner must not read. So only regular files without a NUL byte whose name is that of source code are read;
 * for root, the owners of the program and of the file with its debug information must also be allowed to read them.
 *
 *	source_readers_of(&readers, store, store_id);
 *	text = source_access_read(path, &readers, &len, &why);   // from malloc
 */
#ifndef TASKS_LISTING_SOURCE_ACCESS_H
#define TASKS_LISTING_SOURCE_ACCESS_H

#include <sys/types.h>

#include "code/binary_store.h"

#define SOURCE_READERS 3

struct source_readers { /* owners that are not root; zeros behind count */
	size_t count;
	uid_t uids[SOURCE_READERS];
	gid_t gids[SOURCE_READERS];
};

void source_readers_of(struct source_readers *readers, const struct binary_store *store, uint32_t id);
/* By its name: "x.c", "/usr/include/c++/12/vector". */
bool source_access_is_source(const char *path);
/* Returns the file's text, NUL-terminated, which the caller frees. NULL: *why is the reason of the refusal, or NULL if
 * there is no such file. */
char *source_access_read(const char *path, const struct source_readers *readers, size_t *len, const char **why);

#endif
