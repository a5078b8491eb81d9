/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - builds text quickly, without printf and independently of the locale.
 *
 * A text buffer grows; it fails stickily when memory runs out. Owner calls text_deinit. With a sink set, text_flush
 * hands the bytes over when the buffer passes its high-water mark (TEXT_FLUSH_BYTES), so output of any length needs
 * a bounded buffer. One thread.
 *
 *	struct text t = {0};
 *	text_str(&t, "ip "); text_hex(&t, ip, 16); text_char(&t, '\n');
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <tally/status.h>

#include "base/bytes.h"

#define TEXT_FLUSH_BYTES (256u << 10)

struct text {
	char *data;
	size_t len, cap;
	bool failed;
	bool is_fixed; /* data is the caller's memory: text that does not fit sets failed */
	int fd; /* used by text_flush; set by text_to_fd, else 0 = none */
	bool has_fd;
	bool has_colours; /* text_colour was used: text_flush leaves sequences for colours as they are */
	char separator; /* of columns: a control character that text_flush leaves as it is; 0: none */
	int write_errno; /* first failure of write(2); EPIPE included */
};

/* A text in the caller's memory. It needs no text_deinit. */
static inline struct text text_over(char *room, size_t bytes)
{
	return (struct text){.data = room, .cap = bytes, .is_fixed = true};
}
void text_deinit(struct text *t);
void text_clear(struct text *t);
/* Its contents; valid until it changes. */
static inline struct tally_str text_view(const struct text *t)
{
	return (struct tally_str){t->data ? t->data : "", t->len};
}
/* From now on text_line_end and text_flush write to fd. */
void text_to_fd(struct text *t, int fd);
/* NULL: there is none. */
static inline void text_separated_by(struct text *t, const char *separator)
{
	t->separator = separator ? separator[0] : 0;
}
/* Makes room for n more bytes and returns where they go; NULL when memory runs out. The caller adds to t->len. */
char *text_room(struct text *t, size_t n);
void text_char(struct text *t, char c);
void text_repeat(struct text *t, char c, size_t n);
void text_bytes(struct text *t, const char *s, size_t len);
/* Inline, so that the length of a literal is a constant. */
static inline void text_str(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}
/* A colour of our own, such as "\x1b[31m"; "": none. Its text must be the one that is flushed, or hand has_colours on. */
void text_colour(struct text *t, const char *sequence);
void text_u64(struct text *t, uint64_t v);
void text_i64(struct text *t, int64_t v);
/* Lower-case hex, no 0x, zero-padded on the left to width (0: none). */
void text_hex(struct text *t, uint64_t v, unsigned width);
/* Right-aligned in width with blanks. */
void text_u64_right(struct text *t, uint64_t v, size_t width);
void text_hex_right(struct text *t, uint64_t v, size_t width);
/* The same with zeros in place of blanks. */
void text_u64_padded(struct text *t, uint64_t v, size_t width);
/* Widths of texts are cells of a terminal (text_cells.h). */
void text_str_right(struct text *t, struct tally_str s, size_t width);
void text_str_left(struct text *t, struct tally_str s, size_t width);
/* The number of cells that the bytes from start on take; the text's own colour sequences take none. 0
 * if the text has failed. */
size_t text_cells_from(const struct text *t, size_t start);
/* Appends blanks until the bytes from start on take at least width cells. */
void text_pad_from(struct text *t, size_t start, size_t width);
/* Pads what was appended from start on to a column: on the left, or on the right if width is negative. */
void text_align_from(struct text *t, size_t start, int width);
/* As printf's %.*f in the C locale, whatever the program's locale. */
void text_fixed(struct text *t, double v, unsigned decimals);
void text_fixed_right(struct text *t, double v, unsigned decimals, size_t width);
/* 1234567 -> "1,234,567" with the given separator (NULL or "": none). */
void text_u64_grouped(struct text *t, uint64_t v, const char *separator);
void text_printf(struct text *t, const char *format, ...) TALLY_PRINTF(2, 3);
/* The bytes, with U+FFFD in the place of invalid UTF-8 and NUL. */
void text_utf8(struct text *t, struct tally_str s);
/* A field of CSV (RFC 4180): like text_utf8, in quotes if necessary, and with control characters escaped (text_visible). */
void text_csv(struct text *t, struct tally_str s);
/* A foreign name: its control characters are escaped (control.h), so that it stays in one row and cannot control the
 * terminal. */
void text_visible(struct text *t, struct tally_str s);
/* The same of what was appended from start on. */
void text_visible_from(struct text *t, size_t start);
/* For columns with a separator: replaces the separator's first character by a dot in the text appended from start on,
 * as perf's report does. NULL: there is no separator. */
void text_mask_from(struct text *t, size_t start, const char *separator);
/* Our own rows that contain such names: control characters except line ends, tabs, the separator and, with
 * has_colours, colours are escaped. */
void text_visible_rows(struct text *t, struct tally_str rows);
/* Text is escaped like text_visible_rows before it is written, in case a name was appended unescaped. */
/* Writes the buffer to fd, if one is set: text_line_end if the buffer is past the mark, text_flush always. False once a
 * write has failed (see write_errno). */
bool text_line_end(struct text *t);
bool text_flush(struct text *t);

/* Edit distance with transpositions, for "did you mean"; at most 64 characters are looked at. */
unsigned text_distance(struct tally_str a, struct tally_str b);
/* Index of the nearest candidate that is near enough to be meant, or SIZE_MAX. */
size_t text_nearest(const char *const *candidates, size_t count, const char *word);

#endif
