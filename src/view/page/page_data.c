#include "view/page/page_data.h"

#include "base/deflate.h"

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

/* Of up to three bytes: a digit more than there are, and signs for the rest. */
static void add_digits(struct page_bytes *b)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	b->bits <<= 8 * (3 - b->count);
	for (unsigned i = 0; i < 4; i++)
		text_char(b->out, i <= b->count ? digits[b->bits >> (18 - 6 * i) & 63] : '=');
	b->bits = b->count = 0;
	(void)text_line_end(b->out);
}

static void add_byte(struct page_bytes *b, uint8_t byte)
{
	b->bits = b->bits << 8 | byte;
	if (++b->count == 3)
		add_digits(b);
}

static void take_byte(struct page_bytes *b, uint8_t byte)
{
	if (b->is_packed)
		text_char(&b->whole, (char)byte);
	else
		add_byte(b, byte);
}

void page_number(struct page_bytes *b, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		take_byte(b, (uint8_t)(0x80 | (number & 0x7f)));
	take_byte(b, (uint8_t)number);
}

static void add_packed(struct page_bytes *b)
{
	struct text packed = {0};
	deflate_append(&packed, (struct tally_bytes){(const uint8_t *)b->whole.data, b->whole.len});
	for (size_t i = 0; i < packed.len; i++)
		add_byte(b, (uint8_t)packed.data[i]);
	b->out->failed = b->out->failed || b->whole.failed || packed.failed;
	text_deinit(&packed);
	text_deinit(&b->whole);
}

void page_bytes_end(struct page_bytes *b)
{
	if (b->is_packed)
		add_packed(b);
	if (b->count > 0)
		add_digits(b);
}
