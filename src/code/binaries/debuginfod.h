/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod.h - downloads program and debug files by build ID from debuginfod servers in the background: a child
 * process requests one file after the other from libdebuginfod (which is loaded on demand), within a budget of bytes
 * and time, and continues when the caller exits. Files are stored in libdebuginfod's own cache, which search_path.c
 * also searches, and are removed if they do not have the requested build ID.
 *
 * At most one job per cache runs at a time. The caller owns the requests and the job. Use it from one thread; no other
 * thread may run when the job starts.
 *
 *	if (debuginfod_start(&options, requests, count, &job, err) == TALLY_OK) {
 *		... debuginfod_look(job) ...   debuginfod_leave(job);
 *	}
 */
#ifndef CODE_BINARIES_DEBUGINFOD_H
#define CODE_BINARIES_DEBUGINFOD_H

#include "base/arena.h"
#include "object/elf/elf_image.h"

enum debuginfod_state {
	DEBUGINFOD_WAITING,
	DEBUGINFOD_FETCHED,
	DEBUGINFOD_ABSENT, /* The servers do not have the file. */
	DEBUGINFOD_FAILED, /* No server answered. */
	DEBUGINFOD_WRONG, /* The downloaded file has another build ID. */
	DEBUGINFOD_OVER_BUDGET
};

struct debuginfod_request {
	struct elf_build_id id;
	bool wants_program; /* True: requests the program file; false: its debug file. */
	enum debuginfod_state state;
	uint64_t bytes; /* Number of downloaded bytes. */
};

struct debuginfod_options {
	const char *urls; /* Server URLs separated by spaces; NULL, "" or "system" means $DEBUGINFOD_URLS. */
	uint64_t bytes_max; /* Limit on the downloaded bytes of all requests together. */
	uint64_t seconds_max; /* Limit on the time of the job. */
};

struct debuginfod_job;

/* Starts a job that requests the files in this order. NOT_FOUND: no server is configured; UNSUPPORTED: the library is
 * not installed; END: another job is running. */
TALLY_MUST_CHECK enum tally_status debuginfod_start(const struct debuginfod_options *options,
	struct debuginfod_request *requests, size_t count, struct debuginfod_job **job, struct tally_error *err);
/* Copies the results that have arrived into the requests, without waiting. Returns true if the job has ended. */
bool debuginfod_look(struct debuginfod_job *job);
/* Frees the job; the running download continues. */
void debuginfod_leave(struct debuginfod_job *job);
/* Returns the path, in the arena, of a file ("executable" or "debuginfo") in libdebuginfod's cache, whether or not it
 * exists. NULL: there is no cache, or it has a note that no server has the file. */
const char *debuginfod_cached(struct arena *arena, struct elf_build_id id, const char *file);

#endif
