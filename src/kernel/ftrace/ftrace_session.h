/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_session.h - holds the kernel's function tracers: an instance of tracefs of our own, its settings, and the pipe
 * that its text comes from. Everything that a session changes is as before once it is closed.
 *
 * A kernel that has the tracer only at the top of tracefs (function_graph before Linux 6.11) is traced there, and
 * settings that exist only there (max_graph_depth) are set there; their old values come back. What a killed session
 * left behind is found by the name of its instance, which has its PID: ftrace_open removes it, resets what it had
 * changed, and says so. A top level that somebody else uses is refused. The caller closes the session, after signals
 * too. One thread.
 * Source: Documentation/trace/ftrace.rst.
 *
 *	struct ftrace_session *session;
 *	ftrace_open(kernel, "function_graph", &diag, &session, err);
 *	ftrace_set(session, "options/sleep-time", "0", "--graph-opts nosleep-time", err);
 *	ftrace_set(session, "set_ftrace_filter", "mutex_lock", "-T", err);
 *	ftrace_prepare(session, err); ftrace_start(session, err);
 *	... read(ftrace_pipe(session)) ...; ftrace_stop(session); ... until read gives nothing ...
 *	ftrace_close(session);
 */
#ifndef KERNEL_FTRACE_FTRACE_SESSION_H
#define KERNEL_FTRACE_FTRACE_SESSION_H

#include "base/diag.h"
#include "kernel/system/kernel_seam.h"

struct ftrace_session;

/* UNSUPPORTED: the kernel has no such tracer, with those that it has; DENIED: no rights, or somebody else traces. */
TALLY_MUST_CHECK enum tally_status ftrace_open(const struct kernel_seam *kernel, const char *tracer, struct diag *diag,
	struct ftrace_session **session, struct tally_error *err);
/* Sets a file of the session; a list (functions, PIDs) gets one more line. why: the option that needs it, for messages. */
TALLY_MUST_CHECK enum tally_status ftrace_set(
	struct ftrace_session *session, const char *file, const char *value, const char *why, struct tally_error *err);
/* Chooses the tracer, which does not trace yet, and opens the pipe. */
TALLY_MUST_CHECK enum tally_status ftrace_prepare(struct ftrace_session *session, struct tally_error *err);
/* The lines above the trace ("# tracer: ..."), from malloc. */
TALLY_MUST_CHECK enum tally_status ftrace_heading(
	struct ftrace_session *session, char **heading, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status ftrace_start(struct ftrace_session *session, struct tally_error *err);
void ftrace_stop(struct ftrace_session *session);
/* A descriptor that does not block. */
int ftrace_pipe(const struct ftrace_session *session);
void ftrace_close(struct ftrace_session *session);

/* Calls take for each function that can be traced, as tracefs names it ("name", "name [module]"), until it is false. */
TALLY_MUST_CHECK enum tally_status ftrace_functions(const struct kernel_seam *kernel,
	bool (*take)(void *context, const char *name), void *context, struct tally_error *err);

#endif
