#include "view/page/page_data.h"

void page_string(struct text *out, struct tally_str s)
{
	struct tally_str rest = s;
	text_char(out, '"');
	while (rest.len > 0) {
		uint8_t c = (uint8_t)rest.data[0];
		size_t len = c < 0x80 ? 1 : text_utf8_bytes((const uint8_t *)rest.data, rest.len);
		if (len == 0) {
			text_str(out, "\\ufffd");
			len = 1;
		} else if (len == 3 &&
			   (memcmp(rest.data, "\xe2\x80\xa8", 3) == 0 || memcmp(rest.data, "\xe2\x80\xa9", 3) == 0)) {
			text_str(out, rest.data[2] == '\xa8' ? "\\u2028" : "\\u2029");
		} else if (len == 1 &&
			   (c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&')) {
			text_str(out, "\\u");
			text_hex(out, c, 4);
		} else {
			text_bytes(out, rest.data, len);
		}
		rest.data += len;
		rest.len -= len;
	}
	text_char(out, '"');
}

static void add_byte(struct page_bytes *b, uint8_t byte)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	b->bits = b->bits << 8 | byte;
	if (++b->count < 3)
		return;
	for (int shift = 18; shift >= 0; shift -= 6)
		text_char(b->out, digits[b->bits >> shift & 63]);
	b->bits = b->count = 0;
	(void)text_line_end(b->out);
}

void page_number(struct page_bytes *b, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		add_byte(b, (uint8_t)(0x80 | (number & 0x7f)));
	add_byte(b, (uint8_t)number);
}

void page_bytes_end(struct page_bytes *b)
{
	while (b->count > 0)
		add_byte(b, 0);
}
