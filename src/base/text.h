/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - builds text quickly, without printf and independently of the locale.
 *
 * A text grows as needed, and its failure is sticky when memory runs out. The owner calls text_deinit. With a file
 * descriptor set, text_line_end writes the text when it exceeds TEXT_FLUSH_BYTES, so output of any length needs a
 * bounded buffer. Used by one thread.
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
	bool is_fixed; /* data is memory of the caller; text that does not fit sets failed. */
	int fd; /* File descriptor for text_flush; valid if has_fd. */
	bool has_fd;
	bool has_colours; /* True if text_colour was used: text_flush does not escape colour sequences. */
	/* Column separator, which may be a control character that text_flush does not escape; 0 if there is none. */
	char separator;
	int write_errno; /* errno of the first failed write(2), including EPIPE; 0 if none failed. */
};

/* Returns a text in memory of the caller. It needs no text_deinit. */
static inline struct text text_over(char *room, size_t bytes)
{
	return (struct text){.data = room, .cap = bytes, .is_fixed = true};
}
void text_deinit(struct text *t);
void text_clear(struct text *t);
/* Returns the contents, valid until the text changes. */
static inline struct tally_str text_view(const struct text *t)
{
	return (struct tally_str){t->data ? t->data : "", t->len};
}
/* Makes text_line_end and text_flush write to fd. */
void text_to_fd(struct text *t, int fd);
/* Sets the column separator; NULL if there is none. */
static inline void text_separated_by(struct text *t, const char *separator)
{
	t->separator = separator ? separator[0] : 0;
}
/*
 * Makes room for n more bytes at the end, and returns its address; NULL when memory runs out. The caller adds the
 * written bytes to t->len.
 */
char *text_room(struct text *t, size_t n);
void text_char(struct text *t, char c);
void text_repeat(struct text *t, char c, size_t n);
void text_bytes(struct text *t, const char *s, size_t len);
/* This function is inline, so that the length of a literal is a constant. */
static inline void text_str(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}
/*
 * Appends a colour sequence of the program itself, such as "\x1b[31m" or "". If t is appended to another text, that one
 * must get has_colours, too.
 */
void text_colour(struct text *t, const char *sequence);
void text_u64(struct text *t, uint64_t v);
void text_i64(struct text *t, int64_t v);
/* Appends lower-case hexadecimal digits without 0x, zero-padded on the left to width. */
void text_hex(struct text *t, uint64_t v, unsigned width);
/* text_u64_right and text_hex_right pad the number with blanks on the left to width. */
void text_u64_right(struct text *t, uint64_t v, size_t width);
void text_hex_right(struct text *t, uint64_t v, size_t width);
/* Pads the number with zeros on the left to width. */
void text_u64_padded(struct text *t, uint64_t v, size_t width);
/* Widths of strings are in terminal cells (text_cells.h). */
void text_str_right(struct text *t, struct tally_str s, size_t width);
void text_str_left(struct text *t, struct tally_str s, size_t width);
/*
 * Returns the number of terminal cells of the bytes from start on, without the text's own colour sequences; 0 if the
 * text has failed.
 */
size_t text_cells_from(const struct text *t, size_t start);
/* Appends blanks until the bytes from start on occupy at least width cells. */
void text_pad_from(struct text *t, size_t start, size_t width);
/* Pads the bytes from start on with blanks to width cells, on the left, or on the right if width is negative. */
void text_align_from(struct text *t, size_t start, int width);
/* Formats as printf's %.*f does in the C locale. */
void text_fixed(struct text *t, double v, unsigned decimals);
void text_fixed_right(struct text *t, double v, unsigned decimals, size_t width);
/* Appends 1234567 as "1,234,567" with the given separator, or without separators if it is NULL or "". */
void text_u64_grouped(struct text *t, uint64_t v, const char *separator);
void text_printf(struct text *t, const char *format, ...) TALLY_PRINTF(2, 3);
/* Appends the bytes, and replaces NUL and invalid UTF-8 by U+FFFD. */
void text_utf8(struct text *t, struct tally_str s);
/*
 * Appends a field of CSV (RFC 4180): as text_utf8 does, quoted if necessary, and with control characters escaped
 * (text_visible).
 */
void text_csv(struct text *t, struct tally_str s);
/*
 * Appends a string from outside with its control characters escaped (control.h), so that it stays in one row and cannot
 * control the terminal.
 */
void text_visible(struct text *t, struct tally_str s);
/* Escapes control characters in the bytes from start on, as text_visible does. */
void text_visible_from(struct text *t, size_t start);
/*
 * Replaces the separator's first character by a dot in the bytes from start on, as perf report does. Does nothing if
 * separator is NULL.
 */
void text_mask_from(struct text *t, size_t start, const char *separator);
/*
 * Appends rows that the program has formatted, and escapes control characters except line ends, tabs, the separator
 * and, with has_colours, colour sequences.
 */
void text_visible_rows(struct text *t, struct tally_str rows);
/*
 * Both write the text to fd, if one is set: text_line_end if the text has reached TEXT_FLUSH_BYTES, text_flush always.
 * They escape it as text_visible_rows does, in case a name was appended unescaped. They return false once a write has
 * failed (see write_errno).
 */
bool text_line_end(struct text *t);
bool text_flush(struct text *t);

/* Returns the edit distance with transpositions, for "did you mean"; it compares at most 64 bytes. */
unsigned text_distance(struct tally_str a, struct tally_str b);
/* Returns the index of the nearest candidate that is similar enough to be meant, or SIZE_MAX. */
size_t text_nearest(const char *const *candidates, size_t count, const char *word);

#endif
