/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/destination_grpc.h"

#include <strings.h>

#include "base/cursor.h"

/* Size of the frame header: a byte of flags, and the length of the contents in big-endian order. */
#define FRAME_HEAD    5
#define FRAME_TRAILER 0x80 /* Flag of a frame that contains trailers in the form of header lines. */

size_t destination_grpc_open(struct text *out)
{
	text_repeat(out, '\0', FRAME_HEAD);
	return out->len;
}

void destination_grpc_close(struct text *out, size_t begin)
{
	if (out->failed || begin < FRAME_HEAD)
		return;
	size_t len = out->len - begin;
	for (size_t i = 1; i < FRAME_HEAD; i++, len >>= 8)
		out->data[begin - i] = (char)(len & 0xff);
}

/* Returns the lines of the trailer frame, or an empty string if there is none. */
static struct tally_str destination_grpc_trailer(const struct text *body)
{
	struct tally_str rest = text_view(body);
	while (rest.len >= FRAME_HEAD) {
		const uint8_t *head = (const uint8_t *)rest.data;
		size_t len = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
		rest = (struct tally_str){rest.data + FRAME_HEAD, rest.len - FRAME_HEAD};
		if (len > rest.len)
			break;
		if (head[0] & FRAME_TRAILER)
			return (struct tally_str){rest.data, len};
		rest = (struct tally_str){rest.data + len, rest.len - len};
	}
	return STR("");
}

/* Finds the value of a line "name: value". Returns false if there is no such line. */
static bool destination_grpc_find(struct tally_str lines, struct tally_str name, struct tally_str *value)
{
	struct tally_str line;
	while (lines.len > 0 && str_next(&lines, '\n', &line)) {
		if (line.len <= name.len || line.data[name.len] != ':' ||
			strncasecmp(line.data, name.data, name.len) != 0)
			continue;
		*value = str_trim((struct tally_str){line.data + name.len + 1, line.len - name.len - 1});
		return true;
	}
	return false;
}

bool destination_grpc_status(const struct http_answer *answer, uint64_t *status, struct text *message)
{
	struct tally_str lines = destination_grpc_trailer(&answer->body), value;
	if (lines.len == 0)
		lines = text_view(&answer->grpc);
	if (!destination_grpc_find(lines, STR("grpc-status"), &value) || !str_to_u64(value, 10, status))
		return false;
	if (!destination_grpc_find(lines, STR("grpc-message"), &value))
		return true;
	/* gRPC percent-encodes messages. */
	for (size_t i = 0; i < value.len; i++) {
		uint64_t byte;
		bool is_code = value.data[i] == '%' && value.len - i > 2 &&
			       str_to_u64((struct tally_str){value.data + i + 1, 2}, 16, &byte);
		text_char(message, is_code ? (char)byte : value.data[i]);
		i += is_code ? 2 : 0;
	}
	return true;
}
