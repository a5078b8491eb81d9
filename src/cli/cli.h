/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - declares the context that main passes to every verb, and the functions that print messages.
 *
 * Exit codes are perf's: 129 for wrong usage, 255 for failure, 1 for an unknown verb; stat and record return the
 * command's.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <tally/status.h>

#include "base/diag.h"
#include "base/text.h"

#define EXIT_USAGE     129
#define EXIT_FAILED    255
#define EXIT_LISTED    130 /* The exit code after --list-opts has printed the options. */
#define EXIT_BAD_TIME  234 /* Invalid --time, as in perf. */
#define EXIT_NOT_WORTH 3 /* report: a requirement of --require is not met. */
#define EXIT_CHANGED   3 /* diff, stat: --fail-if found a failure. */
#define EXIT_UNDECIDED 4 /* diff, stat: --fail-if cannot decide, for example with too few recordings. */
#define CLI_GO_ON      (-1) /* Returned instead of an exit code to continue. */

struct cli {
	const char *program; /* "tally", or "perf" if called by that name. */
	const char *commit; /* The commit from which the program was built; empty or NULL if unknown. */
	const char *build_id_dir; /* --buildid-dir, or buildid.dir of the configuration; NULL for ~/.debug. */
	bool is_build_id_dir_asked; /* --buildid-dir was given. */
	/* Suppresses messages unless results are wrong or incomplete. Set if called as perf without -v, when standard
	 * error is not a terminal. NULL suppresses nothing. */
	bool *is_quiet;
	bool is_inner; /* Run by another verb with words that the user did not type, so its usage would not help. */
	bool use_pager; /* Standard output is a terminal and --no-pager was not given. */
};

struct command;

/* Print the error's text, or a formatted message, on standard error. Return EXIT_FAILED. */
int cli_fail(const struct cli *cli, const struct tally_error *err);
int cli_failf(const struct cli *cli, const char *format, ...) TALLY_PRINTF(2, 3);
/* Like fprintf(stderr), but escapes control characters, because names in recordings must not control the terminal. A
 * newline within the message is escaped too, unless the format has one before its end. */
void cli_sayf(const char *format, ...) TALLY_PRINTF(1, 2);
bool cli_is_quiet(const struct cli *cli);
/* Prints a note of one line after "PROGRAM: note: ", unless is_quiet is set. */
void cli_notef(const struct cli *cli, const char *format, ...) TALLY_PRINTF(2, 3);
/* Prints rows on standard error, and escapes control characters except newlines. */
void cli_say_rows(struct tally_str rows);
/* Returns the build-ID cache to search together with symfs, the directory of --symfs, which may be NULL. With a symfs,
 * the result is NULL, so that the cache in it is used, unless --buildid-dir was given. */
const char *cli_build_id_dir(const struct cli *cli, const char *symfs);
/* Prints "PROGRAM: note: TEXT", where the text may have several lines, unless is_quiet is set. */
void cli_say_note(const struct cli *cli, const char *note);
/* Returns 0 if program, the argument of an option, is NULL or can be run; otherwise the exit code after a message. */
int cli_check_program(const struct cli *cli, const char *option, const char *program);
/* Prints warnings and notes on standard error, each once with its count. */
void cli_print_diag(const struct cli *cli, const struct diag *diag);
/* Prints the message, the usage lines and the options with the long names in names ("pid,tid"); NULL prints a hint to
 * the help instead. Returns EXIT_USAGE. */
int cli_usagef(const struct cli *cli, const struct command *command, const char *names, const char *format, ...)
	TALLY_PRINTF(4, 5);
/* Parses argv by the command's table into settings. Returns CLI_GO_ON, or the exit code after printing help or an
 * error. *rest is the index of the first word that is not an option. */
int cli_parse_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, void *settings, int *rest);
/* Returns whether word is the name of a subcommand, or an abbreviation of at least three letters, as in perf. */
bool cli_is_subverb(const char *word, const char *name);
/* Runs another verb and returns its exit code. Its arguments are the NULL-terminated words of ours, beginning with its
 * name, and then those of argv. */
int cli_run_verb(const struct cli *cli, const struct command *verb, const char *const *ours, int argc, char **argv);
/* Writes the rest of t to its fd, or to standard output if it has none, and frees t. Returns 0, or EXIT_FAILED after a
 * message. A closed pipe is not a failure. */
int cli_finish_text(const struct cli *cli, struct text *t);
/* Sends standard output through the pager, if it is a terminal and the user wants a pager. */
void cli_start_pager(const struct cli *cli);
/* Waits until the user has quit the pager, if one was started. */
void cli_end_pager(void);

#endif
