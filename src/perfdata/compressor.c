/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/compressor.h"

#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/error.h"
#include "tally_config.h"

#if HAVE_ZSTD
#include <zstd.h>

#include "base/array.h"

/* Complete records of this size fit into one compressed record even if they do not shrink. */
#define STEP_BYTES	   (48u << 10)
#define RECORD_PAYLOAD_MAX (UINT16_MAX - RECORD_HEADER_BYTES)

struct compressor {
	ZSTD_CStream *stream;
	struct compressor_totals totals;
	uint8_t payload[RECORD_PAYLOAD_MAX]; /* Payload of the record under construction. */
	size_t used;
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

static void compressor_put_record(struct compressor *c, struct writer *out)
{
	if (c->used == 0)
		return;
	writer_u32(out, RECORD_COMPRESSED);
	writer_u16(out, 0);
	writer_u16(out, (uint16_t)(RECORD_HEADER_BYTES + c->used));
	writer_bytes(out, c->payload, c->used);
	c->totals.packed_bytes += RECORD_HEADER_BYTES + c->used;
	c->used = 0;
}

/* Reads the slices as one run of bytes. */
struct input {
	const struct tally_bytes *slices;
	size_t slice_count;
	size_t slice, at; /* Position of the next read. */
};

static bool is_used_up(struct input *in)
{
	while (in->slice < in->slice_count && in->at == in->slices[in->slice].len) {
		in->slice++;
		in->at = 0;
	}
	return in->slice == in->slice_count;
}

/* Returns the next contiguous bytes, at most max. `in` must not be used up. */
static struct tally_bytes compressor_take(struct input *in, size_t max)
{
	const struct tally_bytes *slice = &in->slices[in->slice];
	size_t len = MIN(slice->len - in->at, max);
	struct tally_bytes bytes = {slice->data + in->at, len};
	in->at += len;
	return bytes;
}

static uint16_t next_record_bytes(struct input in)
{
	uint8_t header[RECORD_HEADER_BYTES] = {0};
	uint16_t size;
	for (size_t got = 0; got < sizeof(header) && !is_used_up(&in);) {
		struct tally_bytes part = compressor_take(&in, sizeof(header) - got);
		memcpy(header + got, part.data, part.len);
		got += part.len;
	}
	memcpy(&size, header + 6, sizeof(size));
	return size < sizeof(header) ? RECORD_HEADER_BYTES : size;
}

/* Number of bytes of complete records for the next COMPRESSED record; a larger record goes alone. */
static size_t step_bytes(struct input in)
{
	size_t bytes = 0;
	while (!is_used_up(&in)) {
		size_t size = next_record_bytes(in);
		if (bytes && bytes + size > STEP_BYTES)
			break;
		bytes += size;
		for (size_t skip = size; skip > 0 && !is_used_up(&in);)
			skip -= compressor_take(&in, skip).len;
	}
	return bytes;
}

/* Feeds bytes to the stream. With ZSTD_e_flush, writes all of its output in COMPRESSED records. */
static enum tally_status compressor_feed(struct compressor *c, struct tally_bytes bytes, ZSTD_EndDirective directive,
	struct writer *out, struct tally_error *err)
{
	ZSTD_inBuffer in = {bytes.data, bytes.len, 0};
	size_t left = 1;

	while (in.pos < in.size || (directive == ZSTD_e_flush && left > 0)) {
		if (c->used == RECORD_PAYLOAD_MAX)
			compressor_put_record(c, out);
		ZSTD_outBuffer room = {c->payload, RECORD_PAYLOAD_MAX, c->used};
		left = ZSTD_compressStream2(c->stream, &room, &in, directive);
		if (ZSTD_isError(left))
			return error_set(err, TALLY_INVALID, "compressing samples: %s", ZSTD_getErrorName(left));
		c->used = room.pos;
	}
	if (directive == ZSTD_e_flush)
		compressor_put_record(c, out);
	return TALLY_OK;
}

enum tally_status compressor_pack(struct compressor *c, const struct tally_bytes *slices, size_t slice_count,
	struct writer *out, struct tally_error *err)
{
	struct input in = {.slices = slices, .slice_count = slice_count};
	while (!is_used_up(&in)) {
		size_t left = step_bytes(in);
		c->totals.bytes += left;
		while (left > 0 && !is_used_up(&in)) {
			struct tally_bytes bytes = compressor_take(&in, left);
			left -= bytes.len;
			enum tally_status status = compressor_feed(c, bytes, ZSTD_e_continue, out, err);
			if (status != TALLY_OK)
				return status;
		}
		enum tally_status status = compressor_feed(c, (struct tally_bytes){0}, ZSTD_e_flush, out, err);
		if (status != TALLY_OK)
			return status;
	}
	return out->failed ? error_nomem(err) : TALLY_OK;
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
