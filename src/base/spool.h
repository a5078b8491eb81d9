/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - collects a stream of bytes, such as the data of a pipe or decompressed data, in contiguous memory that
 * never moves.
 *
 * Owned by the struct that embeds it, and used by one thread. It reserves address space for far more bytes than are
 * expected (or allocates it as needed, if a limit of the process is low), and adds memory as it grows. It grows in
 * steps of 1 MiB. A spool of up to SPOOL_MEMORY_BYTES is in memory; a longer one, except for its first step, is in an
 * unlinked file in $TMPDIR (or /var/tmp), and the kernel may write its pages back. If the disk is full or the directory
 * is missing, memory is used instead, without an error. Forgotten bytes are freed and must not be read again; dropped
 * bytes (growing drops some, too) are read from the file again when they are accessed.
 *
 *	struct spool s; spool_init(&s);
 *	uint8_t *room = spool_reserve(&s, n);   ... write m <= n bytes ...   spool_commit(&s, m);
 *	spool_drop(&s, spool_view(&s));   spool_forget(&s, end);   spool_deinit(&s);
 */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include <stdbool.h>

#include "base/bytes.h"

#define SPOOL_MEMORY_BYTES ((size_t)32 << 20)

struct spool {
	uint8_t *base; /* NULL before address space is reserved. */
	size_t len; /* Number of collected bytes. */
	size_t backed, reserved; /* Bytes with memory or file blocks, and bytes of reserved address space. */
	size_t memory_bytes; /* Number of bytes that are in memory only, without a file. */
	size_t forgotten; /* Number of bytes at the start that were forgotten. */
	/* Offset from which on bytes are in memory, because the file could not grow; SIZE_MAX if it could. */
	size_t memory_from;
	int fd; /* -1 if there is no file (yet). */
	bool is_passing; /* True if no file is used, because bytes are forgotten soon. */
	bool is_tight; /* True if address space is limited, so that only backed bytes are reserved. */
};

void spool_init(struct spool *spool);
void spool_deinit(struct spool *spool);
/*
 * Sets the number of bytes that are expected in all spools that are filled at the same time; call it before the first
 * byte. If they are more than SPOOL_MEMORY_BYTES, the spool uses its file from the beginning.
 */
void spool_expect(struct spool *spool, size_t bytes);
/* Returns memory for n bytes at the end; NULL if memory or address space is exhausted. */
uint8_t *spool_reserve(struct spool *spool, size_t n);
void spool_commit(struct spool *spool, size_t n);
bool spool_append(struct spool *spool, const void *data, size_t len);
/*
 * Hints that a part will probably not be read soon: its complete steps in the file leave this process's memory. Bytes
 * outside of the spool are not affected. May be called from any thread.
 */
void spool_drop(const struct spool *spool, struct tally_bytes part);
#define SPOOL_WALK_ITEMS ((size_t)1 << 17)
/*
 * Drops earlier items from time to time in a loop over all items of the spool, each of size bytes. Call it for each
 * index in ascending order.
 */
static inline void spool_walk(const struct spool *spool, size_t index, size_t size)
{
	if (index % SPOOL_WALK_ITEMS == 0 && index > 0)
		spool_drop(spool,
			(struct tally_bytes){spool->base + (index - SPOOL_WALK_ITEMS) * size, SPOOL_WALK_ITEMS * size});
}
/* Frees the bytes before end, in complete steps. */
void spool_forget(struct spool *spool, size_t end);
/* Disables the file, for a caller that forgets bytes soon after it adds them. */
void spool_pass(struct spool *spool);
struct tally_bytes spool_view(const struct spool *spool);

#endif
