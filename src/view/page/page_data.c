/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page/page_data.h"

#include "base/array.h"
#include "base/deflate.h"
#include "base/json.h"

void page_string(struct text *out, struct tally_str s)
{
	json_text(out, s, "\"\\<>&\b\f\n\r\t");
}

/* Encodes up to three bytes: the digits are one more than the bytes, and padding fills the rest. */
static void page_data_put_digits(const uint8_t *bytes, size_t count, char digits[4])
{
	static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits =
		(uint32_t)bytes[0] << 16 | (count > 1 ? (uint32_t)bytes[1] << 8 : 0) | (count > 2 ? bytes[2] : 0);
	digits[0] = all[bits >> 18];
	digits[1] = all[bits >> 12 & 63];
	digits[2] = count > 1 ? all[bits >> 6 & 63] : '=';
	digits[3] = count > 2 ? all[bits & 63] : '=';
}

static void add_base64(struct text *out, const uint8_t *bytes, size_t count)
{
	char *to = text_room(out, (count / 3 + 1) * 4);
	if (!to)
		return;
	size_t i = 0;
	for (; count - i >= 3; i += 3, to += 4)
		page_data_put_digits(bytes + i, 3, to);
	if (i < count) {
		page_data_put_digits(bytes + i, count - i, to);
		to += 4;
	}
	out->len = (size_t)(to - out->data);
	(void)text_line_end(out);
}

void page_bytes_hand_on(struct page_bytes *b)
{
	size_t count = MIN(b->count, PAGE_HELD_BYTES);
	if (b->is_packed)
		text_bytes(&b->whole, (const char *)b->held, count);
	else
		add_base64(b->out, b->held, count);
	b->count -= count;
	memcpy(b->held, b->held + count, b->count);
}

void page_bytes_end(struct page_bytes *b)
{
	if (b->count > 0)
		page_bytes_hand_on(b);
	if (!b->is_packed)
		return;
	struct text packed = {0};
	deflate_append(&packed, (struct tally_bytes){(const uint8_t *)b->whole.data, b->whole.len});
	for (size_t at = 0; at < packed.len; at += PAGE_HELD_BYTES) {
		size_t left = packed.len - at;
		add_base64(b->out, (const uint8_t *)packed.data + at, MIN(left, PAGE_HELD_BYTES));
	}
	b->out->failed = b->out->failed || b->whole.failed || packed.failed;
	text_deinit(&packed);
	text_deinit(&b->whole);
}
