/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_terminal.h - determines how text is formatted for standard output: whether colours are used, and the width.
 *
 * Colours are used if standard output is a terminal that supports them by TERM, and NO_COLOR is not set (no-color.org).
 * The functions must be called before the pager is started, because standard output is a pipe afterwards.
 *
 *	settings.colours = colours_are_wanted();
 */
#ifndef CLI_OUTPUT_TERMINAL_H
#define CLI_OUTPUT_TERMINAL_H

#include <stdbool.h>

/* Returns whether NO_COLOR is set and not empty. */
bool colours_are_refused(void);
bool colours_are_wanted(void);
/* Sets *wanted for a mode of --stdio-color: "always", "never" or "auto" (colours_are_wanted); NULL means never. Returns
 * false for any other mode. */
bool colours_by_mode(const char *mode, bool *wanted);
/* Returns whether the terminal can move its cursor and erase lines: TERM is set, and is not "dumb". */
bool terminal_has_controls(void);
/* Returns the terminal's width in characters, or 0 if it is unknown or standard output is not a terminal. */
unsigned terminal_columns(void);

#endif
