/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/compression.h"

#include <stdlib.h>

#include "base/error.h"
#include "tally_config.h"

#if HAVE_ZSTD
#include <zstd.h>

#include "abi/record.h"
#include "base/limits.h"
#include "base/spool.h"

struct decompressor {
	ZSTD_DStream *stream;
	struct spool out; /* Bytes handed out, followed by the beginning of a record that is still incomplete. */
	size_t handed_out;
	uint64_t packed, unpacked; /* Total number of bytes so far. */
};

enum tally_status decompressor_create(struct decompressor **decompressor, struct tally_error *err)
{
	struct decompressor *d = calloc(1, sizeof(*d));
	if (!d)
		return error_nomem(err);
	spool_init(&d->out);
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
	spool_deinit(&d->out);
	free(d);
}

void decompressor_restart(struct decompressor *d)
{
	(void)ZSTD_DCtx_reset(d->stream, ZSTD_reset_session_only);
	d->handed_out = d->out.len;
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

static enum tally_status compression_unpack(struct decompressor *d, struct tally_bytes packed, struct tally_error *err)
{
	ZSTD_inBuffer in = {packed.data, packed.len, 0};
	size_t step = ZSTD_DStreamOutSize();
	d->packed += packed.len;
	for (;;) {
		uint8_t *room = spool_reserve(&d->out, step);
		if (!room)
			return error_nomem(err);
		ZSTD_outBuffer out = {room, step, 0};
		size_t result = ZSTD_decompressStream(d->stream, &out, &in);
		if (ZSTD_isError(result))
			return error_set(err, TALLY_CORRUPT, "%s", ZSTD_getErrorName(result));
		spool_commit(&d->out, out.pos);
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
	enum tally_status status = compression_unpack(d, packed, err);
	if (status != TALLY_OK)
		return status;
	struct tally_bytes all = spool_view(&d->out);
	struct tally_bytes fresh = {all.data + d->handed_out, all.len - d->handed_out};
	/* A record that is not complete yet stays for the next call. */
	struct record record;
	size_t position = 0;
	while (record_at(fresh, swap, position, &record, NULL) == TALLY_OK)
		position += record.bytes.len;
	fresh.len = position;
	d->handed_out += fresh.len;
	*records = fresh;
	return TALLY_OK;
}

size_t decompressor_rest(const struct decompressor *d)
{
	return d->out.len - d->handed_out;
}

size_t decompressor_position(const struct decompressor *d)
{
	return d->handed_out;
}

void decompressor_pass(struct decompressor *d)
{
	spool_pass(&d->out);
}

void decompressor_forget(struct decompressor *d, size_t position)
{
	spool_forget(&d->out, position);
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

size_t decompressor_position(const struct decompressor *d)
{
	return 0;
}

void decompressor_pass(struct decompressor *d)
{
}

void decompressor_forget(struct decompressor *d, size_t position)
{
}

#endif
