/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_run.h - runs an annotate request: reads the samples and prints the listing of each function. cmd_annotate.c
 * parses the options.
 *
 * Listings go to out; functions without code and the reasons are reported on standard error.
 *
 *	enum tally_status status = annotate_run(cli, &run, &out, &err);
 */
#ifndef VERBS_ANNOTATE_ANNOTATE_RUN_H
#define VERBS_ANNOTATE_ANNOTATE_RUN_H

#include "cli/cli.h"
#include "tasks/listing/annotate_listing.h"
#include "tasks/listing/code_options.h"
#include "view/text/annotate_compact.h"
#include "view/text/annotate_text.h"

struct annotate_run {
	struct annotate_request request;
	struct annotate_text_options text;
	struct code_options code;
	const char *data_type; /* "" for all types; NULL to annotate code. */
	double percent_limit; /* In percent; functions with a smaller share in every event are omitted. */
	bool is_compact, is_quiet, is_verbose, dump, skips_missing, skips_empty, force_group, no_group, is_json,
		is_interactive, with_data_types, with_type_counts, with_instruction_counts;
};

TALLY_MUST_CHECK enum tally_status annotate_run(
	const struct cli *cli, struct annotate_run *run, struct text *out, struct tally_error *err);

#endif
