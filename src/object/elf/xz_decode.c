/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/xz_decode.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "tally_config.h"

#if HAVE_LZMA
#include <lzma.h>

#define XZ_DECODE_FIRST_ROOM (64u << 10)
#define DECODER_MEMORY	     (256u << 20) /* Memory limit; the dictionary of the highest preset needs 65 MB. */

static enum tally_status xz_decode_decode(
	lzma_stream *stream, size_t limit, uint8_t **buffer, size_t *room, struct tally_error *err)
{
	lzma_ret ret = LZMA_OK;
	while (ret == LZMA_OK) {
		if (stream->total_out == *room) {
			if (*room >= limit)
				return error_set(
					err, TALLY_LIMIT, "compressed symbols unpack to more than %zu bytes", limit);
			size_t want = *room ? *room * 2 : XZ_DECODE_FIRST_ROOM;
			want = MIN(want, limit);
			uint8_t *grown = realloc(*buffer, want);
			if (!grown)
				return error_nomem(err);
			*buffer = grown;
			*room = want;
		}
		stream->next_out = *buffer + stream->total_out;
		stream->avail_out = *room - (size_t)stream->total_out;
		ret = lzma_code(stream, LZMA_FINISH);
	}
	if (ret == LZMA_MEM_ERROR)
		return error_nomem(err);
	return ret == LZMA_STREAM_END ? TALLY_OK : error_set(err, TALLY_CORRUPT, "compressed symbols are damaged");
}

enum tally_status xz_decode(
	struct tally_bytes packed, size_t limit, uint8_t **out, size_t *len, struct tally_error *err)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&stream, DECODER_MEMORY, 0) != LZMA_OK)
		return error_nomem(err);
	stream.next_in = packed.data;
	stream.avail_in = packed.len;
	uint8_t *buffer = NULL;
	size_t room = 0;
	enum tally_status status = xz_decode_decode(&stream, limit, &buffer, &room, err);
	size_t total = (size_t)stream.total_out;
	lzma_end(&stream);
	if (status != TALLY_OK) {
		free(buffer);
		return status;
	}
	*out = buffer;
	*len = total;
	return TALLY_OK;
}

#else

enum tally_status xz_decode(
	struct tally_bytes packed, size_t limit, uint8_t **out, size_t *len, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no liblzma");
}

#endif
