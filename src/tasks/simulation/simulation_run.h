/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_run.h - runs a command under Valgrind with our tool, which simulates events and writes streams into a
 * temporary folder (simulator/stream.h).
 *
 * The command has our standard input, output and errors, its exit status and signals; Valgrind's own messages go to
 * files in the folder. A simulation_run belongs to the caller; from simulation_start to simulation_end SIGINT, SIGTERM,
 * SIGHUP, SIGQUIT and SIGCHLD are blocked, so that the folder is removed on all ways out. One at a time in a process.
 *
 *	struct simulation_run run;
 *	enum tally_status status = simulation_start(&request, &run, err);
 *	if (status == TALLY_OK) {
 *		status = simulation_wait(&run, err); // then read run.folder/<pid>.<n>
 *		simulation_end(&run, &notes);
 *	}
 */
#ifndef TASKS_SIMULATION_SIMULATION_RUN_H
#define TASKS_SIMULATION_SIMULATION_RUN_H

#include <signal.h>
#include <sys/resource.h>

#include "base/diag.h"
#include "kernel/system/spawn.h"

/* What simulated events leave out, as the end of a sentence: for labels of counts and recordings. */
#define SIMULATION_NOT_SEEN	"the kernel's code, waiting, how long anything takes, prefetching and speculation"
#define SIMULATION_FOLDER_BYTES 256 /* a socket's path is shorter still; TMPDIR is refused beyond */

struct simulation_request {
	char *const *command; /* NULL-terminated, at least one word */
	const char *const *options; /* of our tool: "--events=instructions,branches", "--toggle=f" */
	size_t option_count;
};

struct simulation_run {
	char folder[SIMULATION_FOLDER_BYTES]; /* has the streams; "": there is none */
	const char *command; /* borrowed: argv[0] of the command */
	pid_t pid; /* of the command; its first stream is <pid>.0 */
	uint64_t start_ns, end_ns; /* clock_ns */
	/* after simulation_wait */
	int status; /* as waitpid gives it */
	struct rusage usage; /* of the command under Valgrind, and of its children that it waited for */
	int signal; /* that tally got until simulation_end; the last one; 0: none */
	bool has_survivors; /* processes of the command that go on: their counts are not complete */
	/* private */
	struct spawn child;
	sigset_t signals_before;
	bool was_subreaper;
};

/* Finds Valgrind and the tool, checks the command, makes the folder and starts. On failure nothing is left. */
TALLY_MUST_CHECK enum tally_status simulation_start(
	const struct simulation_request *request, struct simulation_run *run, struct tally_error *err);
/* Waits for the end of the command. Signals that were sent to tally alone are passed on to it. A command that did not
 * even begin is an error with what Valgrind said. */
TALLY_MUST_CHECK enum tally_status simulation_wait(struct simulation_run *run, struct tally_error *err);
/* Ends a command that still runs; adds what Valgrind said to notes (may be NULL); removes the folder. It keeps the
 * folder, and says so, if processes of the command still run, which need it to start other programs. */
void simulation_end(struct simulation_run *run, struct diag *notes);

#endif
