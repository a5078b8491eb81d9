/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/unpack.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tally_config.h"
#if HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/array.h"
#include "base/error.h"
#include "object/elf/xz_decode.h"

#define UNPACK_FIRST_ROOM (256u << 10)
#define GZIP_WINDOW	  (16 + MAX_WBITS) /* Makes zlib require a gzip header. */

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_XZ, PACKED_ZSTD };

struct room {
	uint8_t *data;
	size_t size, limit;
};

static enum packing packing_of(struct tally_bytes bytes)
{
	if (bytes.len < 6)
		return PACKED_NOT;
	if (memcmp(bytes.data, "\x1f\x8b\x08", 3) == 0)
		return PACKED_GZIP;
	if (memcmp(bytes.data,
		    "\xfd"
		    "7zXZ\0",
		    6) == 0)
		return PACKED_XZ;
	return memcmp(bytes.data, "\x28\xb5\x2f\xfd", 4) == 0 ? PACKED_ZSTD : PACKED_NOT;
}

bool unpack_is_packed(struct tally_bytes bytes)
{
	return packing_of(bytes) != PACKED_NOT;
}

static enum tally_status unpack_grow(struct room *room, struct tally_error *err)
{
	if (room->size >= room->limit)
		return error_set(err, TALLY_LIMIT, "a compressed file unpacks to more than %zu bytes", room->limit);
	size_t want = room->size ? room->size * 2 : UNPACK_FIRST_ROOM;
	want = MIN(want, room->limit);
	uint8_t *grown = realloc(room->data, want);
	if (!grown)
		return error_nomem(err);
	room->data = grown;
	room->size = want;
	return TALLY_OK;
}

static enum tally_status unpack_damaged(struct tally_error *err)
{
	return error_set(err, TALLY_CORRUPT, "a compressed file is damaged");
}

static enum tally_status inflate_all(z_stream *stream, struct room *room, struct tally_error *err)
{
	int result = Z_OK;
	while (result == Z_OK) {
		enum tally_status status = stream->total_out == room->size ? unpack_grow(room, err) : TALLY_OK;
		if (status != TALLY_OK)
			return status;
		size_t left = room->size - stream->total_out;
		stream->next_out = room->data + stream->total_out;
		stream->avail_out = left < UINT_MAX ? (uInt)left : UINT_MAX;
		result = inflate(stream, Z_NO_FLUSH);
	}
	if (result == Z_MEM_ERROR)
		return error_nomem(err);
	return result == Z_STREAM_END ? TALLY_OK : unpack_damaged(err);
}

static enum tally_status unpack_ungzip(
	struct tally_bytes packed, struct room *room, size_t *len, struct tally_error *err)
{
	z_stream stream = {0};
	if (packed.len > UINT_MAX)
		return error_set(err, TALLY_LIMIT, "a compressed file has %zu bytes", packed.len);
	stream.next_in = (Bytef *)(uintptr_t)packed.data; /* zlib does not write to its input, so the cast is safe. */
	stream.avail_in = (uInt)packed.len;
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return error_nomem(err);
	enum tally_status status = inflate_all(&stream, room, err);
	*len = stream.total_out;
	inflateEnd(&stream);
	return status;
}

#if HAVE_ZSTD
static enum tally_status unpack_unzstd(
	struct tally_bytes packed, struct room *room, size_t *len, struct tally_error *err)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = {packed.data, packed.len, 0};
	ZSTD_outBuffer out = {NULL, 0, 0};
	size_t hint = 1; /* 0 at the end of the frame. */
	enum tally_status status = context ? TALLY_OK : error_nomem(err);
	while (status == TALLY_OK && hint != 0) {
		if (out.pos == room->size)
			status = unpack_grow(room, err);
		out.dst = room->data;
		out.size = room->size;
		size_t before = out.pos;
		if (status == TALLY_OK)
			hint = ZSTD_decompressStream(context, &out, &in);
		if (status == TALLY_OK && (ZSTD_isError(hint) || (in.pos == in.size && hint && out.pos == before)))
			status = unpack_damaged(err);
	}
	ZSTD_freeDCtx(context);
	*len = out.pos;
	return status;
}
#else
static enum tally_status unpack_unzstd(
	struct tally_bytes packed, struct room *room, size_t *len, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no libzstd");
}
#endif

enum tally_status unpack(struct tally_bytes packed, size_t limit, uint8_t **out, size_t *len, struct tally_error *err)
{
	struct room room = {.limit = limit};
	size_t used = 0;
	enum packing packing = packing_of(packed);
	if (packing == PACKED_XZ)
		return xz_decode(packed, limit, out, len, err);
	enum tally_status status = packing == PACKED_GZIP   ? unpack_ungzip(packed, &room, &used, err)
				   : packing == PACKED_ZSTD ? unpack_unzstd(packed, &room, &used, err)
							    : unpack_damaged(err);
	if (status != TALLY_OK) {
		free(room.data);
		return status;
	}
	*out = room.data;
	*len = used;
	return TALLY_OK;
}
