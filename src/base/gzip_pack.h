/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_pack.h - compresses consecutive texts into one gzip file.
 *
 * Each text is compressed separately, by the caller's thread and by one thread for each other available CPU, at least
 * one and at most eight; the result does not depend on their number. Threads start when texts arrive, so a short file
 * needs none. Compressed bytes are passed to put, in order and in the caller's thread. At most a few texts are in
 * memory at a time.
 *
 *	struct gzip_pack *pack = gzip_pack_create(put, context);   ... NULL: out of memory ...
 *	gzip_pack_add(pack, &text);   // empties text
 *	is_whole = gzip_pack_finish(pack, &text);
 */
#ifndef BASE_GZIP_PACK_H
#define BASE_GZIP_PACK_H

#include "base/text.h"

typedef void (*gzip_pack_put)(void *context, const void *data, size_t len);

struct gzip_pack *gzip_pack_create(gzip_pack_put put, void *context);
/* Moves the contents of the text to the packer, and may write texts that were added before. */
void gzip_pack_add(struct gzip_pack *pack, struct text *text);
/*
 * Compresses the last text, writes everything that remains, and frees the packer. Returns false if memory ran out; the
 * file is incomplete then.
 */
bool gzip_pack_finish(struct gzip_pack *pack, struct text *text);

#endif
