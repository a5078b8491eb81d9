/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_dump.h - packs a runtime's dump of generated code: the functions that samples hit at their places in the dump,
 * zeros elsewhere, compressed.
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
	bool without_code; /* and without lines */
	const char *(*name)(
		void *context, const char *name); /* the replacement of a function's name; NULL: names stay */
	void *context;
};

/* addresses: that were hit, offsets in the dump, sorted. False: out of memory. */
bool pack_dump_make(const struct jitdump *dump, const uint64_t *addresses, size_t count,
	const struct pack_dump_hiding *hiding, struct writer *out);
char *pack_dump_open(struct tally_bytes packed, size_t *len);

#endif
