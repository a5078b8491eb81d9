/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_pack.h - compresses consecutive texts into one gzip file.
 *
 * Each text is compressed separately, by one thread for each available CPU, one of which is the caller's; the result
 * does not depend on their number. Threads start when texts arrive, so a short file needs none. Compressed bytes are
 * passed to put, in order and on the caller's thread. Memory is bounded by a few texts.
 *
 *	struct gzip_pack *pack = gzip_pack_create(put, context);   ... NULL: out of memory ...
 *	gzip_pack_add(pack, &text);   // text is empty then
 *	is_whole = gzip_pack_finish(pack, &text);
 */
#ifndef BASE_GZIP_PACK_H
#define BASE_GZIP_PACK_H

#include "base/text.h"

typedef void (*gzip_pack_put)(void *context, const void *data, size_t len);

struct gzip_pack *gzip_pack_create(gzip_pack_put put, void *context);
/* Takes the contents of the text, and may write what was added before. */
void gzip_pack_add(struct gzip_pack *pack, struct text *text);
/* Compresses this last text, writes everything that is left, and frees the packer. False: out of memory; the file is
 * incomplete. */
bool gzip_pack_finish(struct gzip_pack *pack, struct text *text);

#endif
