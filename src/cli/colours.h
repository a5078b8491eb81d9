/*
 * colours.h - whether text on standard output may have colours: on a terminal, unless NO_COLOR (no-color.org) is set or
 * TERM says that the terminal has none.
 *
 *	settings.colours = colours_are_wanted();
 */
#ifndef CLI_COLOURS_H
#define CLI_COLOURS_H

#include <stdbool.h>

/* NO_COLOR is set and not empty. */
bool colours_are_refused(void);
bool colours_are_wanted(void);
/* "always", "never" or "auto" (NULL: never), as of --stdio-color: false if it is none of them. */
bool colours_by_mode(const char *mode, bool *wanted);
/* The terminal moves its cursor and erases lines: TERM is set, and not "dumb". */
bool terminal_has_controls(void);

#endif
