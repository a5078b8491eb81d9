/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut_files.h - handles files that are truncated while they are mapped into memory: missing bytes are read as zeros,
 * which parsers treat as damage, instead of ending the program with SIGBUS.
 *
 * The signal handler applies to the whole process and is installed once, before threads are created. Only the program
 * may install it, because a library must not install signal handlers.
 *
 *	install_sigbus_handler();   ...   if (cut_files_were_met()) ...
 */
#ifndef CLI_CUT_FILES_H
#define CLI_CUT_FILES_H

#include <stdbool.h>

void install_sigbus_handler(void);
/* Returns whether a page of a mapped file was missing when it was read, because the file had been truncated. */
bool cut_files_were_met(void);

#endif
