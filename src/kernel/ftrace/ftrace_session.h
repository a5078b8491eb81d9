/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_session.h - runs one of the kernel's function tracers in a separate instance of tracefs, and gives access to
 * its settings and output pipe. Closing the session restores everything that it changed.
 *
 * If the kernel has the tracer only at the top level of tracefs (function_graph before Linux 6.11), the session uses
 * the top level. Settings that exist only there (max_graph_depth) are set there and restored. The names of instances
 * contain the PID, so that ftrace_open finds those of killed sessions; it removes them, resets what they changed, and
 * reports this. It fails if another program uses the top level. The caller must close the session, also when a signal
 * ends the program. One thread.
 * Source: Documentation/trace/ftrace.rst.
 *
 *	struct ftrace_session *session;
 *	ftrace_open(kernel, "function_graph", &diag, &session, err);
 *	ftrace_set(session, "options/sleep-time", "0", "--graph-opts nosleep-time", err);
 *	ftrace_set(session, "set_ftrace_filter", "mutex_lock", "-T", err);
 *	ftrace_prepare(session, err); ftrace_start(session, err);
 *	... read(ftrace_pipe(session)) ...; ftrace_stop(session); ... until read(2) returns nothing ...
 *	ftrace_close(session);
 */
#ifndef KERNEL_FTRACE_FTRACE_SESSION_H
#define KERNEL_FTRACE_FTRACE_SESSION_H

#include "base/diag.h"
#include "kernel/system/kernel_seam.h"

struct ftrace_session;

/* Opens a session. Returns TALLY_UNSUPPORTED, with the available tracers, if the kernel lacks this one, and
 * TALLY_DENIED if a permission is missing or another program traces. */
TALLY_MUST_CHECK enum tally_status ftrace_open(const struct kernel_seam *kernel, const char *tracer, struct diag *diag,
	struct ftrace_session **session, struct tally_error *err);
/* Writes a setting; if the file is a list of functions or PIDs, the value is appended as a line. why is the option that
 * requires the setting, for messages. */
TALLY_MUST_CHECK enum tally_status ftrace_set(
	struct ftrace_session *session, const char *file, const char *value, const char *why, struct tally_error *err);
/* Selects the tracer, without starting it, and opens the pipe. */
TALLY_MUST_CHECK enum tally_status ftrace_prepare(struct ftrace_session *session, struct tally_error *err);
/* Reads the heading of the trace ("# tracer: ...") into memory from malloc. */
TALLY_MUST_CHECK enum tally_status ftrace_heading(
	struct ftrace_session *session, char **heading, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status ftrace_start(struct ftrace_session *session, struct tally_error *err);
void ftrace_stop(struct ftrace_session *session);
/* Returns the non-blocking descriptor of the pipe, which the session owns. */
int ftrace_pipe(const struct ftrace_session *session);
void ftrace_close(struct ftrace_session *session);

/* Calls take for each traceable function with its name in tracefs ("name", "name [module]"), until it returns false. */
TALLY_MUST_CHECK enum tally_status ftrace_functions(const struct kernel_seam *kernel,
	bool (*take)(void *context, const char *name), void *context, struct tally_error *err);

#endif
