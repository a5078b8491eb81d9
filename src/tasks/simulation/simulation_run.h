/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_run.h - runs a command under Valgrind with tally's tool, which simulates events and writes streams into a
 * temporary folder (simulator/stream.h).
 *
 * The command has this process's standard input, output and error; its exit status and signals are reported. Valgrind's
 * own messages go to files in the folder. The caller owns struct simulation_run; from simulation_start to
 * simulation_end SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD are blocked, so that the folder is always removed. Only
 * one simulation can run in a process.
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

/* Describes what simulated events do not include, as the end of a sentence for counts and recordings. */
#define SIMULATION_NOT_SEEN	"the kernel's code, waiting, how long anything takes, prefetching and speculation"
#define SIMULATION_FOLDER_BYTES 256 /* The path of a socket must be even shorter. A longer TMPDIR is rejected. */

struct simulation_request {
	char *const *command; /* NULL-terminated, with at least one word. */
	/* Options of tally's tool, such as "--events=instructions,branches" or "--toggle=f". */
	const char *const *options;
	size_t option_count;
};

struct simulation_run {
	char folder[SIMULATION_FOLDER_BYTES]; /* Folder with the streams; "" if there is none. */
	const char *command; /* argv[0] of the command; borrowed. */
	pid_t pid; /* PID of the command; its first stream is <pid>.0. */
	uint64_t start_ns, end_ns; /* Times of clock_ns. */
	/* The following members are valid after simulation_wait. */
	int status; /* Status from waitpid. */
	struct rusage usage; /* Usage of the command under Valgrind, and of the children that it waited for. */
	int signal; /* The last signal that tally received until simulation_end, or 0. */
	bool has_survivors; /* Processes of the command are still running, so their counts are incomplete. */
	/* The remaining members are private. */
	struct spawn child;
	sigset_t signals_before;
	bool was_subreaper;
};

/* Finds Valgrind and the tool, checks the command, creates the folder and starts. On failure there is nothing to clean
 * up. */
TALLY_MUST_CHECK enum tally_status simulation_start(
	const struct simulation_request *request, struct simulation_run *run, struct tally_error *err);
/* Waits for the end of the command. Forwards signals that were sent to tally only. If the command did not start,
 * returns an error with Valgrind's message. */
TALLY_MUST_CHECK enum tally_status simulation_wait(struct simulation_run *run, struct tally_error *err);
/* Kills a command that is still running, adds Valgrind's messages to notes (which may be NULL), and removes the folder.
 * If other processes of the command are still running, the folder is kept, because they need it to start programs, and
 * a note says so. */
void simulation_end(struct simulation_run *run, struct diag *notes);

#endif
