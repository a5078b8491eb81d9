/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_config.h - what the user's configuration says of recording (perf-config(1)): call-graph.record-mode, call-graph.dump-size,
 * record.call-graph, record.build-id; top.call-graph. Options go before it.
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
/* -g, and the sizes of stacks, by the configuration. True if it has chosen how stacks are unwound. */
bool record_config_apply(struct record_settings *settings);
/* On standard error, that it has. */
void record_config_say(const struct record_settings *settings);

#endif
