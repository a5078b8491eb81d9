/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_printer.h - prints stat's counts to standard error, -o or --log-fd, with the reasons why events are missing.
 * tasks/counts/stat_rows.h formats the rows.
 *
 * The caller owns the printer, its settings and its heading; stat_printer_close frees the printer's text and closes its
 * file.
 */
#ifndef VERBS_STAT_STAT_PRINTER_H
#define VERBS_STAT_STAT_PRINTER_H

#include <locale.h>

#include "cli/cli.h"
#include "kernel/events/tracepoint_hold.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_run.h"

struct stat_printer {
	const struct cli *cli;
	const struct stat_settings *settings;
	struct stat_style style;
	struct text text;
	const char *heading;
	int fd;
	bool has_printed, has_origin;
};

/* Returns the heading of the table, which the caller frees, or NULL if out of memory: label, or the command in quotes
 * if label is "", or the programs of --bpf-prog. */
char *stat_printer_heading(const struct stat_job *job, const char *label);
/* The caller frees user_locale after closing the printer; 0 selects the C locale. */
struct stat_printer stat_printer_make(const struct cli *cli, const struct stat_settings *s, locale_t user_locale);
TALLY_MUST_CHECK enum tally_status stat_printer_open(struct stat_printer *p, struct tally_error *err);
/* Writes and clears the text. A failure is sticky, so it is also returned at the end. */
enum tally_status stat_printer_flush(struct stat_printer *p, struct tally_error *err);
void stat_printer_close(struct stat_printer *p);
/* Prints a line with the origin of the counts if they are not those of perf events. Prints nothing as JSON, where each
 * line contains the origin. */
void stat_printer_label(struct stat_printer *p, const struct stat_job *job);
/* Like stat_printer_label, but for counts of a recording, and prints the line only once. */
void stat_printer_origin(struct stat_printer *p, const struct stat_report *report);
/* Prints an interval. A callback of type stat_show_interval; context is a struct stat_printer. */
void stat_printer_interval(void *context, const struct stat_report *report);
/* Returns whether explanations are printed; with -x and -j they are not, because scripts may read standard error. */
bool stat_printer_explains(const struct stat_printer *p);
/* Prints the table of all runs, and why events are missing. */
TALLY_MUST_CHECK enum tally_status stat_printer_totals(
	struct stat_printer *p, const struct stat_session *session, struct tally_error *err);
/* Opens the session's tracepoints in hold, and prints which matches of a pattern cannot be opened. */
TALLY_MUST_CHECK enum tally_status stat_printer_hold(const struct stat_printer *p, const struct stat_session *session,
	struct tracepoint_hold *hold, struct tally_error *err);

#endif
