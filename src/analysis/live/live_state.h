/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_state.h - describes the running processes and their mappings as records, so that a recording that starts now
 * needs no earlier records. It keeps no history (machine.h does), so memory holds live processes only.
 *
 * It is fed with side-band records in order of time; live_state_settle frees ended threads and processes. Of a file it
 * keeps path and build ID. Thread names are cut to the kernel's 15 bytes. One thread. Records that do not describe
 * processes are ignored.
 *
 *	live_state_init(&state);
 *	live_state_apply(&state, &record, &fields, err); ...  live_state_settle(&state, err);
 *	live_state_write(&state, NULL, &writer, &layout);	// comm and mmap2 at time 0; other records unchanged
 *	live_state_deinit(&state);
 */
#ifndef ANALYSIS_LIVE_LIVE_STATE_H
#define ANALYSIS_LIVE_LIVE_STATE_H

#include "abi/record_layout.h"
#include "analysis/live/live_maps.h"
#include "base/writer.h"

#define LIVE_COMM_BYTES 16 /* The kernel's TASK_COMM_LEN. */

struct live_thread {
	int32_t pid, tid;
	bool has_ended;
	uint8_t comm_len;
	char comm[LIVE_COMM_BYTES];
};

enum live_kept { LIVE_KERNEL_MAP, LIVE_KERNEL_SYMBOL, LIVE_CGROUP };

struct live_kept_record { /* A record to be repeated; a newer one of the same kind and key replaces it. */
	enum live_kept kind;
	uint64_t key; /* Start address of a kernel mapping or symbol, ID of a cgroup. */
	uint8_t *bytes; /* Owned copy of the record. */
	size_t len;
};

struct live_state {
	struct live_maps maps;
	VEC(struct live_thread) threads;
	struct map_u64 by_tid; /* Maps a tid to an index in threads. */
	VEC(struct live_kept_record) kept; /* In order of time. */
	size_t cgroup_count; /* Number of cgroups among kept. */
	size_t ended_threads; /* Threads that ended since the last live_state_settle. */
	uint64_t ended_processes; /* Processes that ended since the maps were last compacted. */
};

void live_state_init(struct live_state *state);
void live_state_deinit(struct live_state *state);
/* Applies a record. Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status live_state_apply(struct live_state *state, const struct record *record,
	const struct record_fields *fields, struct tally_error *err);
/* Ends threads that no longer run according to `runs`, because their exit records may have been lost. */
TALLY_MUST_CHECK enum tally_status live_state_sweep(
	struct live_state *state, bool (*runs)(void *context, int32_t tid), void *context, struct tally_error *err);
/* Frees ended threads and processes; their pointers are then invalid. */
TALLY_MUST_CHECK enum tally_status live_state_settle(struct live_state *state, struct tally_error *err);
/* Writes the state as records with trailers in the given layout. The keys of pids are the processes to write; NULL for
 * all. Returns false when out of memory. */
bool live_state_write(const struct live_state *state, const struct map_u64 *pids, struct writer *out,
	const struct record_layout *layout);
/* Return NULL if the thread is not known. live_state_known_thread also finds threads that have ended since the last
 * live_state_settle. */
const struct live_thread *live_state_thread(const struct live_state *state, int32_t tid);
const struct live_thread *live_state_known_thread(const struct live_state *state, int32_t tid);

#endif
