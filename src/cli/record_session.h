/*
 * record_session.h - one recording from start to end: command, target, recorder, file. The wiring of record.
 *
 * Says nothing itself: notes go to diag, the outcome to the summary, a failure to err. Not a place for options.
 * Threads: one. Signals: SIGINT, SIGTERM and SIGCHLD are taken through a descriptor while it runs.
 *
 *	struct record_summary summary;
 *	st = record_session_run(&request, &summary, err);
 */
#ifndef CLI_RECORD_SESSION_H
#define CLI_RECORD_SESSION_H

#include "base/diag.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/system/target.h"

struct record_request {
	const struct kernel_seam *kernel;
	const char *output; /* "-": a pipe on standard output */
	struct target_request target;
	struct record_attr_options attrs;
	struct event_list *events; /* as parsed */
	size_t ring_bytes;
	bool no_build_ids, all_build_ids;
	bool no_initial_state; /* --synth no */
	bool is_verbose; /* notes tell what was opened */
	int delay_ms; /* -1: never enabled */
	uint64_t max_bytes; /* 0: no limit */
	char *const *command; /* NULL: none */
	char *const *argv; /* the whole command line, for the file */
	struct diag *diag;
	void (*started)(void *context); /* all is open and diag has its notes; may be NULL */
	void *started_context;
	void (*announce)(const char *text); /* for -D: what happens while it runs; may be NULL */
};

struct record_summary {
	uint64_t wakeups, bytes, samples, lost_events, lost_samples;
	bool is_written; /* the file is complete */
	bool has_samples; /* they were counted */
	bool has_child_status;
	int child_status; /* as waitpid gives it */
	int signal; /* that ended it; 0: none */
};

/* On failure the summary still says what became of the child. */
TALLY_MUST_CHECK enum tally_status record_session_run(
	const struct record_request *request, struct record_summary *summary, struct tally_error *err);

#endif
