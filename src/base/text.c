#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/checked.h"
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
	if (t->failed || !checked_add(t->len, n, &need) || (need > t->cap && !vec_grow(&t->data, &t->cap, 1, need))) {
		t->failed = true;
		return NULL;
	}
	return t->data + t->len;
}

void text_bytes(struct text *t, const char *s, size_t len)
{
	char *to = text_room(t, len);
	if (!to || len == 0)
		return;
	memcpy(to, s, len);
	t->len += len;
}

void text_char(struct text *t, char c)
{
	text_bytes(t, &c, 1);
}

void text_repeat(struct text *t, char c, size_t n)
{
	char *to = text_room(t, n);
	if (!to || n == 0)
		return;
	memset(to, c, n);
	t->len += n;
}

void text_str(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

/* Writes the digits that end at end; returns where they start. */
static char *decimal(char *end, uint64_t v)
{
	do {
		*--end = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	return end;
}

static char *hexadecimal(char *end, uint64_t v)
{
	do {
		*--end = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v > 0);
	return end;
}

static void right(struct text *t, const char *s, size_t len, size_t width, char fill)
{
	if (len < width)
		text_repeat(t, fill, width - len);
	text_bytes(t, s, len);
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

void text_hex(struct text *t, uint64_t v, unsigned width)
{
	char buffer[16];
	char *start = hexadecimal(buffer + sizeof(buffer), v);
	right(t, start, (size_t)(buffer + sizeof(buffer) - start), width, '0');
}

void text_u64_right(struct text *t, uint64_t v, size_t width)
{
	char buffer[20];
	char *start = decimal(buffer + sizeof(buffer), v);
	right(t, start, (size_t)(buffer + sizeof(buffer) - start), width, ' ');
}

void text_hex_right(struct text *t, uint64_t v, size_t width)
{
	char buffer[16];
	char *start = hexadecimal(buffer + sizeof(buffer), v);
	right(t, start, (size_t)(buffer + sizeof(buffer) - start), width, ' ');
}

void text_str_right(struct text *t, struct tally_str s, size_t width)
{
	right(t, s.data, s.len, width, ' ');
}

void text_str_left(struct text *t, struct tally_str s, size_t width)
{
	text_bytes(t, s.data, s.len);
	if (s.len < width)
		text_repeat(t, ' ', width - s.len);
}

/* snprintf, with the locale's decimal sign put back to a point. */
static size_t fixed(char *buffer, size_t size, double v, unsigned decimals)
{
	int len = snprintf(buffer, size, "%.*f", (int)decimals, v);
	if (len < 0)
		return 0;
	size_t used = (size_t)len < size ? (size_t)len : size - 1;
	if (decimals > 0 && used > decimals && buffer[used - decimals - 1] != '.') {
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
	right(t, buffer, fixed(buffer, sizeof(buffer), v, decimals > 60 ? 60 : decimals), width, ' ');
}

void text_u64_grouped(struct text *t, uint64_t v, const char *separator)
{
	char buffer[20];
	char *start = decimal(buffer + sizeof(buffer), v);
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

bool text_flush(struct text *t)
{
	if (!t->has_fd)
		return true;
	size_t done = 0;
	while (done < t->len && t->write_errno == 0) {
		ssize_t n = write(t->fd, t->data + done, t->len - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			t->write_errno = errno;
	}
	t->len = 0;
	return t->write_errno == 0;
}

bool text_line_end(struct text *t)
{
	return t->len < TEXT_FLUSH_BYTES || text_flush(t);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;
	return m < c ? m : c;
}

unsigned text_distance(struct tally_str a, struct tally_str b)
{
	size_t m = a.len < DISTANCE_MAX_LEN ? a.len : DISTANCE_MAX_LEN;
	size_t n = b.len < DISTANCE_MAX_LEN ? b.len : DISTANCE_MAX_LEN;
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
			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost);
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
	/* A third of the word may be wrong, but at least one letter. */
	unsigned best_distance = (unsigned)(w.len / 3 < 1 ? 1 : w.len / 3) + 1;
	for (size_t i = 0; i < count; i++) {
		unsigned distance = text_distance(str_from(candidates[i]), w);
		if (distance < best_distance) {
			best_distance = distance;
			best = i;
		}
	}
	return best;
}
