#include "perfdata/compressor.h"

#include <stdlib.h>

#include "abi/record.h"
#include "base/error.h"
#include "tally_config.h"

#if HAVE_ZSTD
#include <zstd.h>

#define STEP_BYTES	   (COMPRESSOR_UNPACKED_MAX / 2) /* the other half: a record that began before */
#define RECORD_PAYLOAD_MAX (UINT16_MAX - RECORD_HEADER_BYTES)

struct compressor {
	ZSTD_CStream *stream;
	struct compressor_totals totals;
};

enum tally_status compressor_create(int level, struct compressor **compressor, struct tally_error *err)
{
	struct compressor *c = calloc(1, sizeof(*c));

	if (!c)
		return error_nomem(err);
	c->stream = ZSTD_createCStream();
	if (!c->stream || ZSTD_isError(ZSTD_CCtx_setParameter(c->stream, ZSTD_c_compressionLevel, level))) {
		compressor_destroy(c);
		return error_nomem(err);
	}
	*compressor = c;
	return TALLY_OK;
}

void compressor_destroy(struct compressor *c)
{
	if (!c)
		return;
	ZSTD_freeCStream(c->stream);
	free(c);
}

/* One COMPRESSED record of what the stream gives; left: what it still holds. */
static enum tally_status put_record(
	struct compressor *c, ZSTD_inBuffer *in, struct writer *out, size_t *left, struct tally_error *err)
{
	size_t start = out->len;

	writer_u32(out, RECORD_COMPRESSED);
	writer_u32(out, 0); /* misc and the size to come */
	writer_zeros(out, RECORD_PAYLOAD_MAX);
	if (out->failed)
		return error_nomem(err);
	ZSTD_outBuffer room = {out->data + start + RECORD_HEADER_BYTES, RECORD_PAYLOAD_MAX, 0};
	*left = ZSTD_compressStream2(c->stream, &room, in, ZSTD_e_flush);
	if (ZSTD_isError(*left))
		return error_set(err, TALLY_INVALID, "compressing samples: %s", ZSTD_getErrorName(*left));
	out->len = start + RECORD_HEADER_BYTES + room.pos;
	writer_patch_u16(out, start + 6, (uint16_t)(RECORD_HEADER_BYTES + room.pos));
	c->totals.packed_bytes += RECORD_HEADER_BYTES + room.pos;
	return TALLY_OK;
}

enum tally_status compressor_pack(struct compressor *c, const struct tally_bytes *slices, size_t slice_count,
	struct writer *out, struct tally_error *err)
{
	for (size_t i = 0; i < slice_count; i++)
		for (size_t at = 0; at < slices[i].len; at += STEP_BYTES) {
			size_t rest = slices[i].len - at;
			ZSTD_inBuffer in = {slices[i].data + at, rest < STEP_BYTES ? rest : STEP_BYTES, 0};
			size_t left = 1;
			while (in.pos < in.size || left > 0) {
				enum tally_status st = put_record(c, &in, out, &left, err);
				if (st != TALLY_OK)
					return st;
			}
			c->totals.bytes += in.size;
		}
	return TALLY_OK;
}

struct compressor_totals compressor_totals(const struct compressor *c)
{
	return c->totals;
}

#else

enum tally_status compressor_create(int level, struct compressor **compressor, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "recordings cannot be compressed: this build has no zstd");
}

void compressor_destroy(struct compressor *c)
{
}

enum tally_status compressor_pack(struct compressor *c, const struct tally_bytes *slices, size_t slice_count,
	struct writer *out, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "recordings cannot be compressed: this build has no zstd");
}

struct compressor_totals compressor_totals(const struct compressor *c)
{
	return (struct compressor_totals){0};
}

#endif
