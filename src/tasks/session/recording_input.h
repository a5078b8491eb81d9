/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_input.h - opens the recording of a verb: chooses the file, and reports what is wrong with it.
 */
#ifndef TASKS_SESSION_RECORDING_INPUT_H
#define TASKS_SESSION_RECORDING_INPUT_H

#include "cli/cli.h"
#include "cli/options.h"
#include "perfdata/origin.h"
#include "perfdata/reader.h"

#define RECORDING_NAME "perf.data" /* the default name */

/* The name of a recording: the given one, or the default. */
static inline const char *recording_name(const char *named)
{
	return named ? named : RECORDING_NAME;
}

struct input_options { /* of every verb that reads a recording */
	const char *path; /* NULL: perf.data, or standard input where that is a pipe and there is no such file */
	bool force; /* the file may be another user's */
};
/* -i/--input and -f/--force: INPUT_OPTIONS(struct settings, input), */
extern const struct option_table input_option_table;
#define INPUT_OPTIONS(type, member) OPTION_GROUP_ROW(&input_option_table, type, member)

/* path NULL: perf.data, or standard input if that is a pipe and there is no such file. "-" is standard input. As in
 * perf, a file owned by another user than root is opened only with force. */
TALLY_MUST_CHECK enum tally_status recording_open(
	const struct input_options *input, struct perfdata_reader **reader, struct tally_error *err);
/* Branch stacks that count branches: stacks of calls, which end chains, are not. By the events. */
bool recording_samples_branches(const struct perfdata_reader *reader);
/* The same by perf's rule: for a file, by its header. */
bool recording_has_branches(const struct perfdata_reader *reader);
/* Returns NOT_FOUND with the reason why a recording with so many samples has nothing to show. */
enum tally_status recording_is_empty(const char *path, uint64_t samples, struct tally_error *err);
/* The same as a note on standard error, for verbs whose output may be empty. */
void cli_note_empty(const struct cli *cli, const char *path, uint64_t samples);
/* Whether 'stat record' made it: by its header, or by the records read so far, because perf's streams have no
 * header. */
bool recording_is_of_stat(const struct perfdata_reader *reader);
/* For verbs that show samples: a note on standard error that names the command for such a recording. path NULL:
 * perf.data. */
void cli_note_counts(const struct cli *cli, const struct perfdata_reader *reader, const char *path);
/* For verbs whose output does not say it: a note on standard error of what made samples that are not from perf events. */
void cli_note_origin(const struct cli *cli, const struct perfdata_reader *reader);
/* For what compares two recordings: a warning if their samples were not made in the same way. */
/* INVALID: the recording (path) has no waits, or its waits cannot say who ended them (--wakers). Of a pipe, after it was
 * read. */
TALLY_MUST_CHECK enum tally_status recording_check_wakers(
	const struct perfdata_reader *reader, const char *path, struct tally_error *err);
void cli_warn_origins(const struct cli *cli, const struct origin_named *base, const struct origin_named *other);
/* Reports on standard error what the recording lost or hides, one line each. */
void cli_print_health(const struct cli *cli, const struct input_health *health);

#endif
