#include "base/byte_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"

#define PACK_LEVEL   1 /* a tenth of the time of level 6, for a quarter more bytes */
#define GZIP_WINDOW  (15 + 16) /* zlib's word for a gzip header */
#define GZIP_MEMORY  8
#define PACKED_BYTES ((size_t)64 << 10)

struct byte_sink_gzip {
	z_stream stream;
	uint8_t packed[PACKED_BYTES];
};

void byte_sink_init(struct byte_sink *sink, int fd, bool is_packed)
{
	*sink = (struct byte_sink){.fd = fd};
	if (!is_packed)
		return;
	sink->gzip = calloc(1, sizeof(*sink->gzip));
	if (sink->gzip && deflateInit2(&sink->gzip->stream, PACK_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
				  Z_DEFAULT_STRATEGY) == Z_OK)
		return;
	free(sink->gzip);
	sink->gzip = NULL;
	sink->failed = true;
}

static void put_out(struct byte_sink *sink, const void *data, size_t len)
{
	const uint8_t *at = data;
	while (len > 0 && !sink->write_errno) {
		ssize_t n = write(sink->fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			sink->write_errno = n < 0 ? errno : EIO;
			return;
		}
		at += n;
		len -= (size_t)n;
		sink->bytes += (uint64_t)n;
	}
}

static void pack(struct byte_sink *sink, const void *data, size_t len, int flush)
{
	z_stream *z = &sink->gzip->stream;
	z->next_in = (Bytef *)(uintptr_t)data; /* zlib writes nothing there */
	z->avail_in = (uInt)len;
	do {
		z->next_out = sink->gzip->packed;
		z->avail_out = PACKED_BYTES;
		if (deflate(z, flush) == Z_STREAM_ERROR) {
			sink->failed = true;
			return;
		}
		put_out(sink, sink->gzip->packed, PACKED_BYTES - z->avail_out);
	} while (z->avail_out == 0);
}

static void flush_text(struct byte_sink *sink, bool is_last)
{
	const char *data = sink->text.data ? sink->text.data : "";
	size_t len = sink->text.len;
	sink->failed = sink->failed || sink->text.failed;
	while (sink->gzip && len > UINT32_MAX / 2) {
		pack(sink, data, UINT32_MAX / 2, Z_NO_FLUSH);
		data += UINT32_MAX / 2;
		len -= UINT32_MAX / 2;
	}
	if (sink->gzip)
		pack(sink, data, len, is_last ? Z_FINISH : Z_NO_FLUSH);
	else
		put_out(sink, data, len);
	sink->text.len = 0;
}

void byte_sink_step(struct byte_sink *sink)
{
	if (sink->text.len >= TEXT_FLUSH_BYTES)
		flush_text(sink, false);
}

enum tally_status byte_sink_finish(struct byte_sink *sink, const char *name, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	flush_text(sink, true);
	if (sink->failed)
		status = error_nomem(err);
	else if (sink->write_errno && sink->write_errno != EPIPE)
		status = error_set_errno(err, TALLY_IO, sink->write_errno, "writing %s", name);
	if (sink->gzip)
		(void)deflateEnd(&sink->gzip->stream);
	free(sink->gzip);
	sink->gzip = NULL;
	text_deinit(&sink->text);
	return status;
}
