/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_run.h - runs a kernel function tracer for a command or a target until it ends or a signal arrives, and passes
 * on the tracer's lines. It restores the kernel's settings before it returns. Not thread-safe.
 *
 *	struct ftrace_job job = {.cli = cli, .settings = &settings, .tracer = "function_graph", .argv = argv,
 *		.take = print_lines, .context = &out};
 *	status = ftrace_run(&job, err);
 */
#ifndef VERBS_FTRACE_FTRACE_RUN_H
#define VERBS_FTRACE_FTRACE_RUN_H

#include "base/bytes.h"
#include "cli/cli.h"
#include "verbs/ftrace/ftrace_settings.h"

struct ftrace_job {
	const struct cli *cli;
	const struct ftrace_settings *settings;
	const char *tracer;
	bool has_tail; /* Makes the kernel add the name of the function to the line at the end of each call. */
	bool has_heading; /* Passes on the heading of the trace first. */
	char **argv; /* The command; argv[0] is NULL if there is none. */
	/* Receives complete lines. Returns false to end tracing. */
	bool (*take)(void *context, struct tally_str lines);
	void *context;
	uint64_t lost; /* Set by ftrace_run: number of events for which the kernel's buffer had no room. */
	int exit_code; /* Set by ftrace_run: exit code of the command, or 0 if there was none. */
};

TALLY_MUST_CHECK enum tally_status ftrace_run(struct ftrace_job *job, struct tally_error *err);
/* Returns the target of the options and the command; the whole machine if they select none. */
struct target_request ftrace_target_of(const struct ftrace_settings *settings, bool has_command);

#endif
