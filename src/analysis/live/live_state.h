/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_state.h - describes the running processes and their mappings as records, so that a recording that starts now
 * needs no earlier record. It keeps no history (machine.h does), so memory holds live processes only.
 *
 * Fed with side-band records in order of time; live_state_settle frees what has ended. Of files it keeps path and build
 * ID. Names of threads are cut at the kernel's 15 bytes. One thread. Records that do not describe processes are
 * ignored.
 *
 *	live_state_init(&state);
 *	live_state_apply(&state, &record, &fields, err); ...  live_state_settle(&state, err);
 *	live_state_write(&state, NULL, &writer, &layout);	// comm and mmap2 of time 0, the kernel's mappings and cgroups as they came
 *	live_state_deinit(&state);
 */
#ifndef ANALYSIS_LIVE_LIVE_STATE_H
#define ANALYSIS_LIVE_LIVE_STATE_H

#include "abi/record_layout.h"
#include "analysis/live/live_maps.h"
#include "base/writer.h"

#define LIVE_COMM_BYTES 16 /* TASK_COMM_LEN */

struct live_thread {
	int32_t pid, tid;
	bool has_ended;
	uint8_t comm_len;
	char comm[LIVE_COMM_BYTES];
};

enum live_kept { LIVE_KERNEL_MAP, LIVE_KERNEL_SYMBOL, LIVE_CGROUP };

struct live_kept_record { /* which a newer one of its kind replaces */
	enum live_kept kind;
	uint64_t key; /* address where it starts; id */
	uint8_t *bytes; /* owned */
	size_t len;
};

struct live_state {
	struct live_maps maps;
	VEC(struct live_thread) threads;
	struct map_u64 by_tid; /* -> index in threads */
	VEC(struct live_kept_record) kept; /* in order of time */
	size_t cgroup_count; /* of kept */
	size_t ended_threads; /* since the last settle */
	uint64_t ended_processes; /* since the maps were compacted */
};

void live_state_init(struct live_state *state);
void live_state_deinit(struct live_state *state);
/* NOMEM only. */
TALLY_MUST_CHECK enum tally_status live_state_apply(struct live_state *state, const struct record *record,
	const struct record_fields *fields, struct tally_error *err);
/* Ends threads that do not run any more, because their exit records may be lost. */
TALLY_MUST_CHECK enum tally_status live_state_sweep(
	struct live_state *state, bool (*runs)(void *context, int32_t tid), void *context, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status live_state_settle(struct live_state *state, struct tally_error *err);
/* layout: of the records' trailers. pids: only these processes; NULL: all. False: out of memory. */
bool live_state_write(const struct live_state *state, const struct map_u64 *pids, struct writer *out,
	const struct record_layout *layout);
/* NULL: the thread is not known. The second also finds those that have ended since the last settle. */
const struct live_thread *live_state_thread(const struct live_state *state, int32_t tid);
const struct live_thread *live_state_known_thread(const struct live_state *state, int32_t tid);

#endif
