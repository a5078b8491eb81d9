/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_maps.h - tracks the current mappings of each running process, for unwinding during recording. It keeps no
 * history, so a recording of days needs only memory for the live processes; machine.h has the history of finished
 * recordings.
 *
 * Fed with side-band records in order of time; when a round is over, the caller calls live_maps_forget, which frees the
 * processes and mappings that ended in it. Strings are copied. One thread. Only mappings of code matter: others are
 * expected to be left out by the recorder, and do no harm.
 *
 *	live_maps_apply(&maps, &record, &fields, err);
 *	struct live_process *p = live_maps_process(&maps, pid);
 *	const struct live_mapping *m = p ? live_maps_find(p, pc) : NULL;
 */
#ifndef ANALYSIS_LIVE_LIVE_MAPS_H
#define ANALYSIS_LIVE_LIVE_MAPS_H

#include "abi/record.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/vec.h"

enum live_file_kind { LIVE_FILE, LIVE_VDSO, LIVE_DUMP, LIVE_NO_FILE }; /* dump: of generated code, by its marker */
#define LIVE_DUMPS_MAX 4

struct live_file { /* a distinct file: by path, inode and build id */
	enum live_file_kind kind;
	uint32_t path; /* string id */
	int32_t pid; /* the first that mapped it */
	struct record_build_id build_id;
	uint32_t major, minor; /* where it has no build id */
	uint64_t inode, generation;
};

struct live_mapping {
	uint64_t start, end, pgoff;
	uint32_t file;
	bool is_shared;
};

struct live_process {
	int32_t pid;
	bool has_ended;
	uint32_t changes; /* counts what its mappings went through */
	VEC(struct live_mapping) mappings; /* by start, disjoint */
	uint32_t dumps[LIVE_DUMPS_MAX]; /* files where its runtimes say what code they generated; the last one first */
	unsigned dump_count;
};

struct live_maps {
	struct intern paths, keys; /* key -> index in files */
	VEC(struct live_file) files;
	struct map_u64 by_pid; /* -> struct live_process * */
	VEC(int32_t) ended; /* since the last live_maps_forget */
	uint64_t process_count;
	size_t stale_at; /* files */
};

void live_maps_init(struct live_maps *maps);
void live_maps_deinit(struct live_maps *maps);
/* Records that say nothing of mappings change nothing. NOMEM only. */
TALLY_MUST_CHECK enum tally_status live_maps_apply(struct live_maps *maps, const struct record *record,
	const struct record_fields *fields, struct tally_error *err);
/* NULL: the process is not known. Valid until live_maps_forget. */
struct live_process *live_maps_process(const struct live_maps *maps, int32_t pid);
const struct live_mapping *live_maps_find(const struct live_process *process, uint64_t address);
/* Call this when all samples of the applied records are done: frees processes that have ended. dropped is called for
 * each such process; it may be NULL. */
void live_maps_forget(struct live_maps *maps, void (*dropped)(void *context, int32_t pid), void *context);
/* Whether many files may not be mapped any more. */
bool live_maps_is_stale(const struct live_maps *maps);
/* Drops those files; the numbers of all others change. After a failure the maps can only be deinited. */
TALLY_MUST_CHECK enum tally_status live_maps_renumber(struct live_maps *maps, struct tally_error *err);
struct tally_str live_maps_path(const struct live_maps *maps, const struct live_file *file);

#endif
