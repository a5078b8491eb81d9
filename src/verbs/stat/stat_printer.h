/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_printer.h - prints stat's counts to standard error, -o or --log-fd, with the reasons why events are missing.
 * stat_rows makes the rows.
 *
 * The caller owns the printer, its settings and its heading; stat_printer_close frees its text and closes its file.
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

/* "'COMMAND'", or the target's label if it has one; from malloc; NULL: out of memory. */
char *stat_printer_heading(const struct stat_job *job, const char *label);
/* user_locale is kept by the caller until the printer is closed; 0: that of C. */
struct stat_printer stat_printer_make(const struct cli *cli, const struct stat_settings *s, locale_t user_locale);
TALLY_MUST_CHECK enum tally_status stat_printer_open(struct stat_printer *p, struct tally_error *err);
/* Writes what is in its text; a failure stays in the text and shows at the end, too. */
enum tally_status stat_printer_flush(struct stat_printer *p, struct tally_error *err);
void stat_printer_close(struct stat_printer *p);
/* The line above all counts that says what counted, if these are not perf events. JSON has it in each line. */
void stat_printer_label(struct stat_printer *p, const struct stat_job *job);
/* The same for counts of a recording, once. */
void stat_printer_origin(struct stat_printer *p, const struct stat_report *report);
/* A stat_show_interval; its context is the printer. */
void stat_printer_interval(void *context, const struct stat_report *report);
/* Whether explanations are printed for people; with -x and -j standard error stays clean for scripts. */
bool stat_printer_explains(const struct stat_printer *p);
/* The table of all runs, and why events are missing in it. */
TALLY_MUST_CHECK enum tally_status stat_printer_totals(
	struct stat_printer *p, const struct stat_session *session, struct tally_error *err);
/* Holds the session's tracepoints, and reports those of a pattern that cannot be opened. */
TALLY_MUST_CHECK enum tally_status stat_printer_hold(const struct stat_printer *p, const struct stat_session *session,
	struct tracepoint_hold *hold, struct tally_error *err);

#endif
