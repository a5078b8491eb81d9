/*
 * help.h - usage, help and man page of a verb, all from its command and option tables.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/text.h"
#include "cli/commands.h"

/* perf's usage text; only: the one option to show, NULL for all. */
void help_usage(struct text *t, const char *program, const struct command *command, const struct option *only);
/* Its parts: the lines that tell how to call it and a blank one, and one option. */
void help_usage_lines(struct text *t, const char *program, const struct command *command);
void help_option(struct text *t, const struct option *option);
/* Usage, description, options and examples. */
void help_full(struct text *t, const char *program, const struct command *command);
/* The list of verbs. */
void help_program(struct text *t, const char *program);
/* roff */
void help_man_page(struct text *t, const struct command *command);

#endif
