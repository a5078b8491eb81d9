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

/* verb: record or top, whose own settings these are. A value that is none is an error, as perf's; a setting that changes what is recorded and is not followed becomes a warning. */
TALLY_MUST_CHECK enum tally_status record_config_read(
	const char *verb, struct record_settings *settings, struct diag *notes, struct tally_error *err);
/* What -g and --call-graph come to; the configuration says what the command line leaves open. */
struct record_chains record_config_chains(const struct record_settings *settings);
/* On standard error, that the configuration has chosen how stacks are unwound; nothing where it has not. */
void record_config_say_chains(const struct record_settings *settings);

#endif
