/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - collects bytes that arrive one after another, such as a pipe or unpacked data, in one piece that never
 * moves.
 *
 * Owned by who embeds it; one thread. Address space is reserved for far more than comes (where a limit of the process
 * leaves enough; else it is taken as it is needed), and backed as it grows: what is short by memory; what outgrows that
 * goes to an unlinked file in $TMPDIR (else /var/tmp), but for its first bytes, and the kernel may write its pages out.
 * A full disk, or no such folder, is no error: memory is taken instead. What was forgotten gives its room back and must
 * not be looked at again; what was dropped (by growing, too) is read from the file again when it is looked at.
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
	size_t memory_bytes; /* so much has no file */
	size_t forgotten; /* bytes at the start that are gone */
	size_t memory_from; /* where backing by memory begins again, for want of a file; SIZE_MAX: nowhere */
	int fd; /* -1: no file (yet) */
	bool is_passing; /* no file: what comes is forgotten soon */
	bool is_tight; /* addresses are limited: no more are reserved than are backed */
};

void spool_init(struct spool *spool);
void spool_deinit(struct spool *spool);
/* Before anything comes: it will be about so much, in all the spools that fill meanwhile. What is too long for memory goes
 * to the file at once then. */
void spool_expect(struct spool *spool, size_t bytes);
/* Room for n bytes at the end; NULL: neither memory nor address space is left. */
uint8_t *spool_reserve(struct spool *spool, size_t n);
void spool_commit(struct spool *spool, size_t n);
bool spool_append(struct spool *spool, const void *data, size_t len);
/* A part will hardly be looked at soon: its whole steps that a file has count no longer as this process's memory. What is
 * no part of the spool stays. Any thread. */
void spool_drop(const struct spool *spool, struct tally_bytes part);
/* For a walk from the first item of a size to the last, at each: what lies behind is dropped now and then. */
#define SPOOL_WALK_ITEMS ((size_t)1 << 17)
static inline void spool_walk(const struct spool *spool, size_t index, size_t size)
{
	if (index % SPOOL_WALK_ITEMS == 0 && index > 0)
		spool_drop(spool,
			(struct tally_bytes){spool->base + (index - SPOOL_WALK_ITEMS) * size, SPOOL_WALK_ITEMS * size});
}
/* The bytes before end are not needed any more. Gives back whole steps only. */
void spool_forget(struct spool *spool, size_t end);
/* Ditto; and from now on no file is used, because all is forgotten before long. */
void spool_pass(struct spool *spool);
struct tally_bytes spool_view(const struct spool *spool);

#endif
