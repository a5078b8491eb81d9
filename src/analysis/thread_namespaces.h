/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_namespaces.h - tracks which cgroup namespace (device and inode) each thread was in over time.
 *
 * Owned by the caller; immutable once read, so any thread may use it. If the recording has no NAMESPACES records, no
 * namespace is known.
 *
 *	thread_namespaces_read(&spaces, reader, run, sideband.clock.is_position, err);
 *	uint32_t index = thread_namespaces_at(&spaces, tid, time_ns);	// 0 if unknown
 *	use(thread_namespaces_get(&spaces, index).dev);
 *	thread_namespaces_deinit(&spaces);
 */
#ifndef ANALYSIS_THREAD_NAMESPACES_H
#define ANALYSIS_THREAD_NAMESPACES_H

#include "analysis/record_run.h"
#include "base/id_table.h"
#include "base/vec.h"
#include "perfdata/reader.h"

struct thread_namespace {
	uint64_t dev, inode;
};

struct namespace_change {
	int32_t tid;
	uint32_t item; /* ID in thread_namespaces.items. */
	uint64_t clock; /* The change is valid from this time on. */
	size_t position; /* Position of the record: of two records with the same time, the later one is valid. */
};

struct thread_namespaces {
	struct id_table items; /* Distinct namespaces; the first one stands for unknown. */
	VEC(struct namespace_change) changes; /* Sorted by thread, then by clock. */
};

/* clock_is_position means that records have no times, so that their positions serve as clock. Fails only with
 * TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status thread_namespaces_read(struct thread_namespaces *spaces,
	struct perfdata_reader *reader, const struct record_run *run, bool clock_is_position, struct tally_error *err);
void thread_namespaces_deinit(struct thread_namespaces *spaces);
struct thread_namespace thread_namespaces_get(const struct thread_namespaces *spaces, uint32_t index);
uint32_t thread_namespaces_at(const struct thread_namespaces *spaces, int32_t tid, uint64_t clock);

#endif
