/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod.h - fetches program and debug files by build ID from debuginfod servers in the background: a child process
 * asks libdebuginfod (which is loaded on demand) for one file after the other, within a budget of bytes and time, and
 * continues when the caller ends. Files are stored in libdebuginfod's own cache, which search_path.c also searches, and
 * are removed if they do not have the requested build ID.
 *
 * One job at a time per cache. The caller owns requests and job; one thread, no other running when it starts.
 *
 *	if (debuginfod_start(&options, requests, count, &job, err) == TALLY_OK) ... debuginfod_look(job); debuginfod_leave(job);
 */
#ifndef CODE_BINARIES_DEBUGINFOD_H
#define CODE_BINARIES_DEBUGINFOD_H

#include "base/arena.h"
#include "object/elf/elf_image.h"

enum debuginfod_state {
	DEBUGINFOD_WAITING,
	DEBUGINFOD_FETCHED,
	DEBUGINFOD_ABSENT, /* the servers do not have it */
	DEBUGINFOD_FAILED, /* no answer */
	DEBUGINFOD_WRONG, /* the file has another build id */
	DEBUGINFOD_OVER_BUDGET
};

struct debuginfod_request {
	struct elf_build_id id;
	bool wants_program; /* else its debug file */
	enum debuginfod_state state;
	uint64_t bytes; /* that were fetched */
};

struct debuginfod_options {
	const char *urls; /* between spaces; NULL, "" or "system": $DEBUGINFOD_URLS */
	uint64_t bytes_max;
	uint64_t seconds_max;
};

struct debuginfod_job;

/* Requests the files in this order. NOT_FOUND: no server is configured; UNSUPPORTED: the library is not installed; END:
 * another job is running. */
TALLY_MUST_CHECK enum tally_status debuginfod_start(const struct debuginfod_options *options,
	struct debuginfod_request *requests, size_t count, struct debuginfod_job **job, struct tally_error *err);
/* Takes over the results that have arrived; does not wait. True: all requests are finished. */
bool debuginfod_look(struct debuginfod_job *job);
/* Frees the job; the running download continues. */
void debuginfod_leave(struct debuginfod_job *job);
/* The path at which libdebuginfod keeps that file ("executable" or "debuginfo"), whether or not it exists. NULL: there
 * is no cache, or it has a note that no server has the file. */
const char *debuginfod_cached(struct arena *arena, struct elf_build_id id, const char *file);

#endif
