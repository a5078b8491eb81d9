/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch_pack.h"

#include "base/error.h"
#include "tally_config.h"

#if HAVE_ZSTD
#include <zstd.h>

#define LEVEL	   3 /* The default level of zstd. */
#define WINDOW_LOG 23 /* Each zstd decoder should accept this window; level 3 needs 21. */
#define STEP_BYTES ((size_t)128 << 10)

bool fleet_batch_can_compress(void)
{
	return true;
}

enum tally_status fleet_batch_compress(struct tally_bytes raw, struct text *out, struct tally_error *err)
{
	size_t bound = ZSTD_compressBound(raw.len);
	char *room = text_room(out, bound);
	if (!room)
		return error_nomem(err);
	size_t len = ZSTD_compress(room, bound, raw.data, raw.len, LEVEL);
	if (ZSTD_isError(len))
		return error_nomem(err);
	out->len += len;
	return TALLY_OK;
}

static enum tally_status batch_pack_unpack(
	ZSTD_DStream *stream, struct tally_bytes packed, size_t max_bytes, struct text *out, struct tally_error *err)
{
	ZSTD_inBuffer in = {packed.data, packed.len, 0};
	for (size_t unpacked = 0;;) {
		/* One byte of excess suffices to detect a batch that is too large. */
		size_t room = MIN(STEP_BYTES, max_bytes - unpacked + 1);
		ZSTD_outBuffer to = {text_room(out, room), room, 0};
		if (!to.dst)
			return error_nomem(err);
		size_t left = ZSTD_decompressStream(stream, &to, &in);
		if (ZSTD_isError(left))
			return error_set(
				err, TALLY_CORRUPT, "cannot decompress the batch: %s", ZSTD_getErrorName(left));
		unpacked += to.pos;
		out->len += to.pos;
		if (unpacked > max_bytes)
			return error_set(err, TALLY_LIMIT, "the batch decompresses to more than %zu bytes", max_bytes);
		if (left == 0)
			break;
		if (in.pos == in.size && to.pos < to.size)
			return error_set_at(err, TALLY_CORRUPT, packed.len, "the compressed batch ends in the middle");
	}
	if (in.pos < in.size)
		return error_set_at(err, TALLY_CORRUPT, in.pos, "other bytes follow the compressed batch");
	return TALLY_OK;
}

size_t fleet_batch_unpacked_bytes(struct tally_bytes packed, size_t max_bytes)
{
	/* ZSTD_CONTENTSIZE_UNKNOWN and ZSTD_CONTENTSIZE_ERROR are the largest values. */
	unsigned long long bytes = ZSTD_getFrameContentSize(packed.data, packed.len);
	return bytes < max_bytes ? (size_t)bytes : max_bytes;
}

enum tally_status fleet_batch_decompress(
	struct tally_bytes packed, size_t max_bytes, struct text *out, struct tally_error *err)
{
	size_t before = out->len;
	ZSTD_DStream *stream = ZSTD_createDStream();
	if (!stream || ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG))) {
		ZSTD_freeDStream(stream);
		return error_nomem(err);
	}
	enum tally_status status = TALLY_OK;
	if (packed.len == 0)
		status = error_set_at(err, TALLY_CORRUPT, 0, "the compressed batch is empty");
	else
		status = batch_pack_unpack(stream, packed, max_bytes, out, err);
	ZSTD_freeDStream(stream);
	if (status != TALLY_OK)
		out->len = before;
	return status;
}

#else

size_t fleet_batch_unpacked_bytes(struct tally_bytes packed, size_t max_bytes)
{
	return 0;
}

bool fleet_batch_can_compress(void)
{
	return false;
}

enum tally_status fleet_batch_compress(struct tally_bytes raw, struct text *out, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no zstd: send batches uncompressed");
}

enum tally_status fleet_batch_decompress(
	struct tally_bytes packed, size_t max_bytes, struct text *out, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "the batch is compressed, and this build has no zstd");
}

#endif
