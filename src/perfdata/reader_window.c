/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/reader_window.h"

#include "perfdata/reader_state.h"

void reader_window_drop(const struct perfdata_reader *r, struct tally_bytes part)
{
	if (r->stream.base)
		spool_drop(&r->stream, part);
	else if (r->parts.count)
		spool_drop(&r->parts.bytes, part);
	else
		file_map_drop(&r->map, part);
}

void reader_window_pass(struct perfdata_reader *r, size_t position)
{
	if (r->window_begin <= position && position < r->window_end)
		return;
	reader_window_drop(r, bytes_part(r->bytes, r->window_begin, r->window_end - r->window_begin));
	file_map_expect(&r->map, bytes_part(r->bytes, position, FILE_WINDOW_BYTES));
	r->window_begin = position;
	r->window_end = position + FILE_WINDOW_BYTES;
}
