/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_notes.h - reports beside a report's tables what it leaves out, what could not be read, and what it is made of.
 *
 *	report_notes_guests(&notes, profile);  ...  cli_print_diag(cli, &notes);
 */
#ifndef VERBS_REPORT_REPORT_NOTES_H
#define VERBS_REPORT_REPORT_NOTES_H

#include "analysis/replay/quality.h"
#include "analysis/replay/replay.h"
#include "base/diag.h"
#include "cli/cli.h"
#include "profile/flat/flat_table.h"

/* Samples of virtual machines, if there are some: their rows are left out. */
void report_notes_guests(struct diag *notes, const struct profile *profile);
/* That no sample passes the filters. */
void report_notes_no_rows(struct diag *notes, const struct flat_table *table);
/* What self time is of, where samples are in inlined functions. */
void report_notes_self(struct diag *notes, const struct profile *profile);
/* How many samples of the table have more calls than count. */
void report_notes_cut_stacks(struct diag *notes, const struct flat_table *table);
/* Reports the number of samples and the origin of their names if something is unusual; is_verbose: always. */
void report_notes_input(
	struct diag *notes, const struct replay_result *result, const struct binary_store *store, bool is_verbose);
/* That --time cannot choose anything, if so. */
void report_notes_times(struct diag *notes, struct perfdata_reader *reader);
/* The end of each report: what it is worth. False: that is less than required. */
bool report_notes_quality(struct diag *notes, const struct quality *quality, const struct requirements *requirements);
/* At once. False: rows cannot be by trace, as the formats of tracepoints are cut off or damaged. */
bool report_notes_formats(const struct cli *cli, const struct perfdata_reader *reader);

#endif
