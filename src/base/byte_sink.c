#include "base/byte_sink.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"

#define PACK_LEVEL   1 /* a tenth of the time of level 6, for a quarter more bytes */
#define GZIP_WINDOW  (15 + 16) /* zlib's word for a gzip header */
#define GZIP_MEMORY  8
#define PACKED_BYTES ((size_t)64 << 10)

/* Packing takes nearly as long as making the text, so a thread of its own does it from the first full text on. */
struct byte_sink_gzip {
	z_stream stream;
	uint8_t packed[PACKED_BYTES];
	struct byte_sink_output out; /* the thread's while is_busy */
	struct text text; /* what is being packed; the same */
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool has_thread, is_busy, is_ending;
};

void byte_sink_init(struct byte_sink *sink, int fd, bool is_packed)
{
	*sink = (struct byte_sink){.out = {.fd = fd}};
	if (!is_packed)
		return;
	sink->gzip = calloc(1, sizeof(*sink->gzip));
	if (sink->gzip && deflateInit2(&sink->gzip->stream, PACK_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
				  Z_DEFAULT_STRATEGY) == Z_OK) {
		sink->gzip->out.fd = fd;
		(void)pthread_mutex_init(&sink->gzip->mutex, NULL);
		(void)pthread_cond_init(&sink->gzip->changed, NULL);
		return;
	}
	free(sink->gzip);
	sink->gzip = NULL;
	sink->failed = true;
}

static void put_out(struct byte_sink_output *out, const void *data, size_t len)
{
	const uint8_t *at = data;
	while (len > 0 && !out->write_errno) {
		ssize_t n = write(out->fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			out->write_errno = n < 0 ? errno : EIO;
			return;
		}
		at += n;
		len -= (size_t)n;
		out->bytes += (uint64_t)n;
	}
}

static void pack_part(struct byte_sink_gzip *gzip, const char *data, size_t len, int flush)
{
	z_stream *z = &gzip->stream;
	z->next_in = (Bytef *)(uintptr_t)data; /* zlib writes nothing there */
	z->avail_in = (uInt)len;
	do {
		z->next_out = gzip->packed;
		z->avail_out = PACKED_BYTES;
		(void)deflate(z, flush); /* of a stream that was set up it says at most that there is nothing to do */
		put_out(&gzip->out, gzip->packed, PACKED_BYTES - z->avail_out);
	} while (z->avail_out == 0);
}

static void pack(struct byte_sink_gzip *gzip, const struct text *text, bool is_last)
{
	const char *data = text->data ? text->data : "";
	size_t len = text->len;
	for (; len > UINT32_MAX / 2; len -= UINT32_MAX / 2, data += UINT32_MAX / 2)
		pack_part(gzip, data, UINT32_MAX / 2, Z_NO_FLUSH);
	pack_part(gzip, data, len, is_last ? Z_FINISH : Z_NO_FLUSH);
}

static void *pack_along(void *context)
{
	struct byte_sink_gzip *gzip = context;
	pthread_mutex_lock(&gzip->mutex);
	while (!gzip->is_ending || gzip->is_busy) {
		if (!gzip->is_busy) {
			pthread_cond_wait(&gzip->changed, &gzip->mutex);
			continue;
		}
		pthread_mutex_unlock(&gzip->mutex);
		pack(gzip, &gzip->text, false);
		pthread_mutex_lock(&gzip->mutex);
		gzip->is_busy = false;
		pthread_cond_signal(&gzip->changed);
	}
	pthread_mutex_unlock(&gzip->mutex);
	return NULL;
}

/* Gives the text to the thread, which is done with the one before. */
static void hand_over(struct byte_sink *sink)
{
	struct byte_sink_gzip *gzip = sink->gzip;
	pthread_mutex_lock(&gzip->mutex);
	while (gzip->is_busy)
		pthread_cond_wait(&gzip->changed, &gzip->mutex);
	sink->out = gzip->out;
	struct text empty = gzip->text;
	gzip->text = sink->text;
	sink->text = empty;
	gzip->is_busy = true;
	pthread_cond_signal(&gzip->changed);
	pthread_mutex_unlock(&gzip->mutex);
}

static void stop_thread(struct byte_sink_gzip *gzip)
{
	if (!gzip->has_thread)
		return;
	pthread_mutex_lock(&gzip->mutex);
	gzip->is_ending = true;
	pthread_cond_signal(&gzip->changed);
	pthread_mutex_unlock(&gzip->mutex);
	(void)pthread_join(gzip->thread, NULL);
	gzip->has_thread = false;
}

static void flush_packed(struct byte_sink *sink, bool is_last)
{
	struct byte_sink_gzip *gzip = sink->gzip;
	if (is_last)
		stop_thread(gzip);
	else if (!gzip->has_thread)
		gzip->has_thread = pthread_create(&gzip->thread, NULL, pack_along, gzip) == 0;
	if (gzip->has_thread) {
		hand_over(sink);
		return;
	}
	pack(gzip, &sink->text, is_last);
	sink->out = gzip->out;
}

static void flush_text(struct byte_sink *sink, bool is_last)
{
	sink->failed = sink->failed || sink->text.failed;
	if (sink->gzip)
		flush_packed(sink, is_last);
	else
		put_out(&sink->out, sink->text.data ? sink->text.data : "", sink->text.len);
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
	else if (sink->out.write_errno && sink->out.write_errno != EPIPE)
		status = error_set_errno(err, TALLY_IO, sink->out.write_errno, "writing %s", name);
	if (sink->gzip) {
		(void)deflateEnd(&sink->gzip->stream);
		text_deinit(&sink->gzip->text);
		(void)pthread_cond_destroy(&sink->gzip->changed);
		(void)pthread_mutex_destroy(&sink->gzip->mutex);
	}
	free(sink->gzip);
	sink->gzip = NULL;
	text_deinit(&sink->text);
	return status;
}
