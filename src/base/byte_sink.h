/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_sink.h - writes text to a descriptor in bounded memory, as it is or compressed by gzip.
 *
 * The caller appends to sink.text and calls byte_sink_step after each item, which writes the text out and empties it
 * when it has passed a mark. A failure is kept and reported by byte_sink_finish; byte_sink_is_lost tells earlier that
 * more output is useless. The caller owns the descriptor and must not close it before finish. The sink must not be
 * moved. One thread may use it; others compress.
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
	int write_errno; /* first failure of write(2) */
	uint64_t bytes; /* that were written */
};

struct byte_sink {
	struct text text;
	struct byte_sink_output out;
	struct gzip_pack *gzip; /* NULL: as it is */
	bool failed; /* out of memory */
};

void byte_sink_init(struct byte_sink *sink, int fd, bool is_packed);
void byte_sink_step(struct byte_sink *sink);
static inline bool byte_sink_is_lost(const struct byte_sink *sink)
{
	return sink->failed || sink->text.failed || sink->out.write_errno;
}
/* Writes the rest and frees everything. IO: name cannot be written; a reader that has closed the pipe (EPIPE) is not a
 * failure. */
TALLY_MUST_CHECK enum tally_status byte_sink_finish(struct byte_sink *sink, const char *name, struct tally_error *err);

#endif
