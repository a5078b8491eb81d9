/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_dump.h - packs a jitdump: the functions that have samples stay at their offsets in the dump, everything else
 * becomes zeros, and the result is compressed.
 *
 * The caller owns the result.
 *
 *	pack_dump_make(dump, addresses, count, &hiding, &out);
 *	bytes = pack_dump_open(packed, &len);   // malloc'ed; NULL: damaged, or out of memory
 */
#ifndef CODE_PACK_PACK_DUMP_H
#define CODE_PACK_PACK_DUMP_H

#include "base/writer.h"
#include "code/symbols/jitdump.h"

struct pack_dump_hiding {
	bool without_code; /* Omits the code and the lines. */
	/* Returns the replacement of a function's name; NULL if names stay. */
	const char *(*name)(void *context, const char *name);
	void *context;
};

/* addresses are the sorted offsets of samples in the dump. Returns false if memory runs out. */
bool pack_dump_make(const struct jitdump *dump, const uint64_t *addresses, size_t count,
	const struct pack_dump_hiding *hiding, struct writer *out);
char *pack_dump_open(struct tally_bytes packed, size_t *len);

#endif
