#include "perfdata/compression.h"

#include <stdlib.h>

#include "base/error.h"
#include "tally_config.h"

#if HAVE_ZSTD
#include <zstd.h>

#include "abi/record.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/vec.h"

struct decompressor {
	ZSTD_DStream *stream;
	struct arena arena; /* what was handed out */
	VEC(uint8_t) rest; /* the part of a record that is not complete yet */
	uint64_t packed, unpacked; /* bytes so far */
};

enum tally_status decompressor_create(struct decompressor **decompressor, struct tally_error *err)
{
	struct decompressor *d = calloc(1, sizeof(*d));
	if (!d)
		return error_nomem(err);
	arena_init(&d->arena);
	d->stream = ZSTD_createDStream();
	if (!d->stream) {
		free(d);
		return error_nomem(err);
	}
	*decompressor = d;
	return TALLY_OK;
}

void decompressor_destroy(struct decompressor *d)
{
	if (!d)
		return;
	ZSTD_freeDStream(d->stream);
	arena_deinit(&d->arena);
	vec_free(&d->rest);
	free(d);
}

void decompressor_restart(struct decompressor *d)
{
	(void)ZSTD_DCtx_reset(d->stream, ZSTD_reset_session_only);
	d->rest.len = 0;
}

/* Bytes of whole records at the start. */
static size_t whole_records(struct tally_bytes bytes, bool swap)
{
	struct record record;
	size_t position = 0;
	while (record_at(bytes, swap, position, &record, NULL) == TALLY_OK)
		position += record.bytes.len;
	return position;
}

static enum tally_status check_limits(const struct decompressor *d, struct tally_error *err)
{
	if (d->unpacked > LIMIT_UNPACKED_BYTES)
		return error_set(
			err, TALLY_LIMIT, "more than %llu bytes unpacked", (unsigned long long)LIMIT_UNPACKED_BYTES);
	if (d->unpacked > LIMIT_UNPACKED_FREE && d->unpacked / LIMIT_UNPACKED_RATIO > d->packed)
		return error_set(
			err, TALLY_LIMIT, "more than %u bytes unpacked per byte of the file", LIMIT_UNPACKED_RATIO);
	return TALLY_OK;
}

static enum tally_status unpack(struct decompressor *d, struct tally_bytes packed, struct tally_error *err)
{
	ZSTD_inBuffer in = {packed.data, packed.len, 0};
	size_t step = ZSTD_DStreamOutSize();
	d->packed += packed.len;
	for (;;) {
		if (!vec_reserve(&d->rest, d->rest.len + step))
			return error_nomem(err);
		ZSTD_outBuffer out = {d->rest.items + d->rest.len, step, 0};
		size_t result = ZSTD_decompressStream(d->stream, &out, &in);
		if (ZSTD_isError(result))
			return error_set(err, TALLY_CORRUPT, "%s", ZSTD_getErrorName(result));
		d->rest.len += out.pos;
		d->unpacked += out.pos;
		enum tally_status status = check_limits(d, err);
		if (status != TALLY_OK)
			return status;
		if (in.pos == in.size && out.pos < step)
			return TALLY_OK;
	}
}

enum tally_status decompressor_records(struct decompressor *d, struct tally_bytes packed, bool swap,
	struct tally_bytes *records, struct tally_error *err)
{
	enum tally_status status = unpack(d, packed, err);
	if (status != TALLY_OK)
		return status;
	size_t len = whole_records((struct tally_bytes){d->rest.items, d->rest.len}, swap);
	uint8_t *copy = arena_copy(&d->arena, d->rest.items, len);
	if (!copy)
		return error_nomem(err);
	memmove(d->rest.items, d->rest.items + len, d->rest.len - len);
	d->rest.len -= len;
	*records = (struct tally_bytes){copy, len};
	return TALLY_OK;
}

size_t decompressor_rest(const struct decompressor *d)
{
	return d->rest.len;
}

#else

enum tally_status decompressor_create(struct decompressor **d, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "the recording is compressed, and this build has no zstd");
}

void decompressor_destroy(struct decompressor *d)
{
}

enum tally_status decompressor_records(struct decompressor *d, struct tally_bytes packed, bool swap,
	struct tally_bytes *records, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "the recording is compressed, and this build has no zstd");
}

void decompressor_restart(struct decompressor *d)
{
}

size_t decompressor_rest(const struct decompressor *d)
{
	return 0;
}

#endif
