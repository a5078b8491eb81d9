/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_sink.h - writes text to a file descriptor in bounded memory, plain or compressed by gzip.
 *
 * The caller appends items to sink.text and calls byte_sink_step after each of them, which writes and empties the text
 * when it exceeds TEXT_FLUSH_BYTES. The output is compressed if is_packed is true. byte_sink_finish reports failures;
 * byte_sink_is_lost detects earlier that more output is useless. The caller owns the descriptor and must not close it
 * before byte_sink_finish. The sink must not be moved. Used by one thread; it compresses in other threads.
 *
 *	byte_sink_init(&sink, fd, true);
 *	text_str(&sink.text, "..."); byte_sink_step(&sink);
 *	status = byte_sink_finish(&sink, "out.json.gz", err);
 */
#ifndef BASE_BYTE_SINK_H
#define BASE_BYTE_SINK_H

#include "base/text.h"

struct byte_sink_output {
	int fd;
	int write_errno; /* errno of the first failed write(2); 0 if none failed. */
	uint64_t bytes; /* Number of written bytes. */
};

struct byte_sink {
	struct text text;
	struct byte_sink_output out;
	struct gzip_pack *gzip; /* NULL if the output is not compressed. */
	bool failed; /* True if memory ran out. */
};

void byte_sink_init(struct byte_sink *sink, int fd, bool is_packed);
void byte_sink_step(struct byte_sink *sink);
static inline bool byte_sink_is_lost(const struct byte_sink *sink)
{
	return sink->failed || sink->text.failed || sink->out.write_errno;
}
/*
 * Writes the remaining text and frees everything. Returns TALLY_IO if the file, which is called name in messages,
 * cannot be written, and TALLY_NOMEM if memory ran out; EPIPE is not an error.
 */
TALLY_MUST_CHECK enum tally_status byte_sink_finish(struct byte_sink *sink, const char *name, struct tally_error *err);

#endif
