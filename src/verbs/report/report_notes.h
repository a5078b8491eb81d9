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
/* Notes that no sample passes the filters. */
void report_notes_no_rows(struct diag *notes, const struct flat_table *table);
/* Notes to which function self time belongs, if samples are in inlined functions. */
void report_notes_self(struct diag *notes, const struct profile *profile);
/* Notes how many samples of the table have more calls than are shown. */
void report_notes_cut_stacks(struct diag *notes, const struct flat_table *table);
/* Reports the number of samples and the origin of their names if something is unusual; is_verbose: always. */
void report_notes_input(
	struct diag *notes, const struct replay_result *result, const struct binary_store *store, bool is_verbose);
/* Notes that --time has no effect, if the recording has no times. */
void report_notes_times(struct diag *notes, struct perfdata_reader *reader);
/* Notes the quality of the report, at its end. False: the quality is below the requirements. */
bool report_notes_quality(struct diag *notes, const struct quality *quality, const struct requirements *requirements);
/* Prints at once. False: rows cannot be by trace, because the formats of tracepoints are truncated or damaged. */
bool report_notes_formats(const struct cli *cli, const struct perfdata_reader *reader);

#endif
