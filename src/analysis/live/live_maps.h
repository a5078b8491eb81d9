/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_maps.h - tracks the current mappings of each running process, for unwinding during recording. It keeps no
 * history, so a recording of days needs memory only for the live processes; machine.h has the history of finished
 * recordings.
 *
 * It is fed with side-band records in order of time; at the end of a round, the caller calls live_maps_forget, which
 * frees the processes that ended in it. Strings are copied. One thread. Only mappings of code are needed: the recorder
 * usually requests no others, but they do no harm.
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

/* LIVE_DUMP is the marker mapping of a jitdump. */
enum live_file_kind { LIVE_FILE, LIVE_VDSO, LIVE_DUMP, LIVE_NO_FILE };
#define LIVE_DUMPS_MAX 4

struct live_file { /* A file, identified by path and build ID, or else by path, device and inode. */
	enum live_file_kind kind;
	uint32_t path; /* Number in live_maps.paths. */
	int32_t pid; /* The first process that mapped it. */
	struct record_build_id build_id;
	uint32_t major, minor; /* Device and inode, used if there is no build ID. */
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
	uint32_t changes; /* Incremented at each change of the mappings. */
	VEC(struct live_mapping) mappings; /* Sorted by start, disjoint. */
	uint32_t dumps[LIVE_DUMPS_MAX]; /* Numbers of the jitdump files of the process's runtimes, newest first. */
	unsigned dump_count;
};

struct live_maps {
	struct intern paths, keys; /* The number of a key is the file's index in files. */
	VEC(struct live_file) files;
	struct map_u64 by_pid; /* Maps a pid to a struct live_process *; 0 if the process was removed. */
	VEC(int32_t) ended; /* Processes that ended since the last live_maps_forget. */
	uint64_t process_count;
	size_t stale_at; /* Number of files at which many of them may be unmapped. */
};

void live_maps_init(struct live_maps *maps);
void live_maps_deinit(struct live_maps *maps);
/* Applies a record; records that do not affect mappings are ignored. Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status live_maps_apply(struct live_maps *maps, const struct record *record,
	const struct record_fields *fields, struct tally_error *err);
/* Returns NULL if the process is not known. The result is valid until live_maps_forget. */
struct live_process *live_maps_process(const struct live_maps *maps, int32_t pid);
/* Returns the mapping at the address, or NULL if nothing is mapped there. Valid until the process's mappings change. */
const struct live_mapping *live_maps_find(const struct live_process *process, uint64_t address);
/* Frees processes that have ended; before that it calls dropped, unless NULL, for each of them. Call it when all
 * samples of the applied records have been handled. */
void live_maps_forget(struct live_maps *maps, void (*dropped)(void *context, int32_t pid), void *context);
/* Returns whether there are so many files that most of them may be unmapped. */
bool live_maps_is_stale(const struct live_maps *maps);
/* Drops unmapped files; the numbers of all others change. After a failure, the maps can only be deinitialised. */
TALLY_MUST_CHECK enum tally_status live_maps_renumber(struct live_maps *maps, struct tally_error *err);
struct tally_str live_maps_path(const struct live_maps *maps, const struct live_file *file);

#endif
