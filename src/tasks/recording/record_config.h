/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_config.h - reads the user's configuration of recording (perf-config(1)): call-graph.record-mode,
 * call-graph.dump-size, record.call-graph, record.build-id; top.call-graph. Options have precedence.
 *
 *	record_config_read("record", &settings, &notes, err); cli_parse_options(...);
 */
#ifndef TASKS_RECORDING_RECORD_CONFIG_H
#define TASKS_RECORDING_RECORD_CONFIG_H

#include "base/diag.h"
#include "tasks/recording/record_options.h"

/* verb is "record" or "top", which selects the verb's own settings. As in perf, an invalid value is an error; an
 * ignored setting that would change the recording becomes a warning. */
TALLY_MUST_CHECK enum tally_status record_config_read(
	const char *verb, struct record_settings *settings, struct diag *notes, struct tally_error *err);
/* Determines the call-graph method from -g and --call-graph, and from the configuration for what the command line
 * leaves open. */
struct record_chains record_config_chains(const struct record_settings *settings);
/* Prints a note to standard error if the configuration has chosen the method of unwinding. */
void record_config_say_chains(const struct record_settings *settings);

#endif
