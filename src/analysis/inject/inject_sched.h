/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_sched.h - merges sched_stat and sched_switch: each sched_stat_* sample becomes the last sched_switch of its
 * thread, with the time and period of the sched_stat_* sample. Such a sample shows where a task went to sleep, and for
 * how long.
 *
 * Samples must come in order of time. The original sched_switch, sched_stat_* and sched_process_exit samples are
 * dropped; a sched_process_exit also frees the thread's state. Owned by the caller. One thread.
 *
 *	inject_sched_create(reader, &sched, err);
 *	switch (inject_sched_sample(sched, &record, &out)) ...
 */
#ifndef ANALYSIS_INJECT_INJECT_SCHED_H
#define ANALYSIS_INJECT_INJECT_SCHED_H

#include "base/writer.h"
#include "perfdata/reader.h"

struct inject_sched;

enum inject_sched_result {
	INJECT_SCHED_OTHER, /* The record is a sample of another event and must be kept. */
	INJECT_SCHED_DROPPED,
	INJECT_SCHED_MERGED, /* The replacement was appended to out. */
	INJECT_SCHED_NO_MEMORY,
};

/* The reader's events must be known. Fails with TALLY_INVALID if samples lack thread IDs, and with TALLY_UNSUPPORTED or
 * TALLY_CORRUPT if the fields of sched_stat_* cannot be read. */
TALLY_MUST_CHECK enum tally_status inject_sched_create(
	const struct perfdata_reader *reader, struct inject_sched **sched, struct tally_error *err);
void inject_sched_destroy(struct inject_sched *sched);
enum inject_sched_result inject_sched_sample(
	struct inject_sched *sched, const struct record *record, struct writer *out);

#endif
