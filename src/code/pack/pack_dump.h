/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_dump.h - packs a jitdump: the functions that have samples stay at their offsets in the dump, everything else
 * becomes zeros, and the result is compressed.
 *
 * The caller owns the result.
 *
 *	pack_dump_make(dump, addresses, count, &hiding, &out);
 *	bytes = pack_dump_open(packed, &len);
 */
#ifndef CODE_PACK_PACK_DUMP_H
#define CODE_PACK_PACK_DUMP_H

#include "base/writer.h"
#include "code/symbols/jitdump.h"

/* What is left out of a packed dump to keep it secret. */
struct pack_dump_hiding {
	bool without_code; /* Omits the code and the lines. */
	/* Returns the replacement of a function's name, or the name itself to keep it; NULL if memory runs out. A
	 * longer replacement is truncated. If the member is NULL, all names stay. */
	const char *(*name)(void *context, const char *name);
	void *context;
};

/* Appends the packed dump to out. addresses are the offsets of samples in the dump, ascending. Returns false if memory
 * runs out. */
bool pack_dump_make(const struct jitdump *dump, const uint64_t *addresses, size_t count,
	const struct pack_dump_hiding *hiding, struct writer *out);
/* Returns the reduced dump, which the caller frees, with a NUL after its len bytes; NULL if packed is damaged, or
 * memory runs out. */
char *pack_dump_open(struct tally_bytes packed, size_t *len);

#endif
