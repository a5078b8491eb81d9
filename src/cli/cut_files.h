/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut_files.h - handles mapped files that are truncated: their missing bytes read as zeros, which parsers treat as
 * damage, instead of ending the program with SIGBUS. For the program only: a library must not take signals.
 *
 * The whole process; set once, before threads exist.
 *
 *	install_sigbus_handler();   ...   if (cut_files_were_met()) ...
 */
#ifndef CLI_CUT_FILES_H
#define CLI_CUT_FILES_H

#include <stdbool.h>

void install_sigbus_handler(void);
/* Whether a page of a mapped file was missing when it was read, because the file was truncated. */
bool cut_files_were_met(void);

#endif
