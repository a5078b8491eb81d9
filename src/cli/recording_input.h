/*
 * recording_input.h - how every verb that reads a recording opens it: which file, and what is said when that fails.
 */
#ifndef CLI_RECORDING_INPUT_H
#define CLI_RECORDING_INPUT_H

#include "cli/cli.h"
#include "perfdata/reader.h"

/* path NULL: perf.data, or standard input where that is a pipe and there is no such file. "-" is standard input. */
TALLY_MUST_CHECK enum tally_status cli_open_recording(
	const struct cli *cli, const char *path, struct perfdata_reader **reader, struct tally_error *err);
/* What the recording lost or hides, one line each on standard error, only where there is something to say. */
void cli_print_health(const struct cli *cli, const struct input_health *health);

#endif
