/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_notes.h - adds notes to a report: what it omits, what could not be read, and the quality of its data.
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

/* Notes the number of samples in guests, if there are any, because these have no rows. */
void report_notes_guests(struct diag *notes, const struct profile *profile);
/* Notes that no sample passes the filters. */
void report_notes_no_rows(struct diag *notes, const struct flat_table *table);
/* If samples are in inlined functions, notes that self time is shown for the symbols that contain their code. */
void report_notes_self(struct diag *notes, const struct profile *profile);
/* Notes how many samples of the table have call chains longer than --max-stack. */
void report_notes_cut_stacks(struct diag *notes, const struct flat_table *table);
/* Notes problems with symbols, stacks and mappings; is_verbose adds the numbers of records, samples and objects. */
void report_notes_input(
	struct diag *notes, const struct replay_result *result, const struct binary_store *store, bool is_verbose);
/* Notes that --time has no effect, if the recording has no times. */
void report_notes_times(struct diag *notes, struct perfdata_reader *reader);
/* Notes the quality of the report. Returns false if it does not meet the requirements. */
bool report_notes_quality(struct diag *notes, const struct quality *quality, const struct requirements *requirements);
/* Prints a message and returns false if the tracepoint formats are truncated or damaged, so that the sort key trace
 * cannot be used. */
bool report_notes_formats(const struct cli *cli, const struct perfdata_reader *reader);

#endif
