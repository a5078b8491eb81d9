/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - collects bytes that arrive one after another, such as a pipe or unpacked data, in one piece that never
 * moves.
 *
 * Owned by the struct that embeds it; one thread. It reserves address space for far more bytes than are expected (or
 * takes it as needed, if a limit of the process is low), and adds memory as it grows. A short spool is in memory; the
 * rest of a longer one goes to an unlinked file in $TMPDIR (else /var/tmp), whose pages the kernel may write out. If
 * the disk is full or the folder is missing, memory is used instead; that is not an error. Forgotten bytes are released
 * and must not be read again; dropped bytes (growing drops, too) are read from the file again when they are accessed.
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
	uint8_t *base; /* NULL: nothing reserved yet */
	size_t len; /* bytes that came */
	size_t backed, reserved;
	size_t memory_bytes; /* bytes that are in memory only, without a file */
	size_t forgotten; /* bytes at the start that were forgotten */
	size_t memory_from; /* from here on bytes are in memory, because the file could not grow; SIZE_MAX: nowhere */
	int fd; /* -1: no file (yet) */
	bool is_passing; /* no file is used, because bytes are forgotten soon */
	bool is_tight; /* address space is limited: reserve only what is backed */
};

void spool_init(struct spool *spool);
void spool_deinit(struct spool *spool);
/* Call it before the first byte with the number of bytes expected in all spools that fill at the same time. If they are
 * too many for memory, the spool uses its file at once. */
void spool_expect(struct spool *spool, size_t bytes);
/* Room for n bytes at the end; NULL: neither memory nor address space is left. */
uint8_t *spool_reserve(struct spool *spool, size_t n);
void spool_commit(struct spool *spool, size_t n);
bool spool_append(struct spool *spool, const void *data, size_t len);
/* Says that a part will hardly be read soon: its complete steps in the file leave this process's memory. Bytes
 * outside of the spool are not affected. Any thread. */
void spool_drop(const struct spool *spool, struct tally_bytes part);
/* For a loop from the first item of this size to the last one; call it at each item. The items before it are dropped
 * from time to time. */
#define SPOOL_WALK_ITEMS ((size_t)1 << 17)
static inline void spool_walk(const struct spool *spool, size_t index, size_t size)
{
	if (index % SPOOL_WALK_ITEMS == 0 && index > 0)
		spool_drop(spool,
			(struct tally_bytes){spool->base + (index - SPOOL_WALK_ITEMS) * size, SPOOL_WALK_ITEMS * size});
}
/* The bytes before end are not needed any more. Gives back whole steps only. */
void spool_forget(struct spool *spool, size_t end);
/* From now on no file is used, because the caller forgets bytes soon after it adds them. */
void spool_pass(struct spool *spool);
struct tally_bytes spool_view(const struct spool *spool);

#endif
