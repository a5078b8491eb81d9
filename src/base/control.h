/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - escapes control characters in text from outside (names of threads, files, functions) as \xNN, so that it
 * cannot control the user's terminal.
 *
 * Control characters are those below the blank, DEL, C1 (as a byte or in UTF-8), the line and paragraph separators, and
 * the bidirectional controls, which can display a row in another order. Bytes that are not valid UTF-8 are escaped too,
 * because an 8-bit terminal interprets some of them as C1, and readers of the output may rely on UTF-8. The functions
 * have no state. To append to a text, use text_visible or text_visible_rows; to store names, use visible.h.
 *
 *	size_t plain = control_span(s, len);	// length of the text that needs no escaping
 *	used = control_spell(s + plain, len - plain, word);
 */
#ifndef BASE_CONTROL_H
#define BASE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the number of bytes before the first control character. */
size_t control_span(const char *s, size_t len);
/*
 * Does the same for complete rows, in which line ends, tabs, the separator (0 if there is none) and, with has_colours,
 * colour sequences ("\x1b[31m") do not count as control characters.
 */
size_t control_rows_span(const char *s, size_t len, char separator, bool has_colours);

/*
 * Returns the length in bytes of the control character at s, where left is at least 1; 0 if it is none. A byte beyond
 * ASCII that is not valid UTF-8 has length 1.
 */
size_t control_bytes(const char *s, size_t left);

/* Returns the length in bytes of the colour sequence ("\x1b[31m") that begins at s; 0 if there is none. */
size_t control_colour_bytes(const char *s, size_t left);

#define CONTROL_WORD 16
/*
 * Writes the escaped form of the control character at s to word, with a NUL, and returns the number of bytes of s that
 * the character occupies.
 */
size_t control_spell(const char *s, size_t left, char word[CONTROL_WORD]);

/*
 * Escapes a formatted message in place, and truncates it if it becomes longer than its memory of room bytes. Line ends
 * and tabs are preserved only if the format contains a line end, or is "%s".
 */
void control_spell_message(const char *format, char *message, size_t room);
/*
 * Returns the number of bytes before the first character that control_spell_message would escape in a message of this
 * format.
 */
size_t control_message_span(const char *format, const char *s, size_t len);

#endif
