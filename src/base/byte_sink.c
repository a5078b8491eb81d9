/* SPDX-License-Identifier: Apache-2.0 */
#include "base/byte_sink.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "base/gzip_pack.h"
#include "base/interrupts.h"

static void byte_sink_put_out(struct byte_sink_output *out, const void *data, size_t len)
{
	const uint8_t *at = data;
	unsigned interrupts = 0;
	while (len > 0 && !out->write_errno) {
		ssize_t n = write(out->fd, at, len);
		if (n < 0 && is_interrupted(&interrupts))
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

static void put_packed(void *context, const void *data, size_t len)
{
	struct byte_sink *sink = context;
	byte_sink_put_out(&sink->out, data, len);
}

void byte_sink_init(struct byte_sink *sink, int fd, bool is_packed)
{
	*sink = (struct byte_sink){.out = {.fd = fd}};
	if (!is_packed)
		return;
	sink->gzip = gzip_pack_create(put_packed, sink);
	sink->failed = !sink->gzip;
}

static void byte_sink_put_text(struct byte_sink *sink)
{
	byte_sink_put_out(&sink->out, sink->text.data ? sink->text.data : "", sink->text.len);
	sink->text.len = 0;
}

void byte_sink_step(struct byte_sink *sink)
{
	if (sink->text.len < TEXT_FLUSH_BYTES)
		return;
	sink->failed = sink->failed || sink->text.failed;
	if (sink->gzip)
		gzip_pack_add(sink->gzip, &sink->text);
	else
		byte_sink_put_text(sink);
}

enum tally_status byte_sink_finish(struct byte_sink *sink, const char *name, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	sink->failed = sink->failed || sink->text.failed;
	if (!sink->gzip)
		byte_sink_put_text(sink);
	else if (!gzip_pack_finish(sink->gzip, &sink->text))
		sink->failed = true;
	sink->gzip = NULL;
	if (sink->failed)
		status = error_nomem(err);
	else if (sink->out.write_errno && sink->out.write_errno != EPIPE)
		status = error_set_errno(err, TALLY_IO, sink->out.write_errno, "writing %s", name);
	text_deinit(&sink->text);
	return status;
}
