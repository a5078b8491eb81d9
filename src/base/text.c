/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/control.h"
#include "base/interrupts.h"
#include "base/text_cells.h"
#include "base/vec.h"

#define DISTANCE_MAX_LEN 64

void text_deinit(struct text *t)
{
	free(t->data);
	*t = (struct text){0};
}

void text_clear(struct text *t)
{
	t->len = 0;
	t->failed = false;
}

void text_to_fd(struct text *t, int fd)
{
	t->fd = fd;
	t->has_fd = true;
}

char *text_room(struct text *t, size_t n)
{
	size_t need;
	if (t->failed || !checked_add(t->len, n, &need) ||
		(need > t->cap && (t->is_fixed || !vec_grow(&t->data, &t->cap, 1, need)))) {
		t->failed = true;
		return NULL;
	}
	/* An empty text has no memory, and that is not a failure. */
	return t->data ? t->data + t->len : NULL;
}

/* Handles the common case of text_room without a call. */
static inline char *text_reserve(struct text *t, size_t n)
{
	return n < t->cap - t->len && !t->failed ? t->data + t->len : text_room(t, n);
}

/* The rare cases of text_bytes and text_char are functions of their own, so that the common ones need no stack
 * frame. */
static __attribute__((noinline)) void text_bytes_slowly(struct text *t, const char *s, size_t len)
{
	char *to = text_room(t, len);
	if (!to || len == 0)
		return;
	memcpy(to, s, len);
	t->len += len;
}

static __attribute__((noinline)) void text_char_slowly(struct text *t, char c)
{
	text_bytes_slowly(t, &c, 1);
}

void text_bytes(struct text *t, const char *s, size_t len)
{
	if (t->failed || len == 0 || len >= t->cap - t->len) {
		text_bytes_slowly(t, s, len);
		return;
	}
	char *to = t->data + t->len;
	t->len += len;
	memcpy(to, s, len);
}

void text_char(struct text *t, char c)
{
	if (t->failed || t->len >= t->cap)
		text_char_slowly(t, c);
	else
		t->data[t->len++] = c;
}

void text_repeat(struct text *t, char c, size_t n)
{
	char *to = text_reserve(t, n);
	if (!to || n == 0)
		return;
	memset(to, c, n);
	t->len += n;
}

/* Writes the digits so that they end at end, two per division; returns where they begin. */
static char *text_decimal(char *end, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
				    "4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
				    "828384858687888990919293949596979899";
	for (; v >= 100; v /= 100) {
		end -= 2;
		memcpy(end, pairs + v % 100 * 2, 2);
	}
	if (v < 10) {
		*--end = (char)('0' + v);
		return end;
	}
	end -= 2;
	memcpy(end, pairs + v * 2, 2);
	return end;
}

/*
 * Returns eight hexadecimal digits, the first at the lowest address: spreads the nibbles to bytes, and makes letters of
 * those above 9.
 */
static uint64_t eight_digits(uint32_t v)
{
	uint64_t w = v;
	w = (w | w << 16) & UINT64_C(0x0000ffff0000ffff);
	w = (w | w << 8) & UINT64_C(0x00ff00ff00ff00ff);
	w = (w | w << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	uint64_t letters = (w + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	w += UINT64_C(0x3030303030303030) + letters * ('a' - 10 - '0');
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w;
}

#define HEX_DIGITS 16

static char *text_hexadecimal(char *end, uint64_t v)
{
	unsigned unused = v ? (unsigned)__builtin_clzll(v) / 4 : HEX_DIGITS - 1;
	uint64_t high = eight_digits((uint32_t)(v >> 32)), low = eight_digits((uint32_t)v);
	memcpy(end - HEX_DIGITS, &high, sizeof(high));
	memcpy(end - HEX_DIGITS / 2, &low, sizeof(low));
	return end - HEX_DIGITS + unused;
}

static void text_right(struct text *t, const char *s, size_t len, size_t width, char fill)
{
	size_t before = len < width ? width - len : 0;
	char *to = text_reserve(t, before + len);
	if (!to || before + len == 0)
		return;
	memset(to, fill, before);
	if (len > 0) /* An empty text may have no memory. */
		memcpy(to + before, s, len);
	t->len += before + len;
}

#define DECIMAL_DIGITS 20
#define SHORT_BYTES    16 /* Numbers with their padding are rarely longer, so this many bytes are copied at once. */

/* Appends a number that ends at buffer + DECIMAL_DIGITS. At least SHORT_BYTES after it must be readable. */
static void text_number_right(struct text *t, const char *start, const char *end, size_t width, char fill)
{
	size_t len = (size_t)(end - start), before = len < width ? width - len : 0;
	if (before <= SHORT_BYTES && len <= SHORT_BYTES && t->cap - t->len > 2 * SHORT_BYTES && !t->failed) {
		char *to = t->data + t->len;
		memset(to, fill, SHORT_BYTES);
		memcpy(to + before, start, SHORT_BYTES);
		t->len += before + len;
		return;
	}
	text_right(t, start, len, width, fill);
}

void text_u64(struct text *t, uint64_t v)
{
	text_u64_right(t, v, 0);
}

void text_i64(struct text *t, int64_t v)
{
	if (v < 0)
		text_char(t, '-');
	text_u64(t, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static void text_hexadecimal_right(struct text *t, uint64_t v, size_t width, char fill)
{
	char buffer[DECIMAL_DIGITS + SHORT_BYTES], *end = buffer + DECIMAL_DIGITS;
	memset(end, 0, SHORT_BYTES);
	text_number_right(t, text_hexadecimal(end, v), end, width, fill);
}

void text_hex(struct text *t, uint64_t v, unsigned width)
{
	text_hexadecimal_right(t, v, width, '0');
}

static void text_decimal_right(struct text *t, uint64_t v, size_t width, char fill)
{
	char buffer[DECIMAL_DIGITS + SHORT_BYTES], *end = buffer + DECIMAL_DIGITS;
	memset(end, 0, SHORT_BYTES);
	text_number_right(t, text_decimal(end, v), end, width, fill);
}

void text_u64_right(struct text *t, uint64_t v, size_t width)
{
	text_decimal_right(t, v, width, ' ');
}

void text_u64_padded(struct text *t, uint64_t v, size_t width)
{
	text_decimal_right(t, v, width, '0');
}

void text_hex_right(struct text *t, uint64_t v, size_t width)
{
	text_hexadecimal_right(t, v, width, ' ');
}

void text_str_right(struct text *t, struct tally_str s, size_t width)
{
	size_t cells = text_cells(s);
	text_right(t, s.data, s.len, width > cells ? s.len + (width - cells) : s.len, ' ');
}

void text_str_left(struct text *t, struct tally_str s, size_t width)
{
	size_t cells = text_cells(s);
	text_bytes(t, s.data, s.len);
	if (cells < width)
		text_repeat(t, ' ', width - cells);
}

size_t text_cells_from(const struct text *t, size_t start)
{
	if (t->failed || t->len == start)
		return 0;
	struct tally_str rest = {t->data + start, t->len - start};
	if (!t->has_colours)
		return text_cells(rest);
	size_t cells = 0;
	while (rest.len > 0) {
		const char *escape = memchr(rest.data, '\x1b', rest.len);
		size_t plain = escape ? (size_t)(escape - rest.data) : rest.len;
		size_t colour = escape ? control_colour_bytes(escape, rest.len - plain) : 0;
		size_t used = plain + (colour || !escape ? 0 : 1);
		cells += text_cells((struct tally_str){rest.data, used});
		rest = (struct tally_str){rest.data + used + colour, rest.len - used - colour};
	}
	return cells;
}

void text_pad_from(struct text *t, size_t start, size_t width)
{
	size_t cells = text_cells_from(t, start);
	if (cells < width)
		text_repeat(t, ' ', width - cells);
}

void text_align_from(struct text *t, size_t start, int width)
{
	size_t end = t->len;
	text_pad_from(t, start, (size_t)(width < 0 ? -width : width));
	size_t added = t->len - end;
	if (width < 0 || added == 0)
		return;
	memmove(t->data + start + added, t->data + start, end - start);
	memset(t->data + start, ' ', added);
}

#define FAST_DECIMALS 6

/* |v| below 2^43, at most FAST_DECIMALS decimals: v * 10^decimals is mantissa * 10^decimals / 2^shift in integers, so
 * it is rounded exactly as by printf, half to even. */
static size_t fixed_fast(char *buffer, double v, unsigned decimals)
{
	static const uint32_t scales[FAST_DECIMALS + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000};
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	uint64_t exponent = bits >> 52 & 0x7ff;
	uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | (exponent ? UINT64_C(1) << 52 : 0);
	uint64_t shift =
		/* The constant is the exponent's bias plus the 52 bits of the mantissa. */
		1075 - (exponent ? exponent : 1);
	unsigned __int128 product = (unsigned __int128)mantissa * scales[decimals];
	uint64_t whole = 0;
	if (shift < 120) { /* The product has 73 bits, so a larger shift leaves less than half of the last digit. */
		unsigned __int128 half = shift > 0 ? (unsigned __int128)1 << (shift - 1) : 0;
		whole = (uint64_t)(product >> shift);
		unsigned __int128 lost = product - ((unsigned __int128)whole << shift);
		if (shift > 0 && (lost > half || (lost == half && whole % 2 == 1)))
			whole++;
	}
	char digits[24];
	char *end = digits + sizeof(digits);
	char *start = text_decimal(end, whole);
	while ((size_t)(end - start) < decimals + 1)
		*--start = '0';
	char *to = buffer;
	if (bits >> 63)
		*to++ = '-';
	size_t before = (size_t)(end - start) - decimals;
	memcpy(to, start, before);
	to += before;
	if (decimals > 0) {
		*to++ = '.';
		memcpy(to, end - decimals, decimals);
		to += decimals;
	}
	return (size_t)(to - buffer);
}

/* Like snprintf, but with a point instead of the locale's decimal separator. */
static size_t text_format_fixed(char *buffer, size_t size, double v, unsigned decimals)
{
	if (decimals <= FAST_DECIMALS && v < 0x1p43 && v > -0x1p43)
		return fixed_fast(buffer, v, decimals);
	int len = snprintf(buffer, size, "%.*f", (int)decimals, v);
	if (len < 0)
		return 0;
	size_t used = (size_t)len < size ? (size_t)len : size - 1;
	if (__builtin_isfinite(v) && decimals > 0 && used > decimals) {
		char *sign = buffer + used - decimals - 1;
		if (*sign < '0' || *sign > '9')
			*sign = '.';
	}
	return used;
}

void text_fixed(struct text *t, double v, unsigned decimals)
{
	text_fixed_right(t, v, decimals, 0);
}

void text_fixed_right(struct text *t, double v, unsigned decimals, size_t width)
{
	char buffer[400];
	text_right(t, buffer, text_format_fixed(buffer, sizeof(buffer), v, MIN(decimals, 60)), width, ' ');
}

void text_u64_grouped(struct text *t, uint64_t v, const char *separator)
{
	char buffer[20];
	char *start = text_decimal(buffer + sizeof(buffer), v);
	size_t len = (size_t)(buffer + sizeof(buffer) - start);
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0 && separator)
			text_str(t, separator);
		text_char(t, start[i]);
	}
}

void text_printf(struct text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *to = len < 0 ? NULL : text_room(t, (size_t)len + 1);
	if (to) {
		vsnprintf(to, (size_t)len + 1, format, again);
		t->len += (size_t)len;
	}
	va_end(again);
}

static void text_write_all(struct text *t, const char *s, size_t len)
{
	size_t done = 0;
	unsigned interrupts = 0;
	while (done < len && t->write_errno == 0) {
		ssize_t n = write(t->fd, s + done, len - done);
		if (n >= 0)
			done += (size_t)n;
		else if (!is_interrupted(&interrupts))
			t->write_errno = errno;
	}
}

void text_utf8(struct text *out, struct tally_str s)
{
	while (s.len > 0) {
		uint8_t c = (uint8_t)s.data[0];
		size_t len = c == 0 ? 0 : c < 0x80 ? 1 : utf8_bytes((const uint8_t *)s.data, s.len);
		if (len > 0)
			text_bytes(out, s.data, len);
		else
			text_str(out, "\xef\xbf\xbd");
		s.data += len ? len : 1;
		s.len -= len ? len : 1;
	}
}

void text_csv(struct text *out, struct tally_str s)
{
	bool is_quoted = false;
	size_t start = out->len;
	for (size_t i = 0; i < s.len && !is_quoted; i++)
		is_quoted = s.data[i] == '"' || s.data[i] == ',' || (uint8_t)s.data[i] < ' ';
	if (!is_quoted) {
		text_utf8(out, s);
		text_visible_from(out, start);
		return;
	}
	text_char(out, '"');
	start = out->len;
	while (s.len > 0) {
		const char *quote = memchr(s.data, '"', s.len);
		size_t len = quote ? (size_t)(quote - s.data) : s.len;
		text_utf8(out, (struct tally_str){s.data, len});
		if (quote)
			text_str(out, "\"\"");
		s.data += len + (quote != NULL);
		s.len -= len + (quote != NULL);
	}
	text_visible_from(out, start);
	text_char(out, '"');
}

/* Appends the first `plain` bytes as they are, and the control character after them escaped. Returns what follows. */
static struct tally_str text_spell(struct text *t, struct tally_str s, size_t plain)
{
	char word[CONTROL_WORD];
	text_bytes(t, s.data, plain);
	if (plain < s.len) {
		plain += control_spell(s.data + plain, s.len - plain, word);
		text_str(t, word);
	}
	return (struct tally_str){s.data + plain, s.len - plain};
}

void text_visible(struct text *t, struct tally_str s)
{
	while (s.len > 0)
		s = text_spell(t, s, control_span(s.data, s.len));
}

void text_visible_from(struct text *t, size_t start)
{
	if (t->failed || t->len == start || control_span(t->data + start, t->len - start) == t->len - start)
		return;
	struct text visible = {0};
	text_visible(&visible, (struct tally_str){t->data + start, t->len - start});
	t->len = start;
	t->failed = visible.failed;
	text_bytes(t, visible.data, visible.len);
	text_deinit(&visible);
}

void text_colour(struct text *t, const char *sequence)
{
	t->has_colours |= *sequence != 0;
	text_str(t, sequence);
}

void text_mask_from(struct text *t, size_t start, const char *separator)
{
	for (size_t i = start; separator && *separator && !t->failed && i < t->len; i++)
		if (t->data[i] == *separator)
			t->data[i] = '.';
}

void text_visible_rows(struct text *t, struct tally_str rows)
{
	while (rows.len > 0)
		rows = text_spell(t, rows, control_rows_span(rows.data, rows.len, t->separator, t->has_colours));
}

bool text_flush(struct text *t)
{
	if (!t->has_fd)
		return true;
	if (control_rows_span(t->data, t->len, t->separator, t->has_colours) == t->len) {
		text_write_all(t, t->data, t->len);
	} else {
		struct text visible = {.separator = t->separator, .has_colours = t->has_colours};
		text_visible_rows(&visible, (struct tally_str){t->data, t->len});
		text_write_all(t, visible.data, visible.len);
		t->failed |= visible.failed;
		text_deinit(&visible);
	}
	t->len = 0;
	return t->write_errno == 0;
}

bool text_line_end(struct text *t)
{
	return t->len < TEXT_FLUSH_BYTES || text_flush(t);
}

static unsigned text_min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = MIN(a, b);
	return MIN(m, c);
}

unsigned text_distance(struct tally_str a, struct tally_str b)
{
	size_t m = MIN(a.len, DISTANCE_MAX_LEN);
	size_t n = MIN(b.len, DISTANCE_MAX_LEN);
	unsigned rows[3][DISTANCE_MAX_LEN + 1];
	for (size_t j = 0; j <= n; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= m; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i - 1) % 3];
		const unsigned *above2 = rows[(i + 1) % 3];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned cost = a.data[i - 1] != b.data[j - 1];
			row[j] = text_min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost);
			bool swapped =
				i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
			if (swapped && above2[j - 2] + 1 < row[j])
				row[j] = above2[j - 2] + 1;
		}
	}
	return rows[m % 3][n];
}

size_t text_nearest(const char *const *candidates, size_t count, const char *word)
{
	struct tally_str w = str_from(word);
	size_t best = SIZE_MAX;
	/* Up to a third of the word may be wrong, but at least one letter. */
	unsigned best_distance = (unsigned)MAX(1, w.len / 3) + 1;
	for (size_t i = 0; i < count; i++) {
		unsigned distance = text_distance(str_from(candidates[i]), w);
		if (distance < best_distance) {
			best_distance = distance;
			best = i;
		}
	}
	return best;
}
