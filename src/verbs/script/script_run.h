/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_run.h - holds the state of one run of `tally script`. cmd_script.c initialises it from the settings and
 * deinitialises it.
 *
 *	script_print_all(&script, err);  // every record, in order of time
 */
#ifndef VERBS_SCRIPT_SCRIPT_RUN_H
#define VERBS_SCRIPT_SCRIPT_RUN_H

#include "base/json.h"
#include "cli/cli.h"
#include "tasks/session/data_source.h"
#include "tasks/session/dump_raw.h"
#include "verbs/script/script_dumps.h"
#include "verbs/script/script_metrics.h"
#include "verbs/script/script_options.h"
#include "verbs/script/script_records.h"

struct script {
	const struct cli *cli;
	struct script_settings settings;
	struct data_source recording;
	struct lbr_stitcher stitcher;
	struct bpf_lines bpf_lines;
	struct script_printer printer;
	struct script_code code;
	struct script_source source;
	struct script_counters counters;
	struct script_records records;
	struct dump_raw dump;
	uint64_t *fields;
	struct cgroup_names cgroups;
	struct diag field_notes;
	struct script_filter filter;
	struct script_dlfilter dlfilter;
	struct script_dumps dumps;
	uint64_t printed; /* Number of printed samples. */
	uint64_t last_ns, misordered; /* -d: time of the previous sample, and number of samples out of order. */
	struct script_metrics metrics;
	struct text out;
	struct json json; /* Writes to out with --json. */
};

static inline bool script_is_dumping(const struct script_settings *settings)
{
	return settings->dump || settings->dump_unsorted;
}

TALLY_MUST_CHECK enum tally_status script_print_all(struct script *script, struct tally_error *err);

#endif
