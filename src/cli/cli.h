/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - declares what main gives to every verb, and the functions that print complaints.
 *
 * Exit codes are perf's: 129 wrong usage, 255 failure, 1 unknown verb; stat and record pass the command's own on.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <tally/status.h>

#include "base/diag.h"
#include "base/text.h"

#define EXIT_USAGE     129
#define EXIT_FAILED    255
#define EXIT_LISTED    130 /* --list-opts */
#define EXIT_BAD_TIME  234 /* invalid --time; the same as perf's */
#define EXIT_NOT_WORTH 3 /* report --require failed */
#define EXIT_CHANGED   3 /* diff --fail-if found what it names */
#define EXIT_UNDECIDED 4 /* diff --fail-if cannot decide with so few recordings */
#define CLI_GO_ON      (-1) /* no exit code */

struct cli {
	const char *program; /* "tally", or "perf" when called so */
	const char *commit; /* that the program was built from; empty or NULL: not known */
	const char *build_id_dir; /* --buildid-dir, or buildid.dir of the configuration; NULL: ~/.debug */
	bool is_build_id_dir_asked; /* by the option */
	/* Only what makes results wrong or incomplete goes to standard error: called as perf, without a terminal there,
	 * and no -v. NULL: all does. */
	bool *is_quiet;
	bool is_inner; /* another verb runs this one, with words that the user did not type: its usage would not help */
	bool use_pager; /* standard output is a terminal and --no-pager was not given */
};

struct command;

/* Prints "text" of the error on standard error; returns EXIT_FAILED. */
int cli_fail(const struct cli *cli, const struct tally_error *err);
int cli_failf(const struct cli *cli, const char *format, ...) TALLY_PRINTF(2, 3);
/* As fprintf(stderr), except that names of others in it cannot steer the terminal. A line end of theirs is escaped too,
 * unless the format has some before its own end. */
void cli_sayf(const char *format, ...) TALLY_PRINTF(1, 2);
bool cli_is_quiet(const struct cli *cli);
/* A note of one line, "PROGRAM: note: ", unless only warnings are to be printed. */
void cli_notef(const struct cli *cli, const char *format, ...) TALLY_PRINTF(2, 3);
/* Our own rows, in the same way. */
void cli_say_rows(struct tally_str rows);
/* The folder with entries by build ID when files are searched below symfs (may be NULL). symfs has such a folder
 * itself, and only --buildid-dir replaces it. */
const char *cli_build_id_dir(const struct cli *cli, const char *symfs);
/* "tally: note: TEXT", whose text may have several lines. */
void cli_say_note(const struct cli *cli, const char *note);
/* 0: the program that an option names (NULL: none) can be run; else the exit code, after saying why not. */
int cli_check_program(const struct cli *cli, const char *option, const char *program);
/* Warnings and notes, each once with its count. */
void cli_print_diag(const struct cli *cli, const struct diag *diag);
/* Prints the message, the usage lines and the options with these long names ("pid,tid"; NULL: a hint at the help for
 * all options), and returns EXIT_USAGE. */
int cli_usagef(const struct cli *cli, const struct command *command, const char *names, const char *format, ...)
	TALLY_PRINTF(4, 5);
/* Parses argv by the command's table into settings. Returns CLI_GO_ON, or the exit code after help was printed or wrong
 * usage was explained. *rest is the index of the first word that is no option. */
int cli_parse_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, void *settings, int *rest);
/* Whether word is the name of a subcommand, or its first three or more letters, which perf accepts, too. */
bool cli_is_subverb(const char *word, const char *name);
/* Runs another verb with the given words (its name first; NULL-terminated), followed by those of the command line. */
int cli_run_verb(const struct cli *cli, const struct command *verb, const char *const *ours, int argc, char **argv);
/* Writes the rest of t to standard output (or to its fd, if it has one) and ends t. Returns 0, or EXIT_FAILED after a
 * message; it is not a failure if the reader has closed the pipe. */
int cli_finish_text(const struct cli *cli, struct text *t);
/* Sends standard output through the pager, if it is a terminal and the user wants a pager. */
void cli_start_pager(const struct cli *cli);
/* Waits for the pager, if one runs. */
void cli_end_pager(void);

#endif
