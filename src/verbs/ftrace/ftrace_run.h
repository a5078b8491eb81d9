/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_run.h - runs a function tracer over a command or a target until it ends or a signal comes, and passes the
 * tracer's lines on. The kernel's settings are as before when it returns.
 *
 * One thread.
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
	bool has_tail; /* the end of each call has its name, as a profile needs it */
	bool has_heading; /* the lines above the trace come first */
	char **argv; /* the command; [0] is NULL: none */
	/* Whole lines; false: no more is wanted. */
	bool (*take)(void *context, struct tally_str lines);
	void *context;
	uint64_t lost; /* out: events that found no room in the kernel's buffer */
	int exit_code; /* out: the command's; 0: there was none */
};

TALLY_MUST_CHECK enum tally_status ftrace_run(struct ftrace_job *job, struct tally_error *err);
/* The target that the options and the command ask for: the whole machine if there is none. */
struct target_request ftrace_target_of(const struct ftrace_settings *settings, bool has_command);

#endif
