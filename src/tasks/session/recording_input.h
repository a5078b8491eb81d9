/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_input.h - opens the recording of a verb: selects the file, and reports its defects.
 */
#ifndef TASKS_SESSION_RECORDING_INPUT_H
#define TASKS_SESSION_RECORDING_INPUT_H

#include "cli/cli.h"
#include "cli/options.h"
#include "perfdata/origin.h"
#include "perfdata/reader.h"

#define RECORDING_NAME "perf.data"

/* Returns the given name of a recording, or the default name. */
static inline const char *recording_name(const char *named)
{
	return named ? named : RECORDING_NAME;
}

/* Options of every verb that reads a recording. */
struct input_options {
	/* NULL for perf.data, or for standard input if that is a pipe and perf.data does not exist; "-" is standard
	 * input. */
	const char *path;
	bool force; /* The file may belong to another user. */
};
/* Table of the options -i/--input and -f/--force, for INPUT_OPTIONS(struct settings, input). */
extern const struct option_table input_option_table;
#define INPUT_OPTIONS(type, member) OPTION_GROUP_ROW(&input_option_table, type, member)

/* As in perf, a file that belongs neither to this user nor to root is opened only with force. */
TALLY_MUST_CHECK enum tally_status recording_open(
	const struct input_options *input, struct perfdata_reader **reader, struct tally_error *err);
/* Returns whether an event has branch stacks that are not LBR call stacks, which serve as call chains. */
bool recording_samples_branches(const struct perfdata_reader *reader);
/* Returns whether the recording has branch stacks by perf's rule: for a file, whether its header has the feature
 * BRANCH_STACK; for a pipe, the result of recording_samples_branches. */
bool recording_has_branches(const struct perfdata_reader *reader);
/* Returns NOT_FOUND with the reason why a recording with this number of samples has nothing to show. */
enum tally_status recording_is_empty(const char *path, uint64_t samples, struct tally_error *err);
/* Prints the reason that recording_is_empty returns as a note on standard error, for verbs that may have an empty
 * output. */
void cli_note_empty(const struct cli *cli, const char *path, uint64_t samples);
/* Returns whether 'stat record' made the recording, according to its header, or to the records read so far, because
 * perf's streams have no header. */
bool recording_is_of_stat(const struct perfdata_reader *reader);
/* If 'stat record' made the recording, prints a note on standard error that it has no samples, and which verb shows its
 * counts. For verbs that show samples. path is NULL for perf.data. */
void cli_note_counts(const struct cli *cli, const struct perfdata_reader *reader, const char *path);
/* Prints a note on standard error about the origin of samples that are not from perf events, for verbs that do not show
 * it in their output. */
void cli_note_origin(const struct cli *cli, const struct perfdata_reader *reader);
/* Returns INVALID if the recording (path) has no waits, or if its waits do not name the threads that ended them
 * (--wakers). A pipe must have been read before. */
TALLY_MUST_CHECK enum tally_status recording_check_wakers(
	const struct perfdata_reader *reader, const char *path, struct tally_error *err);
/* Prints a warning if the samples of two recordings that are compared have different origins. */
void cli_warn_origins(const struct cli *cli, const struct origin_named *base, const struct origin_named *other);
/* Reports on standard error what the recording lost or hides, one line each. */
void cli_print_health(const struct cli *cli, const struct input_health *health);

#endif
