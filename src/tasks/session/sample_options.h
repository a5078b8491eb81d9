/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_options.h - declares the options that select samples for all verbs that support it, and applies the selection
 * by time, CPU and thread for verbs that read one sample after another. Verbs with a profile use profile/filter.h.
 *
 *	SAMPLE_OPTIONS(struct settings, samples),
 *	PLACE_OPTIONS(struct settings, samples),	if DSOs and functions can be selected, too
 *	...
 *	sample_filter_init(&filter, &settings.samples, reader, err);
 *	if (sample_filter_wants(&filter, machine, &sample, clock)) ...
 *	sample_filter_deinit(&filter);
 */
#ifndef TASKS_SESSION_SAMPLE_OPTIONS_H
#define TASKS_SESSION_SAMPLE_OPTIONS_H

#include "abi/sample.h"
#include "cli/options.h"
#include "cli/word_files.h"
#include "perfdata/reader.h"
#include "perfdata/time_spans.h"
#include "profile/filter.h"

struct machine;

/* All samples are selected if everything is zero. */
struct sample_options {
	const char *times; /* Spans of time; see perfdata/time_spans.h. */
	const char *cpus; /* List of CPUs such as "0-3,7". */
	struct profile_filter_lists filters; /* The options of this group set comms, pids, tids, dsos and symbols. */
};

/* Table of the options --time, -C/--cpu, -c/--comms, --pid and --tid. */
extern const struct option_table sample_option_table;
#define SAMPLE_OPTIONS(type, member) OPTION_GROUP_ROW(&sample_option_table, type, member)
/* Table of the options -d/--dsos and -S/--symbols. */
extern const struct option_table place_option_table;
#define PLACE_OPTIONS(type, member) OPTION_GROUP_ROW(&place_option_table, type, member)

/* Table of the options --no-idle and --idle-functions, for verbs with a profile. */
extern const struct option_table idle_option_table;
#define IDLE_OPTIONS(type, member) OPTION_GROUP_ROW(&idle_option_table, type, member)

/* Returns whether any of the options was given. */
bool sample_options_are_asked(const struct sample_options *options);

/* Returns INVALID if the recording lacks the data for an option. */
TALLY_MUST_CHECK enum tally_status sample_options_check(
	const struct sample_options *options, const struct perfdata_reader *reader, struct tally_error *err);

struct sample_filter {
	struct sample_options options; /* The options; names of files with words have been replaced by these words. */
	struct word_files files;
	struct time_spans spans;
	bool *cpus; /* LIMIT_CPUS flags; NULL selects all CPUs. */
};

/* sample_filter_deinit must be called even after a failure. Returns INVALID if the recording lacks the data for an
 * option, or if the option is malformed. */
TALLY_MUST_CHECK enum tally_status sample_filter_init(struct sample_filter *filter,
	const struct sample_options *options, struct perfdata_reader *reader, struct tally_error *err);
void sample_filter_deinit(struct sample_filter *filter);
bool sample_filter_has_cpu(const struct sample_filter *filter, uint32_t cpu);
/* Returns whether the sample's time and CPU are selected. */
bool sample_filter_is_within(const struct sample_filter *filter, const struct sample *sample);
/* Returns whether the sample's process and thread are selected, and the name that the thread has at that time of the
 * machine's clock. */
bool sample_filter_wants_thread(
	const struct sample_filter *filter, const struct machine *machine, const struct sample *sample, uint64_t clock);
/* Returns whether the sample is selected by time, CPU, process, thread and name of the thread. */
bool sample_filter_wants(
	const struct sample_filter *filter, const struct machine *machine, const struct sample *sample, uint64_t clock);

#endif
