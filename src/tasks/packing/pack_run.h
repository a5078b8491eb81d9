/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_run.h - packs one recording: reads it, collects symbols and code, and writes the recording with them.
 *
 *	pack_run(cli, &(struct pack_request){.input.path = "perf.data"}, err);
 */
#ifndef TASKS_PACKING_PACK_RUN_H
#define TASKS_PACKING_PACK_RUN_H

#include "cli/cli.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/symbol_options.h"

struct pack_request {
	struct input_options input;
	const char *output; /* NULL to replace the input. */
	bool quiet, scrub;
	struct symbol_options symbols;
	const struct binary_kept *kept; /* See struct binary_store_options. */
};

TALLY_MUST_CHECK enum tally_status pack_run(
	const struct cli *cli, const struct pack_request *request, struct tally_error *err);

#endif
