/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - escapes control characters in foreign text (names of threads, files, functions) as \xNN, so that it
 * cannot control the reader's terminal.
 *
 * Control characters are those below the blank, DEL, C1 (as a byte or in UTF-8), the separators of lines and
 * paragraphs, and the controls of direction, which show a row in another order. Bytes that are not valid UTF-8 are
 * escaped too: an 8-bit terminal takes some of them for C1, and readers of our output may rely on UTF-8. Everything
 * else stays as it is. Pure. To append to a text, use text_visible or text_rows; to keep names, use visible.h.
 *
 *	size_t plain = control_span(s, len);	nothing there is to be escaped
 *	used = control_spell(s + plain, len - plain, word);
 */
#ifndef BASE_CONTROL_H
#define BASE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes come before the first control character. */
size_t control_span(const char *s, size_t len);
/* The same for complete rows, in which line ends, tabs, the separator (0: none) and, with has_colours, colours
 * ("\x1b[31m") are the program's own. */
size_t control_rows_span(const char *s, size_t len, char separator, bool has_colours);

/* The length of the control character at s, where len bytes are left (at least one); 0: there is none. A byte beyond
 * ASCII that is not valid UTF-8 has length 1. */
size_t control_bytes(const char *s, size_t left);

/* The length in bytes of a colour sequence ("\x1b[31m") that begins at s; 0: none begins there. */
size_t control_colour_bytes(const char *s, size_t left);

#define CONTROL_WORD 16
/* Spells the control character at s; returns its bytes. */
size_t control_spell(const char *s, size_t left, char word[CONTROL_WORD]);

/* Escapes a message that was made by the format, in place; it is truncated if it becomes too long for the room. Line
 * ends are kept only if the format contains some, or is "%s" and so passes a text on. */
void control_spell_message(const char *format, char *message, size_t room);
/* The number of bytes before the first control character of such a message. */
size_t control_message_span(const char *format, const char *s, size_t len);

#endif
