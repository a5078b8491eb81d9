/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_terminal.h - tells how text may look on standard output: whether it has colours, and how wide the terminal is.
 *
 * Colours need a terminal that has them by TERM, and a user who has not set NO_COLOR (no-color.org). Ask before the
 * pager starts: standard output is a pipe then.
 *
 *	settings.colours = colours_are_wanted();
 */
#ifndef CLI_OUTPUT_TERMINAL_H
#define CLI_OUTPUT_TERMINAL_H

#include <stdbool.h>

/* Whether NO_COLOR is set and not empty. */
bool colours_are_refused(void);
bool colours_are_wanted(void);
/* "always", "never" or "auto" (NULL: never), as of --stdio-color: false if it is none of them. */
bool colours_by_mode(const char *mode, bool *wanted);
/* Whether the terminal can move its cursor and erase lines: TERM is set, and is not "dumb". */
bool terminal_has_controls(void);
/* How many characters fit on a line of the terminal; 0: standard output is not a terminal, or its width is unknown. */
unsigned terminal_columns(void);

#endif
