/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - prints usage, help and the man page of a verb from its command and option tables.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/text.h"
#include "cli/commands.h"

/* Appends perf's usage text: the usage lines and all options. */
void help_usage(struct text *t, const char *program, const struct command *command);
/* Appends only the usage lines, and a blank line. */
void help_usage_lines(struct text *t, const char *program, const struct command *command);
/* Appends the lines of one option. */
void help_option(struct text *t, const struct option *option);
/* Appends a hint to the command that prints all options, for the end of an error message. */
void help_hint(struct text *t, const char *program, const struct command *command);
/* Appends usage, description, options and examples. */
void help_full(struct text *t, const char *program, const struct command *command);
/* Appends the list of verbs. */
void help_program(struct text *t, const char *program);
/* Appends the man page of a verb in roff. */
void help_man_page(struct text *t, const struct command *command);
/* Appends the man page of the program in roff. */
void help_man_overview(struct text *t);

#endif
