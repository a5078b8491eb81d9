/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_note.h - stores the first file that exceeded a limit, so that main can report it at the end.
 *
 * Readers of a list of /proc, a map of generated code or debug information ignore a file that is too large, as if it
 * were absent; without a message, the user would not know that the result is incomplete. May be called from any thread.
 *
 *	limit_note("%s is longer than 64 MB: what it says is left out", path);   ...   if (limit_noted()) ...
 */
#ifndef BASE_LIMIT_NOTE_H
#define BASE_LIMIT_NOTE_H

#include <tally/status.h>

void limit_note(const char *format, ...) TALLY_PRINTF(1, 2);
/* Returns the message of the first limit_note; NULL if there was none. */
const char *limit_noted(void);

#endif
