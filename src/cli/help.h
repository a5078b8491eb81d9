/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - prints usage, help and the man page of a verb from its command and option tables.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/text.h"
#include "cli/commands.h"

/* perf's usage text: how to call it, and all options. */
void help_usage(struct text *t, const char *program, const struct command *command);
/* The parts of the help: the usage lines and a blank line, and one option. */
void help_usage_lines(struct text *t, const char *program, const struct command *command);
void help_option(struct text *t, const struct option *option);
/* A hint at the command that prints all options, for the end of an error message. */
void help_hint(struct text *t, const char *program, const struct command *command);
/* Usage, description, options and examples. */
void help_full(struct text *t, const char *program, const struct command *command);
/* The list of verbs. */
void help_program(struct text *t, const char *program);
/* roff: of a verb, and of the program */
void help_man_page(struct text *t, const struct command *command);
void help_man_overview(struct text *t);

#endif
